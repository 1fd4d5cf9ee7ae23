"""What a GEMM accepts, in a composite or as a dot: [m, k] × [k, n] of one float dtype.

It writes its output tile by tile while it still reads its operands, so their bytes must be others:
no policy orders what one command does. A tile op's operand may be the output itself, whose tile it
reads before that tile is written.
"""

from collections.abc import Sequence

from ..schemas.commands import GEMM, CommandForm, OpForm
from ..schemas.errors import KernelError
from ..schemas.handles import Geometry
from ..schemas.op_rules import FLOATS
from .handles import TensorHandle
from .math_plan import check_out_bytes


def gemm_form(a: Geometry, b: Geometry) -> OpForm:
    """The op for a × b. Raises KernelError for shapes or dtypes that do not multiply."""
    if len(a.shape) != 2 or len(b.shape) != 2 or a.shape[1] != b.shape[0]:
        raise KernelError(
            f"gemm: a must be [m, k] and b [k, n], not {list(a.shape)} and {list(b.shape)}"
        )
    if a.dtype is not b.dtype or a.dtype not in FLOATS:
        raise KernelError(
            f"gemm: a and b must have one float dtype, not {a.dtype} and {b.dtype}; tl.cast one"
        )
    sizes = (("m", a.shape[0]), ("k", a.shape[1]), ("n", b.shape[1]))
    return OpForm(GEMM, ("a", "b"), has_out=True, extra=sizes)


def gemm_shape(form: OpForm) -> tuple[int, int]:
    """[m, n] of the product."""
    return form.integer("m"), form.integer("n")


def check_gemm_out(form: OpForm, out: Geometry) -> None:
    """Raises KernelError unless the output has the product's shape, a float dtype and bytes of its own."""
    shape = gemm_shape(form)
    if out.shape != shape or out.dtype not in FLOATS:
        raise KernelError(
            f"gemm: out must be {list(shape)} of a float dtype, not {list(out.shape)} {out.dtype}"
        )
    check_out_bytes(GEMM, out)


def check_tile_loop(form: CommandForm, handles: Sequence[TensorHandle]) -> None:
    """Raises KernelError where the GEMM's output shares bytes with what its tile loop still reads.

    `handles` fill the form's slots.
    """
    gemm = form.gemm_index
    if gemm is None:
        return
    out = handles[form.op_slots[gemm][-1]]
    for index, slot in form.tile_loop_reads:
        read = handles[slot]
        if read.allocation is not out.allocation:
            continue
        is_its_own_tile = index != gemm and read.covers_as(out)
        shared = None if is_its_own_tile else read.shared_bytes(out)
        if shared is not None:
            first, stop = shared
            raise KernelError(
                f"gemm: out {out.described} must not share bytes {first} to {stop} with"
                f" {_operand_name(form, index, slot)} {read.described}, which the tile loop reads"
                " while it writes out; give it an out of its own"
            )


def _operand_name(form: CommandForm, index: int, slot: int) -> str:
    op = form.ops[index]
    name = op.operands[form.op_slots[index].index(slot)]
    return name if op.kind == GEMM else f"{op.kind}'s {name}"
