"""Timelines with values: a built trace whose one HBM tensor, x, is kept and is the output."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from kerntape.replay.check_data.check import check_data
from kerntape.replay.check_data.findings import DataCheck
from kerntape.replay.replay import prepare, time
from kerntape.schemas.commands import CommandKind, OpForm
from kerntape.schemas.handles import Space
from kerntape.schemas.stages import StageKind
from kerntape.schemas.timeline import Timeline
from kerntape.schemas.trace import KeptInputs, TensorInfo

X_ELEMENTS = 256


@dataclass(frozen=True)
class Timed:
    """A replayed trace whose commands can be moved by hand."""

    timeline: Timeline

    def stage(self, kind: StageKind, number: int = 0) -> int:
        """The n-th stage of a kind."""
        return int(np.flatnonzero(self.timeline.stages.kind == kind)[number])

    def start(self, kind: StageKind, number: int = 0) -> int:
        return int(self.timeline.start_ps[self.stage(kind, number)])

    def end(self, kind: StageKind, number: int = 0) -> int:
        return int(self.timeline.end_ps[self.stage(kind, number)])

    def moved(
        self,
        kind: StageKind,
        number: int = 0,
        *,
        start: int | None = None,
        end: int | None = None,
    ) -> "Timed":
        """With one command at another time: so that the stage starts, or ends, then."""
        timeline, stage = self.timeline, self.stage(kind, number)
        by = end - self.end(kind, number) if end is not None else start - self.start(kind, number)
        stages = timeline.stages
        own = (stages.pe == stages.pe[stage]) & (stages.command == stages.command[stage])
        starts, ends = timeline.start_ps + own * by, timeline.end_ps + own * by
        return Timed(replace(timeline, start_ps=starts, end_ps=ends))

    def check(self) -> DataCheck:
        return check_data(self.timeline)


def add_math(
    build: Any, kind: str, sources: list[int], out: int, *, waits: list[int] | None = None
) -> int:
    """A math command with the operand names of the op table."""
    names = ("src", "other")[: len(sources)]
    op = OpForm(kind, names, True)
    return build.command(CommandKind.MATH, (op,), [*sources, out], waits=waits)


@pytest.fixture
def math() -> Callable[..., int]:
    return add_math


@pytest.fixture
def hbm() -> Callable[..., int]:
    """An f16 handle in x, at a byte offset."""
    return lambda build, shape, at: build.handle(shape, space=Space.HBM, at=at, label="x")


@pytest.fixture
def timed(topology: Any, calibration: Any, nothing_held: Any) -> Callable[..., Timed]:
    """Replays built traces with x = 1, 2, 3 … (f16) in every PE, by default under no policy."""

    def replayed(
        *builds: Any,
        machine: Any = topology,
        calibration: Any = calibration,
        policy: Any = nothing_held,
        x: np.ndarray | None = None,
    ) -> Timed:
        values = np.arange(1, X_ELEMENTS + 1) if x is None else x
        image = values.astype(np.float16).tobytes()
        trace = builds[0].trace(machine, *builds[1:])
        tensor = TensorInfo("x", (X_ELEMENTS,), "f16", "replicated", True)
        trace = replace(
            trace,
            header=replace(trace.header, tensors=(tensor,)),
            inputs=KeptInputs({(pe.rank, 0): image for pe in trace.pes}),
        )
        return Timed(time(prepare(trace, machine, policy), calibration))

    return replayed
