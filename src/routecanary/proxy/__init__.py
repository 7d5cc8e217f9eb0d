"""The pass-through to the gateway, in which requests learn what to avoid: read `passage.py` first."""
