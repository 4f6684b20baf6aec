"""One Hypothesis profile for all: no deadlines, which on a busy machine measure the machine."""

from hypothesis import settings

settings.register_profile("streamsieve", deadline=None)
settings.load_profile("streamsieve")
