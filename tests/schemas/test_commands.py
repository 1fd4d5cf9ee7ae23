"""Forms: slots in their order, and the descriptor's size by DDD-0065 §4 to the byte."""

import pytest
from kerntape.schemas.commands import CommandForm, CommandKind, OpForm, Scope

COMPOSITE = CommandKind.COMPOSITE
GEMM = OpForm("gemm", ("a", "b"), True, (("m", 8), ("k", 64), ("n", 128)))
SCALE = OpForm("scale", ("src",), True, (("factor", 0.125),), Scope.OUTPUT_TILE)
ADD = OpForm("add", ("src", "other"), True, (), Scope.OUTPUT_TILE)


def math(kind: str, *operands: str, extra: int = 0) -> OpForm:
    return OpForm(kind, operands, True, tuple((f"x{i}", i) for i in range(extra)))


SOFTMAX_MERGE = (  # DDD-0065 §5.2, in order
    math("rmax", "src", extra=1),
    math("max_elem", "src_a", "src_b"),
    math("exp_diff", "src_a", "src_b"),
    math("exp_diff", "src_a", "src_b", extra=1),
    math("rsum", "src", extra=1),
    math("fma", "src_a", "src_b", "src_c"),
    math("mul_bcast", "src_a", "src_b", extra=1),
    math("copy", "src"),
)


def test_an_op_counts_opcode_scope_handles_output_and_scalars() -> None:
    # 1 + 1, 1 + 8·2, 8, 1 + 4·3
    assert GEMM.logical_bytes == 2 + 17 + 8 + 13 == 40
    # without an output and scalars: 2, 1 + 8, 1
    assert OpForm("send", ("src",), False).logical_bytes == 12


def test_a_bare_gemm_composite_has_46_bytes() -> None:
    # 4 framing, 1 + 40 ops, 1 rw
    assert CommandForm(COMPOSITE, (GEMM,)).logical_bytes == 46


def test_a_gemm_with_scale_has_70_bytes() -> None:
    # scale: 2 + 1 + 8 + 8 + 1 + 4 = 24
    assert CommandForm(COMPOSITE, (GEMM, SCALE)).logical_bytes == 46 + 24


def test_the_softmax_merge_composite_has_322_bytes() -> None:
    # the eight: rmax 24, max_elem 28, exp_diff 28 and 32, rsum 24, fma 36, mul_bcast 32, copy 20
    assert [op.logical_bytes for op in SOFTMAX_MERGE] == [24, 28, 28, 32, 24, 36, 32, 20]
    # 4 + 1 + 224 + 40 + add 28 + 1 + 3·8
    form = CommandForm(COMPOSITE, (*SOFTMAX_MERGE, GEMM, ADD), rw_count=3)
    assert form.logical_bytes == 322


def test_a_handle_counts_once_for_every_slot_it_fills() -> None:
    # DDD-0065 §10: the same handle in three ops and the rw handles: 3·8 + 8 more than in none
    without = CommandForm(COMPOSITE, (math("a"), math("b"), math("c")))
    named = CommandForm(COMPOSITE, (math("a", "o"), math("b", "o"), math("c", "o")), rw_count=1)
    assert named.logical_bytes - without.logical_bytes == 32


@pytest.mark.parametrize("kind", [kind for kind in CommandKind if kind is not COMPOSITE])
def test_any_other_command_counts_as_its_one_op(kind: CommandKind) -> None:
    assert CommandForm(kind, (GEMM,)).logical_bytes == GEMM.logical_bytes


def test_slots_run_through_operands_outputs_and_read_write_handles() -> None:
    form = CommandForm(COMPOSITE, (math("rmax", "src"), GEMM, OpForm("poke", ("to",), False)), 2)
    assert form.op_slots == (range(2), range(2, 5), range(5, 6))
    assert form.rw_slots == range(6, 8)
    assert form.slot_count == 8
    assert form.read_slots == ((0, 0), (1, 2), (1, 3), (2, 5))
    assert form.write_slots == ((0, 1), (1, 4))


def test_a_command_without_handles_has_no_slots() -> None:
    form = CommandForm(CommandKind.WAIT, (OpForm("wait", (), False),))
    assert (form.slot_count, form.read_slots, form.write_slots) == (0, (), ())


def test_the_gemm_is_found_by_its_position() -> None:
    assert CommandForm(COMPOSITE, (*SOFTMAX_MERGE, GEMM, ADD)).gemm_index == 8
    assert CommandForm(COMPOSITE, SOFTMAX_MERGE).gemm_index is None


def test_the_verbs_that_return_at_once_are_load_composite_and_recv_async() -> None:
    at_once = {kind for kind in CommandKind if not kind.blocks}
    assert at_once == {CommandKind.LOAD, COMPOSITE, CommandKind.RECV_ASYNC}


def test_the_numbers_in_files_never_change() -> None:
    assert {kind.name: kind.value for kind in CommandKind} == {
        "LOAD": 0,
        "STORE": 1,
        "MATH": 2,
        "DOT": 3,
        "COMPOSITE": 4,
        "SEND": 5,
        "RECV": 6,
        "RECV_ASYNC": 7,
        "WAIT": 8,
        "OVERHEAD": 9,
    }
    assert {scope.name: scope.value for scope in Scope} == {
        "KERNEL": 0,
        "K_TILE": 1,
        "OUTPUT_TILE": 2,
    }


def test_a_scalar_is_found_by_name_and_an_integer_must_be_one() -> None:
    assert GEMM.scalar("n") == 128
    assert GEMM.integer("n") == 128
    with pytest.raises(KeyError):
        GEMM.scalar("o")
    with pytest.raises(TypeError, match=r"^scale.factor must be an int, not 0.125$"):
        SCALE.integer("factor")


def test_a_tile_loop_reads_a_and_b_and_what_its_tile_ops_read_beside_the_tile() -> None:
    copy = OpForm("copy", ("src",), True)
    gemm = OpForm("gemm", ("a", "b"), True, (("m", 1), ("k", 1), ("n", 1)))
    add = OpForm("add", ("src", "other"), True, scope=Scope.OUTPUT_TILE)
    after = OpForm("add", ("src", "other"), True)
    form = CommandForm(CommandKind.COMPOSITE, (copy, gemm, add, after), rw_count=1)
    # slots: copy 0 1, gemm a 2 b 3 out 4, add src 5 other 6 out 7, after 8 9 10, rw 11
    assert form.tile_loop_reads == ((1, 2), (1, 3), (2, 6))
    assert CommandForm(CommandKind.MATH, (copy,)).tile_loop_reads == ()
