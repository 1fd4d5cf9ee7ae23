"""A composite's call as a flat list of items, in the order in which they run.

What stands before the GEMM runs before its tile loop. A prologue or flat item runs once (KERNEL)
unless it says otherwise; an epilogue item runs once per output tile after a GEMM, else once.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..schemas.commands import GEMM, Scope
from ..schemas.errors import KernelError, did_you_mean
from ..schemas.op_table import OPS, find_op
from .arguments import DTypeLike, not_a_handle
from .composite_call import CompositeCall, ItemDict
from .handles import TensorHandle
from .recipes import RECIPES, RecipeDescriptor, find_recipe

RESERVED = ("op", "out", "scope", "dtype")
MATH = "math"


@dataclass(frozen=True, slots=True)
class Item:
    """One op or recipe. `given` holds operands (handles or numbers) and scalars by name."""

    op: str | RecipeDescriptor
    given: ItemDict
    out: TensorHandle | None
    scope: Scope
    dtype: DTypeLike | None = None

    @property
    def name(self) -> str:
        return self.op if isinstance(self.op, str) else self.op.name


def items_of(call: CompositeCall) -> list[Item]:
    """The call's items. Raises KernelError for what is misspelled or does not go together."""
    if call.ops is None:
        after = Scope.OUTPUT_TILE if call.op == GEMM else Scope.KERNEL
        head = _gemm_head(call) if call.op == GEMM else _math_head(call)
        return [*_items(call.prologue, Scope.KERNEL), head, *_items(call.epilogue, after)]
    for name in _beside_ops(call):
        raise KernelError(f"composite: ops= is the whole composite; {name} belongs into an item")
    return _items(call.ops, Scope.KERNEL)


def _beside_ops(call: CompositeCall) -> Iterator[str]:
    """The arguments that are given although ops= says everything."""
    handles = {"a": call.a, "b": call.b, "out": call.out, "out_dtype": call.dtype}
    yield from (name for name, value in handles.items() if value is not None)
    rest = {"prologue": call.prologue, "epilogue": call.epilogue, "math_op": call.math_op}
    yield from (name for name, value in rest.items() if value)
    yield from call.named


def _items(items: Iterable[ItemDict], scope: Scope) -> list[Item]:
    """The items as they stand; `scope` where one names none."""
    return [_item(item, scope) for item in items]


def _gemm_head(call: CompositeCall) -> Item:
    for name in (*call.named, *(["math_op"] if call.math_op else [])):
        raise KernelError(
            f"composite: unknown argument '{name}'"
            + did_you_mean(name, ("a", "b", "out", "prologue", "epilogue", "out_dtype", "name"))
        )
    operands = {"a": call.a, "b": call.b}
    given = {name: handle for name, handle in operands.items() if handle is not None}
    return Item(GEMM, given, call.out, Scope.KERNEL, call.dtype)


def _math_head(call: CompositeCall) -> Item:
    kind = call.math_op if call.op == MATH else call.op
    if not kind:
        raise KernelError("composite: op='math' needs math_op=, the name of a math op")
    if kind not in OPS:
        raise KernelError(f"composite: unknown op '{kind}'{did_you_mean(kind, [GEMM, MATH, *OPS])}")
    given = dict(call.named)
    places = find_op(kind).operands
    for place, operand in enumerate((call.a, call.b)):
        if operand is not None and place < len(places):
            given[places[place]] = operand
        elif operand is not None:
            raise KernelError(f"composite: {kind} takes {len(places)} operand, and b= is a second")
    return Item(kind, given, call.out, Scope.KERNEL, call.dtype)


def _item(item: ItemDict, scope: Scope) -> Item:
    if not isinstance(item, dict) or "op" not in item:
        raise KernelError(f"composite: an item must be a dict with an 'op', not {item!r}")
    op, out, dtype = item["op"], item.get("out"), item.get("dtype")
    if not isinstance(op, (str, RecipeDescriptor)):
        raise KernelError(f"composite: an item's op must be a name or a recipe, not {op!r}")
    if find_recipe(op) is None and op not in OPS and op != GEMM:
        known = [*RECIPES, *OPS, GEMM]
        raise KernelError(f"composite: unknown op '{op}'{did_you_mean(str(op), known)}")
    if out is not None and not isinstance(out, TensorHandle):
        raise not_a_handle(f"composite: {op}: out must be", out)
    if dtype is not None and not isinstance(dtype, str):
        raise KernelError(f"composite: {op}: dtype must be a dtype's name, not {dtype!r}")
    given = {name: value for name, value in item.items() if name not in RESERVED}
    return Item(op, given, out, _scope(item, scope), dtype)


def _scope(item: ItemDict, default: Scope) -> Scope:
    given = item.get("scope", default)
    if isinstance(given, Scope):
        return given
    name = str(given).upper()
    if name not in Scope.__members__:
        listed = [scope.name for scope in Scope]
        raise KernelError(f"composite: no scope '{given}'{did_you_mean(name, listed)}")
    return Scope[name]
