"""What all tests share: one Hypothesis profile."""

from hypothesis import settings

# No deadlines: on a busy machine they measure the machine.
settings.register_profile("streamsieve", deadline=None)
settings.load_profile("streamsieve")
