"""Finds the commands of a stream that are alike to a comparison, column by column.

Commands of one form whose accessed TCM handles lie at the same places have the same *signature*,
whatever their handle ids are: they are alike to a comparison of bytes. Commands of one form that
have equal handles in the same slots, of the same geometries, have the same *shape*: they are alike
to a comparison of handles. A tile loop has about as many signatures as its scratch slots rotate
through, and hardly any shapes, so these are compared instead of pairs of commands.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...schemas.columns import Bools, Int32s, Int64s, offsets_of
from ...schemas.commands import CommandForm, CommandKind
from ...schemas.trace import Stream, Trace

IN_TCM = -1
NO_SIGNATURE = -1

_IDLE = frozenset((CommandKind.WAIT, CommandKind.OVERHEAD))


def accessed_slots(form: CommandForm) -> tuple[tuple[int, int, bool], ...]:
    """(op, slot, whether it writes) of every access, by op, reads first. A wait accesses nothing."""
    if form.kind in _IDLE:
        return ()
    reads = [(op, slot, False) for op, slot in form.read_slots]
    writes = [(op, slot, True) for op, slot in form.write_slots]
    return tuple(sorted(reads + writes, key=lambda access: (access[0], access[2], access[1])))


@dataclass(frozen=True)
class Signatures:
    """Per command its signature (NO_SIGNATURE where it touches no TCM) and whether it touches a
    tensor that the stream writes; per signature, the first command that has it."""

    of_command: list[int]
    touches_hbm: list[bool]
    representatives: list[int]
    written_tensors: frozenset[int]


def signatures_of(trace: Trace, stream: Stream) -> Signatures:
    """The signatures of a stream's commands."""
    slot_offsets = trace.slot_offsets(stream)
    groups = list(_accessed_handles(trace, stream, slot_offsets))
    written = accessed_tensors(trace, stream, writes=True)
    in_written = np.isin(stream.tensors, sorted(written))
    places = _tcm_places(stream)
    of_command = np.full(stream.command_count, NO_SIGNATURE, dtype=np.int64)
    touches_hbm: Bools = np.zeros(stream.command_count, dtype=np.bool_)
    representatives: list[int] = []
    for rows, handles in groups:
        touches_hbm[rows] = in_written[handles].any(axis=1)
        in_tcm = (places[handles] >= 0).any(axis=1)
        _intern(places[handles[in_tcm]], rows[in_tcm], of_command, representatives)
    return Signatures(of_command.tolist(), touches_hbm.tolist(), representatives, written)


def shapes_of(trace: Trace, stream: Stream) -> list[int]:
    """Per command the number of its shape."""
    slot_offsets = trace.slot_offsets(stream)
    of_command = np.zeros(stream.command_count, dtype=np.int64)
    first_of_shapes: list[int] = []
    for form, rows in _commands_by_form(trace, stream):
        handles = stream.slots[slot_offsets[rows][:, None] + np.arange(form.slot_count)]
        alike = _first_equal(handles) * len(trace.geometries) + stream.geometries[handles]
        _intern(alike, rows, of_command, first_of_shapes)
    shapes: list[int] = of_command.tolist()
    return shapes


def _first_equal(handles: Int32s) -> Int32s:
    """Per command and slot [n, slots], the first slot that holds the same handle."""
    first = np.empty_like(handles)
    for slot in range(handles.shape[1]):
        equal = handles[:, : slot + 1] == handles[:, slot : slot + 1]
        first[:, slot] = equal.argmax(axis=1)
    return first


def _accessed_handles(
    trace: Trace, stream: Stream, slot_offsets: Int64s
) -> Iterator[tuple[Int64s, Int32s]]:
    """Per form that accesses anything: its commands [n], and the handles they access [n, accesses]."""
    for form, rows in _commands_by_form(trace, stream):
        slots = [slot for _, slot, _ in accessed_slots(form)]
        if slots:
            yield rows, stream.slots[slot_offsets[rows][:, None] + np.array(slots)]


def _commands_by_form(trace: Trace, stream: Stream) -> Iterator[tuple[CommandForm, Int64s]]:
    by_form = np.argsort(stream.forms, kind="stable")
    bounds = offsets_of(np.bincount(stream.forms, minlength=len(trace.forms)))
    for form, start, stop in zip(trace.forms, bounds, bounds[1:], strict=False):
        if start < stop:
            yield form, by_form[start:stop]


def accessed_tensors(trace: Trace, stream: Stream, writes: bool) -> frozenset[int]:
    """The numbers of the HBM tensors that the stream's commands write, or those that they read."""
    slot_offsets = trace.slot_offsets(stream)
    accessed: set[int] = set()
    for form, rows in _commands_by_form(trace, stream):
        slots = [slot for _, slot, is_write in accessed_slots(form) if is_write is writes]
        if slots:
            handles = stream.slots[slot_offsets[rows][:, None] + np.array(slots)]
            accessed.update(np.unique(stream.tensors[handles]).tolist())
    return frozenset(accessed - {IN_TCM})


def _tcm_places(stream: Stream) -> Int32s:
    """Per handle a number that equals another's where geometry and TCM address do; −1 in HBM."""
    places = np.full(stream.handle_count, -1, dtype=np.int32)
    in_tcm = np.flatnonzero(stream.tensors == IN_TCM)
    addresses = stream.addresses[in_tcm]
    keys = stream.geometries[in_tcm] * (addresses.max(initial=0) + 1) + addresses
    places[in_tcm] = np.unique(keys, return_inverse=True)[1]
    return places


def _intern(
    alike: Int32s, commands: Int64s, of_command: Int64s, representatives: list[int]
) -> None:
    """Numbers the distinct rows of `alike` [n, columns], one row a command, from the number of
    `representatives` on; adds the first command of each, and writes the numbers to `of_command`."""
    key_bytes = alike.shape[1] * alike.itemsize
    keys = alike.tobytes()
    numbers: dict[bytes, int] = {}
    for row, command in enumerate(commands.tolist()):
        key = keys[row * key_bytes : (row + 1) * key_bytes]
        number = numbers.setdefault(key, len(representatives))
        if number == len(representatives):
            representatives.append(command)
        of_command[command] = number
