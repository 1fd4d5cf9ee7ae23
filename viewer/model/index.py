"""A timeline arranged for looking at: lanes, rows, commands and hazards, each worked out on demand, once."""

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast

import numpy as np

from ...schemas.columns import Int32s, Int64s
from ...schemas.commands import CommandForm
from ...schemas.handles import Handle
from ...schemas.stages import Engine, StageKind
from ...schemas.timeline import Timeline
from ...schemas.trace import SourceLine, Stream
from .groups import Group, Groups
from .lane import Lane
from .lanes import Lanes
from .tones import PAINT_OF_KIND, Paint
from .tree import Row, Tree, place_names, tree_of

NO_STAGE = -1

Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Commands:
    """Where each command's stages are: command `keys[i]` has the stages first[i] … first[i + 1] − 1.

    A key is PE · 2³² + command, so the keys are sorted as the stages are.
    """

    keys: Int64s
    first: Int32s

    def find(self, pe: Int32s, command: Int32s) -> Int64s:
        """The positions of commands, −1 for those that have no stage."""
        wanted = command_keys(pe, command)
        at = np.searchsorted(self.keys, wanted)
        at[at == len(self.keys)] = 0
        found = self.keys[at] == wanted if len(self.keys) else np.zeros(len(at), np.bool_)
        return np.where(found, at, -1)

    def position(self, pe: int, command: int) -> int:
        """Where that command is, or would be inserted."""
        return int(np.searchsorted(self.keys, (pe << 32) + command))

    def stages(self, position: int) -> range:
        """The stage ids of the command at a position."""
        return range(int(self.first[position]), int(self.first[position + 1]))


def command_keys(pe: Int32s, command: Int32s) -> Int64s:
    """Sortable numbers of (PE, command) pairs."""
    return (np.asarray(pe, dtype=np.int64) << 32) + command


class TimelineIndex:
    """A timeline and what has been worked out about it. `name` is the file's, for the header.

    `before_ps` is the makespan of the timeline that this one took the place of, None without one;
    `beside_ps` that of one which is shown beside it, on the same axis of time.
    """

    def __init__(
        self, timeline: Timeline, name: str, before_ps: int | None = None, beside_ps: int = 0
    ) -> None:
        self.timeline = timeline
        self.name = name
        self.before_ps = before_ps
        self._beside_ps = beside_ps
        self.lanes = Lanes(timeline)
        self._groups = Groups(self.lanes, timeline.stages.kind)
        self._slot_offsets: dict[int, Int64s] = {}
        self._kept: dict[Hashable, object] = {}
        self._locks: dict[Hashable, threading.RLock] = {}

    def __len__(self) -> int:
        return len(self.timeline.start_ps)

    def once(self, what: Hashable, work: Callable[[], Kept]) -> Kept:
        """The result of some work on this timeline, done when it is first asked for.

        A second thread that asks meanwhile waits for it.
        """
        kept = self._kept
        if what not in kept:
            with self._locks.setdefault(what, threading.RLock()):
                if what not in kept:
                    kept[what] = work()
        return cast(Kept, kept[what])

    def forget(self) -> None:
        """Lets go of those results: they refer to this timeline, which would outlive its use by that."""
        self._kept = {}

    @cached_property
    def tree(self) -> Tree:
        """The rows, folded or not."""
        busy = [lane for lane in range(len(self.lanes)) if self.lanes.count(lane)]
        return tree_of(self.timeline, busy)

    @property
    def span_ps(self) -> int:
        """What the whole picture shows: the makespan, and its last instant too."""
        return max(self.timeline.makespan_ps, self._beside_ps) + 1

    # ---------------------------------------------------------------- one stage

    def start(self, stage: int) -> int:
        return int(self.timeline.start_ps[stage])

    def end(self, stage: int) -> int:
        return int(self.timeline.end_ps[stage])

    def ready(self, stage: int) -> int:
        return int(self.timeline.ready_ps[stage])

    def cause(self, stage: int) -> int:
        """The stage that let this one start, or NO_STAGE."""
        return int(self.timeline.cause[stage])

    def kind(self, stage: int) -> StageKind:
        return StageKind(int(self.timeline.stages.kind[stage]))

    def paint(self, stage: int) -> Paint:
        return Paint(int(PAINT_OF_KIND[self.timeline.stages.kind[stage]]))

    def lane_of(self, stage: int) -> int:
        return int(self.timeline.stages.engine[stage])

    def engine(self, stage: int) -> Engine:
        return self.timeline.engines[self.lane_of(stage)]

    def pe(self, stage: int) -> int:
        return int(self.timeline.stages.pe[stage])

    def command(self, stage: int) -> int:
        return int(self.timeline.stages.command[stage])

    def op(self, stage: int) -> int:
        return int(self.timeline.stages.op[stage])

    def tile(self, stage: int) -> int:
        return int(self.timeline.stages.tile[stage])

    def lane(self, lane: int) -> Lane:
        """A lane's stages in the order of their starts."""
        return self.lanes.lane(lane)

    def engine_idle_before(self, stage: int) -> int:
        """How long the stage's engine had nothing to do before it started, in ps."""
        lane = self.lane(self.lane_of(stage))
        position = lane.position(stage, self.start(stage))
        before = int(lane.covered_ends[position - 1]) if position else 0
        return max(0, self.start(stage) - before)

    def released_by(self, stage: int) -> Int64s:
        """The stages whose cause is this one, in the order (start, stage id)."""
        released, cause = self.by_cause, self.timeline.cause
        first = bisect_left(released, stage, key=cause.item)
        past = bisect_right(released, stage, lo=first, key=cause.item)
        ids = released[first:past].astype(np.int64)
        return ids[np.argsort(self.timeline.start_ps[ids], kind="stable")]

    @property
    def by_cause(self) -> Int32s:
        """All stages in the order (cause, stage id)."""
        return self.once("by cause", lambda: _ascending(self.timeline.cause))

    @property
    def by_start(self) -> Int32s:
        """All stages in the order (start, stage id)."""
        return self.once("by start", lambda: _ascending(self.timeline.start_ps))

    def place_in_time(self, stage: int) -> int:
        """A stage's place in that order."""

        def moment(one: int) -> tuple[int, int]:
            return self.start(one), int(one)

        return bisect_left(self.by_start, moment(stage), key=moment)

    # ---------------------------------------------------------------- commands

    @cached_property
    def commands(self) -> Commands:
        """Every command that has stages, in stage-id order."""
        stages = self.timeline.stages
        if not len(self):
            return Commands(np.zeros(0, np.int64), np.zeros(1, np.int32))
        new = (stages.pe[1:] != stages.pe[:-1]) | (stages.command[1:] != stages.command[:-1])
        first = np.concatenate(([0], np.flatnonzero(new) + 1))
        keys = command_keys(stages.pe[first], stages.command[first])
        return Commands(keys, np.append(first, len(self)).astype(np.int32))

    def command_position(self, stage: int) -> int:
        """The position of a stage's command among `commands`."""
        return self.commands.position(self.pe(stage), self.command(stage))

    def stream(self, pe: int) -> Stream:
        """The commands of a PE (an index into Trace.pes)."""
        trace = self.timeline.trace
        return trace.streams[trace.pes[pe].stream]

    def form(self, pe: int, command: int) -> CommandForm:
        """A command's structure."""
        return self.timeline.trace.forms[int(self.stream(pe).forms[command])]

    def line(self, pe: int, command: int) -> SourceLine:
        """The kernel's source line that issued a command."""
        return self.timeline.trace.lines[int(self.stream(pe).lines[command])]

    def handle(self, pe: int, handle_id: int) -> Handle:
        """A handle of a PE's stream."""
        return self.timeline.trace.handle(self.stream(pe), handle_id)

    def handles(self, pe: int, command: int) -> tuple[Handle, ...]:
        """A command's handles, in the order of its form's slots."""
        trace, stream = self.timeline.trace, self.stream(pe)
        number = trace.pes[pe].stream
        if number not in self._slot_offsets:
            self._slot_offsets[number] = trace.slot_offsets(stream)
        offsets = self._slot_offsets[number]
        ids = stream.slots[offsets[command] : offsets[command + 1]]
        return tuple(trace.handle(stream, int(handle_id)) for handle_id in ids)

    @cached_property
    def pe_names(self) -> tuple[str, ...]:
        """Per PE of the trace, its name: `PE 3`, or `CUBE 2 PE 3` where there are several CUBEs."""
        ranks = [pe.rank for pe in self.timeline.trace.pes]
        names = place_names(self.timeline, ranks)
        return tuple(" ".join(names[rank]) for rank in ranks)

    # ---------------------------------------------------------------- rows

    def group(self, row: Row) -> Group:
        """The lanes of a row, added up."""
        return self._groups.of(row)


def _ascending(values: Int32s | Int64s) -> Int32s:
    """Places in the order (value, place); quick where the values mostly ascend already."""
    return np.argsort(values, kind="stable").astype(np.int32)
