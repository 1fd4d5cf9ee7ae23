"""The three ways to write a composite, brought to one: a flat list of items in the order they run.

    tl.composite(op="gemm", a=, b=, out=, prologue=[…], epilogue=[…])      DDD-0065's form
    tl.composite(op="math", math_op="exp", a=, out=, epilogue=[…])         no GEMM
    tl.composite(ops=[{"op": "rmax", "src": s, …}, {"op": "gemm", …}, …])  flat

A phase is a position: what stands before the GEMM runs before its tile loop. A prologue or flat item
runs once (KERNEL); an epilogue item runs once per output tile after a GEMM, else once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..schemas.commands import GEMM, Scope
from ..schemas.errors import KernelError, did_you_mean
from ..schemas.op_table import OPS, find_op
from .arguments import DTypeLike
from .handles import TensorHandle
from .recipes import RECIPES, RecipeDescriptor, find_recipe

ItemDict: TypeAlias = Mapping[str, object]
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


@dataclass(frozen=True, slots=True)
class Head:
    """What the keyword form says outside its prologue and epilogue."""

    op: str
    a: TensorHandle | None
    b: TensorHandle | None
    out: TensorHandle | None
    math_op: str
    dtype: DTypeLike | None
    named: ItemDict


def keyword_items(
    head: Head, prologue: Sequence[ItemDict], epilogue: Sequence[ItemDict]
) -> list[Item]:
    """The prologue's items, the head, the epilogue's. Raises KernelError for what is misspelled."""
    after = Scope.OUTPUT_TILE if head.op == GEMM else Scope.KERNEL
    return [
        *flat_items(prologue, Scope.KERNEL),
        _gemm_head(head) if head.op == GEMM else _math_head(head),
        *flat_items(epilogue, after),
    ]


def flat_items(items: Iterable[ItemDict], scope: Scope) -> list[Item]:
    """The items as they stand; `scope` where one names none."""
    return [_item(item, scope) for item in items]


def _gemm_head(head: Head) -> Item:
    for name in (*head.named, *(["math_op"] if head.math_op else [])):
        raise KernelError(
            f"composite: unknown argument '{name}'"
            + did_you_mean(name, ("a", "b", "out", "prologue", "epilogue", "out_dtype", "name"))
        )
    operands = {"a": head.a, "b": head.b}
    given = {name: handle for name, handle in operands.items() if handle is not None}
    return Item(GEMM, given, head.out, Scope.KERNEL, head.dtype)


def _math_head(head: Head) -> Item:
    kind = head.math_op if head.op == MATH else head.op
    if not kind:
        raise KernelError("composite: op='math' needs math_op=, the name of a math op")
    if kind not in OPS:
        raise KernelError(f"composite: unknown op '{kind}'{did_you_mean(kind, [GEMM, MATH, *OPS])}")
    given = dict(head.named)
    places = find_op(kind).operands
    for place, operand in enumerate((head.a, head.b)):
        if operand is not None and place < len(places):
            given[places[place]] = operand
        elif operand is not None:
            raise KernelError(f"composite: {kind} takes {len(places)} operand, and b= is a second")
    return Item(kind, given, head.out, Scope.KERNEL, head.dtype)


def _item(item: ItemDict, scope: Scope) -> Item:
    if not isinstance(item, Mapping) or "op" not in item:
        raise KernelError(f"composite: an item must be a dict with an 'op', not {item!r}")
    op, out, dtype = item["op"], item.get("out"), item.get("dtype")
    if not isinstance(op, (str, RecipeDescriptor)):
        raise KernelError(f"composite: an item's op must be a name or a recipe, not {op!r}")
    if find_recipe(op) is None and op not in OPS and op != GEMM:
        known = [*RECIPES, *OPS, GEMM]
        raise KernelError(f"composite: unknown op '{op}'{did_you_mean(str(op), known)}")
    if out is not None and not isinstance(out, TensorHandle):
        raise KernelError(f"composite: {op}: out must be a handle, not {type(out).__name__}")
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
