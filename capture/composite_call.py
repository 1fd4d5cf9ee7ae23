"""How a kernel writes a composite, and what of it decides the plan.

    tl.composite(op="gemm", a=, b=, out=, prologue=[…], epilogue=[…])      DDD-0065's form
    tl.composite(op="math", math_op="exp", a=, out=, epilogue=[…])         no GEMM
    tl.composite(ops=[{"op": "rmax", "src": s, …}, {"op": "gemm", …}, …])  flat

An item is a dict: "op" names an op or a recipe (or is a RecipeDescriptor), "out" and "dtype" its
output, "scope" how often it runs; every other key is an operand (a handle or a number) or a scalar.
"""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, TypeAlias

from .arguments import DTypeLike
from .handles import TensorHandle
from .recipes import RecipeDescriptor
from .workspace import Bindings

ItemDict: TypeAlias = dict[str, Any]
NAMES = (str, RecipeDescriptor)


class CompositeCall(NamedTuple):
    """The arguments of one tl.composite, its name apart. `ops` is None in the keyword forms."""

    op: str
    a: TensorHandle | None
    b: TensorHandle | None
    out: TensorHandle | None
    prologue: Sequence[ItemDict]
    epilogue: Sequence[ItemDict]
    ops: Sequence[ItemDict] | None
    dtype: DTypeLike | None
    math_op: str
    named: ItemDict


def structure_key(call: CompositeCall, bindings: Bindings) -> Hashable:
    """Equal for calls that differ in nothing but which handles of equal geometry they name, and share
    allocations between the same of them.

    Binds every handle of the call, in order of appearance.
    """
    key: list[Hashable] = [call.op, call.math_op, call.dtype, call.ops is None]
    outside = {"a": call.a, "b": call.b, "out": call.out, **call.named}
    for items in ((outside,), call.prologue, call.epilogue, call.ops or ()):
        key.append(len(items))
        for item in items:
            named = item if isinstance(item, dict) else {"": item}
            key.append(len(named))
            for name, value in named.items():
                key.append(name)
                if isinstance(value, TensorHandle):
                    number = bindings.number(value)
                    key += (number, bindings.roots[number], value.geometry_number)
                else:
                    key.append(value if isinstance(value, NAMES) else repr(value))
    return tuple(key)
