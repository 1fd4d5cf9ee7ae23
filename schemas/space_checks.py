"""Whether every command touches the memory that its kind touches: HBM, TCM, or (a composite's GEMM)
either.
"""

from collections.abc import Sequence

import numpy as np

from .column_checks import first_row
from .commands import GEMM, CommandForm, CommandKind, Scope
from .errors import FileError
from .handles import Space
from .named_geometries import NamedGeometries
from .trace import Trace
from .trace_columns import Places

TRANSFERS = {
    CommandKind.LOAD: (Space.HBM, Space.TCM),
    CommandKind.STORE: (Space.TCM, Space.HBM),
}
"""Per kind that moves bytes, where from and where to."""


def check_spaces(named: Sequence[NamedGeometries], tables: Trace, places: Places) -> None:
    """FileError unless loads go from HBM to TCM, stores back, as many bytes as they take, and all
    else but the GEMM of a composite, and the output of its tile ops, is in TCM.
    """
    in_hbm = np.array([g.space is Space.HBM for g in tables.geometries], dtype=np.bool_)
    elsewhere = {Space.HBM: ~in_hbm, Space.TCM: in_hbm}
    sizes = np.array([g.size_bytes for g in tables.geometries], dtype=np.int64)
    for each in named:
        form = tables.forms[each.group.form]
        for slot, space in _required(form):
            row = each.first(slot, elsewhere[space])
            if row is not None:
                raise FileError(
                    f"{places.command(each.command(row))}: handle {slot} of a"
                    f" {form.kind.name.lower()} must be in {space.upper()}"
                )
        if form.kind in TRANSFERS:
            row = first_row(sizes.take(each.ids[0]) != sizes.take(each.ids[1]))
            if row is not None:
                raise FileError(
                    f"{places.command(each.command(row))}: a {form.kind.name.lower()} must write"
                    " as many bytes as it reads"
                )


def _required(form: CommandForm) -> list[tuple[int, Space]]:
    """(slot, space) of every handle that can be in one memory only."""
    if form.kind in TRANSFERS:
        return list(enumerate(TRANSFERS[form.kind]))
    required = []
    slot = 0
    for op in form.ops:
        anywhere = op.kind == GEMM and form.kind is CommandKind.COMPOSITE
        names = (*op.operands, "out") if op.has_out else op.operands
        for name in names:
            if not anywhere and (op.scope is Scope.KERNEL or name not in ("src", "out")):
                required.append((slot, Space.TCM))
            slot += 1
    return required
