"""A gateway that misbehaves on request: the demo, the system tests and the simulator's world."""
