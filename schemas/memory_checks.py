"""Whether every handle of a trace lies in memory that exists, and GEMMs have the extents they say."""

from collections.abc import Sequence

import numpy as np

from .column_checks import first_row, must_lie_in
from .columns import Bools, Int64s, offsets_of
from .errors import FileError
from .form_rows import FormRows
from .handles import Geometry, Space
from .named_geometries import NamedGeometries
from .topology import PeStructure
from .trace import KeptInputs, Trace
from .trace_columns import Places, TraceColumns

MAX_ADDRESS = 1 << 50


def check_memory(
    columns: TraceColumns, geometries: Sequence[Geometry], pe: PeStructure, places: Places
) -> None:
    """FileError unless TCM handles fit the TCM, and HBM handles a tensor that all their PEs have."""
    hulls = np.array([_hull_bytes(geometry) for geometry in geometries], dtype=np.int64)
    is_hbm = np.array([geometry.space is Space.HBM for geometry in geometries], dtype=np.bool_)
    must_lie_in(columns.addresses, 0, MAX_ADDRESS, "its address", places.handle)
    ends = columns.addresses + hulls[columns.geometries]
    in_hbm = is_hbm[columns.geometries]
    _check_tcm(columns, ends, ~in_hbm, pe.tcm_bytes, places)
    _check_hbm(columns, ends, in_hbm, pe.hbm_bytes, places)


def _hull_bytes(geometry: Geometry) -> int:
    """From the first byte that the geometry covers to one past the last."""
    if not geometry.elements:
        return 0
    steps = zip(geometry.shape, geometry.strides, strict=True)
    return geometry.dtype.size_bytes + sum((extent - 1) * stride for extent, stride in steps)


def _check_tcm(
    columns: TraceColumns, ends: Int64s, in_tcm: Bools, tcm_bytes: int, places: Places
) -> None:
    row = first_row(in_tcm & (columns.tensors != -1))
    if row is not None:
        raise FileError(
            f"{places.handle(row)}: the tensor of a handle in TCM must be -1,"
            f" not {int(columns.tensors[row])}"
        )
    row = first_row(in_tcm & (ends > tcm_bytes))
    if row is not None:
        raise FileError(
            f"{places.handle(row)}: must end within the TCM's {tcm_bytes} bytes,"
            f" not at {int(ends[row])}"
        )


def _check_hbm(
    columns: TraceColumns, ends: Int64s, in_hbm: Bools, hbm_bytes: int, places: Places
) -> None:
    tensor_counts = _tensors_of_streams(columns)
    streams = np.repeat(np.arange(len(columns.handle_counts)), columns.handle_counts)
    available = tensor_counts[streams]
    row = first_row(in_hbm & ((columns.tensors < 0) | (columns.tensors >= available)))
    if row is not None:
        raise FileError(
            f"{places.handle(row)}: tensor {int(columns.tensors[row])} must be one of the PE's"
            f" {int(available[row])}"
        )
    first = offsets_of(tensor_counts)
    reach = np.zeros(first[-1], dtype=np.int64)
    np.maximum.at(reach, first[streams[in_hbm]] + columns.tensors[in_hbm], ends[in_hbm])
    _check_reach(columns, reach, tensor_counts, hbm_bytes)


def _tensors_of_streams(columns: TraceColumns) -> Int64s:
    """Per stream, how many tensors every PE that runs it has."""
    counts = np.full(len(columns.command_counts), MAX_ADDRESS, dtype=np.int64)
    np.minimum.at(counts, columns.pe_streams, columns.tensor_counts)
    return counts


def _check_reach(
    columns: TraceColumns, reach: Int64s, tensor_counts: Int64s, hbm_bytes: int
) -> None:
    """`reach` is how far each stream's handles go into each of its tensors, flat over streams."""
    pes = np.repeat(np.arange(len(columns.ranks)), columns.tensor_counts)
    numbers = np.arange(len(pes)) - offsets_of(columns.tensor_counts)[pes]
    streams = columns.pe_streams[pes]
    named = numbers < tensor_counts[streams]
    ends = columns.bases.copy()
    ends[named] += reach[offsets_of(tensor_counts)[streams[named]] + numbers[named]]
    row = first_row(ends > hbm_bytes)
    if row is not None:
        raise FileError(
            f"PE {int(columns.ranks[pes[row]])}, tensor {int(numbers[row])}: its handles must end"
            f" within the owner's {hbm_bytes} bytes of HBM, not at {int(ends[row])}"
        )


def check_gemm_extents(
    named: NamedGeometries, rows: FormRows, tables: Trace, places: Places
) -> None:
    """FileError unless the operands of every GEMM have m·k, k·n and m·n elements."""
    elements = np.array([geometry.elements for geometry in tables.geometries], dtype=np.int64)
    for group in rows.groups:
        for name, slot, count in _gemm_operands(tables, group.form):
            found = named.of(group.begins, slot)
            row = first_row((elements != count)[found])
            if row is not None:
                raise FileError(
                    f"{places.command(int(group.commands[row]))}: the GEMM's {name} must have {count}"
                    f" elements, as its m, k and n say, not {int(elements[found[row]])}"
                )


def _gemm_operands(tables: Trace, number: int) -> list[tuple[str, int, int]]:
    """(name, slot, elements) of the operands and the output of the form's GEMM, if it has one."""
    form = tables.forms[number]
    if form.gemm_index is None:
        return []
    op, slots = form.ops[form.gemm_index], form.op_slots[form.gemm_index]
    m, k, n = op.integer("m"), op.integer("k"), op.integer("n")
    a, b = slots[op.operands.index("a")], slots[op.operands.index("b")]
    return [("a", a, m * k), ("b", b, k * n), ("output", slots[-1], m * n)]


def check_inputs(inputs: KeptInputs, columns: TraceColumns, pe_count: int) -> None:
    """FileError unless every kept image belongs to a rank and a tensor that exist."""
    tensors = int(columns.tensor_counts.max(initial=0))
    for rank, tensor in inputs.images:
        if not (0 <= rank < pe_count and 0 <= tensor < tensors):
            raise FileError(
                f"the kept input of rank {rank}, tensor {tensor} must belong to one of {pe_count}"
                f" ranks and {tensors} tensors"
            )
