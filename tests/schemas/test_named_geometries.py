"""What commands name in the slots of their forms is looked at once for all that name alike."""

from dataclasses import replace

import numpy as np
import pytest
from kerntape.schemas import form_rows
from kerntape.schemas.arranged import arranged
from kerntape.schemas.form_rows import FormRows
from kerntape.schemas.named_geometries import NamedGeometries
from kerntape.schemas.stored_columns import restored, stored, with_ranks
from kerntape.schemas.trace import Trace
from kerntape.schemas.trace_columns import TraceColumns, joined
from small_traces import tile_loop, two_pes

AT_ONCE, FORM_BY_FORM = 1 << 17, -1
"""How many slots of all commands are few."""


@pytest.fixture(params=[AT_ONCE, FORM_BY_FORM])
def _few_slots(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form_rows, "FEW_SLOTS", request.param)


def columns_of(slots: list[list[int]], streams: int = 1) -> TraceColumns:
    """Commands of one form with these handle ids, [command, slot], in so many streams of as many; each
    stream has five handles, and the handle h of all streams has geometry h."""
    empty = joined((), ())
    commands, handles = len(slots), 5 * streams
    return replace(
        empty,
        command_counts=np.full(streams, commands // streams, np.int32),
        handle_counts=np.full(streams, 5, np.int32),
        forms=np.zeros(commands, np.int32),
        wait_counts=np.zeros(commands, np.int32),
        slots=np.array(slots, np.int32).reshape(-1),
        geometries=np.arange(handles, dtype=np.int8),
        addresses=np.zeros(handles, np.int64),
    )


def named(slots: list[list[int]], streams: int = 1) -> NamedGeometries:
    columns = columns_of(slots, streams)
    rows = FormRows(columns.forms, np.array([len(slots[0])], np.int32))
    return arranged(columns, rows, 5 * streams).named


@pytest.mark.usefixtures("_few_slots")
@pytest.mark.parametrize(
    ("wrong", "first"),
    [
        (3, [0, None, None]),  # slot 0 names geometry 3 always
        (1, [None, 0, 0]),
        (2, [None, 1, 3]),  # slot 1 names 1 and 2 in turn, slot 2 names 2 in the last command only
        (4, [None, None, None]),
    ],
)
def test_the_first_command_with_a_wrong_geometry_is_found(
    wrong: int, first: list[int | None]
) -> None:
    each = named([[3, 1, 1], [3, 2, 1], [3, 1, 1], [3, 2, 2]])
    mask = np.arange(5) == wrong
    assert [each.first(0, slot, mask) for slot in range(3)] == first


@pytest.mark.usefixtures("_few_slots")
def test_handles_count_within_their_stream() -> None:
    # two streams of two commands and five handles each: the second's handle 4 is the tenth of all
    each = named([[4, 1], [0, 1], [4, 1], [0, 1]], streams=2)
    commands = np.arange(4)
    assert each.of(commands, 0).tolist() == [4, 0, 9, 5]
    assert each.of(commands, 1).tolist() == [1, 1, 6, 6]
    assert np.flatnonzero(each.of_form(0, 0)).tolist() == [0, 4, 5, 9]
    assert np.flatnonzero(each.of_form(0, 1)).tolist() == [1, 6]


@pytest.mark.usefixtures("_few_slots")
def test_an_id_that_no_handle_has_waits_for_the_check_that_names_it() -> None:
    each = named([[0, 0], [9, -7]])
    assert np.flatnonzero(each.of_form(0, 0)).tolist() == [0, 4]
    assert np.flatnonzero(each.of_form(0, 1)).tolist() == [0]


@pytest.mark.parametrize("trace", [two_pes(), tile_loop(40), tile_loop(7, pes=3)])
def test_few_commands_at_once_and_many_form_by_form_are_restored_alike(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = with_ranks(stored(joined(trace.streams, trace.pes), trace.form_slot_counts))
    found = []
    for few in (AT_ONCE, FORM_BY_FORM):
        monkeypatch.setattr(form_rows, "FEW_SLOTS", few)
        rows = FormRows(packed.forms, trace.form_slot_counts)
        assert rows.are_few == (few == AT_ONCE)
        columns, each = restored(packed, rows, len(trace.geometries))
        found.append((columns.slots.tolist(), each.named.seen.tolist()))
    assert found[0] == found[1]
    assert found[0][0] == joined(trace.streams, trace.pes).slots.tolist()
