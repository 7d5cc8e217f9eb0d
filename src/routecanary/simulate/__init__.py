"""The decision in virtual time: simulated hosts in, what a policy makes of them out."""
