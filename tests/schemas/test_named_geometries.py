"""What commands name in the slots of their forms is looked at once for all that name alike."""

from dataclasses import replace

import numpy as np
import pytest
from kerntape.schemas import form_rows
from kerntape.schemas.arranged import arranged
from kerntape.schemas.commands import CommandForm, CommandKind, OpForm
from kerntape.schemas.dtypes import DType
from kerntape.schemas.form_rows import FormRows
from kerntape.schemas.handles import Geometry, Space
from kerntape.schemas.named_geometries import NamedGeometries
from kerntape.schemas.plain_data import MAX_ITEMS
from kerntape.schemas.stored_columns import restored, stored, with_ranks
from kerntape.schemas.trace import Stream, Trace
from kerntape.schemas.trace_checks import check_trace
from kerntape.schemas.trace_columns import TraceColumns, joined
from kerntape.schemas.trace_file import parse_trace, trace_bytes
from peak_memory import peak_bytes_of
from small_traces import single, tile_loop, two_pes

AT_ONCE, FORM_BY_FORM = 1 << 18, -1
"""How many slots and commands are few."""


@pytest.fixture(params=[AT_ONCE, FORM_BY_FORM])
def _few_slots(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(form_rows, "FEW", request.param)


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
    assert each.of_form(0, 0).tolist() == [0, 4, 5, 9]
    assert each.of_form(0, 1).tolist() == [1, 6]


@pytest.mark.usefixtures("_few_slots")
def test_an_id_that_no_handle_has_waits_for_the_check_that_names_it() -> None:
    each = named([[0, 0], [9, -7]])
    assert each.of_form(0, 0).tolist() == [0, 4]
    assert each.of_form(0, 1).tolist() == [0]


def test_all_slots_are_few_up_to_so_many_slots_and_commands_for_each_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # four commands of two slots each, of forms 1 and 3 in turn: 12 of both, 6 for each form
    forms, slot_counts = np.array([1, 3, 1, 3], np.int32), np.array([9, 2, 9, 2, 9], np.int32)

    def are_few(in_all: int, for_each: int) -> bool:
        monkeypatch.setattr(form_rows, "FEW", in_all)
        monkeypatch.setattr(form_rows, "FEW_PER_FORM", for_each)
        return FormRows(forms, slot_counts).few is not None

    assert are_few(12, 6)
    assert not are_few(12, 5)
    assert not are_few(11, 6)


def test_slots_are_numbered_through_the_forms_that_occur() -> None:
    rows = FormRows(np.array([3, 1, 3], np.int32), np.array([9, 1, 9, 2, 9], np.int32))
    assert rows.forms == [1, 3]
    assert rows.first_slots.tolist() == [0, 0, 1, 1, 3, 3]
    assert rows.commands(3).tolist() == [0, 2]
    few = rows.few
    assert few is not None
    # flat, the slots are those of commands 0, 1 and 2: two, one and two
    assert few.numbers.tolist() == [1, 2, 0, 1, 2]
    assert (few.sizes, few.places.tolist()) == ([(1, 1), (2, 2)], [2, 0, 1, 3, 4])


def all_differ(count: int) -> Trace:
    """As many forms as geometries: command i is of form i and reads and writes a handle of i elements,
    which no other command does."""
    lone = tile_loop(1)
    numbers, zeros = np.arange(count, dtype=np.int32), np.zeros(count, np.int32)
    stream = Stream(
        forms=numbers,
        lines=zeros,
        wait_counts=zeros,
        slots=numbers.repeat(2),
        waits=zeros[:0],
        geometries=numbers,
        addresses=zeros.astype(np.int64),
        tensors=zeros - 1,
        labels=zeros,
    )
    return replace(
        lone,
        geometries=tuple(Geometry((i,), (2,), DType.F16, Space.TCM) for i in range(count)),
        forms=tuple(
            single(CommandKind.MATH, OpForm(f"op{i}", ("src",), True)) for i in range(count)
        ),
        streams=(stream,),
    )


@pytest.mark.usefixtures("_few_slots")
def test_many_forms_that_name_many_geometries_take_no_more_than_their_slots() -> None:
    # 4,000 slots of 2,000 geometries: a table of both would be 8 MB
    trace = all_differ(2000)
    content = trace_bytes(trace)
    assert peak_bytes_of(lambda: parse_trace(content, "x")) < 6 << 20
    assert peak_bytes_of(lambda: check_trace(trace)) < 4 << 20


@pytest.mark.usefixtures("_few_slots")
def test_forms_that_no_command_has_take_next_to_nothing() -> None:
    # 3,000 forms of 4,097 slots: an entry for each of these would be 12 MB, for each geometry 24 GB
    trace = two_pes()
    unused = CommandForm(CommandKind.COMPOSITE, (OpForm("op", (), True),), rw_count=MAX_ITEMS)
    alike = Geometry((), (), DType.F16, Space.TCM)
    trace = replace(
        trace,
        forms=(*trace.forms, *[unused] * 3000),
        geometries=(*trace.geometries, *[alike] * 2000),
    )
    content = trace_bytes(trace)
    assert peak_bytes_of(lambda: parse_trace(content, "x")) < 5 << 20
    assert peak_bytes_of(lambda: check_trace(trace)) < 1 << 20


@pytest.mark.usefixtures("_few_slots")
def test_a_form_that_names_all_geometries_in_each_slot_takes_no_more_than_its_slots() -> None:
    # 60 commands of 500 slots, 30,000 in all; each command names its own geometry in all of them
    slots = np.arange(60, dtype=np.int32).repeat(500)
    columns = replace(
        columns_of([[0] * 500] * 60),
        handle_counts=np.array([60], np.int32),
        slots=slots,
        geometries=np.arange(60, dtype=np.int32),
        addresses=np.zeros(60, np.int64),
    )
    each = arranged(columns, FormRows(columns.forms, np.array([500], np.int32)), 60).named
    assert each.geometries.tolist() == [*range(60)] * 500
    assert each.begins.tolist() == [*range(0, 30_001, 60)]


@pytest.mark.parametrize("trace", [two_pes(), tile_loop(40), tile_loop(7, pes=3)])
def test_few_commands_at_once_and_many_form_by_form_are_restored_alike(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = with_ranks(stored(joined(trace.streams, trace.pes), trace.form_slot_counts))
    found = []
    for few in (AT_ONCE, FORM_BY_FORM):
        monkeypatch.setattr(form_rows, "FEW", few)
        rows = FormRows(packed.forms, trace.form_slot_counts)
        assert (rows.few is not None) == (few == AT_ONCE)
        columns, each = restored(packed, rows, len(trace.geometries))
        seen = each.named
        found.append((columns.slots.tolist(), seen.geometries.tolist(), seen.begins.tolist()))
    assert found[0] == found[1]
    assert found[0][0] == joined(trace.streams, trace.pes).slots.tolist()
