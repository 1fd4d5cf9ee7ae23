"""Where the difference between two makespans comes from, exactly: from their critical paths.

Every picosecond of a makespan is on its critical path once: on a stage of the path while it ran and
its successor had not started, else as the latency before a stage. Added up by engine, kind of stage
and kernel line on both sides, the differences of all groups sum to the difference of the makespans.
"""

from dataclasses import dataclass
from enum import IntEnum

from ...schemas.commands import CommandForm
from ...schemas.stages import Block, StageKind
from ...schemas.timeline import Timeline
from .critical_path import critical_path, spent_ps

NO_STAGE = -1


class Level(IntEnum):
    """How finely the groups are told apart; each level includes those before it."""

    ENGINE = 0
    KIND = 1
    LINE = 2


@dataclass(frozen=True, slots=True)
class Group:
    """What a part of the path was spent on. `block` is None for latency.

    `kind` and `op_kind` (of a MATH stage) are None and '' at level ENGINE, `line` is '' above LINE.
    """

    block: Block | None
    channel: str = ""
    kind: StageKind | None = None
    op_kind: str = ""
    line: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """A group's time on each critical path, and the stage that spent most of it (or NO_STAGE)."""

    group: Group
    left_ps: int
    right_ps: int
    left_stage: int
    right_stage: int

    @property
    def change_ps(self) -> int:
        """What the group adds to the right makespan against the left."""
        return self.right_ps - self.left_ps


def differences(left: Timeline, right: Timeline, level: Level) -> tuple[Difference, ...]:
    """The groups by the size of what they change, largest first; those that change nothing last."""
    ours, theirs = _by_group(left, level), _by_group(right, level)
    nothing = (0, NO_STAGE)
    found = [
        Difference(
            group,
            ours.get(group, nothing)[0],
            theirs.get(group, nothing)[0],
            ours.get(group, nothing)[1],
            theirs.get(group, nothing)[1],
        )
        for group in dict.fromkeys([*ours, *theirs])
    ]
    return tuple(sorted(found, key=lambda one: -abs(one.change_ps)))


def _by_group(timeline: Timeline, level: Level) -> dict[Group, tuple[int, int]]:
    """Per group its time in ps and its longest stage, in the order of the path from its end."""
    found: dict[Group, tuple[int, int]] = {}
    longest: dict[Group, int] = {}
    path = critical_path(timeline)
    on_stage, after = spent_ps(timeline, path)
    before = [*after[1:].tolist(), *timeline.start_ps[path[-1:]].tolist()]
    for stage, run_ps, latency_ps in zip(path.tolist(), on_stage.tolist(), before, strict=True):
        for time_ps, is_latency in ((run_ps, False), (latency_ps, True)):
            if not time_ps:
                continue
            group = _group(timeline, stage, level, is_latency=is_latency)
            total, most = found.get(group, (0, NO_STAGE))
            if time_ps > longest.get(group, 0):
                longest[group], most = time_ps, stage
            found[group] = (total + time_ps, most)
    return found


def _group(timeline: Timeline, stage: int, level: Level, *, is_latency: bool) -> Group:
    engine = timeline.engines[timeline.stages.engine[stage]]
    block = None if is_latency else engine.block
    channel = "" if is_latency or engine.rank < 0 else engine.channel
    if level is Level.ENGINE:
        return Group(block, channel)
    kind = StageKind(int(timeline.stages.kind[stage]))
    line = str(timeline.line_of(stage)) if level is Level.LINE else ""
    return Group(block, channel, kind, _op_kind(timeline, stage, kind), line)


def _op_kind(timeline: Timeline, stage: int, kind: StageKind) -> str:
    op = int(timeline.stages.op[stage])
    if kind is not StageKind.MATH or op < 0:
        return ""
    trace, stages = timeline.trace, timeline.stages
    stream = trace.streams[trace.pes[stages.pe[stage]].stream]
    form: CommandForm = trace.forms[stream.forms[stages.command[stage]]]
    return form.ops[op].kind
