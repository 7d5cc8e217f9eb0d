"""What must my request not be served by? The application's side of Routecanary.

```python
from routecanary.client import Canary

canary = Canary("/var/lib/routecanary/snapshot.json")
request["provider"] = canary.provider_preferences(request["model"], request.get("provider"))
```

Standard library only, and of that only what is quick to import. The guide is docs/routing.md.
"""

from routecanary.client.canary import Canary
from routecanary.client.file import default_path

__all__ = ["Canary", "default_path"]
