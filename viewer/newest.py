"""Lets one thread at a time work for the newest wish; those that have not begun by then are dropped."""

import threading


class Newest:
    """`wish` and `begin` are for everybody, the rest for the thread that begins.

    A thread goes round: `take` what was wished, work, and leave when `may_end`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_wished = False
        self._is_working = False

    @property
    def is_wished(self) -> bool:
        """Whether something newer waits for the thread."""
        return self._is_wished

    def wish(self) -> None:
        """There is something new to do."""
        with self._lock:
            self._is_wished = True

    def begin(self) -> bool:
        """Whether the caller is to start the thread: nobody is at it yet."""
        with self._lock:
            begins, self._is_working = not self._is_working, True
            return begins

    def take(self) -> bool:
        """Whether something was wished; what was is done by this."""
        with self._lock:
            taken, self._is_wished = self._is_wished, False
            return taken

    def may_end(self, *, is_cancelled: bool) -> bool:
        """Whether the thread may end, which it then has to."""
        with self._lock:
            ends = is_cancelled or not self._is_wished
            self._is_working = not ends
            return ends
