"""What holds for all tests: none fails for being slow, as on a machine that has other work too, nor for
being started in the background.
"""

import signal

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As `nohup` and a script's `&` leave it. Tests interrupt themselves, and processes that they start
    # have Ctrl-C as a terminal gives it to them, which they do not inherit from a handler.
    signal.signal(signal.SIGINT, signal.default_int_handler)
