"""Unfolds a recipe into the ops of a composite (DDD-0065 §6, steps 1 to 4)."""

from dataclasses import dataclass

from ..schemas.dtypes import DType
from ..schemas.errors import KernelError, did_you_mean
from ..schemas.handles import Space
from .arguments import not_a_handle
from .composite_items import Item
from .handles import TensorHandle
from .math_plan import math_result
from .recipes import HEAD_B, Access, EngineOp, RecipeDescriptor, ScratchSlot
from .workspace import Workspace


@dataclass(frozen=True, slots=True)
class Unfolded:
    """What a recipe leaves behind: its RW operands, and the binding of its primary output."""

    read_write: tuple[int, ...]
    primary: int | None


def unfold(
    recipe: RecipeDescriptor, item: Item, workspace: Workspace, head_b: DType | None
) -> Unfolded:
    """Emits the recipe's ops over the item's operands. `head_b` is the dtype of the GEMM's b.

    Raises KernelError for a missing or unknown operand, one in the wrong memory, and shapes that
    do not fit.
    """
    recipe.check()
    names = _operands(recipe, item, workspace)
    read_write = tuple(names[name] for name, access in recipe.operands if access == "RW")
    for slot in recipe.slots:
        shape = workspace.geometry(names[slot.from_shape]).shape
        names[slot.name] = workspace.allocate(
            slot.name, shape, _slot_dtype(recipe, slot, names, workspace, head_b)
        )
    for op in recipe.engine_seq:
        _emit(recipe, op, names, workspace)
    return Unfolded(read_write, _primary(recipe, names, workspace))


def _operands(recipe: RecipeDescriptor, item: Item, workspace: Workspace) -> dict[str, int]:
    known = dict(recipe.operands)
    for name in item.given:
        if name not in known:
            raise KernelError(f"{recipe.name}: no operand '{name}'{did_you_mean(name, known)}")
    return {
        name: workspace.binding(_operand(recipe, item, name, access))
        for name, access in recipe.operands
    }


def _operand(recipe: RecipeDescriptor, item: Item, name: str, access: Access) -> TensorHandle:
    handle = item.given.get(name)
    if handle is None:
        raise KernelError(f"{recipe.name}: the operand '{name}' is missing")
    if not isinstance(handle, TensorHandle):
        raise not_a_handle(f"{recipe.name}: {name} must be", handle)
    if handle.space is not Space.TCM and access == "RW":
        raise KernelError(
            f"{recipe.name}: {name} is read and written (RW), so it must be a handle in TCM,"
            " not a reference (tl.ref)"
        )
    return handle


def _slot_dtype(
    recipe: RecipeDescriptor,
    slot: ScratchSlot,
    names: dict[str, int],
    workspace: Workspace,
    head_b: DType | None,
) -> DType:
    if slot.from_dtype in names:
        return workspace.geometry(names[slot.from_dtype]).dtype
    if slot.from_dtype == HEAD_B and head_b is not None:
        return head_b
    raise KernelError(
        f"{recipe.name}: {slot.name} takes its dtype from the GEMM's b, and no GEMM follows"
    )


def _emit(
    recipe: RecipeDescriptor, op: EngineOp, names: dict[str, int], workspace: Workspace
) -> None:
    out = names[op.writes]
    reads = [names[name] for name in op.reads]
    try:
        given = [workspace.geometry(binding) for binding in reads]
        result = math_result(op.kind, given, op.extra, workspace.geometry(out))
    except KernelError as error:
        spelled = f"{op.writes} = {op.kind}({', '.join(op.reads)})"
        raise KernelError(f"{recipe.name}, at {spelled}: {error}") from None
    workspace.emit(result.op, (*reads, out))


def _primary(recipe: RecipeDescriptor, names: dict[str, int], workspace: Workspace) -> int | None:
    if recipe.primary_out is None:
        return None
    primary = names[recipe.primary_out.slot.name]
    return workspace.transposed(primary) if recipe.primary_out.transform == "trans" else primary
