"""Stopping the whole job, as ^Z does for a terminal program: a script around the browser stops too."""

import os
import signal
import sys
import threading


def has_shell() -> bool:
    """Whether a shell with job control waits for this job. Without one, nobody could wake it: its
    process group is then that of the session's first process.
    """
    return sys.platform != "win32" and os.getpgrp() != os.getsid(0)


def stop_job() -> None:
    """Stops every process of the job, this one last; returns once the shell wakes it.

    The terminal must be as the shell wants it by now: the shell takes it as soon as the first process
    has stopped. Meanwhile neither signal is anybody's to handle, so this thread stops here, and goes
    on from here.
    """
    if sys.platform == "win32":
        return
    left = {number: signal.getsignal(number) for number in (signal.SIGTSTP, signal.SIGCONT)}
    signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    signal.signal(signal.SIGCONT, signal.SIG_DFL)
    try:
        os.kill(0, signal.SIGTSTP)
        signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
    finally:
        for number, handler in left.items():
            signal.signal(number, handler)
