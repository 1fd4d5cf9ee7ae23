"""Replays a timeline's trace while one turns its numbers: only the newest settings count.

`work` belongs in a thread and `ask` to everybody else. Nothing here knows Textual.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from ..replay.compiled_runner import is_compiled
from ..replay.durations import durations
from ..replay.parameters import parameters_used
from ..replay.policy import resolve_policy, shipped_policies
from ..replay.replay import Prepared, prepare, time
from ..replay.what_if import Effect, blocks_at_work, effect, sped_up_ps
from ..schemas.errors import KerntapeError
from ..schemas.hazard_policy import HazardPolicy
from ..schemas.stages import Block
from ..schemas.timeline import Timeline
from .model.calibrating import Settings, unchanged
from .newest import Newest

FACTORS = (Fraction(5, 4), Fraction(3, 2), Fraction(2), Fraction(4))
"""How many times faster each block is tried."""

SLOW = " (slow: the replay engine is not compiled)"

MOST_PREPARED = 3
"""The trace as lowered for so many policies, those asked for last, is kept: 6 MB for 115,000 stages."""


@dataclass
class Worths:
    """What is known so far about the settings: it grows while it is measured."""

    effects: dict[str, Effect] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()
    sped_up_ps: dict[tuple[Block, Fraction], int] = field(default_factory=dict)


class Recalibration:
    """The settings, the newest complete timeline under them, and what each number is worth.

    `complaint` is why the newest settings could not be replayed; the timeline is then the one before.
    Which numbers there are is known after the first replay (`knows_parameters`).
    """

    def __init__(self, timeline: Timeline) -> None:
        self.base = timeline
        self.timeline = timeline
        self.settings: Settings = unchanged(timeline.calibration, timeline.policy)
        self.parameters: tuple[str, ...] = ()
        self.knows_parameters = False
        self.worths = Worths()
        self.complaint = ""
        self._replayed = self._answered = self.settings
        self._prepared: list[Prepared] = []
        self._newest = Newest()
        self._newest.wish()

    @property
    def waits_words(self) -> str:
        """What a replay is at work for, and why it takes long; '' where none is."""
        slow = "" if is_compiled() else SLOW
        if not self.knows_parameters:
            return f"finding the numbers that this run uses …{slow}"
        return f"replaying …{slow}" if self.is_behind else ""

    @property
    def is_behind(self) -> bool:
        """Whether the newest settings, even if those before were alike, are neither replayed nor
        complained of yet.
        """
        return self._answered is not self.settings

    def policies(self) -> list[HazardPolicy]:
        """The shipped ones."""
        return [resolve_policy(name) for name in shipped_policies()]

    def ask(self, settings: Settings) -> None:
        """These settings from now on; whatever was asked before and has not begun is dropped."""
        self.settings = settings
        self._newest.wish()

    def begin(self) -> bool:
        """Whether the caller is to start `work` in a thread: nobody is at it yet."""
        return self._newest.begin()

    def work(self, tell: Callable[[], None], is_cancelled: Callable[[], bool]) -> None:
        """Replays until nothing newer is asked for, then measures; `tell` after every result."""
        while True:
            while self._newest.take():
                settings = self.settings
                self._replay(settings)
                self._answered = settings
                self.knows_parameters = True
                tell()
            self._measure(tell, is_cancelled)
            if self._newest.may_end(is_cancelled=is_cancelled()):
                return

    def _replay(self, settings: Settings) -> None:
        if self.knows_parameters and settings == self._replayed:
            self.complaint = ""  # what was measured is as true as before
            return
        try:
            prepared = self._prepare(settings.policy)
            calibration = settings.calibration
            timeline = self.base if settings.is_base else time(prepared, calibration)
            self.parameters = parameters_used(prepared.graph, calibration)
        except KerntapeError as error:
            self.complaint = str(error)
            return
        self.timeline, self.complaint, self._replayed = timeline, "", settings
        self.worths = Worths()

    def _prepare(self, policy: HazardPolicy) -> Prepared:
        """Lowered for the policy, unless it is among the last ones asked for."""
        known = next((one for one in self._prepared if one.policy == policy), None)
        if known is None:
            known = prepare(self.base.trace, self.base.topology, policy)
        others = [one for one in self._prepared if one is not known]
        self._prepared = [known, *others][:MOST_PREPARED]
        return known

    def _measure(self, tell: Callable[[], None], is_cancelled: Callable[[], bool]) -> None:
        """The effect of every parameter and of every faster block, one after the other."""
        if self.complaint:
            return
        worths, settings = self.worths, self._replayed
        graph, calibration = self._prepare(settings.policy).graph, settings.calibration

        def stops() -> bool:
            return self._newest.is_wished or is_cancelled()

        for path in self.parameters:
            if stops():
                return
            if path not in worths.effects:
                worths.effects[path] = effect(graph, calibration, path)
                tell()
        lasting = durations(graph, calibration)
        worths.blocks = blocks_at_work(graph, lasting)
        for block in worths.blocks:
            for factor in FACTORS:
                if stops():
                    return
                if (block, factor) not in worths.sped_up_ps:
                    worths.sped_up_ps[block, factor] = sped_up_ps(graph, lasting, block, factor)
                    tell()
