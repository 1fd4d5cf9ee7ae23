"""What the shipped policies make of the hazard that one looks at, found out beside the browser."""

from collections.abc import Callable

from ..replay.hazards.verdicts import Verdict, verdict
from ..replay.policy import resolve_policy, shipped_policies
from ..schemas.timeline import Timeline
from .newest import Newest

PairOfPe = tuple[int, int, int]
"""PE (an index into Trace.pes), earlier and later command."""


class PairVerdicts:
    """Knows the verdicts of the pairs that were asked for; `work` belongs in a thread."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._newest = Newest()
        self._known: dict[PairOfPe, dict[str, Verdict]] = {}
        self._wanted: PairOfPe | None = None

    def known(self, pair: PairOfPe) -> dict[str, Verdict]:
        """The verdicts so far, by the policy's name."""
        return self._known.get(self._alike(pair), {})

    def ask(self, pair: PairOfPe) -> bool:
        """Wants a pair's verdicts; whether the caller is to start `work` in a thread."""
        self._wanted = self._alike(pair)
        if self._wanted in self._known:
            return False
        self._newest.wish()
        return self._newest.begin()

    def _alike(self, pair: PairOfPe) -> PairOfPe:
        """PEs that share a stream share its verdicts: the first of them stands for all."""
        pes = self._timeline.trace.pes
        stream = pes[pair[0]].stream
        first = next(number for number, pe in enumerate(pes) if pe.stream == stream)
        return first, pair[1], pair[2]

    def work(self, tell: Callable[[], None], is_cancelled: Callable[[], bool]) -> None:
        """Asks every shipped policy about the newest pair; `tell` when all have answered."""
        policies = [resolve_policy(name) for name in shipped_policies()]
        while True:
            while self._newest.take():
                wanted = self._wanted
                found: dict[str, Verdict] = {}
                for policy in policies:
                    if wanted is None or self._newest.is_wished or is_cancelled():
                        break
                    pe, pair = wanted[0], wanted[1:]
                    trace, topology = self._timeline.trace, self._timeline.topology
                    found[policy.name] = verdict(trace, topology, policy, pe, pair)
                if wanted is not None and len(found) == len(policies):
                    self._known[wanted] = found
                    tell()
            if self._newest.may_end(is_cancelled=is_cancelled()):
                return
