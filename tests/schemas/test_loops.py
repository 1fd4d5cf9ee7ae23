"""A loop is found where it is, and rows counted on from one turn are those that sorting all would give."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kerntape.schemas.commands import CommandKind, OpForm
from kerntape.schemas.dtypes import DType
from kerntape.schemas.errors import FileError
from kerntape.schemas.form_rows import FormRows
from kerntape.schemas.grouping import differenced, rows_by_group
from kerntape.schemas.loops import LONG, Loop, lanes, loop_of
from kerntape.schemas.stored_columns import restored, stored, with_ranks
from kerntape.schemas.trace import Trace
from kerntape.schemas.trace_checks import check_trace
from kerntape.schemas.trace_columns import joined
from kerntape.schemas.trace_file import parse_trace, trace_bytes
from small_traces import StreamBuilder, Tables, single, tile_loop

TILES = LONG
"""Of two commands and five handles each: more rows than a column must have to be searched."""


def keys(*parts: list[int]) -> np.ndarray:
    return np.concatenate([np.array(part, np.uint8) for part in parts])


def test_a_loop_begins_behind_what_comes_before_it_and_ends_with_a_whole_turn() -> None:
    # 2 rows, then 10,000 turns of 3, then a part of a turn and something else
    column = keys([9, 9], [1, 2, 3] * 10_000, [1, 2, 7])
    assert loop_of(column) == Loop(start=2, period=3, turns=10_000)


def test_a_turn_may_name_a_group_several_times() -> None:
    assert loop_of(keys([1, 2, 1, 3] * 5000)) == Loop(start=0, period=4, turns=5000)


def test_a_loop_around_an_inner_one_is_the_loop() -> None:
    # turns of 101 rows, of which 100 repeat one number: 64 rows of the middle come again at once
    inner = [5] * 100
    assert loop_of(keys([*inner, 6] * 300)).period == 101


@pytest.mark.parametrize(
    "column",
    [
        keys([1, 2, 3] * (LONG // 3)),  # too short to be worth a search
        keys([1, 2] * 5000, [*range(100)] * 90, [3, 4] * 5000),  # three loops, none of them half
        np.random.default_rng(1).integers(0, 9, LONG).astype(np.uint8),
        np.zeros(0, np.uint8),
        np.zeros(LONG, np.uint16),  # more groups than a byte numbers
    ],
)
def test_a_column_that_is_no_loop_has_none(column: np.ndarray) -> None:
    assert loop_of(column) == Loop(len(column), 0, 0)


SHORT = st.lists(st.integers(0, 5), max_size=6)


@settings(max_examples=60)
@given(SHORT, st.lists(st.integers(0, 5), min_size=1, max_size=12), SHORT, st.integers(0, 11))
def test_rows_of_a_loop_are_those_that_a_search_finds(
    before: list[int], turn: list[int], behind: list[int], cut: int
) -> None:
    turns = -(-LONG // len(turn)) + 3
    column = keys(before, (turn * turns)[: turns * len(turn) - cut % len(turn)], behind)
    found = {number: rows.tolist() for number, rows in rows_by_group(column.astype(np.int32))}
    assert found == {
        number: np.flatnonzero(column == number).tolist() for number in sorted(set(column.tolist()))
    }


@settings(max_examples=30)
@given(SHORT, st.lists(st.integers(0, 5), min_size=1, max_size=9), SHORT)
def test_slots_of_a_loop_begin_where_counting_them_all_says(
    before: list[int], turn: list[int], behind: list[int]
) -> None:
    widths = np.array([2, 1, 0, 5, 3, 1], np.int32)
    forms = keys(before, turn * (-(-LONG // len(turn)) + 1), behind)
    begins = np.concatenate([[0], np.cumsum(widths[forms])])
    rows = FormRows(forms, widths)
    assert np.array_equal(rows.begins(np.arange(len(forms) + 1)), begins)
    assert rows.slot_count == begins[-1]
    for group in rows.groups:
        slots = begins[group.commands] + np.arange(group.width)[:, np.newaxis]
        assert np.array_equal(group.slots, slots)


def test_a_long_loop_is_read_as_it_was_written() -> None:
    trace = tile_loop(TILES)
    read = parse_trace(trace_bytes(trace), "x").trace
    assert read.streams == trace.streams


def test_what_comes_behind_a_long_loop_is_read_as_it_was_written() -> None:
    # the load again, of new handles that look as q in HBM and q do
    trace = tile_loop(TILES)
    stream = trace.streams[0]
    q_hbm = stream.handle_count
    behind = {
        "forms": stream.forms[:1],
        "lines": stream.lines[:1],
        "wait_counts": stream.wait_counts[:1],
        "slots": np.array([q_hbm, q_hbm + 1]),
        "geometries": stream.geometries[:2],
        "addresses": np.array([32, 64]),
        "tensors": stream.tensors[:2],
        "labels": stream.labels[:2],
    }
    longer = {
        name: np.concatenate([getattr(stream, name), column], dtype=getattr(stream, name).dtype)
        for name, column in behind.items()
    }
    trace = replace(trace, streams=(replace(stream, **longer),))
    assert parse_trace(trace_bytes(trace), "x").trace.streams == trace.streams


def test_a_long_loop_of_few_slots_is_read_as_it_was_written() -> None:
    # a slot in every other command: half of LONG in all
    tables = Tables()
    build = StreamBuilder(tables)
    fill = single(CommandKind.MATH, OpForm("fill", (), True))
    cycles = single(CommandKind.OVERHEAD, OpForm("overhead", (), False, (("cycles", 12),)))
    for turn in range(LONG // 2):
        build.command(10, fill, [build.handle("x", (8,), DType.F32, 32 * (turn % 3))])
        build.command(11, cycles, [])
    trace = replace(
        tile_loop(1),
        **tables.trace_fields(),
        streams=(build.stream(),),
    )
    assert parse_trace(trace_bytes(trace), "x").trace.streams == trace.streams


def test_two_streams_that_loop_are_read_as_they_were_written() -> None:
    # the second has one tile less: the middle lies in the first, whose loop ends where it ends
    one, other = tile_loop(2 * TILES).streams[0], tile_loop(2 * TILES - 1).streams[0]
    columns = joined((one, other), tile_loop(4, pes=2).pes)
    counts = tile_loop(4).form_slot_counts
    packed = with_ranks(stored(columns, counts))
    back, _ = restored(packed, FormRows(packed.forms, counts), len(tile_loop(4).geometries))
    for name in ("slots", "waits", "addresses", "owners", "bases"):
        assert np.array_equal(getattr(back, name), getattr(columns, name)), name


def test_differences_of_a_loop_are_a_repetition_of_its_steps() -> None:
    # one slot a command, of form 0 and form 1 in turn: 0, 1, 2, … grow by 2 within each
    forms = np.tile(np.array([0, 1], np.int32), LONG)
    listed = differenced(np.arange(2 * LONG, dtype=np.int32), forms, np.ones(2, np.int32))
    assert listed[:LONG].tolist() == [0, *[2] * (LONG - 1)]
    assert listed[LONG:].tolist() == [1, *[2] * (LONG - 1)]


def poked(column: str, row: int, value: int) -> Trace:
    """The long loop with one entry of a column changed."""
    trace = tile_loop(TILES)
    changed = getattr(trace.streams[0], column).copy()
    changed[row] = value
    return replace(trace, streams=(replace(trace.streams[0], **{column: changed}),))


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        # command 0 has 2 slots, tile t's two have 5 and 13: those of tile 9000 begin at 2 + 9000 · 18;
        # handles 0 to 3 are q in HBM, q, m and o; tile t's five, from 4 + 5t: k, s, p, v, m_local
        (
            poked("slots", 2 + 9000 * 18 + 1, 5 * TILES + 4),
            "PE 0, command 18001: handle 81924 must be one of the PE's 81924",
        ),
        (
            poked("slots", 2 + 9000 * 18 + 1, 3),
            "PE 0, command 18001: the GEMM's b must have 512 elements, as its m, k and n say, not 128",
        ),
        (
            poked("slots", 2 + 9000 * 18 + 5, 0),
            "PE 0, command 18002: handle 0 of a composite must be in TCM",
        ),
        (
            poked("waits", 0, 1),
            "PE 0, command 1: a wait must be for an earlier command, not for command 1",
        ),
        # s is [8, 32] f32: 1024 bytes
        (
            poked("addresses", 4 + 5 * 9000 + 1, 8192 - 1023),
            "PE 0, handle 45005: must end within the TCM's 8192 bytes, not at 8193",
        ),
        (
            poked("tensors", 4 + 5 * 9000 + 1, 0),
            "PE 0, handle 45005: the tensor of a handle in TCM must be -1, not 0",
        ),
        (
            poked("tensors", 4 + 5 * 9000, 4),
            "PE 0, handle 45004: tensor 4 must be one of the PE's 4",
        ),
    ],
)
def test_what_is_wrong_in_one_turn_of_thousands_is_named(trace: Trace, message: str) -> None:
    with pytest.raises(FileError) as checked:
        check_trace(trace)
    assert str(checked.value) == message
    with pytest.raises(FileError) as read:
        parse_trace(trace_bytes(trace), "x.ktrace")
    assert str(read.value) == f"x.ktrace: {message}; capture it again"


def test_long_lanes_lie_no_power_of_two_apart_and_short_ones_waste_nothing() -> None:
    assert lanes(3, 1 << 14, np.int32).strides == (4 * ((1 << 14) + 16), 4)
    assert lanes(3, 5, np.int32).strides == (20, 4)
