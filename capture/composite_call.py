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

    Binds every handle of the call, in order of appearance. The key has the names first, then the
    values, a handle as its binding's number, then what the bound handles are.
    """
    op, a, b, out, prologue, epilogue, ops, dtype, math_op, named = call
    items = (named, *prologue, *epilogue, *(ops or ()))
    key: list[Hashable] = [op, math_op, dtype, ops is None, len(prologue), len(epilogue)]
    values: list[object] = [a, b, out]
    for item in items:
        by_name = item if isinstance(item, dict) else {"": item}
        key.append(len(by_name))
        key += by_name
        values += by_name.values()
    for value in values:
        if isinstance(value, TensorHandle):
            key.append(bindings.number(value))
        else:
            key.append(value if value is None or isinstance(value, NAMES) else repr(value))
    key += bindings.roots
    key += [handle.geometry_number for handle in bindings.handles]
    return tuple(key)
