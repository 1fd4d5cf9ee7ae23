"""Whether every handle of a trace lies in memory that exists, and GEMMs have the extents they say."""

from collections.abc import Sequence

import numpy as np

from .arranged import AlikeHandles
from .column_checks import first_row, must_lie_in
from .columns import Bools, Int64s, offsets_of
from .commands import GEMM, CommandForm
from .errors import FileError
from .handles import Geometry, Space
from .named_geometries import NamedGeometries
from .topology import PeStructure
from .trace import KeptInputs, Trace
from .trace_columns import Places, TraceColumns, counted_up

MAX_ADDRESS = 1 << 50


def check_memory(
    columns: TraceColumns,
    alike: Sequence[AlikeHandles],
    geometries: Sequence[Geometry],
    pe: PeStructure,
    places: Places,
) -> None:
    """FileError unless TCM handles fit the TCM, and HBM handles a tensor that all their PEs have.

    `alike` are the columns' handles, by geometry.
    """
    must_lie_in(columns.addresses, 0, MAX_ADDRESS, "its address", places.handle)
    in_hbm: list[tuple[AlikeHandles, int]] = []
    in_tcm: list[tuple[AlikeHandles, int]] = []
    for each in alike:
        geometry = geometries[each.geometry]
        alike_there = in_hbm if geometry.space is Space.HBM else in_tcm
        alike_there.append((each, _hull_bytes(geometry)))
    of_hbm = np.array([geometry.space is Space.HBM for geometry in geometries], dtype=np.bool_)
    is_hbm = of_hbm.take(columns.geometries)
    _check_tcm(columns, is_hbm, in_tcm, pe.tcm_bytes, places)
    if not _surely_in_hbm(columns, is_hbm, in_hbm, pe.hbm_bytes):
        _check_hbm(columns, is_hbm, in_hbm, pe.hbm_bytes, places)


def _hull_bytes(geometry: Geometry) -> int:
    """From the first byte that the geometry covers to one past the last."""
    if not geometry.elements:
        return 0
    steps = zip(geometry.shape, geometry.strides, strict=True)
    return geometry.dtype.size_bytes + sum((extent - 1) * stride for extent, stride in steps)


def _check_tcm(
    columns: TraceColumns,
    is_hbm: Bools,
    in_tcm: Sequence[tuple[AlikeHandles, int]],
    tcm_bytes: int,
    places: Places,
) -> None:
    row = first_row((columns.tensors != -1) > is_hbm)
    if row is not None:
        raise FileError(
            f"{places.handle(row)}: the tensor of a handle in TCM must be -1,"
            f" not {int(columns.tensors[row])}"
        )
    if any(int(each.addresses.max()) + hull_bytes > tcm_bytes for each, hull_bytes in in_tcm):
        raise _ends_behind_tcm(columns, in_tcm, tcm_bytes, places)


def _ends_behind_tcm(
    columns: TraceColumns,
    in_tcm: Sequence[tuple[AlikeHandles, int]],
    tcm_bytes: int,
    places: Places,
) -> FileError:
    """The error about the first of the handles that do."""
    hulls = {each.geometry: hull_bytes for each, hull_bytes in in_tcm}
    greatest = np.full(int(columns.geometries.max()) + 1, MAX_ADDRESS, dtype=np.int64)
    for geometry, hull_bytes in hulls.items():
        greatest[geometry] = max(-1, tcm_bytes - hull_bytes)
    handle = int((columns.addresses > greatest.take(columns.geometries)).argmax())
    end = int(columns.addresses[handle]) + hulls[int(columns.geometries[handle])]
    return FileError(
        f"{places.handle(handle)}: must end within the TCM's {tcm_bytes} bytes, not at {end}"
    )


def _surely_in_hbm(
    columns: TraceColumns,
    is_hbm: Bools,
    in_hbm: Sequence[tuple[AlikeHandles, int]],
    hbm_bytes: int,
) -> bool:
    """Whether `_check_hbm` has nothing to say even if all handles were of the tensor with the greatest
    base, and all PEs had as few tensors as one has: mostly so, and soon seen."""
    if not in_hbm:
        return True
    greatest_end = max(int(each.addresses.max()) + hull_bytes for each, hull_bytes in in_hbm)
    greatest_base = int(columns.bases.max(initial=0))
    has_tensor = np.array_equal(columns.tensors >= 0, is_hbm)
    tensors_everywhere = int(columns.tensor_counts.min())
    all_there = has_tensor and int(columns.tensors.max()) < tensors_everywhere
    return all_there and greatest_base + greatest_end <= hbm_bytes


def _check_hbm(
    columns: TraceColumns,
    is_hbm: Bools,
    in_hbm: Sequence[tuple[AlikeHandles, int]],
    hbm_bytes: int,
    places: Places,
) -> None:
    tensor_counts = _tensors_of_streams(columns)
    handles = np.flatnonzero(is_hbm)
    streams = _streams_of(handles, offsets_of(columns.handle_counts))
    tensors = columns.tensors.take(handles)
    available = tensor_counts.take(streams)
    row = first_row((tensors < 0) | (tensors >= available))
    if row is not None:
        raise FileError(
            f"{places.handle(int(handles[row]))}: tensor {int(tensors[row])} must be one of the PE's"
            f" {int(available[row])}"
        )
    hulls = np.zeros(int(columns.geometries.max()) + 1, dtype=np.int64)
    for each, hull_bytes in in_hbm:
        hulls[each.geometry] = hull_bytes
    ends = columns.addresses.take(handles) + hulls.take(columns.geometries.take(handles))
    first = offsets_of(tensor_counts)
    reach = np.zeros(first[-1], dtype=np.int64)
    np.maximum.at(reach, first.take(streams) + tensors, ends)
    _check_reach(columns, reach, tensor_counts, hbm_bytes)


def _streams_of(handles: Int64s, first_handles: Int64s) -> Int64s:
    counts = np.diff(np.searchsorted(handles, first_handles))
    streams: Int64s = np.repeat(np.arange(len(counts)), counts)
    return streams


def _tensors_of_streams(columns: TraceColumns) -> Int64s:
    """Per stream, how many tensors every PE that runs it has."""
    counts = np.full(len(columns.command_counts), MAX_ADDRESS, dtype=np.int64)
    np.minimum.at(counts, columns.pe_streams, columns.tensor_counts)
    return counts


def _check_reach(
    columns: TraceColumns, reach: Int64s, tensor_counts: Int64s, hbm_bytes: int
) -> None:
    """`reach` is how far each stream's handles go into each of its tensors, flat over streams."""
    streams = np.repeat(columns.pe_streams, columns.tensor_counts)
    numbers = counted_up(columns.tensor_counts)
    named = numbers < tensor_counts.take(streams)
    places = np.where(named, offsets_of(tensor_counts).take(streams) + numbers, len(reach))
    ends = columns.bases + np.append(reach, 0).take(places)
    row = first_row(ends > hbm_bytes)
    if row is not None:
        rank = int(np.repeat(columns.ranks, columns.tensor_counts)[row])
        raise FileError(
            f"PE {rank}, tensor {int(numbers[row])}: its handles must end"
            f" within the owner's {hbm_bytes} bytes of HBM, not at {int(ends[row])}"
        )


def check_gemm_extents(named: NamedGeometries, tables: Trace, places: Places) -> None:
    """FileError unless the operands of every GEMM have m·k, k·n and m·n elements."""
    elements = np.array([geometry.elements for geometry in tables.geometries], dtype=np.int64)
    for number in named.by_form.forms:
        for name, slot, count in _gemm_operands(tables.forms[number]):
            if (elements.take(named.of_form(number, slot)) == count).all():
                continue
            command = named.first(number, slot, elements != count)
            if command is not None:
                found = int(elements[named.of(np.array([command]), slot)[0]])
                raise FileError(
                    f"{places.command(command)}: the GEMM's {name} must have {count}"
                    f" elements, as its m, k and n say, not {found}"
                )


def _gemm_operands(form: CommandForm) -> list[tuple[str, int, int]]:
    """(name, slot, elements) of the operands and the output of the form's GEMM, if it has one."""
    slot = 0
    for op in form.ops:
        if op.kind == GEMM:
            m, k, n = op.integer("m"), op.integer("k"), op.integer("n")
            a, b = slot + op.operands.index("a"), slot + op.operands.index("b")
            return [("a", a, m * k), ("b", b, k * n), ("output", slot + len(op.operands), m * n)]
        slot += len(op.operands) + op.has_out
    return []


def check_inputs(inputs: KeptInputs, columns: TraceColumns, pe_count: int) -> None:
    """FileError unless every kept image belongs to a rank and a tensor that exist."""
    tensors = int(columns.tensor_counts.max(initial=0))
    for rank, tensor in inputs.images:
        if not (0 <= rank < pe_count and 0 <= tensor < tensors):
            raise FileError(
                f"the kept input of rank {rank}, tensor {tensor} must belong to one of {pe_count}"
                f" ranks and {tensors} tensors"
            )
