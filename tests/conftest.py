"""What holds for every test."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# The same examples in every run, and no verdict on how fast this machine draws them. `pytest
# --hypothesis-profile wide` looks for new ones.
settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("wide", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")
