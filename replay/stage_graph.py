"""The stage graph: which stages exist, on which engine, released by what. Columns, not objects.

A stage becomes ready when all its releases have happened. A release is the end of another stage,
or its start, plus a lag. The graph depends on trace, topology and policy; a calibration only says
how long each duration class and each lag class lasts.
"""

from dataclasses import dataclass

from ..schemas.columns import Int8s, Int32s, Int64s
from ..schemas.stages import Engine, Stages
from ..schemas.timeline import DurationClass


@dataclass(frozen=True)
class Releases:
    """Who releases whom, grouped by the released stage (`offsets[s]` to `offsets[s + 1]`).

    releaser: stage id · from_start: 1 where the releaser's start counts, 0 where its end does ·
    lag_class: index into the graph's lag classes (class 0 is no lag) · why: a Why number.
    """

    offsets: Int64s
    releaser: Int32s
    from_start: Int8s
    lag_class: Int32s
    why: Int8s


@dataclass(frozen=True)
class CommandStages:
    """Per command, all PEs one after the other (`offsets[pe]` is a PE's first row).

    begin: the stage at whose start the command's accesses begin (its dispatch, or a composite's
    admission) · finish: the stage at whose end everything it does has happened.
    """

    offsets: Int64s
    dispatch: Int32s
    begin: Int32s
    finish: Int32s


@dataclass(frozen=True)
class HeldPairs:
    """The pairs that the policy orders by a release: one row a pair of commands of one PE.

    kind, pe, earlier, earlier_op, earlier_handle, later, later_op, later_handle, byte_from and
    byte_to are as in schemas.hazards.Hazards.
    """

    kind: Int8s
    pe: Int32s
    earlier: Int32s
    earlier_op: Int32s
    earlier_handle: Int32s
    later: Int32s
    later_op: Int32s
    later_handle: Int32s
    byte_from: Int64s
    byte_to: Int64s


@dataclass(frozen=True)
class StageGraph:
    """All that a runner needs but the times. `lag_classes[0]` is always the empty lag."""

    engines: tuple[Engine, ...]
    stages: Stages
    releases: Releases
    duration_classes: tuple[DurationClass, ...]
    lag_classes: tuple[DurationClass, ...]
    commands: CommandStages
    held: HeldPairs

    def __len__(self) -> int:
        return len(self.stages)


@dataclass(frozen=True)
class Durations:
    """Picoseconds per duration class and per lag class, int64, under one calibration.

    None is negative, and all stages' and releases' together stay below 2^62. At least 1 where a stage
    on an arbitrating engine has the class, or a release by a start.
    """

    stage_ps: Int64s
    lag_ps: Int64s
