"""The search for what can go wrong in any replay: in a thread, as far as it is, and what it found."""

from collections.abc import Callable

from ..replay.hazards.potential import potential_hazards
from ..schemas.hazard_policy import HazardPolicy
from ..schemas.hazards import Hazards
from ..schemas.timeline import Timeline


class _CancelledError(Exception):
    """The thread is to end."""


class PotentialSearch:
    """Belongs to a trace, a topology and a policy, whatever the calibration. `work` belongs in a thread.

    `percent` is how far it is, None where it is not at work; `found` the possible pairs, None until
    they are known.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self.percent: int | None = None
        self.found: Hazards | None = None

    @property
    def policy(self) -> HazardPolicy:
        """The one under which pairs are possible."""
        return self._timeline.policy

    def begin(self) -> bool:
        """Whether the caller is to start `work`: nobody is at it, and nothing is known yet."""
        begins = self.percent is None and self.found is None
        if begins:
            self.percent = 0
        return begins

    def work(self, tell: Callable[[], None], is_cancelled: Callable[[], bool]) -> bool:
        """Searches; `tell` after every percent. Whether it came to its end: a cancelled one does not."""

        def watch(done: int, total: int) -> None:
            if is_cancelled():
                raise _CancelledError
            percent = 100 * done // max(total, 1)
            if percent != self.percent:
                self.percent = percent
                tell()

        timeline = self._timeline
        try:
            found = potential_hazards(timeline.trace, timeline.topology, timeline.policy, watch)
        except _CancelledError:
            self.percent = None
            return False
        self.found, self.percent = found, None
        return True
