"""How much memory something takes at its height."""

import tracemalloc
from collections.abc import Callable


def peak_bytes_of(work: Callable[[], object]) -> int:
    """The most that Python's allocators held at once of what this asked for."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
