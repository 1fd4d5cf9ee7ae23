"""A composite over the descriptor cap: where it is cut, and what orders the parts."""

from itertools import combinations, pairwise

import numpy as np
from capture_bench import BF16, F32, machine, normal, record
from hypothesis import given
from hypothesis import strategies as st
from kerntape.capture.segments import PlannedOp, Segment, cut, read_write, units
from kerntape.schemas.commands import GEMM, CommandKind, OpForm, Scope


def op(kind: str, *slots: int, scope: Scope = Scope.KERNEL) -> PlannedOp:
    """An op over bindings, its output last. Its own bytes: 2 + 1 + 8·slots + 1."""
    names = ("src", "other", "third")[: len(slots) - 1]
    return PlannedOp(OpForm(kind, names, True, scope=scope), slots)


def kinds(segments: tuple[Segment, ...]) -> list[str]:
    return ["+".join(op.form.kind for op in segment.ops) for segment in segments]


# a chain of three ops 0 → 1 → 2 → 3: each op is 20 bytes, framing and counts are 6
CHAIN = [op("exp", 0, 1), op("sqrt", 1, 2), op("neg", 2, 3)]


def test_what_fits_is_not_cut() -> None:
    (whole,) = cut(CHAIN, (), 66)
    assert whole.form.logical_bytes == 66
    assert whole.rw == ()


def test_a_cut_falls_where_the_fewest_segments_fit_the_longest_first() -> None:
    # two ops and one crossing handle: 6 + 40 + 8 = 54
    segments = cut(CHAIN, (), 65)
    assert kinds(segments) == ["exp+sqrt", "neg"]
    assert [segment.form.logical_bytes for segment in segments] == [54, 34]


def test_a_handle_written_on_one_side_of_a_cut_and_used_on_the_other_joins_both() -> None:
    first, second = cut(CHAIN, (), 65)
    assert (first.rw, second.rw) == ((2,), (2,))
    # at 53 bytes three segments are needed, the middle one with both handles: 6 + 20 + 16 = 42
    assert [segment.rw for segment in cut(CHAIN, (), 53)] == [(1,), (1, 2), (2,)]


def test_a_read_write_handle_stays_with_the_segments_that_use_it() -> None:
    # 9 is read and written by the first op only: 6 + 28 + 20 and two handles are 70 bytes
    ops = [op("add", 0, 9, 9), op("exp", 0, 1), op("sqrt", 1, 2)]
    first, second = cut(ops, (9,), 70)
    assert (kinds((first, second)), first.rw, second.rw) == (["add+exp", "sqrt"], (9, 1), (1,))


def test_a_view_crosses_a_cut_as_the_handle_that_it_shows() -> None:
    # 7 is a view of 1: what the first op writes, the second reads through it
    ops = [op("exp", 0, 1), op("sqrt", 7, 2), op("neg", 2, 3)]
    first, second, _ = cut(ops, (), 53, viewed={7: 1})
    assert (first.rw, second.rw) == ((1,), (1, 2))


def test_a_read_write_view_stays_with_its_own_segment_beside_the_handle_that_it_shows() -> None:
    # 7 is a view of 1, read and written by the second op: 6 + 20 + 8 + 8 = 42
    ops = [op("exp", 0, 1), op("sqrt", 7, 7), op("neg", 2, 3)]
    first, second, third = cut(ops, (7,), 53, viewed={7: 1})
    assert (first.rw, second.rw, third.rw) == ((1,), (7, 1), ())


def test_views_of_one_buffer_cross_a_cut_as_the_first_of_them() -> None:
    # each op is 20 bytes, its crossing handle 8, framing and counts 6: two composites of 34
    def kernel(x, *, tl):
        buffer = tl.empty((8, 8), name="buffer")
        upper, lower = buffer[0:6], buffer[2:8]
        exp = {"op": "exp", "src": tl.load(x), "out": upper}
        tl.composite(ops=[exp, {"op": "neg", "src": lower[0:4], "out": tl.empty((4, 8))}])

    first, second = record(kernel, normal(6, 8), topology=machine(cap_bytes=45)).commands()[1:]
    assert first.rw_handles == second.rw_handles == (first.op_out(0),)


def test_a_gemm_and_its_tile_ops_stay_together() -> None:
    gemm = op(GEMM, 0, 1, 2)
    scale = op("scale", 2, 2, scope=Scope.OUTPUT_TILE)
    tail = op("exp", 2, 3)
    assert [len(unit) for unit in units([CHAIN[0], gemm, scale, tail])] == [1, 2, 1]
    assert kinds(cut([gemm, scale, tail], (), 70)) == ["gemm+scale", "exp"]


def test_read_write_are_the_handles_whose_old_value_is_read_and_new_value_written() -> None:
    accumulate = [op(GEMM, 0, 1, 2), op("add", 2, 2, 2, scope=Scope.OUTPUT_TILE)]
    assert read_write(accumulate, ()) == (2,)
    scaled = [op(GEMM, 0, 1, 2), op("scale", 2, 2, scope=Scope.OUTPUT_TILE)]
    assert read_write(scaled, ()) == ()
    assert read_write(CHAIN, ()) == ()
    in_place = [op("exp", 0, 0), op("add", 1, 0, 1)]
    assert read_write(in_place, ()) == (0, 1)
    assert read_write(in_place, (1,)) == (1, 0)


def fewest_by_trying_all(ops: list[PlannedOp], cap_bytes: int) -> int | None:
    """The least number of segments, by every set of cuts."""
    for count in range(len(ops)):
        for cuts in combinations(range(1, len(ops)), count):
            ends = [0, *cuts, len(ops)]
            parts = [ops[first:last] for first, last in pairwise(ends)]
            if all(_bytes_of(part, ops) <= cap_bytes for part in parts):
                return count + 1
    return None


def _bytes_of(part: list[PlannedOp], ops: list[PlannedOp]) -> int:
    outside = [each for each in ops if each not in part]
    used = {slot for each in part for slot in each.slots}
    used_outside = {slot for each in outside for slot in each.slots}
    written = {each.writes for each in ops}
    crossing = used & used_outside & written
    return 6 + sum(each.form.logical_bytes for each in part) + 8 * len(crossing)


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=7, unique=True),
    st.integers(40, 120),
)
def test_no_set_of_cuts_has_fewer_segments(slots, cap_bytes) -> None:
    ops = [op("exp", *pair) for pair in slots]
    wanted = fewest_by_trying_all(ops, cap_bytes)
    if wanted is not None:
        assert len(cut(ops, (), cap_bytes)) == wanted


def test_a_cut_softmax_merge_computes_the_same_bits() -> None:
    def kernel(s, v, y, *, tl):
        m, l, O = tl.full((8,), -9.0), tl.zeros((8,)), tl.zeros((8, 32))  # noqa: E741, N806
        merge = {"op": "softmax_merge", "s": tl.load(s), "m": m, "l": l, "O": O}
        add = {"op": "add", "other": O}
        tl.composite(op="gemm", b=tl.ref(v), out=O, prologue=[merge], epilogue=[add])
        tl.store(y, tl.div(O, l, bcast_axis=1))

    arrays = normal(8, 64), normal(64, 32, dtype=BF16, seed=1), np.zeros((8, 32), F32)
    whole = record(kernel, *arrays)
    parts = record(kernel, *arrays, topology=machine(cap_bytes=200))
    pieces = [each.form for each in parts.commands() if each.kind is CommandKind.COMPOSITE]
    assert len(pieces) > 1
    assert all(form.logical_bytes <= 200 for form in pieces)
    np.testing.assert_array_equal(whole.value(2), parts.value(2))
