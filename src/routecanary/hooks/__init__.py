"""How does a client library carry the list without its application's code changing?

One file a library; each imports the library that it hooks, and this package imports none. The guide is
docs/hooks.md.
"""

from routecanary.hooks.context import scope

__all__ = ["scope"]
