"""Keeps what was shown last, up to a total weight, so that looking around needs only so much memory."""

import threading
from collections.abc import Hashable
from typing import Generic, TypeVar

Shown = TypeVar("Shown")

LEAST = 1 << 18
"""A total weight of so much is small."""


class LastShown(Generic[Shown]):
    """Values by key, each of a weight; those not asked for the longest go first, the newest never.

    LEAST are kept in any case. For any thread.
    """

    def __init__(self, most: int) -> None:
        self._most = max(most, LEAST)
        self._lock = threading.Lock()
        self._kept: dict[Hashable, tuple[Shown, int]] = {}

    def get(self, key: Hashable) -> Shown | None:
        """The value, if it is still there."""
        with self._lock:
            found = self._kept.pop(key, None)
            if found is None:
                return None
            self._kept[key] = found
            return found[0]

    def put(self, key: Hashable, value: Shown, weight: int) -> None:
        """Keeps a value in place of the oldest ones."""
        with self._lock:
            self._kept[key] = (value, weight)
            spare = sum(one for _, one in self._kept.values()) - self._most
            for old in [*self._kept][:-1]:
                if spare <= 0:
                    return
                spare -= self._kept.pop(old)[1]
