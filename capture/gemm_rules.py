"""What a GEMM accepts, in a composite or as a dot: [m, k] × [k, n] of one float dtype."""

from ..schemas.commands import GEMM, OpForm
from ..schemas.errors import KernelError
from ..schemas.handles import Geometry
from ..schemas.op_rules import FLOATS


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
    """Raises KernelError unless the output has the product's shape and a float dtype."""
    shape = gemm_shape(form)
    if out.shape != shape or out.dtype not in FLOATS:
        raise KernelError(
            f"gemm: out must be {list(shape)} of a float dtype, not {list(out.shape)} {out.dtype}"
        )
