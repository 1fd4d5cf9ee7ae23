"""The recipe table: DDD-0065 §5, what a descriptor must be, and a recipe of a user's own."""

from itertools import pairwise
from pathlib import Path

import pytest
from capture_bench import machine, normal, record
from kerntape.capture.capture import capture
from kerntape.capture.recipes import (
    RECIPES,
    SOFTMAX_MERGE,
    EngineOp,
    RecipeDescriptor,
    ScratchSlot,
    find_recipe,
)
from kerntape.schemas.errors import KernelError
from kerntape.schemas.handles import Space
from kerntape.schemas.op_table import OPS
from kerntape.topologies.loader import resolve_topology


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


@pytest.mark.parametrize("recipe", RECIPES.values())
def test_every_slot_is_written_before_it_is_read(recipe) -> None:
    written = set(dict(recipe.operands))
    for op in recipe.engine_seq:
        assert set(op.reads) <= written
        written.add(op.writes)
    assert {slot.name for slot in recipe.slots} <= written


def test_whatever_a_recipe_makes_has_bytes_of_its_own_in_tcm() -> None:
    def kernel(s, v, *, tl):
        m, l, O = tl.full((8,), -9.0), tl.zeros((8,)), tl.zeros((8, 128))  # noqa: E741, N806 (the formula's)
        merge = {"op": "softmax_merge", "s": tl.load(s), "m": m, "l": l, "O": O}
        add = [{"op": "add", "other": O}]
        tl.composite(op="gemm", b=tl.ref(v), out=O, prologue=[merge], epilogue=add)

    command = record(kernel, normal(8, 64), normal(64, 128)).commands()[-1]
    handles = {handle.label: handle for handle in command.handles if handle.label != "v"}
    assert list(handles) == ["s", "m_loc", "m", "m_new", "corr", "P", "l_loc", "l", "O"]
    assert {handle.geometry.space for handle in handles.values()} == {Space.TCM}
    placed = sorted(
        (handle.address, handle.address + handle.geometry.size_bytes) for handle in handles.values()
    )
    assert all(end <= start for (_, end), (start, _) in pairwise(placed))
    assert 0 <= placed[0][0] < placed[-1][1] <= machine().pe.tcm_bytes


def test_a_recipe_stands_in_the_table_under_its_own_name() -> None:
    assert [recipe.name for recipe in RECIPES.values()] == list(RECIPES)
    assert list(RECIPES) == ["softmax_merge", "gated_silu"]


USERS_KERNEL = """\
from kerntape.capture.recipes import EngineOp, PrimaryOutSpec, RecipeDescriptor, ScratchSlot

RECIPES = {
    transform: RecipeDescriptor(
        name="root",
        operands=(("x", "R"),),
        scratch=(ScratchSlot("relu", from_shape="x", from_dtype="x"),),
        primary_out=PrimaryOutSpec(ScratchSlot("root", "x", "b"), transform),
        engine_seq=(EngineOp("relu", ("x",), "relu"), EngineOp("sqrt", ("relu",), "root")),
    )
    for transform in ("identity", "trans")
}


def kernel(x, w, y, recipe, *, tl):
    rooted = {"op": recipe, "x": tl.load(x)}
    tl.composite(op="gemm", b=tl.ref(w), out=tl.ref(y), prologue=[rooted])
    tl.wait()


def launch(rt, transform: str, rows: int = 40, inner: int = 70, columns: int = 50):
    shape = (rows, inner) if transform == "identity" else (inner, rows)
    x, w, y = rt.random(shape), rt.random((inner, columns)), rt.empty((rows, columns))

    def product():
        rooted = x.values.clip(0) ** 0.5
        return (rooted if transform == "identity" else rooted.T) @ w.values

    rt.output(y, reference=product)
    rt.launch(kernel, (1, 1, 1), x, w, y, RECIPES[transform])
"""


@pytest.mark.parametrize("transform", ["identity", "trans"])
def test_a_users_kernel_file_brings_its_own_recipe(transform: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(USERS_KERNEL)
    machine = resolve_topology("single_pe")
    result = capture(f"{tmp_path}/mine.py", machine, {"transform": transform})
    assert result.outputs["y"].is_right
    composite = result.trace.command(result.trace.streams[0], 1)
    assert composite.op_kinds == ("relu", "sqrt", "gemm")
    rooted, a = composite.op_out(1), composite.op_operands(2)["a"]
    assert (a.address, a.geometry.shape) == (rooted.address, (40, 70))
    # bf16: rows are 140 bytes apart, or, seen transposed, 2 bytes
    assert a.geometry.strides == {"identity": (140, 2), "trans": (2, 80)}[transform]


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
