"""What holds for every test."""

from hypothesis import HealthCheck, settings

# Hypothesis fills caches of its own at first use, which a fresh clone on a busy machine may find slow; that says
# nothing of the code under test.
settings.register_profile("motes", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("motes")
