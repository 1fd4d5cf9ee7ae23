"""Rows become the columns of a stream, and equal streams are kept once."""

import numpy as np
from kerntape.capture.interning import InternPool
from kerntape.capture.recorder import Recorder
from kerntape.capture.streams import SharedStreams
from kerntape.schemas.commands import CommandForm, CommandKind, OpForm
from kerntape.schemas.dtypes import DType
from kerntape.schemas.handles import Space
from kerntape.schemas.trace import STREAM_COLUMNS, Stream


def two_commands(*, address: int = 64) -> Stream:
    recorder = Recorder()
    first = recorder.handle(geometry=3, address=0, tensor=-1, label=5)
    second = recorder.handle(geometry=4, address=address, tensor=2, label=6)
    assert (first, second) == (0, 1)
    assert recorder.command(form=0, line=7, slots=(0, 1), waits=[]) == 0
    assert recorder.command(form=1, line=8, slots=(1,), waits=[0]) == 1
    return recorder.stream()


def test_rows_become_columns() -> None:
    stream = two_commands()
    found = {name: getattr(stream, name).tolist() for name in STREAM_COLUMNS}
    assert found == {
        "forms": [0, 1],
        "lines": [7, 8],
        "wait_counts": [0, 1],
        "slots": [0, 1, 1],
        "waits": [0],
        "geometries": [3, 4],
        "addresses": [0, 64],
        "tensors": [-1, 2],
        "labels": [5, 6],
    }
    assert stream.addresses.dtype == np.int64
    assert {getattr(stream, name).dtype for name in STREAM_COLUMNS if name != "addresses"} == {
        np.dtype(np.int32)
    }


def test_handles_added_together_are_numbered_on() -> None:
    recorder = Recorder()
    recorder.handle(geometry=3, address=0, tensor=-1, label=5)
    assert recorder.handles([4, 6], [64, 128], -1, [7, 8]) == 1
    stream = recorder.stream()
    assert stream.geometries.tolist() == [3, 4, 6]
    assert stream.addresses.tolist() == [0, 64, 128]
    assert stream.tensors.tolist() == [-1, -1, -1]
    assert stream.labels.tolist() == [5, 7, 8]


def test_a_recorder_that_recorded_nothing_gives_empty_columns() -> None:
    stream = Recorder().stream()
    assert (stream.command_count, stream.handle_count) == (0, 0)


def test_equal_streams_get_one_number_and_are_kept_once() -> None:
    shared = SharedStreams()
    numbers = [
        shared.number(two_commands()),
        shared.number(two_commands(address=128)),
        shared.number(two_commands()),
    ]
    assert numbers == [0, 1, 0]
    assert [stream.addresses[1] for stream in shared.unique()] == [64, 128]


def test_entries_are_numbered_in_order_of_first_use() -> None:
    pool = InternPool()
    assert [pool.string(text) for text in ("b", "a", "b", "c")] == [0, 1, 0, 2]
    assert pool.strings.entries() == ("b", "a", "c")


def test_equal_geometries_are_one_object() -> None:
    pool = InternPool()
    dense = pool.dense((8, 64), DType.F32, Space.TCM)
    assert pool.geometry((8, 64), (256, 4), DType.F32, Space.TCM) is dense
    assert (dense.number, dense.size_bytes) == (0, 2048)
    assert pool.dense((8, 64), DType.F32, Space.HBM).number == 1
    assert [geometry.space for geometry in pool.geometries.entries()] == [Space.TCM, Space.HBM]


def test_forms_are_told_apart_by_how_their_scalars_print() -> None:
    def scale(factor: float) -> CommandForm:
        op = OpForm("scale", ("src",), True, (("factor", factor),))
        return CommandForm(CommandKind.MATH, (op,))

    pool = InternPool()
    assert [pool.form(scale(factor)) for factor in (1, 1.0, 1, 0.0, -0.0)] == [0, 1, 0, 2, 3]
    assert pool.form(scale(float("nan"))) == pool.form(scale(float("nan"))) == 4
