"""What the commands of one stream read and write: which handles and bytes, by which op."""

from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from ...schemas.columns import offsets_of
from ...schemas.commands import CommandForm, CommandKind
from ...schemas.footprints import Footprint, footprint
from ...schemas.trace import Stream, Trace
from .conflicts import NO_OP, Access
from .signatures import IN_TCM, accessed_slots, shapes_of, signatures_of

AGENTS = frozenset(
    (CommandKind.LOAD, CommandKind.COMPOSITE, CommandKind.SEND, CommandKind.RECV_ASYNC)
)
"""Commands that may still be at work when PE_CPU issues the next one."""

REMEMBERED = 1 << 14
"""Of how many commands a cache keeps what they touch: far more than are ever in flight."""

_ONE_BYTE = Footprint(0, 1, ())


class HandleUse(NamedTuple):
    """The handles that a command touches and writes, and the first slot of each. A read-write handle
    counts as both, whatever the ops do with it."""

    touched: frozenset[int]
    written: frozenset[int]
    slots: dict[int, int]


class StreamAccesses:
    """The accesses of a stream's commands, and what each command waits for.

    Per command: `kinds` (CommandKind numbers), `signatures` (see signatures.py) and `touches_hbm`
    (whether it touches a tensor that the stream writes: other HBM accesses cannot conflict).
    """

    def __init__(self, trace: Trace, stream: Stream) -> None:
        self._trace = trace
        self._stream = stream
        self._forms: list[int] = stream.forms.tolist()
        self._slot_offsets: list[int] = trace.slot_offsets(stream).tolist()
        self._accessed = tuple(accessed_slots(form) for form in trace.forms)
        self._slots_of_forms = tuple(map(_slots, trace.forms, self._accessed))
        found = signatures_of(trace, stream)
        self.signatures = found.of_command
        self.touches_hbm = found.touches_hbm
        self._representatives = found.representatives
        self._written_tensors = found.written_tensors
        self.kinds: list[int] = trace.form_kinds[stream.forms].tolist()
        self._waits = _waits(stream)
        self.in_tcm = lru_cache(maxsize=REMEMBERED)(self._in_tcm)
        self.in_hbm = lru_cache(maxsize=REMEMBERED)(self._in_hbm)
        self.handle_use = lru_cache(maxsize=REMEMBERED)(self._handle_use)

    def __len__(self) -> int:
        return len(self.kinds)

    def form(self, command: int) -> CommandForm:
        """The command's structure."""
        return self._trace.forms[self._forms[command]]

    def waits(self, command: int) -> Sequence[int]:
        """The earlier commands that PE_CPU waits for before it issues this one."""
        return self._waits.get(command, ())

    def accesses_anything(self, command: int) -> bool:
        """Whether the command touches memory at all: a wait and an overhead do not."""
        return bool(self._accessed[self._forms[command]])

    def by_handle(self, command: int, handles: Set[int]) -> Iterator[Access]:
        """What the command does with those handles, by op: each is a memory of one byte of its own."""
        ids = self._handle_ids(command)
        for op, slot, writes in self._accessed[self._forms[command]]:
            if ids[slot] in handles:
                yield Access(op, slot, writes, ids[slot], _ONE_BYTE)

    def declared(self, command: int, handles: Set[int]) -> Iterator[Access]:
        """Those of the handles that the command declares read-write: it reads and writes them."""
        for handle, slot in self.rw_handles(command).items():
            if handle in handles:
                yield Access(NO_OP, slot, False, handle, _ONE_BYTE)
                yield Access(NO_OP, slot, True, handle, _ONE_BYTE)

    @cached_property
    def shapes(self) -> list[int]:
        """Per command the number of its shape (see signatures.py)."""
        return shapes_of(self._trace, self._stream)

    def covered_by(self, command: int, slot: int) -> Footprint:
        """The bytes that the handle in a slot of the command covers in its memory."""
        return self._covered(int(self._stream.slots[self._slot_offsets[command] + slot]))

    def rw_handles(self, command: int) -> dict[int, int]:
        """The slots of the command's read-write handles, by handle id."""
        ids = self._handle_ids(command)
        return {ids[slot]: slot for slot in self.form(command).rw_slots}

    def _handle_ids(self, command: int) -> list[int]:
        bounds = slice(self._slot_offsets[command], self._slot_offsets[command + 1])
        ids: list[int] = self._stream.slots[bounds].tolist()
        return ids

    def _handle_use(self, command: int) -> HandleUse:
        ids = self._handle_ids(command)
        touched, written = self._slots_of_forms[self._forms[command]]
        slots = dict(zip([ids[slot] for slot in touched[::-1]], touched[::-1], strict=True))
        return HandleUse(frozenset(slots), frozenset([ids[slot] for slot in written]), slots)

    def _in_tcm(self, signature: int) -> tuple[Access, ...]:
        """What the commands of a signature touch in TCM."""
        accesses = self._by_memory(self._representatives[signature])
        return _first_uses(access for access in accesses if access.memory == IN_TCM)

    def _in_hbm(self, command: int) -> tuple[Access, ...]:
        """What a command touches in the tensors that the stream writes."""
        accesses = self._by_memory(command)
        return _first_uses(access for access in accesses if access.memory in self._written_tensors)

    def _by_memory(self, command: int) -> list[Access]:
        ids = self._handle_ids(command)
        tensors = self._stream.tensors
        return [
            Access(op, slot, writes, int(tensors[ids[slot]]), self._covered(ids[slot]))
            for op, slot, writes in self._accessed[self._forms[command]]
        ]

    def _covered(self, handle: int) -> Footprint:
        geometry = self._trace.geometries[int(self._stream.geometries[handle])]
        return footprint(geometry, int(self._stream.addresses[handle]))


def _slots(
    form: CommandForm, accessed: Sequence[tuple[int, int, bool]]
) -> tuple[list[int], list[int]]:
    """The slots that are touched, those of the ops first, and those that are written; what is
    declared read-write is both."""
    touched = [slot for _, slot, _ in accessed]
    written = [slot for _, slot, writes in accessed if writes]
    return [*touched, *form.rw_slots], [*written, *form.rw_slots]


def _waits(stream: Stream) -> dict[int, list[int]]:
    """The waits of the commands that have any: most have none."""
    bounds = offsets_of(stream.wait_counts)
    flat = stream.waits.tolist()
    waiting = np.flatnonzero(stream.wait_counts)
    starts, stops = bounds[waiting].tolist(), bounds[waiting + 1].tolist()
    return {
        command: flat[start:stop]
        for command, start, stop in zip(waiting.tolist(), starts, stops, strict=True)
    }


def _first_uses(accesses: Iterable[Access]) -> tuple[Access, ...]:
    """Of the reads, and of the writes, of the same bytes only the first: no other is ever told."""
    first: dict[tuple[bool, int, Footprint], Access] = {}
    for access in accesses:
        first.setdefault((access.writes, access.memory, access.covered), access)
    return tuple(first.values())
