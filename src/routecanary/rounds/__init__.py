"""Where the stages meet the world: read `run.py` first."""
