"""Works out a composite once per structure: its ops, what it allocates, its rw_handles, its segments.

Calls of equal structure over other handles share a plan, so what a tile loop repeats is checked
once. The order of the checks is the order of the items.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..schemas.commands import GEMM, CommandForm, OpForm, Scope
from ..schemas.dtypes import DType
from ..schemas.errors import KernelError, did_you_mean
from ..schemas.op_table import find_op
from .arguments import as_dtype, as_number, not_a_handle
from .composite_call import CompositeCall
from .composite_items import Item, items_of
from .gemm_rules import check_gemm_out, gemm_form, gemm_shape
from .handles import TensorHandle
from .math_plan import Given, ScalarItems, check_on_tile, math_result
from .recipe_ops import unfold
from .recipes import RecipeDescriptor, find_recipe
from .segments import Segment, cut, read_write
from .workspace import Allocated, Bindings, Workspace


@dataclass(frozen=True, slots=True)
class PlannedCommand:
    """One composite: its form, the bindings that fill the form's slots, and what PE_CPU can ever wait
    for because of it: which bindings it reads and writes that others can reach.
    """

    form: CommandForm
    slots: tuple[int, ...]
    reads: tuple[int, ...]
    writes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CompositePlan:
    """The structure of one call. `result` is the binding that tl.composite returns."""

    allocated: tuple[Allocated, ...]
    commands: tuple[PlannedCommand, ...]
    result: int


def plan_composite(call: CompositeCall, bindings: Bindings, cap_bytes: int) -> CompositePlan:
    """The plan of the call. Raises KernelError for what the hardware cannot be handed."""
    items = items_of(call)
    workspace = Workspace(bindings)
    planner = _Planner(items, workspace)
    for item in items:
        planner.add(item)
    if workspace.previous is None:
        raise KernelError("composite: must have at least one op")
    result = workspace.previous
    rw = read_write(workspace.ops, planner.tagged)
    segments = cut(workspace.ops, rw, cap_bytes, workspace.viewed)
    reachable = {*range(len(bindings.handles)), result}
    commands = tuple(_command(segment, reachable) for segment in segments)
    return CompositePlan(tuple(workspace.allocated), commands, result)


def _command(segment: Segment, reachable: set[int]) -> PlannedCommand:
    reads = dict.fromkeys(slot for op in segment.ops for slot in op.reads)
    writes = dict.fromkeys(op.writes for op in segment.ops)
    return PlannedCommand(
        segment.form,
        segment.slots,
        tuple(slot for slot in reads if slot in reachable),
        tuple(slot for slot in writes if slot in reachable),
    )


class _Planner:
    """Goes through the items once, in order."""

    def __init__(self, items: Sequence[Item], workspace: Workspace) -> None:
        self._workspace = workspace
        self.tagged: list[int] = []
        self._head_b = _head_b(items)
        self._primary: tuple[str, int] | None = None
        self._gemm_out: int | None = None
        self._loop_is_over = False

    def add(self, item: Item) -> None:
        """Plans one item after those before it."""
        recipe = find_recipe(item.op)
        if recipe is not None:
            self._add_recipe(recipe, item)
        elif item.op == GEMM:
            self._add_gemm(item)
        elif item.scope is Scope.KERNEL:
            self._add_math(item)
        else:
            self._add_tile_op(item)

    def _add_recipe(self, recipe: RecipeDescriptor, item: Item) -> None:
        if self._gemm_out is not None:
            raise KernelError(f"composite: {recipe.name} must stand before the GEMM, not after it")
        if recipe.primary_out is not None and self._primary is not None:
            raise KernelError(
                f"composite: auto-bind conflict: {self._primary[0]} and {recipe.name} both bind"
                " their output to the GEMM's a; keep one"
            )
        unfolded = unfold(recipe, item, self._workspace, self._head_b)
        self.tagged += unfolded.read_write
        if unfolded.primary is not None:
            self._primary = recipe.name, unfolded.primary
            self._workspace.previous = unfolded.primary

    def _add_gemm(self, item: Item) -> None:
        if self._gemm_out is not None:
            raise KernelError("composite: must have at most one GEMM; issue two composites")
        for name in item.given:
            if name not in ("a", "b"):
                raise KernelError(f"gemm: no operand '{name}'{did_you_mean(name, ('a', 'b'))}")
        a, b = self._gemm_a(item), self._gemm_operand(item, "b")
        form = gemm_form(self._workspace.geometry(a), self._workspace.geometry(b))
        self._gemm_out = self._output_of_gemm(item, form, self._workspace.geometry(a).dtype)
        self._workspace.emit(form, (a, b, self._gemm_out))

    def _gemm_a(self, item: Item) -> int:
        if self._primary is None:
            return self._gemm_operand(item, "a")
        recipe, primary = self._primary
        if "a" in item.given:
            raise KernelError(
                f"composite: auto-bind conflict: {recipe} binds its output to the GEMM's a, and a="
                " is given too; leave one out"
            )
        return primary

    def _gemm_operand(self, item: Item, name: str) -> int:
        handle = item.given.get(name)
        if handle is None:
            raise KernelError(f"gemm: the operand '{name}' is missing")
        if not isinstance(handle, TensorHandle):
            raise not_a_handle(f"gemm: {name} must be", handle)
        return self._workspace.binding(handle)

    def _output_of_gemm(self, item: Item, form: OpForm, dtype: DType) -> int:
        if item.out is None:
            wanted = dtype if item.dtype is None else as_dtype(item.dtype, GEMM)
            return self._workspace.allocate("", gemm_shape(form), wanted)
        check_gemm_out(form, item.out.geometry)
        return self._workspace.binding(item.out)

    def _add_math(self, item: Item) -> None:
        """An op that runs once. Without its first operand it goes on from the op before, in place."""
        self._loop_is_over = self._gemm_out is not None
        operands = find_op(item.name).operands
        chained = bool(operands) and operands[0] not in item.given
        source = self._workspace.previous if chained else None
        slots, given = self._operands(item, source)
        out = source if item.out is None else self._workspace.binding(item.out)
        geometry = None if out is None else self._workspace.geometry(out)
        dtype = None if item.dtype is None else as_dtype(item.dtype, item.name)
        result = math_result(item.name, given, _scalars(item), geometry, dtype)
        if out is None:
            out = self._workspace.allocate("", result.shape, result.dtype)
        self._workspace.emit(result.op, (*slots, out))

    def _add_tile_op(self, item: Item) -> None:
        """An op of the tile loop: its source is the tile, its output the GEMM's."""
        if self._gemm_out is None or self._loop_is_over:
            where = "before the GEMM" if self._gemm_out is None else "after a KERNEL op"
            raise KernelError(
                f"composite: {item.name} has scope {item.scope.name}, so it must directly follow"
                f" the GEMM, and stands {where}"
            )
        out = self._gemm_out
        source = find_op(item.name).operands[0] if find_op(item.name).operands else ""
        for handle in (item.given.get(source), item.out):
            if isinstance(handle, TensorHandle) and self._workspace.binding(handle) != out:
                raise KernelError(
                    f"{item.name}: a tile op reads and writes the GEMM's tile; leave {source} and"
                    " out away"
                )
        slots, given = self._operands(item, out)
        form = check_on_tile(item.name, given, _scalars(item), item.scope)
        self._workspace.emit(form, (*slots, out))

    def _operands(self, item: Item, source: int | None) -> tuple[list[int], list[Given]]:
        """The bindings of the handles, and per operand its geometry or number.

        `source` stands for the first operand where it is not given.
        """
        _check_names(item)
        slots: list[int] = []
        given: list[Given] = []
        for place, name in enumerate(find_op(item.name).operands):
            value = item.given.get(name)
            if value is None and (place > 0 or source is None):
                raise KernelError(f"{item.name}: the operand '{name}' is missing")
            if value is None or isinstance(value, TensorHandle):
                binding = source if value is None else self._workspace.binding(value)
                assert binding is not None
                slots.append(binding)
                given.append(self._workspace.geometry(binding))
            else:
                given.append(as_number(value, f"{item.name}: {name}", or_handle=True))
        return slots, given


def _head_b(items: Sequence[Item]) -> DType | None:
    gemm = next((item for item in items if item.op == GEMM), None)
    b = None if gemm is None else gemm.given.get("b")
    return b.dtype if isinstance(b, TensorHandle) else None


def _check_names(item: Item) -> None:
    row = find_op(item.name)
    known = (*row.operands, *row.scalars, *row.optional)
    for name in item.given:
        if name not in known:
            raise KernelError(f"{item.name}: no operand '{name}'{did_you_mean(name, known)}")
    for name in row.scalars:
        if name not in item.given:
            raise KernelError(f"{item.name}: the scalar '{name}' is missing")


def _scalars(item: Item) -> ScalarItems:
    row = find_op(item.name)
    return tuple(
        (name, as_number(item.given[name], f"{item.name}: {name}"))
        for name in (*row.scalars, *row.optional)
        if name in item.given
    )
