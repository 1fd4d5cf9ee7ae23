"""Whether every command touches the memory that its kind touches: HBM, TCM, or (a composite's GEMM)
either.
"""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from .columns import Bools, Int8s, Int64s
from .commands import GEMM, CommandForm, CommandKind, OpForm, Scope
from .errors import FileError
from .handles import Space
from .named_geometries import NamedGeometries
from .trace import Trace
from .trace_columns import Places

MEMORIES = ("TCM", "HBM")
IN_TCM, IN_HBM, ANYWHERE = range(3)

TRANSFERS = {CommandKind.LOAD: (IN_HBM, IN_TCM), CommandKind.STORE: (IN_TCM, IN_HBM)}
"""Per kind that moves bytes, where from and where to."""


def check_spaces(named: NamedGeometries, tables: Trace, places: Places) -> None:
    """FileError unless loads go from HBM to TCM, stores back, as many bytes as they take, and all
    else but the GEMM of a composite, and the output of its tile ops, is in TCM.
    """
    in_hbm = np.array([g.space is Space.HBM for g in tables.geometries], dtype=np.bool_)
    elsewhere = np.array([in_hbm, ~in_hbm, np.zeros_like(in_hbm)])  # [required, geometry]
    sizes = np.array([g.size_bytes for g in tables.geometries], dtype=np.int64)
    required = _required_of_all(named, tables)
    any_astray = _any_astray(named, required, in_hbm)
    for number in named.by_form.forms:
        form = tables.forms[number]
        if any_astray:
            _must_be_there(named, number, form, elsewhere, places)
        if form.kind in TRANSFERS:
            _must_move_all(named, number, form, sizes, places)


def _any_astray(named: NamedGeometries, required: Int8s, in_hbm: Bools) -> bool:
    """Whether a geometry is named where none of its memory may be; `required` is per slot."""
    counts = np.diff(named.begins)
    bound = (required != ANYWHERE).repeat(counts)
    must_be_in_hbm = (required == IN_HBM).repeat(counts)[bound]
    return bool((in_hbm.take(named.geometries[bound]) != must_be_in_hbm).any())


def _required_of_all(named: NamedGeometries, tables: Trace) -> Int8s:
    """Per slot of all forms, where its handles must be."""
    first_slots = named.by_form.first_slots
    required = np.full(first_slots[-1], ANYWHERE, dtype=np.int8)
    for number in named.by_form.forms:
        of_form = _required(tables.forms[number])
        first = first_slots[number]
        required[first : first + len(of_form)] = of_form
    return required


def _required(form: CommandForm) -> Sequence[int]:
    """Per slot of the form's ops, where its handles must be; in those behind, they may be anywhere."""
    if form.kind in TRANSFERS:
        return TRANSFERS[form.kind]
    if form.kind is not CommandKind.COMPOSITE:
        (op,) = form.ops
        return [IN_TCM] * (len(op.operands) + op.has_out)
    return [*chain.from_iterable(map(_required_by_op, form.ops))]


def _required_by_op(op: OpForm) -> Sequence[int]:
    names = (*op.operands, "out") if op.has_out else op.operands
    if op.kind == GEMM:
        return [ANYWHERE] * len(names)
    if op.scope is Scope.KERNEL:
        return [IN_TCM] * len(names)
    return [ANYWHERE if name in ("src", "out") else IN_TCM for name in names]


def _must_be_there(
    named: NamedGeometries,
    number: int,
    form: CommandForm,
    elsewhere: Bools,
    places: Places,
) -> None:
    for slot, memory in enumerate(_required(form)):
        command = named.first(number, slot, elsewhere[memory])
        if command is not None:
            raise FileError(
                f"{places.command(command)}: handle {slot} of a {form.kind.name.lower()}"
                f" must be in {MEMORIES[memory]}"
            )


def _must_move_all(
    named: NamedGeometries, number: int, form: CommandForm, sizes: Int64s, places: Places
) -> None:
    """Command by command only where not all move as many bytes."""
    moved = sizes.take(named.of_form(number, 0, 2))
    if (moved == moved[:1]).all():
        return
    commands = named.by_form.commands(number)
    differs = sizes.take(named.of(commands, 0)) != sizes.take(named.of(commands, 1))
    if differs.any():
        command = int(commands[differs.argmax()])
        raise FileError(
            f"{places.command(command)}: a {form.kind.name.lower()} must write"
            " as many bytes as it reads"
        )
