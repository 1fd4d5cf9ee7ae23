"""The trace record: commands with their handles, PEs that share streams, equality."""

from dataclasses import replace

import numpy as np
import pytest
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.handles import Space
from kerntape.schemas.trace import STREAM_COLUMNS, Stream
from small_traces import tile_loop, two_pes


def test_a_command_has_its_form_handles_waits_and_line() -> None:
    trace = two_pes()
    command = trace.command(trace.streams[0], 1)
    assert command.kind is CommandKind.COMPOSITE
    assert command.op_kinds == ("gemm", "scale")
    assert {name: handle.label for name, handle in command.op_operands(0).items()} == {
        "a": "q",
        "b": "k",
    }
    out = command.op_out(0)
    assert out is not None
    assert (out.label, out.id, out.address, out.tensor) == ("s", 3, 4096, -1)
    assert command.waits == (0,)
    assert str(command.line) == "two_tiles.py:12"
    assert command.touches_hbm


def test_a_handle_in_hbm_names_its_tensor_and_the_offset_there() -> None:
    trace = two_pes()
    handle = trace.handle(trace.streams[1], 2)
    assert (handle.label, handle.tensor, handle.address) == ("k", 1, 64)
    assert handle.geometry.space is Space.HBM


def test_read_write_handles_come_after_all_ops() -> None:
    trace = two_pes()
    command = trace.command(trace.streams[0], 2)
    assert [handle.label for handle in command.rw_handles] == ["m", "o"]
    last_out = command.op_out(3)
    assert last_out is not None
    assert last_out.label == "o"


def test_an_op_without_an_output_has_none() -> None:
    trace = two_pes()
    send = trace.command(trace.streams[0], 6)
    assert send.kind is CommandKind.SEND
    assert send.op_out(0) is None
    assert not send.touches_hbm


def test_commands_come_in_program_order_and_from_where_one_asks() -> None:
    trace = two_pes()
    stream = trace.streams[0]
    kinds = [command.kind.name.lower() for command in trace.commands(stream)]
    assert kinds == [
        *("load", "composite", "composite", "wait"),
        *("recv", "math", "send", "overhead", "store"),
    ]
    assert [command.index for command in trace.commands(stream, 3, 5)] == [3, 4]
    assert [command.index for command in trace.commands(stream, 8, 20)] == [8]
    assert list(trace.commands(stream, 9)) == []
    for index in range(stream.command_count):
        (one,) = trace.commands(stream, index, index + 1)
        assert one == trace.command(stream, index)


def test_slot_offsets_are_where_each_commands_handles_begin() -> None:
    trace = two_pes()
    # load 2, #1 5, #2 13, wait 0, recv 1, add 3, send 1, overhead 0, store 2
    assert trace.slot_offsets(trace.streams[0]).tolist() == [0, 2, 7, 20, 20, 21, 24, 25, 25, 27]


def test_every_pe_counts_its_own_commands() -> None:
    assert two_pes().command_count == 9 + 8
    assert tile_loop(10, pes=4).command_count == 4 * 21


def test_streams_are_equal_when_every_column_is() -> None:
    one, other = two_pes(), two_pes()
    assert one == other
    stream = one.streams[0]
    for name in STREAM_COLUMNS:
        longer = np.append(getattr(stream, name), 0)
        assert stream != replace(stream, **{name: longer})
    assert stream != "a stream"


def test_a_stream_is_no_key() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(two_pes().streams[0])


def test_the_columns_of_a_stream_are_listed() -> None:
    assert tuple(Stream.__dataclass_fields__) == STREAM_COLUMNS
