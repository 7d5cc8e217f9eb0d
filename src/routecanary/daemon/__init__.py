"""The loop that never sleeps too long: `schedule.py` says when, `supervisor.py` does it."""
