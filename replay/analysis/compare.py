"""Lines two timelines up: moments of one that mean the same in the other.

The finest of three rules that the two allow:

STAGE     the same stages: one trace under two calibrations or policies. Stage i is stage i.
COMMAND   the same commands of the same kernel: another structure (tile sizes, a run that stopped).
          A command is done when its last stage ends.
TILE      two kernels over the same data. The moment is when a tile of an input has been used: the
          tile is known by the HBM tensor's name and the byte offset of the operand, and it is used
          when the first command of the PE that reads it there is done. Tiles of one width therefore
          meet one to one, and of two widths where they begin together. What moves first does not
          matter: a kernel that reads K ahead is ahead there, and V tells when the tile was folded.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ...schemas.columns import Bools, Int32s, Int64s
from ...schemas.errors import ConfigError
from ...schemas.stages import Stages
from ...schemas.timeline import Timeline
from ...schemas.trace import Trace

COMMANDS = -1
"""In `Alignment.tensor`: the row is a stage or a command, not a tile."""

_WORK = ("kind", "pe", "command", "op", "tile")


class Unit(StrEnum):
    """What is lined up."""

    STAGE = "stage"
    COMMAND = "command"
    TILE = "tile"


@dataclass(frozen=True)
class Alignment:
    """One row a moment, in the order of the left timeline's times within each PE.

    pe: index into the left trace's pes · left, right: the stages whose ends are the moments ·
    left_ps, right_ps: those ends · tensor: index into `tensors`, or COMMANDS · number: the stage or
    the command; of a tile, its place among the tiles of its tensor. `offsets[pe]` to
    `offsets[pe + 1]` are a PE's rows.
    """

    unit: Unit
    tensors: tuple[str, ...]
    offsets: Int64s
    pe: Int32s
    left: Int32s
    right: Int32s
    left_ps: Int64s
    right_ps: Int64s
    tensor: Int32s
    number: Int64s

    def __len__(self) -> int:
        return len(self.pe)

    def first_divergence(self) -> int:
        """The row at which the two are apart for the first time (by the earlier of its two moments,
        the least row on a tie), or −1 where they never are."""
        apart = np.flatnonzero(self.left_ps != self.right_ps)
        if not len(apart):
            return -1
        earlier = np.minimum(self.left_ps[apart], self.right_ps[apart])
        return int(apart[int(earlier.argmin())])


def align(left: Timeline, right: Timeline) -> Alignment:
    """The alignment by the finest rule. Raises ConfigError where the two have nothing in common."""
    if _have_equal_stages(left.stages, right.stages) and same_commands(left.trace, right.trace):
        stages = np.arange(len(left.stages), dtype=np.int32)
        numbers = stages.astype(np.int64)
        return _alignment(left, right, Unit.STAGE, stages, stages, _commands(numbers), numbers)
    if same_commands(left.trace, right.trace):
        return _by_command(left, right)
    return _by_tile(left, right)


def same_commands(left: Trace, right: Trace) -> bool:
    """Whether every PE issues the same commands, as far as their structure and source lines go."""
    if left is right:
        return True
    if [pe.rank for pe in left.pes] != [pe.rank for pe in right.pes]:
        return False
    known: dict[tuple[int, int], bool] = {}
    for one, other in zip(left.pes, right.pes, strict=True):
        pair = one.stream, other.stream
        if pair not in known:
            known[pair] = _equal_streams(left, right, *pair)
        if not known[pair]:
            return False
    return True


def _equal_streams(left: Trace, right: Trace, one: int, other: int) -> bool:
    mine, theirs = left.streams[one], right.streams[other]
    if mine.command_count != theirs.command_count:
        return False
    pairs = np.unique(np.stack([mine.forms, theirs.forms, mine.lines, theirs.lines]), axis=1)
    return all(
        left.forms[a] == right.forms[b] and left.lines[c] == right.lines[d]
        for a, b, c, d in pairs.T.tolist()
    )


def _have_equal_stages(left: Stages, right: Stages) -> bool:
    if left is right:
        return True
    return len(left) == len(right) and all(
        np.array_equal(getattr(left, name), getattr(right, name)) for name in _WORK
    )


def _alignment(
    left: Timeline,
    right: Timeline,
    unit: Unit,
    one: Int32s,
    other: Int32s,
    tensor: Int32s,
    number: Int64s,
    tensors: tuple[str, ...] = (),
) -> Alignment:
    """The rows in order."""
    pe, left_ps = left.stages.pe[one], left.end_ps[one]
    order = np.lexsort((one, left_ps, pe))
    bounds = np.arange(len(left.trace.pes) + 1)
    return Alignment(
        unit=unit,
        tensors=tensors,
        offsets=np.searchsorted(pe[order], bounds).astype(np.int64),
        pe=pe[order],
        left=one[order],
        right=other[order],
        left_ps=left_ps[order],
        right_ps=right.end_ps[other][order],
        tensor=tensor[order],
        number=number[order],
    )


def _commands(like: Int64s) -> Int32s:
    return np.full(len(like), COMMANDS, dtype=np.int32)


@dataclass(frozen=True)
class _Done:
    """Per command that has stages, by key (PE · 2³² + command), the stage with which it is done."""

    keys: Int64s
    stage: Int32s

    def of(self, keys: Int64s) -> Int32s:
        """The stages of those commands, −1 for one that has none."""
        if not len(self.keys):
            return np.full(len(keys), -1, dtype=np.int32)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[at] == keys, self.stage[at], -1).astype(np.int32)


def _done(timeline: Timeline) -> _Done:
    """Of several stages that end last, the first counts."""
    stages = timeline.stages
    keys = (stages.pe.astype(np.int64) << 32) + stages.command
    order = np.lexsort((-np.arange(len(keys)), timeline.end_ps, keys))
    is_last: Bools = np.append(np.diff(keys[order]) != 0, True)[: len(keys)]
    return _Done(keys[order][is_last], order[is_last].astype(np.int32))


def _by_command(left: Timeline, right: Timeline) -> Alignment:
    ours, theirs = _done(left), _done(right)
    other = theirs.of(ours.keys)
    both = other >= 0
    numbers = ours.keys[both] & ((1 << 32) - 1)
    return _alignment(
        left, right, Unit.COMMAND, ours.stage[both], other[both], _commands(numbers), numbers
    )


_Tile = tuple[int, str, int]
"""A PE's rank, a tensor's name, a byte offset in it."""


def _by_tile(left: Timeline, right: Timeline) -> Alignment:
    ours, theirs = _tiles(left), _tiles(right)
    common = sorted(ours.keys() & theirs.keys())
    if not common:
        raise ConfigError(
            "the two timelines must run the same commands, or read the same parts of tensors of the"
            " same names, to be compared; these have nothing in common"
        )
    names = tuple(sorted({name for _, name, _ in common}))
    return _alignment(
        left,
        right,
        Unit.TILE,
        np.array([ours[tile] for tile in common], dtype=np.int32),
        np.array([theirs[tile] for tile in common], dtype=np.int32),
        np.array([names.index(name) for _, name, _ in common], dtype=np.int32),
        np.array(list(_places(common)), dtype=np.int64),
        names,
    )


def _places(common: list[_Tile]) -> Iterator[int]:
    """Each tile's place among those of the same PE and tensor; they are sorted."""
    before, place = None, 0
    for rank, name, _ in common:
        place = place + 1 if (rank, name) == before else 0
        before = rank, name
        yield place


def _tiles(timeline: Timeline) -> dict[_Tile, int]:
    """Per tile, the stage with which the first command that reads it is done."""
    trace, done = timeline.trace, _done(timeline)
    found: dict[_Tile, int] = {}
    first_reads = [_first_reads(trace, number) for number in range(len(trace.streams))]
    for pe, entry in enumerate(trace.pes):
        reads = first_reads[entry.stream]
        names = {tensor: trace.tensor_name(entry, tensor) for tensor, _ in reads}
        keys = np.array(list(reads.values()), dtype=np.int64) + (pe << 32)
        for (tensor, offset), stage in zip(reads, done.of(keys).tolist(), strict=True):
            if stage >= 0:
                found[entry.rank, names[tensor], offset] = stage
    return found


def _first_reads(trace: Trace, number: int) -> dict[tuple[int, int], int]:
    """Per (tensor, offset) that a stream reads, the first command that does."""
    stream = trace.streams[number]
    offsets = trace.slot_offsets(stream)
    found: dict[tuple[int, int], int] = {}
    in_hbm = stream.tensors >= 0
    for command, form in enumerate(stream.forms.tolist()):
        slots = stream.slots[offsets[command] : offsets[command + 1]]
        for _, slot in trace.forms[form].read_slots:
            handle = int(slots[slot])
            if in_hbm[handle]:
                place = int(stream.tensors[handle]), int(stream.addresses[handle])
                found.setdefault(place, command)
    return found
