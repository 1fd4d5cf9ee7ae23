"""Whether a trace says nothing impossible: every id exists, every wait looks back, all memory fits.

`check_trace` is for a trace in memory. A file is checked in two steps, because its columns cannot
be read before their lengths agree: `check_shape` on the stored columns, then `check_meaning`.
Errors are FileErrors that name the PE and the command, and no file.
"""

import numpy as np

from .arranged import Arranged, arranged
from .column_checks import first_row, must_add_up, must_exist, must_lie_in
from .columns import Int32s, Int64s, offsets_of
from .config_file import check
from .errors import ConfigError, FileError
from .form_checks import check_form
from .form_rows import FormRows
from .memory_checks import check_gemm_extents, check_inputs, check_memory
from .message_checks import check_messages
from .space_checks import check_spaces
from .topology import Topology
from .trace import Trace, TraceHeader
from .trace_columns import Places, TraceColumns, joined


def check_trace(trace: Trace) -> None:
    """FileError at the first thing in the trace that cannot be."""
    columns = joined(trace.streams, trace.pes)
    by_form = check_shape(columns, trace)
    for number, stream in enumerate(trace.streams):
        slots = int(trace.form_slot_counts[stream.forms].sum())
        waits = int(stream.wait_counts.sum())
        if (len(stream.slots), len(stream.waits)) != (slots, waits):
            raise FileError(
                f"stream {number} must have {slots} slots and {waits} waits, as its commands say,"
                f" not {len(stream.slots)} and {len(stream.waits)}"
            )
    check_meaning(columns, arranged(columns, by_form, len(trace.geometries)), trace)


def topology_of(header: TraceHeader) -> Topology:
    """The machine that the trace was captured for. FileError where the header holds none."""
    try:
        return check(Topology, header.topology, "the header's topology")
    except ConfigError as error:
        raise FileError(" ".join(str(error).split())) from error


def check_shape(columns: TraceColumns, tables: Trace) -> FormRows:
    """FileError unless the columns fit each other; the commands by form. Looks at counts and at form
    and geometry ids.

    `tables` is the trace that the columns belong to; its streams and PEs are not looked at.
    """
    _check_streams(columns)
    places = Places(columns)
    must_exist(columns.forms, len(tables.forms), "its form", places.command)
    must_add_up(columns.wait_counts, len(columns.waits), "waits", places.command)
    rows = FormRows(columns.forms, tables.form_slot_counts)
    slots = rows.slot_count
    if len(columns.slots) != slots:
        raise FileError(
            f"the file must hold {slots} slots, as its commands' forms say, not {len(columns.slots)}"
        )
    if slots and not len(columns.geometries):
        raise FileError(f"the file must hold handles, as its commands have {slots} slots, not none")
    must_exist(columns.geometries, len(tables.geometries), "its geometry", places.handle)
    _check_pe_shape(columns)
    return rows


def _check_streams(columns: TraceColumns) -> None:
    def stream(row: int) -> str:
        return f"stream {row}"

    must_add_up(columns.command_counts, len(columns.forms), "commands", stream)
    must_add_up(columns.handle_counts, len(columns.geometries), "handles", stream)
    _must_be_as_long(columns, "forms", ("lines", "wait_counts"))
    _must_be_as_long(columns, "geometries", ("addresses", "tensors", "labels"))
    _must_be_as_long(columns, "command_counts", ("handle_counts",))


def _check_pe_shape(columns: TraceColumns) -> None:
    _must_be_as_long(columns, "ranks", ("pe_streams", "tensor_counts"))
    _must_be_as_long(columns, "owners", ("bases",))
    must_add_up(columns.tensor_counts, len(columns.owners), "tensor owners", _entry)


def _must_be_as_long(columns: TraceColumns, name: str, others: tuple[str, ...]) -> None:
    length = len(getattr(columns, name))
    for other in others:
        found = len(getattr(columns, other))
        if found != length:
            raise FileError(f"column {other} must be as long as {name}, {length}, not {found}")


def check_meaning(columns: TraceColumns, arranged: Arranged, tables: Trace) -> None:
    """FileError at the first id, address, wait or message that cannot be.

    The columns must have passed `check_shape`; `arranged` are the same. `tables` as there, with its
    kept inputs.
    """
    topology = topology_of(tables.header)
    places = Places(columns)
    for number, form in enumerate(tables.forms):
        check_form(form, f"forms[{number}]", topology.directions)
    _check_pes(columns, tables.header, topology)
    _check_references(columns, arranged, tables, places)
    check_memory(columns, arranged.alike, tables.geometries, topology.pe, places)
    check_gemm_extents(arranged.named, tables, places)
    check_spaces(arranged.named, tables, places)
    check_messages(columns, arranged.named, tables, topology)
    if tables.inputs is not None:
        check_inputs(tables.inputs, columns, topology.pe_count)


def _check_pes(columns: TraceColumns, header: TraceHeader, topology: Topology) -> None:
    axes = ((topology.pes.size, "PEs"), (topology.cubes.size, "CUBEs"), (topology.sips, "SIPs"))
    for axis, (extent, (limit, thing)) in enumerate(zip(header.grid, axes, strict=True)):
        if extent > limit:
            raise FileError(f"header.grid[{axis}] must be at most {limit} {thing}, not {extent}")
    launched = header.grid[0] * header.grid[1] * header.grid[2]
    if len(columns.ranks) != launched:
        raise FileError(
            f"a grid of {list(header.grid)} must have {launched} PEs, not {len(columns.ranks)}"
        )
    must_exist(columns.ranks, topology.pe_count, "its rank", _entry)
    row = first_row(columns.ranks[1:] <= columns.ranks[:-1])
    if row is not None:
        raise FileError(
            f"{_entry(row + 1)}: its rank must be above {int(columns.ranks[row])},"
            f" the one before, not {int(columns.ranks[row + 1])}"
        )
    must_exist(columns.pe_streams, len(columns.command_counts), "its stream", _entry)
    runners = np.bincount(columns.pe_streams, minlength=len(columns.command_counts))
    unused = first_row(runners == 0)
    if unused is not None:
        raise FileError(f"stream {unused} must be run by a PE, and none does")
    _check_owners(columns, topology)


def _check_owners(columns: TraceColumns, topology: Topology) -> None:
    first = offsets_of(columns.tensor_counts)

    def tensor(row: int) -> str:
        pe = _group_of(first, row)
        return f"PE {int(columns.ranks[pe])}, tensor {row - int(first[pe])}"

    must_exist(columns.owners, topology.pe_count, "its owner", tensor)
    must_lie_in(columns.bases, 0, topology.pe.hbm_bytes, "its base", tensor, "the HBM's size")


def _check_references(
    columns: TraceColumns, arranged: Arranged, tables: Trace, places: Places
) -> None:
    must_exist(columns.lines, len(tables.lines), "its source line", places.command)
    must_exist(columns.labels, len(tables.strings), "its label", places.handle)
    _check_slots(columns, arranged.by_form, places)
    _check_waits(columns, arranged.waiting.commands, places)


def _check_slots(columns: TraceColumns, rows: FormRows, places: Places) -> None:
    """By the extremes of each stream; only where one of them is wrong, slot by slot."""
    offsets = rows.begins(offsets_of(columns.command_counts))
    named = np.flatnonzero(np.diff(offsets))
    if not len(named):
        return
    begins = offsets[named]
    lowest = np.minimum.reduceat(columns.slots, begins)
    greatest = np.maximum.reduceat(columns.slots, begins)
    if not ((lowest < 0) | (greatest >= columns.handle_counts[named])).any():
        return
    available = np.repeat(columns.handle_counts, np.diff(offsets))
    row = first_row((columns.slots < 0) | (columns.slots >= available))
    if row is not None:
        command = _group_of(rows.begins(np.arange(len(columns.forms))), row)
        raise FileError(
            f"{places.command(command)}: handle {int(columns.slots[row])} must be one of the PE's"
            f" {int(available[row])}"
        )


def _check_waits(columns: TraceColumns, waiting: Int32s, places: Places) -> None:
    row = first_row((columns.waits < 0) | (columns.waits >= waiting))
    if row is not None:
        command = _group_of(offsets_of(columns.wait_counts), row)
        raise FileError(
            f"{places.command(command)}: a wait must be for an earlier command, not for command"
            f" {int(columns.waits[row])}"
        )


def _entry(row: int) -> str:
    return f"PE entry {row}"


def _group_of(offsets: Int64s, row: int) -> int:
    """Which group a flat row belongs to."""
    return int(np.searchsorted(offsets, row, side="right")) - 1
