"""Provider canary and routing quarantine for LLM products.

Importing this package imports nothing else: an application uses `routecanary.client`, which is
standard library only; the daemon and the command line come with the extra `routecanary[daemon]`.
"""

__version__ = "0.1.0"
