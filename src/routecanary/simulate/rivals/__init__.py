"""Rules of others, on the same simulated rounds.

A proxy sees status codes, and none of the faults that are simulated here has one. To compare the rules at
all, every rival is given the canary's own verdicts as if they were errors: more than it would ever see.
"""
