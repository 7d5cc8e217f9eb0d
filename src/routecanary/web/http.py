"""What does a part need to serve HTTP?

```python
async def answer(request: Request) -> Response:
    return json_response({"path": request.path})

async with await listen(answer, "127.0.0.1", 0) as server:
    print(server.address)
```

HTTP/1.1 with keep-alive and pipelining over `asyncio`, and everything bounded: docs/proxy.md, "What the
listener takes".
"""

from __future__ import annotations

from routecanary.web.connection import Connection, Opener, Taker
from routecanary.web.message import Handler, Headers, Request, Response, error_response, json_response
from routecanary.web.server import Limits, Server, listen

__all__ = [
    "Connection",
    "Handler",
    "Headers",
    "Limits",
    "Opener",
    "Request",
    "Response",
    "Server",
    "Taker",
    "error_response",
    "json_response",
    "listen",
]
