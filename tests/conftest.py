"""What holds for all tests: none fails for being slow, as on a machine that has other work too."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
