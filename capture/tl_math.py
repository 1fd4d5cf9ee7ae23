"""tl's arithmetic: each verb is one math command on handles in TCM, and returns its output.

Every verb takes three keywords: `out=` names the handle that gets the result (otherwise one is
allocated in scratch), `dtype=` the result's dtype (otherwise the operands' own), `name=` what the
timeline calls it. A number may stand for one operand of a verb that has several. Operands
broadcast as NumPy's do; `bcast_axis=` instead takes `other` as one value a row. Raises KernelError
for what does not fit.
"""

from typing import TypeAlias, TypedDict, Unpack

from ..schemas.errors import KernelError
from .arguments import DTypeLike, as_dtype, as_number
from .handles import Operand, TensorHandle
from .math_plan import ScalarItems
from .verb_names import verb_of
from .verbs import Verbs
from .wrong_calls import no_such_argument

Axis: TypeAlias = int | None


class Result(TypedDict, total=False):
    """Where a result goes and what it is called."""

    out: TensorHandle | None
    dtype: DTypeLike | None
    name: str


class MathVerbs(Verbs):
    """The arithmetic part of tl."""

    def _math(
        self,
        kind: str,
        operands: tuple[Operand, ...],
        scalars: ScalarItems = (),
        *,
        out: TensorHandle | None = None,
        dtype: DTypeLike | None = None,
        name: str = "",
        **unknown: object,
    ) -> TensorHandle:
        for argument in unknown:
            verb = verb_of(kind)
            function = getattr(MathVerbs, verb.removeprefix("tl."))
            raise KernelError(no_such_argument(verb, function, argument))
        stored = None if dtype is None else as_dtype(dtype, verb_of(kind))
        return self._pe.math(kind, operands, scalars, out, stored, name)

    def _binary(
        self, kind: str, operands: tuple[Operand, Operand], axis: Axis, result: Result
    ) -> TensorHandle:
        scalars: ScalarItems = () if axis is None else (("bcast_axis", axis),)
        return self._math(kind, operands, scalars, **result)

    def _reduce(self, kind: str, src: TensorHandle, axis: int, result: Result) -> TensorHandle:
        """The axis is recorded from the end, so that one reduction has one form."""
        rank = len(self._own(src, verb_of(kind)).shape)
        if not isinstance(axis, int) or not -rank <= axis < rank:
            raise KernelError(
                f"{verb_of(kind)}: axis must be an axis of {list(src.shape)}, not {axis!r}"
            )
        from_end = axis - rank if axis >= 0 else axis
        return self._math(kind, (src,), (("reduce_axis", from_end),), **result)

    def copy(self, src: TensorHandle, **result: Unpack[Result]) -> TensorHandle:
        """The same values in other bytes, contiguous whatever the source's strides."""
        return self._math("copy", (src,), **result)

    def cast(self, src: TensorHandle, dtype: DTypeLike, *, name: str = "") -> TensorHandle:
        """The values rounded to another dtype."""
        return self._math("cast", (src,), dtype=dtype, name=name)

    def neg(self, src: TensorHandle, **result: Unpack[Result]) -> TensorHandle:
        """−src."""
        return self._math("neg", (src,), **result)

    def exp(self, src: TensorHandle, **result: Unpack[Result]) -> TensorHandle:
        """e^src."""
        return self._math("exp", (src,), **result)

    def sqrt(self, src: TensorHandle, **result: Unpack[Result]) -> TensorHandle:
        """√src."""
        return self._math("sqrt", (src,), **result)

    def rsqrt(self, src: TensorHandle, **result: Unpack[Result]) -> TensorHandle:
        """1 / √src."""
        return self._math("rsqrt", (src,), **result)

    def relu(self, src: TensorHandle, **result: Unpack[Result]) -> TensorHandle:
        """max(src, 0)."""
        return self._math("relu", (src,), **result)

    def gelu(self, src: TensorHandle, **result: Unpack[Result]) -> TensorHandle:
        """½·src·(1 + tanh(√(2/π)·(src + 0.044715·src³)))."""
        return self._math("gelu", (src,), **result)

    def sigmoid(self, src: TensorHandle, **result: Unpack[Result]) -> TensorHandle:
        """1 / (1 + e^−src)."""
        return self._math("sigmoid", (src,), **result)

    def add(
        self, src: Operand, other: Operand, *, bcast_axis: Axis = None, **result: Unpack[Result]
    ) -> TensorHandle:
        """src + other."""
        return self._binary("add", (src, other), bcast_axis, result)

    def sub(
        self, src: Operand, other: Operand, *, bcast_axis: Axis = None, **result: Unpack[Result]
    ) -> TensorHandle:
        """src − other."""
        return self._binary("sub", (src, other), bcast_axis, result)

    def mul(
        self, src: Operand, other: Operand, *, bcast_axis: Axis = None, **result: Unpack[Result]
    ) -> TensorHandle:
        """src · other."""
        return self._binary("mul", (src, other), bcast_axis, result)

    def div(
        self, src: Operand, other: Operand, *, bcast_axis: Axis = None, **result: Unpack[Result]
    ) -> TensorHandle:
        """src / other."""
        return self._binary("div", (src, other), bcast_axis, result)

    def maximum(
        self, src: Operand, other: Operand, *, bcast_axis: Axis = None, **result: Unpack[Result]
    ) -> TensorHandle:
        """The larger of the two, element by element."""
        return self._binary("max_elem", (src, other), bcast_axis, result)

    def minimum(
        self, src: Operand, other: Operand, *, bcast_axis: Axis = None, **result: Unpack[Result]
    ) -> TensorHandle:
        """The smaller of the two, element by element."""
        return self._binary("min_elem", (src, other), bcast_axis, result)

    def exp_diff(
        self, src: Operand, other: Operand, *, bcast_axis: Axis = None, **result: Unpack[Result]
    ) -> TensorHandle:
        """e^(src − other)."""
        return self._binary("exp_diff", (src, other), bcast_axis, result)

    def mul_bcast(
        self, src: TensorHandle, other: TensorHandle, **result: Unpack[Result]
    ) -> TensorHandle:
        """Every row of src times its own value: [8, 128] with [8]."""
        return self._math("mul_bcast", (src, other), (("bcast_axis", 1),), **result)

    def fma(
        self, src_a: Operand, src_b: Operand, src_c: Operand, **result: Unpack[Result]
    ) -> TensorHandle:
        """src_a · src_b + src_c, rounded once for storage and in f32 in between."""
        return self._math("fma", (src_a, src_b, src_c), **result)

    def scale(self, src: TensorHandle, factor: float, **result: Unpack[Result]) -> TensorHandle:
        """src · factor."""
        return self._math(
            "scale", (src,), (("factor", as_number(factor, "tl.scale: factor")),), **result
        )

    def bias(self, src: TensorHandle, bias: TensorHandle, **result: Unpack[Result]) -> TensorHandle:
        """src + bias, the bias one value a column."""
        return self._math("bias", (src, bias), **result)

    def max(
        self,
        src: TensorHandle,
        axis: int = -1,
        *,
        keepdims: bool = False,
        **result: Unpack[Result],
    ) -> TensorHandle:
        """The largest along an axis; with keepdims the axis stays, of extent 1."""
        return _kept(self._reduce("rmax", src, axis, result), src, axis, keepdims)

    def min(
        self,
        src: TensorHandle,
        axis: int = -1,
        *,
        keepdims: bool = False,
        **result: Unpack[Result],
    ) -> TensorHandle:
        """The smallest along an axis; with keepdims the axis stays, of extent 1."""
        return _kept(self._reduce("rmin", src, axis, result), src, axis, keepdims)

    def sum(
        self,
        src: TensorHandle,
        axis: int = -1,
        *,
        keepdims: bool = False,
        **result: Unpack[Result],
    ) -> TensorHandle:
        """The sum along an axis: f32 for float operands unless another dtype is asked for."""
        return _kept(self._reduce("rsum", src, axis, result), src, axis, keepdims)

    def softmax(self, src: TensorHandle, axis: int = -1, **result: Unpack[Result]) -> TensorHandle:
        """e^(src − max) / Σ e^(src − max) along an axis."""
        return self._reduce("softmax", src, axis, result)

    def where(
        self,
        condition: TensorHandle,
        src: Operand,
        other: Operand,
        **result: Unpack[Result],
    ) -> TensorHandle:
        """src where the condition (bool) holds, other elsewhere."""
        return self._math("where", (condition, src, other), **result)

    def lt(self, src: Operand, other: Operand, **result: Unpack[Result]) -> TensorHandle:
        """src < other, as bool."""
        return self._math("lt", (src, other), **result)

    def le(self, src: Operand, other: Operand, **result: Unpack[Result]) -> TensorHandle:
        """src ≤ other, as bool."""
        return self._math("le", (src, other), **result)

    def gt(self, src: Operand, other: Operand, **result: Unpack[Result]) -> TensorHandle:
        """src > other, as bool."""
        return self._math("gt", (src, other), **result)

    def ge(self, src: Operand, other: Operand, **result: Unpack[Result]) -> TensorHandle:
        """src ≥ other, as bool."""
        return self._math("ge", (src, other), **result)

    def eq(self, src: Operand, other: Operand, **result: Unpack[Result]) -> TensorHandle:
        """src = other, as bool."""
        return self._math("eq", (src, other), **result)

    def ne(self, src: Operand, other: Operand, **result: Unpack[Result]) -> TensorHandle:
        """src ≠ other, as bool."""
        return self._math("ne", (src, other), **result)


def _kept(reduced: TensorHandle, src: TensorHandle, axis: int, keepdims: bool) -> TensorHandle:
    """The result with the reduced axis put back, a view and no command."""
    if not keepdims:
        return reduced
    shape = list(src.shape)
    shape[axis] = 1
    return reduced.view(tuple(shape))
