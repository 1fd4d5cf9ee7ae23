"""Whether a trace's ops have values: their operands, shapes and dtypes are those of the table of ops.

For its times an op's kind is a label (DDD-0065 §5.3), and any trace may be replayed. Values are defined
for the ops of `schemas/op_table.py` alone, by the rules that capture holds its kernels to; a trace
that another tool has written may break them. Each distinct command is looked at once: those of one
form whose handles look alike are one.
"""

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import TypeAlias

import numpy as np

from ...schemas.columns import Int32s
from ...schemas.commands import GEMM, CommandForm, CommandKind, OpForm, Scalar, Scope
from ...schemas.dtypes import DType
from ...schemas.errors import KernelError, KerntapeError, did_you_mean
from ...schemas.handles import Geometry
from ...schemas.op_rules import Shape
from ...schemas.op_table import Op, find_op, result_dtype, result_shape
from ...schemas.trace import Stream, Trace
from .names import name_of_command

REMEDY = "mend what wrote the trace, or replay it without --check-data"
INT32 = range(-(1 << 31), 1 << 31)

OpCheck: TypeAlias = Callable[[OpForm, Sequence[Geometry]], None]
"""Looks at an op and what fills its slots. Raises KernelError, without a place."""


def check_shapes(trace: Trace) -> None:
    """KerntapeError at the first command, by stream, that has an op without a value."""
    for number, stream in enumerate(trace.streams):
        pe = next(place for place, entry in enumerate(trace.pes) if entry.stream == number)
        for command, form, geometries in _distinct_commands(trace, stream):
            try:
                _check_command(form, geometries)
            except KernelError as error:
                place = name_of_command(trace, pe, command)
                raise KerntapeError(f"{place}: {error}; {REMEDY}") from None


def _distinct_commands(
    trace: Trace, stream: Stream
) -> Iterator[tuple[int, CommandForm, list[Geometry]]]:
    """The first of each commands that are alike, in order, with what fills the slots of its ops."""
    offsets = trace.slot_offsets(stream)
    found: list[tuple[int, int, list[int]]] = []
    for number in np.unique(stream.forms).tolist():
        rows = np.flatnonzero(stream.forms == number)
        slots = offsets[rows][:, np.newaxis] + np.arange(trace.form_slot_counts[number])
        alike: Int32s = stream.geometries[stream.slots[slots]]
        looks, firsts = np.unique(alike, axis=0, return_index=True)
        found += zip(rows[firsts].tolist(), [number] * len(looks), looks.tolist(), strict=True)
    for command, number, look in sorted(found, key=itemgetter(0)):
        yield command, trace.forms[number], [trace.geometries[geometry] for geometry in look]


def _check_command(form: CommandForm, geometries: Sequence[Geometry]) -> None:
    for index, (op, slots) in enumerate(zip(form.ops, form.op_slots, strict=True)):
        check = _check_of(form, index)
        if check is not None:
            check(op, geometries[slots.start : slots.stop])


def _check_of(form: CommandForm, index: int) -> OpCheck | None:
    """What to ask of the form's op of that index; None where it computes nothing."""
    match form.kind:
        case CommandKind.LOAD | CommandKind.STORE:
            return _check_transfer
        case CommandKind.MATH | CommandKind.DOT | CommandKind.COMPOSITE:
            op = form.ops[index]
            if op.kind == GEMM:
                return _check_gemm
            return _check_once if op.scope is Scope.KERNEL else _tile_check(form)
    return None


def _check_transfer(op: OpForm, handles: Sequence[Geometry]) -> None:
    source, out = handles
    if (source.shape, source.dtype) != (out.shape, out.dtype):
        raise KernelError(
            f"{op.kind}: out must be {list(source.shape)} {source.dtype} as src is,"
            f" not {list(out.shape)} {out.dtype}"
        )


def _check_gemm(op: OpForm, handles: Sequence[Geometry]) -> None:
    m, k, n = (op.integer(name) for name in ("m", "k", "n"))
    named = zip((*op.operands, "out"), handles, strict=True)
    wanted = {"a": (m, k), "b": (k, n), "out": (m, n)}
    for name, handle in named:
        _must_be(op, name, wanted.get(name, handle.shape), handle.shape)


def _check_once(op: OpForm, handles: Sequence[Geometry]) -> None:
    """An op on whole handles."""
    row = find_op(op.kind)
    given = dict(zip(op.operands, handles, strict=False))
    scalars = _scalars(op, row)
    *_, out = handles
    if row.shape is not None:
        shapes = [given[name].shape if name in given else () for name in row.operands]
        _must_be(op, "out", result_shape(op.kind, shapes, scalars), out.shape)
    _check_dtypes(op, row, {name: handle.dtype for name, handle in given.items()})


def _tile_check(form: CommandForm) -> OpCheck:
    """The check of an op on the tiles of the form's GEMM."""
    assert form.gemm_index is not None, "only a GEMM has a tile loop"
    gemm = form.ops[form.gemm_index]
    tile = gemm.integer("m"), gemm.integer("n")

    def check(op: OpForm, handles: Sequence[Geometry]) -> None:
        row = find_op(op.kind)
        if not row.tiled:
            raise KernelError(f"{op.kind}: cannot run on a GEMM's tile; give it scope KERNEL")
        scalars = _scalars(op, row)
        source = row.operands[0]
        if op.operands[:1] != (source,):
            raise KernelError(f"{op.kind}: its first operand must be {source}, the GEMM's tile")
        given = dict(zip(op.operands, handles, strict=False))
        others = [given[name].shape if name in given else () for name in row.operands[1:]]
        if result_shape(op.kind, [tile, *others], scalars) != tile:
            raise KernelError(f"{op.kind}: must broadcast to the GEMM's output {list(tile)}")
        _must_be(op, "out", tile, handles[-1].shape)
        dtypes = {name: handle.dtype for name, handle in given.items()}
        _check_dtypes(op, row, dtypes | {source: DType.F32})

    return check


def _must_be(op: OpForm, name: str, wanted: Shape, shape: Shape) -> None:
    if shape != wanted:
        raise KernelError(f"{op.kind}: {name} must be {list(wanted)}, not {list(shape)}")


def _scalars(op: OpForm, row: Op) -> dict[str, Scalar]:
    """The op's scalars without the numbers that stand for operands, once all its names are right."""
    for name in op.operands:
        if name not in row.operands:
            raise KernelError(f"{op.kind}: no operand '{name}'{did_you_mean(name, row.operands)}")
    scalars = dict(op.extra)
    for name, value in scalars.items():
        _check_scalar(op, row, name, value)
    for name in (*row.operands, *row.scalars):
        if name not in op.operands and name not in scalars:
            raise KernelError(f"{op.kind}: {name} is missing")
    return {name: value for name, value in scalars.items() if name not in row.operands}


def _check_scalar(op: OpForm, row: Op, name: str, value: Scalar) -> None:
    known = [each for each in row.operands if each not in op.operands]
    known += [*row.scalars, *row.optional]
    if name not in known:
        raise KernelError(f"{op.kind}: no scalar '{name}'{did_you_mean(name, known)}")
    if isinstance(value, str):
        raise KernelError(f"{op.kind}: {name} must be a number, not '{value}'")
    if isinstance(value, int) and value not in INT32:
        raise KernelError(f"{op.kind}: {name} must fit 32 bits, not {value}")


def _check_dtypes(op: OpForm, row: Op, dtypes: dict[str, DType]) -> None:
    scalars = dict(op.extra)
    if row.operands:
        stored = [dtypes.get(name, type(scalars.get(name))) for name in row.operands]
        result_dtype(op.kind, stored)
