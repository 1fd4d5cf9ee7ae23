"""The stages of a trace with what they work on: their command's form, handles, tile step and message."""

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from ...schemas.columns import Int64s
from ...schemas.commands import CommandForm, CommandKind, Scope
from ...schemas.handles import Handle, Space
from ...schemas.stages import StageKind, Stages
from ...schemas.tiling import TileStep, gemm_steps
from ...schemas.topology import Tile, Topology
from ...schemas.trace import Trace
from ..command_plan import NONE

REMEMBERED = 1 << 14

CommandAt: TypeAlias = tuple[int, int]
"""(index into Trace.pes, index in the PE's stream)."""

FragmentName: TypeAlias = tuple[int, str, int]
"""(index of the sender into Trace.pes, its direction, the fragment's number in that queue)."""


@dataclass(frozen=True, slots=True)
class LoopForm:
    """The tile loop of a command's form.

    `shape` is the product's [m, n], `slots` those of the operands a and b. The result of op `adds`
    is added to the sum over k, that of op `writes` is written.
    """

    shape: tuple[int, int]
    steps: tuple[TileStep, ...]
    slots: dict[str, int]
    adds: int
    writes: int


class Program:
    """The stages of a trace on a machine, as columns: `kinds`, `pes`, `commands`, `ops`, `tiles`.

    Stage numbers are those of `stages`, which must be whole: no stage of a command is missing.
    """

    def __init__(self, trace: Trace, topology: Topology, stages: Stages) -> None:
        self.trace = trace
        self.kinds: list[int] = stages.kind.tolist()
        self.pes: list[int] = stages.pe.tolist()
        self.commands: list[int] = stages.command.tolist()
        self.ops: list[int] = stages.op.tolist()
        self.tiles: list[int] = stages.tile.tolist()
        self._topology = topology
        self._streams = [pe.stream for pe in trace.pes]
        self._forms: list[list[int]] = [stream.forms.tolist() for stream in trace.streams]
        self._slot_offsets = [trace.slot_offsets(stream) for stream in trace.streams]
        self._first_stages = _first_stages(stages, len(trace.pes))
        self._handle = lru_cache(maxsize=REMEMBERED)(self._find_handle)
        self._loops = [_loop_form(form, topology.pe.tile) for form in trace.forms]
        self.fragment_of = self._fragments()
        self.fragment_bytes = topology.ipcq.slot_bytes

    def at(self, stage: int) -> CommandAt:
        """The command that a stage belongs to."""
        return self.pes[stage], self.commands[stage]

    def stages_of(self, pe: int, command: int) -> range:
        """A command's stages."""
        first = self._first_stages[pe]
        return range(first[command], first[command + 1])

    def form(self, pe: int, command: int) -> CommandForm:
        """A command's structure."""
        return self.trace.forms[self._forms[self._streams[pe]][command]]

    def handles(self, pe: int, command: int) -> list[Handle]:
        """What fills a command's slots."""
        stream = self._streams[pe]
        slots = range(self.form(pe, command).slot_count)
        return [self._handle(stream, command, slot) for slot in slots]

    def form_of(self, stage: int) -> CommandForm:
        """The structure of a stage's command."""
        return self.trace.forms[self._form_number(stage)]

    def _form_number(self, stage: int) -> int:
        return self._forms[self._streams[self.pes[stage]]][self.commands[stage]]

    def handle(self, stage: int, slot: int) -> Handle:
        """What fills a slot of the stage's command."""
        return self._handle(self._streams[self.pes[stage]], self.commands[stage], slot)

    def _find_handle(self, stream: int, command: int, slot: int) -> Handle:
        columns = self.trace.streams[stream]
        row = self._slot_offsets[stream][command] + slot
        return self.trace.handle(columns, int(columns.slots[row]))

    def in_hbm(self, stage: int, slot: int) -> bool:
        """Whether the handle in a slot of the stage's command lies in HBM."""
        return self.handle(stage, slot).geometry.space is Space.HBM

    def runs_once(self, stage: int) -> bool:
        """Whether the stage is no part of a tile loop and no fragment of a message."""
        return self.tiles[stage] == NONE

    def loop(self, stage: int) -> LoopForm:
        """The tile loop of the stage's command."""
        found = self._loops[self._form_number(stage)]
        assert found is not None, "only a GEMM has a tile loop"
        return found

    def step(self, stage: int) -> TileStep:
        """The step of the tile loop that the stage is part of."""
        return self.loop(stage).steps[self.tiles[stage]]

    def streamed_operand(self, stage: int) -> str:
        """Which operand an HBM_READ of a tile loop reads: of a step's two reads the first is b's."""
        b_is_read = self.step(stage).first_m and self.in_hbm(stage, self.loop(stage).slots["b"])
        is_second = self.kinds[stage - 1] == StageKind.DMA_READ
        return "b" if b_is_read and not is_second else "a"

    def fetched_operands(self, stage: int) -> list[str]:
        """Which operands a FETCH reads: those in TCM, b at its first m only."""
        slots = self.loop(stage).slots
        wanted = ("a", "b") if self.step(stage).first_m else ("a",)
        return [name for name in wanted if not self.in_hbm(stage, slots[name])]

    def _fragments(self) -> dict[int, FragmentName]:
        """Per SEND and RECV stage, the fragment that it moves: a queue's n-th of each are one."""
        place_of = {pe.rank: place for place, pe in enumerate(self.trace.pes)}
        counts: dict[tuple[int, int, str], int] = {}
        fragments: dict[int, FragmentName] = {}
        for stage, kind in enumerate(self.kinds):
            if kind not in (StageKind.SEND, StageKind.RECV):
                continue
            pe, direction = self.pes[stage], self.form_of(stage).direction
            number = counts.get((kind, pe, direction), 0)
            counts[kind, pe, direction] = number + 1
            if kind == StageKind.RECV:
                sender = self._topology.peer(self.trace.pes[pe].rank, direction)
                assert sender is not None, "a trace receives from PEs of its launch only"
                pe, direction = place_of[sender], self._topology.directions[direction].opposite
            fragments[stage] = pe, direction, number
        return fragments


def _first_stages(stages: Stages, pes: int) -> list[list[int]]:
    """Per PE, where each command's stages begin, and one past the last."""
    starts = np.flatnonzero(np.diff(stages.command, prepend=-1) | np.diff(stages.pe, prepend=-1))
    bounds: Int64s = np.searchsorted(stages.pe[starts], np.arange(pes + 1))
    edges = np.append(starts, len(stages))
    return [edges[bounds[pe] : bounds[pe + 1] + 1].tolist() for pe in range(pes)]


def _loop_form(form: CommandForm, tile: Tile) -> LoopForm | None:
    if form.kind not in (CommandKind.DOT, CommandKind.COMPOSITE) or form.gemm_index is None:
        return None
    op, slots = form.ops[form.gemm_index], form.op_slots[form.gemm_index]
    m, k, n = op.integer("m"), op.integer("k"), op.integer("n")
    inside = list(enumerate(form.ops))[form.gemm_index + 1 :]
    adds = max((i for i, op in inside if op.scope is Scope.K_TILE), default=form.gemm_index)
    writes = max((i for i, op in inside if op.scope is Scope.OUTPUT_TILE), default=adds)
    return LoopForm(
        shape=(m, n),
        steps=tuple(gemm_steps(m, k, n, tile)),
        slots={name: slots[op.operands.index(name)] for name in ("a", "b")},
        adds=adds,
        writes=writes,
    )
