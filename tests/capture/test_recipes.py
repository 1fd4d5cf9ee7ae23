"""The recipe table: DDD-0065 §5, and what a descriptor must be."""

import pytest
from kerntape.capture.recipes import (
    RECIPES,
    SOFTMAX_MERGE,
    EngineOp,
    RecipeDescriptor,
    ScratchSlot,
    find_recipe,
)
from kerntape.schemas.errors import KernelError
from kerntape.schemas.op_table import OPS


def test_softmax_merge_is_the_eight_ops_of_the_document() -> None:
    assert [(op.kind, op.reads, op.writes, op.extra) for op in SOFTMAX_MERGE.engine_seq] == [
        ("rmax", ("s",), "m_loc", (("reduce_axis", -1),)),
        ("max_elem", ("m", "m_loc"), "m_new", ()),
        ("exp_diff", ("m", "m_new"), "corr", ()),
        ("exp_diff", ("s", "m_new"), "P", (("bcast_axis", 0),)),
        ("rsum", ("P",), "l_loc", (("reduce_axis", -1),)),
        ("fma", ("l", "corr", "l_loc"), "l", ()),
        ("mul_bcast", ("O", "corr"), "O", (("bcast_axis", 1),)),
        ("copy", ("m_new",), "m", ()),
    ]
    assert SOFTMAX_MERGE.operands == (("s", "R"), ("m", "RW"), ("l", "RW"), ("O", "RW"))


def test_its_output_p_has_the_scores_shape_and_the_dtype_of_the_gemms_b() -> None:
    assert SOFTMAX_MERGE.primary_out is not None
    assert SOFTMAX_MERGE.primary_out.slot == ScratchSlot("P", from_shape="s", from_dtype="b")
    assert SOFTMAX_MERGE.primary_out.transform == "identity"
    assert [slot.name for slot in SOFTMAX_MERGE.slots] == ["m_loc", "m_new", "corr", "l_loc", "P"]


def test_a_recipe_is_found_by_its_name_or_is_the_descriptor_itself() -> None:
    assert find_recipe("softmax_merge") is SOFTMAX_MERGE
    assert find_recipe(SOFTMAX_MERGE) is SOFTMAX_MERGE
    assert find_recipe("exp") is None


@pytest.mark.parametrize("recipe", RECIPES.values())
def test_every_shipped_recipe_names_known_ops_and_its_own_slots(recipe) -> None:
    recipe.check()
    for op in recipe.engine_seq:
        assert op.kind in OPS
        assert len(op.reads) == len(OPS[op.kind].operands)
        assert set(OPS[op.kind].scalars) <= set(dict(op.extra))


def test_every_slot_is_written_before_it_is_read() -> None:
    written = set(dict(SOFTMAX_MERGE.operands))
    for op in SOFTMAX_MERGE.engine_seq:
        assert set(op.reads) <= written
        written.add(op.writes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"engine_seq": (EngineOp("exp", ("x",), "z"),)},
            "mine: exp uses 'z', which must be an operand or a scratch slot; known: x, y",
        ),
        (
            {"engine_seq": (EngineOp("exp", ("x", "y"), "y"),)},
            "mine: exp must read 1 operand, not 2",
        ),
        (
            {"scratch": (ScratchSlot("y", "w", "x"),)},
            "mine: the slot 'y' must take its shape from an operand, not 'w'; known: x",
        ),
        (
            {"engine_seq": (EngineOp("exp_dif", ("x",), "y"),)},
            "unknown op 'exp_dif'; did you mean 'exp_diff'?",
        ),
        (
            {"operands": (("x", "W"),)},
            "mine: the operand 'x' must be R or RW, not 'W'",
        ),
        (
            {"tile_alignment": "tile_aligned"},
            "mine: tile_alignment must be 'single_shot', not 'tile_aligned'",
        ),
    ],
)
def test_a_descriptor_that_does_not_hold_together_is_refused(changes, message) -> None:
    parts = {
        "name": "mine",
        "operands": (("x", "R"),),
        "scratch": (ScratchSlot("y", "x", "x"),),
        "engine_seq": (EngineOp("exp", ("x",), "y"),),
    }
    with pytest.raises(KernelError) as error:
        RecipeDescriptor(**(parts | changes)).check()
    assert str(error.value) == message
