"""A trace's header and tables as plain data, and back with every field checked.

A table is a sequence of rows. docs/trace-format.md lists the rows' fields; the order here is theirs.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

from . import whole_tables
from .commands import CommandForm, CommandKind, OpForm, Scalar
from .dtypes import DType
from .errors import FileError
from .handles import Geometry, Space
from .plain_data import MAX_ITEMS, Field, Rows, pack, pack_row, shown
from .proofs import Column, Unproven, columns, flat, integers
from .trace import KeptInputs, SourceLine, TensorInfo, Trace, TraceHeader
from .whole_tables import KINDS, MAX_AXES, MAX_BYTES, MAX_EXTENT, SCOPES, span_bytes

DTYPES = tuple(whole_tables.DTYPES)
SPACES = tuple(whole_tables.SPACES)
TABLES = tuple(whole_tables.TABLES)
TABLES_SECTION = "section 'tables'"
PART_ROWS = 1024
"""So many rows of a table are unpacked before one of them is looked at."""

HEADER_KEYS = (
    "arguments",
    "grid",
    "kernel",
    "sources",
    "tensors",
    "tool_version",
    "topology",
)
TENSOR_KEYS = ("dtype", "is_output", "name", "placement", "shape")


def pack_header(header: TraceHeader) -> bytes:
    """The header's section. FileError where an argument or the topology is no plain data."""
    tensors = [
        {
            "dtype": tensor.dtype,
            "is_output": tensor.is_output,
            "name": tensor.name,
            "placement": tensor.placement,
            "shape": tensor.shape,
        }
        for tensor in header.tensors
    ]
    return pack(
        {
            "arguments": header.arguments,
            "grid": header.grid,
            "kernel": header.kernel,
            "sources": header.sources,
            "tensors": tensors,
            "tool_version": header.tool_version,
            "topology": header.topology,
        },
        "header",
    )


def read_header(field: Field) -> TraceHeader:
    """The header. FileError at the first field that is not what it must be."""
    entries = field.entries(HEADER_KEYS)
    grid = [extent.integer(1, MAX_EXTENT) for extent in entries["grid"].items(3)]
    sources = entries["sources"]
    return TraceHeader(
        kernel=entries["kernel"].text(),
        arguments=entries["arguments"].plain(),
        topology=entries["topology"].plain(),
        grid=(grid[0], grid[1], grid[2]),
        tool_version=entries["tool_version"].text(),
        sources={
            name: Field(sha256, f"{sources.where}.{shown(name)}").text()
            for name, sha256 in sources.mapping().items()
        },
        tensors=tuple(_read_tensor(tensor) for tensor in entries["tensors"].items()),
    )


def _read_tensor(field: Field) -> TensorInfo:
    entries = field.entries(TENSOR_KEYS)
    return TensorInfo(
        name=entries["name"].text(),
        shape=entries["shape"].integers(0, MAX_EXTENT),
        dtype=entries["dtype"].one_of(DTYPES),
        placement=entries["placement"].text(),
        is_output=entries["is_output"].flag(),
    )


def pack_tables(trace: Trace) -> bytes:
    """The tables' section: how many rows each has, then the rows, table after table."""
    counts = [len(getattr(trace, table)) for table in TABLES]
    rows: list[Any] = [counts]
    rows += trace.strings
    rows += [_geometry_row(geometry) for geometry in trace.geometries]
    rows += [_form_row(form) for form in trace.forms]
    rows += [[line.file, line.number, line.function, line.text] for line in trace.lines]
    return b"".join(map(pack_row, rows))


def _geometry_row(geometry: Geometry) -> list[Any]:
    return [
        list(geometry.shape),
        list(geometry.strides),
        geometry.dtype.value,
        geometry.space.value,
    ]


def _form_row(form: CommandForm) -> list[Any]:
    ops = [
        [op.kind, list(op.operands), op.has_out, [list(pair) for pair in op.extra], int(op.scope)]
        for op in form.ops
    ]
    return [int(form.kind), ops, form.rw_count, form.direction]


def read_tables(packed: bytes | memoryview, header: TraceHeader) -> Trace:
    """A trace with this header and the tables, yet without streams, PEs and inputs.

    FileError at the first row that is not what it must be.
    """
    with suppress(Unproven):
        return Trace(header=header, **_whole_tables(packed), streams=(), pes=())
    # out here, nothing holds on to the rows that were not proved
    return Trace(header=header, **_tables_row_by_row(packed), streams=(), pes=())


def _whole_tables(packed: bytes | memoryview) -> dict[str, Any]:
    """The tables by name, as `_tables_row_by_row` reads them. Unproven where a row may be wrong."""
    rows = Rows(packed, TABLES_SECTION, lists_as_tuples=True)
    counts = integers(flat(columns(rows.several(1), len(TABLES))), 0, len(packed))
    tables = {
        name: _whole_table(read, rows, count)
        for (name, read), count in zip(whole_tables.TABLES.items(), counts, strict=True)
    }
    rows.end()
    return tables


def _whole_table(
    read: Callable[[Column], tuple[Any, ...]], rows: Rows, count: int
) -> tuple[Any, ...]:
    """Some rows at a time: the first part that is not sound ends it."""
    parts = [
        read(rows.several(min(PART_ROWS, count - first))) for first in range(0, count, PART_ROWS)
    ]
    return parts[0] if len(parts) == 1 else tuple(chain.from_iterable(parts))


def _tables_row_by_row(packed: bytes | memoryview) -> dict[str, Any]:
    rows = Rows(packed, TABLES_SECTION)
    counts = [count.integer(0, len(packed)) for count in rows.next("the tables' lengths").items(4)]
    tables = {
        name: tuple([read(rows.next(f"{name}[{row}]")) for row in range(count)])
        for (name, read), count in zip(ROW_READERS.items(), counts, strict=True)
    }
    rows.end()
    return tables


def _read_line(field: Field) -> SourceLine:
    file, number, function, text = field.items(4)
    return SourceLine(file.text(), number.integer(), function.text(), text.text())


def _read_geometry(field: Field) -> Geometry:
    shape, strides, dtype, space = field.items(4)
    axes = len(shape.listed())
    if axes > MAX_AXES:
        raise FileError(f"{shape.where} must have at most {MAX_AXES} axes, not {axes}")
    strides.listed(axes)
    geometry = Geometry(
        shape=shape.integers(0, MAX_EXTENT),
        strides=strides.integers(0, MAX_BYTES),
        dtype=DType(dtype.one_of(DTYPES)),
        space=Space(space.one_of(SPACES)),
    )
    if span_bytes(geometry) > MAX_BYTES:
        raise FileError(f"{field.where} must span at most 2^50 bytes, not {shown(geometry.shape)}")
    return geometry


def _read_form(field: Field) -> CommandForm:
    kind, ops, rw_count, direction = field.items(4)
    found = KINDS.get(kind.integer())
    if found is None:
        raise kind.must_be(f"a kind of command, {min(CommandKind):d} to {max(CommandKind):d}")
    return CommandForm(
        kind=found,
        ops=tuple([_read_op(op) for op in ops.items()]),
        rw_count=rw_count.integer(0, MAX_ITEMS),
        direction=direction.text(),
    )


def _read_op(field: Field) -> OpForm:
    kind, operands, has_out, extra, scope = field.items(5)
    found = SCOPES.get(scope.integer())
    if found is None:
        raise scope.must_be("0 (KERNEL), 1 (K_TILE) or 2 (OUTPUT_TILE)")
    op = OpForm(
        kind=kind.text(),
        operands=operands.texts(),
        has_out=has_out.flag(),
        extra=tuple([_read_scalar(pair) for pair in extra.items()]),
        scope=found,
    )
    _check_distinct(operands, op.operands)
    _check_distinct(extra, [name for name, _ in op.extra])
    return op


def _read_scalar(field: Field) -> tuple[str, Scalar]:
    name, scalar = field.items(2)
    if isinstance(scalar.value, bool) or not isinstance(scalar.value, int | float | str):
        raise scalar.must_be("a number or text")
    return name.text(), scalar.value


def _check_distinct(field: Field, names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise FileError(f"{field.where} must name each once, not {shown(list(names))}")


ROW_READERS: dict[str, Callable[[Field], object]] = {
    "strings": Field.text,
    "geometries": _read_geometry,
    "forms": _read_form,
    "lines": _read_line,
}


def pack_inputs(inputs: KeptInputs) -> bytes:
    """The section of kept inputs: a row per image, by rank and tensor."""
    images = sorted(inputs.images.items())
    return b"".join(pack_row([rank, tensor, image]) for (rank, tensor), image in images)


def read_inputs(packed: bytes | memoryview) -> KeptInputs:
    """The kept inputs. FileError where a row is none, or an image stands twice."""
    rows = Rows(packed, "section 'inputs'")
    images: dict[tuple[int, int], bytes] = {}
    while not rows.at_end:
        rank, tensor, image = rows.next(f"inputs[{len(images)}]").items(3)
        place = rank.integer(), tensor.integer()
        if place in images:
            raise FileError(f"{rank.where} must not be rank {place[0]}, tensor {place[1]} again")
        images[place] = image.blob()
    return KeptInputs(images)
