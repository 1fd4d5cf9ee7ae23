"""A trace: every PE's commands in program order, as capture recorded them. No clock, no values.

PEs whose streams are equal share one `Stream`. Within a stream everything counts within the PE:
handle ids, waits, queue positions. What differs between PEs that share a stream is only where
their HBM tensors lie (`PeEntry.owners`, `PeEntry.bases`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .columns import Int32s, Int64s, offsets_of
from .commands import CommandForm, CommandKind
from .handles import Geometry, Handle, Space


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a kernel's source. `file` is a name without a machine's path."""

    file: str
    number: int
    function: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """A tensor that launch() allocated: what the kernel was given, not its values."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    placement: str
    is_output: bool


@dataclass(frozen=True, eq=False)
class Stream:
    """The commands of one PE (or of several alike), as columns.

    Per command: `forms` (index into Trace.forms), `lines` (index into Trace.lines), `wait_counts`.
    Flat over commands: `slots`, the handle ids that fill each form's slots in order; `waits`, the
    indexes of earlier commands that PE_CPU waits for before it issues this one.
    Per handle: `geometries` (index into Trace.geometries), `addresses` (TCM byte address, or byte
    offset in its HBM tensor), `tensors` (number of the HBM tensor in the PE's entry; −1 in TCM),
    `labels` (index into Trace.strings).
    """

    forms: Int32s
    lines: Int32s
    wait_counts: Int32s
    slots: Int32s
    waits: Int32s
    geometries: Int32s
    addresses: Int64s
    tensors: Int32s
    labels: Int32s

    @property
    def command_count(self) -> int:
        return len(self.forms)

    @property
    def handle_count(self) -> int:
        return len(self.geometries)

    def __eq__(self, other: object) -> bool:
        """Whether every column holds the same values."""
        if not isinstance(other, Stream):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in STREAM_COLUMNS
        )

    __hash__ = None  # type: ignore[assignment]  # its columns could change under a hash


STREAM_COLUMNS = (
    "forms",
    "lines",
    "wait_counts",
    "slots",
    "waits",
    "geometries",
    "addresses",
    "tensors",
    "labels",
)


class PeEntry(NamedTuple):
    """One PE of the launch. A tuple, as a trace that was read has thousands of them.

    `owners[t]` is the rank whose HBM holds tensor t as this PE sees it, `bases[t]` its address there.
    """

    rank: int
    stream: int
    owners: tuple[int, ...]
    bases: tuple[int, ...]


@dataclass(frozen=True)
class TraceHeader:
    """What the commands depend on, and nothing else: no time, seed, data mode or machine path.

    `topology` is the whole machine as plain data (schemas.topology.Topology reads it back).
    `arguments` are the kernel's, defaults included. `sources` maps a source file's name to the
    SHA-256 of its text.
    """

    kernel: str
    arguments: dict[str, Any]
    topology: dict[str, Any]
    grid: tuple[int, int, int]
    tool_version: str
    sources: dict[str, str]
    tensors: tuple[TensorInfo, ...]


@dataclass(frozen=True)
class KeptInputs:
    """Values for re-execution (`capture --keep-inputs`), outside both hashes.

    `images` holds, per rank and tensor number, that PE's HBM image before the kernel ran.
    """

    images: dict[tuple[int, int], bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Trace:
    """A captured kernel launch. `pes` is in rank order."""

    header: TraceHeader
    strings: tuple[str, ...]
    geometries: tuple[Geometry, ...]
    forms: tuple[CommandForm, ...]
    lines: tuple[SourceLine, ...]
    streams: tuple[Stream, ...]
    pes: tuple[PeEntry, ...]
    inputs: KeptInputs | None = None

    @property
    def command_count(self) -> int:
        """Commands of all PEs, each PE's own counted."""
        return sum(self.streams[pe.stream].command_count for pe in self.pes)

    @cached_property
    def form_slot_counts(self) -> Int32s:
        counts = [
            form.rw_count + sum([len(op.operands) + op.has_out for op in form.ops])
            for form in self.forms
        ]
        return np.array(counts, dtype=np.int32)

    @cached_property
    def form_kinds(self) -> Int32s:
        return np.array([form.kind for form in self.forms], dtype=np.int32)

    def slot_offsets(self, stream: Stream) -> Int64s:
        """Where each command's handle ids start in `stream.slots`, and one past the last."""
        return offsets_of(self.form_slot_counts[stream.forms])

    def handle(self, stream: Stream, handle_id: int) -> Handle:
        """The handle of that id in the stream."""
        return Handle(
            id=handle_id,
            geometry=self.geometries[stream.geometries[handle_id]],
            address=int(stream.addresses[handle_id]),
            tensor=int(stream.tensors[handle_id]),
            label=self.strings[stream.labels[handle_id]],
        )

    def tensor_name(self, pe: PeEntry, tensor: int) -> str:
        """What a PE's HBM tensor is called; and whose it is, where it lies with another: `w of PE 0`."""
        name, owner = self.bare_tensor_name(pe, tensor), pe.owners[tensor]
        return name if owner == pe.rank else f"{name} of PE {owner}"

    def bare_tensor_name(self, pe: PeEntry, tensor: int) -> str:
        """What a PE's HBM tensor is called, whoever holds it.

        A part that another PE holds has no name in the header, but its handles are labelled.
        """
        named, stream = self.header.tensors, self.streams[pe.stream]
        if tensor < len(named):
            name = named[tensor].name
        elif tensor in stream.tensors:
            name = self.strings[stream.labels[int(np.argmax(stream.tensors == tensor))]]
        else:
            name = ""
        return name or f"tensor {tensor}"

    def command(self, stream: Stream, index: int) -> "Command":
        """One command with its handles: for people and tests. Columns are for everything else."""
        slot_offsets = self.slot_offsets(stream)
        wait_offsets = offsets_of(stream.wait_counts)
        return self._command(stream, index, slot_offsets, wait_offsets)

    def commands(
        self, stream: Stream, first: int = 0, past: int | None = None
    ) -> Iterator["Command"]:
        """The commands of the stream from `first` up to `past` (all of them), in program order."""
        slot_offsets = self.slot_offsets(stream)
        wait_offsets = offsets_of(stream.wait_counts)
        for index in range(stream.command_count)[first:past]:
            yield self._command(stream, index, slot_offsets, wait_offsets)

    def _command(
        self, stream: Stream, index: int, slot_offsets: Int64s, wait_offsets: Int64s
    ) -> "Command":
        ids = stream.slots[slot_offsets[index] : slot_offsets[index + 1]]
        waits = stream.waits[wait_offsets[index] : wait_offsets[index + 1]]
        return Command(
            index=index,
            form=self.forms[stream.forms[index]],
            handles=tuple(self.handle(stream, int(handle_id)) for handle_id in ids),
            waits=tuple(int(wait) for wait in waits),
            line=self.lines[stream.lines[index]],
        )


@dataclass(frozen=True, slots=True)
class Command:
    """One row of a stream, its ids resolved. `handles` are in the order of the form's slots."""

    index: int
    form: CommandForm
    handles: tuple[Handle, ...]
    waits: tuple[int, ...]
    line: SourceLine

    @property
    def kind(self) -> CommandKind:
        return self.form.kind

    @property
    def op_kinds(self) -> tuple[str, ...]:
        return tuple(op.kind for op in self.form.ops)

    def op_operands(self, op_index: int) -> dict[str, Handle]:
        """The op's operands by name."""
        op, slots = self.form.ops[op_index], self.form.op_slots[op_index]
        return {name: self.handles[slot] for name, slot in zip(op.operands, slots, strict=False)}

    def op_out(self, op_index: int) -> Handle | None:
        """The op's output handle, or None."""
        op, slots = self.form.ops[op_index], self.form.op_slots[op_index]
        return self.handles[slots[-1]] if op.has_out else None

    @property
    def rw_handles(self) -> tuple[Handle, ...]:
        return tuple(self.handles[slot] for slot in self.form.rw_slots)

    @property
    def touches_hbm(self) -> bool:
        return any(handle.geometry.space is Space.HBM for handle in self.handles)
