"""A table is proved sound as a whole exactly where its rows, read one by one, are found sound."""

from copy import deepcopy
from typing import Any

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kerntape.schemas.errors import FileError
from kerntape.schemas.plain_data import Field
from kerntape.schemas.proofs import Unproven
from kerntape.schemas.trace import Trace
from kerntape.schemas.trace_tables import ROW_READERS, pack_tables
from kerntape.schemas.whole_tables import TABLES
from small_traces import tile_loop, two_pes

TRACES = (two_pes(), tile_loop(2))


def rows_of(trace: Trace, table: str) -> list[Any]:
    """The table's rows as a file has them."""
    unpacker = msgpack.Unpacker()
    unpacker.feed(pack_tables(trace))
    counts = unpacker.unpack()
    rows = list(unpacker)
    first = sum(counts[: list(TABLES).index(table)])
    return rows[first : first + len(getattr(trace, table))]


def as_tuples(value: Any) -> Any:
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value


def read_whole(table: str, rows: list[Any]) -> tuple[Any, ...] | None:
    """The table, or None where it is not proved sound."""
    try:
        return TABLES[table](list(map(as_tuples, rows)))
    except Unproven:
        return None


def read_row_by_row(table: str, rows: list[Any]) -> tuple[Any, ...] | None:
    """The table, or None where a row is refused."""
    try:
        return tuple(ROW_READERS[table](Field(row, f"{table}[{i}]")) for i, row in enumerate(rows))
    except FileError:
        return None


def test_both_know_the_same_tables() -> None:
    assert list(TABLES) == list(ROW_READERS) == ["strings", "geometries", "forms", "lines"]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("trace", TRACES)
def test_a_sound_table_is_proved_so_and_read_as_it_was_written(trace: Trace, table: str) -> None:
    assert read_whole(table, rows_of(trace, table)) == getattr(trace, table)


@pytest.mark.parametrize("table", TABLES)
def test_an_empty_table_is_sound(table: str) -> None:
    assert read_whole(table, []) == ()


LOAD = [0, [["load", ["src"], True, [], 0]], 0, ""]
GEMM = ["gemm", ["a", "b"], True, [["m", 1], ["k", 1], ["n", 1]], 0]


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("geometries", [[1], [1, 1], "f16", "tcm"]),
        ("geometries", [[1] * 17, [1] * 17, "f16", "tcm"]),
        ("geometries", [[1 << 30, 1 << 30], [0, 0], "f16", "tcm"]),
        ("geometries", [[True], [2], "f16", "tcm"]),
        ("geometries", [[0], [(1 << 50) + 1], "f16", "tcm"]),  # spans nothing all the same
        ("forms", [*LOAD[:3], None]),
        ("forms", [0, [[*GEMM[:3], [["m", 1], ["m", 2]], 0]], 0, ""]),  # a scalar twice
        ("forms", [0, [["add", ["a", "a"], True, [], 0]], 0, ""]),
        ("forms", [0, [[*GEMM[:3], [["m", None]], 0]], 0, ""]),
        ("forms", [4, [GEMM], 4097, ""]),  # more read-write handles than a list may have entries
        ("forms", [10, [GEMM], 0, ""]),
        ("forms", [4, [[*GEMM[:4], 3]], 0, ""]),
        ("lines", ["a.py", -1, "f", "x"]),
    ],
)
def test_a_row_that_is_refused_leaves_its_table_unproved(table: str, row: list[Any]) -> None:
    assert read_row_by_row(table, [row]) is None
    assert read_whole(table, [row]) is None


def test_what_is_distinct_within_a_row_may_come_again_in_another() -> None:
    assert read_whole("forms", [LOAD, LOAD]) == read_row_by_row("forms", [LOAD, LOAD]) is not None


NUMBERS = [-1, 0, 1, 2, 3, 17, 1 << 30, 1 << 40, (1 << 40) + 1, 1 << 50, (1 << 50) + 1, 1 << 63]
OTHERS = [None, True, False, 0.5, "", "gemm", "f16", "hbm", b"", [], ["a", "a"], [["m", 1]], {}]


def lists_in(value: Any) -> list[list[Any]]:
    """The list and all lists in it."""
    inside = [found for item in value if isinstance(item, list) for found in lists_in(item)]
    return [value, *inside]


@settings(max_examples=400)
@given(st.sampled_from(TRACES), st.sampled_from(list(TABLES)), st.data())
def test_a_changed_table_is_proved_where_its_rows_are_accepted_and_nowhere_else(
    trace: Trace, table: str, data: st.DataObject
) -> None:
    rows = rows_of(trace, table)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from([each for each in lists_in(rows) if each]))
        index = data.draw(st.integers(0, len(place) - 1))
        change = data.draw(st.sampled_from(["put", "drop", "repeat", "swap"]))
        if change == "put":
            place[index] = deepcopy(data.draw(st.sampled_from([*NUMBERS, *OTHERS])))
        elif change == "drop":
            del place[index]
        elif change == "repeat":
            place.insert(0, deepcopy(place[index]))
        else:
            place[0], place[index] = place[index], place[0]
        if not rows:
            break
    assert read_whole(table, rows) == read_row_by_row(table, rows)
