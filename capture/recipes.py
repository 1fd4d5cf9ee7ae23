"""Recipes: named sequences of math ops that a composite's prologue unfolds into. One table entry each.

A recipe names its operands, the slots it needs in scratch, and the ops over both. Its primary
output, where it has one, becomes the `a` of the GEMM that follows. A kernel may give a descriptor
of its own where it would give a name.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..schemas.commands import Scalar
from ..schemas.errors import KernelError, did_you_mean
from ..schemas.op_table import find_op

Access: TypeAlias = Literal["R", "RW"]
HEAD_B = "b"
"""As a dtype's source: the GEMM's b operand, whose dtype is the storage dtype."""


@dataclass(frozen=True, slots=True)
class ScratchSlot:
    """A temporary of the recipe's own: shape and dtype are copied from operands of these names."""

    name: str
    from_shape: str
    from_dtype: str


@dataclass(frozen=True, slots=True)
class PrimaryOutSpec:
    """The slot that becomes the GEMM's `a`: as it is, or transposed (a view)."""

    slot: ScratchSlot
    transform: Literal["identity", "trans"] = "identity"


@dataclass(frozen=True, slots=True)
class EngineOp:
    """One math op: `reads` in the order of the op's operands, all names of operands or slots."""

    kind: str
    reads: tuple[str, ...]
    writes: str
    extra: tuple[tuple[str, Scalar], ...] = ()


@dataclass(frozen=True, slots=True)
class RecipeDescriptor:
    """A recipe. `operands` maps a name to R or RW; `single_shot` runs once, before the tile loop."""

    name: str
    operands: tuple[tuple[str, Access], ...]
    engine_seq: tuple[EngineOp, ...]
    scratch: tuple[ScratchSlot, ...] = ()
    primary_out: PrimaryOutSpec | None = None
    tile_alignment: Literal["single_shot"] = "single_shot"

    @property
    def slots(self) -> tuple[ScratchSlot, ...]:
        """Every slot to allocate, the primary output's last."""
        primary = () if self.primary_out is None else (self.primary_out.slot,)
        return self.scratch + primary

    def check(self) -> None:
        """Raises KernelError where the descriptor does not hold together."""
        if self.tile_alignment != "single_shot":
            raise KernelError(
                f"{self.name}: tile_alignment must be 'single_shot', not '{self.tile_alignment}'"
            )
        for name, access in self.operands:
            if access not in ("R", "RW"):
                raise KernelError(
                    f"{self.name}: the operand '{name}' must be R or RW, not '{access}'"
                )
        for slot in self.slots:
            self._check_slot(slot)
        for op in self.engine_seq:
            self._check_op(op)

    def _check_slot(self, slot: ScratchSlot) -> None:
        operands = dict(self.operands)
        if slot.from_shape not in operands:
            raise KernelError(
                f"{self.name}: the slot '{slot.name}' must take its shape from an operand, not"
                f" '{slot.from_shape}'{did_you_mean(slot.from_shape, operands)}"
            )
        if slot.from_dtype not in (*operands, HEAD_B):
            raise KernelError(
                f"{self.name}: the slot '{slot.name}' must take its dtype from an operand or from"
                f" '{HEAD_B}', not '{slot.from_dtype}'"
            )

    def _check_op(self, op: EngineOp) -> None:
        operands = find_op(op.kind).operands
        if len(op.reads) != len(operands):
            raise KernelError(
                f"{self.name}: {op.kind} must read {len(operands)}"
                f" operand{'s' if len(operands) != 1 else ''}, not {len(op.reads)}"
            )
        names = [*dict(self.operands), *(slot.name for slot in self.slots)]
        for name in (*op.reads, op.writes):
            if name not in names:
                raise KernelError(
                    f"{self.name}: {op.kind} uses '{name}', which must be an operand or a"
                    f" scratch slot{did_you_mean(name, names)}"
                )


SOFTMAX_MERGE = RecipeDescriptor(
    name="softmax_merge",
    operands=(("s", "R"), ("m", "RW"), ("l", "RW"), ("O", "RW")),
    scratch=(
        ScratchSlot("m_loc", from_shape="m", from_dtype="m"),
        ScratchSlot("m_new", from_shape="m", from_dtype="m"),
        ScratchSlot("corr", from_shape="m", from_dtype="m"),
        ScratchSlot("l_loc", from_shape="l", from_dtype="l"),
    ),
    primary_out=PrimaryOutSpec(ScratchSlot("P", from_shape="s", from_dtype=HEAD_B)),
    engine_seq=(
        EngineOp("rmax", ("s",), "m_loc", (("reduce_axis", -1),)),
        EngineOp("max_elem", ("m", "m_loc"), "m_new"),
        EngineOp("exp_diff", ("m", "m_new"), "corr"),
        EngineOp("exp_diff", ("s", "m_new"), "P", (("bcast_axis", 0),)),
        EngineOp("rsum", ("P",), "l_loc", (("reduce_axis", -1),)),
        EngineOp("fma", ("l", "corr", "l_loc"), "l"),
        EngineOp("mul_bcast", ("O", "corr"), "O", (("bcast_axis", 1),)),
        EngineOp("copy", ("m_new",), "m"),
    ),
)
"""The online-softmax step (DDD-0065 §5.2): folds scores s into m, l and O, and leaves P for P·V."""

GATED_SILU = RecipeDescriptor(
    name="gated_silu",
    operands=(("gate", "R"), ("up", "R")),
    scratch=(ScratchSlot("silu", from_shape="gate", from_dtype="gate"),),
    primary_out=PrimaryOutSpec(ScratchSlot("activated", from_shape="gate", from_dtype=HEAD_B)),
    engine_seq=(
        EngineOp("sigmoid", ("gate",), "silu"),
        EngineOp("mul", ("gate", "silu"), "silu"),
        EngineOp("mul", ("silu", "up"), "activated"),
    ),
)
"""A gated activation (Shazeer 2020, SwiGLU): silu(gate) · up, silu(x) = x·sigmoid(x), for the
projection that follows."""

RECIPES: dict[str, RecipeDescriptor] = {
    recipe.name: recipe for recipe in (SOFTMAX_MERGE, GATED_SILU)
}


def find_recipe(name: "str | RecipeDescriptor") -> RecipeDescriptor | None:
    """The recipe of that name, the descriptor itself, or None for another op's name."""
    return name if isinstance(name, RecipeDescriptor) else RECIPES.get(name)
