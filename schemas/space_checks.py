"""Whether every command touches the memory that its kind touches: HBM, TCM, or (a composite's GEMM)
either.
"""

from collections.abc import Iterator

import numpy as np

from .column_checks import first_row
from .commands import GEMM, CommandForm, CommandKind, Scope
from .errors import FileError
from .form_rows import FormRows
from .handles import Space
from .named_geometries import NamedGeometries
from .trace import Trace
from .trace_columns import Places

TRANSFERS = {
    CommandKind.LOAD: (Space.HBM, Space.TCM),
    CommandKind.STORE: (Space.TCM, Space.HBM),
}
"""Per kind that moves bytes, where from and where to."""


def check_spaces(named: NamedGeometries, rows: FormRows, tables: Trace, places: Places) -> None:
    """FileError unless loads go from HBM to TCM, stores back, as many bytes as they take, and all
    else but the GEMM of a composite, and the output of its tile ops, is in TCM.
    """
    in_hbm = np.array([g.space is Space.HBM for g in tables.geometries], dtype=np.bool_)
    sizes = np.array([g.size_bytes for g in tables.geometries], dtype=np.int64)
    for group in rows.groups:
        form = tables.forms[group.form]
        for slot, space in _required(form):
            elsewhere = in_hbm != (space is Space.HBM)
            row = first_row(elsewhere[named.of(group.begins, slot)])
            if row is not None:
                raise FileError(
                    f"{places.command(int(group.commands[row]))}: handle {slot} of a"
                    f" {form.kind.name.lower()} must be in {space.upper()}"
                )
        if form.kind in TRANSFERS:
            row = first_row(sizes[named.of(group.begins, 0)] != sizes[named.of(group.begins, 1)])
            if row is not None:
                raise FileError(
                    f"{places.command(int(group.commands[row]))}: a {form.kind.name.lower()} must write"
                    " as many bytes as it reads"
                )


def _required(form: CommandForm) -> Iterator[tuple[int, Space]]:
    """(slot, space) of every handle that can be in one memory only."""
    if form.kind in TRANSFERS:
        yield from enumerate(TRANSFERS[form.kind])
        return
    for op, slots in zip(form.ops, form.op_slots, strict=True):
        if op.kind == GEMM and form.kind is CommandKind.COMPOSITE:
            continue
        for name, slot in zip((*op.operands, "out"), slots, strict=False):
            if op.scope is Scope.KERNEL or name not in ("src", "out"):
                yield slot, Space.TCM
