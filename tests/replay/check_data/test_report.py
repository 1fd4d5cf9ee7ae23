"""A check in words and as JSON, worked out by hand on traces of two or three commands."""

import json
from dataclasses import replace

import pytest
from kerntape.replay.check_data.findings import DataCheck, OutputCheck
from kerntape.replay.check_data.report import check_json, check_lines
from kerntape.schemas.stages import StageKind

OUT_AT = 256


@pytest.fixture
def race(build, timed, hbm, math):
    """A load, and a copy of its target that does not wait for it; the copy is stored much later."""
    a, b = build.handle((4, 4), label="a"), build.handle((4, 4), label="b")
    build.load(hbm(build, (4, 4), 0), a)
    math(build, "copy", [a], b)
    build.overhead(1000)
    build.store(b, hbm(build, (4, 4), OUT_AT))
    return timed(build)


def test_a_race_is_told_with_what_was_read_and_who_should_have_written_it(race):
    # dispatches 0–10 and 10–20, the copy of 16 elements 20–36; the load arrives at 10 + 100 + 32
    assert check_lines(race.check()) == [
        "output x: wrong, 16 of 256 elements not as in program order on PE 0,"
        " largest difference nan",
        "first wrong at 36.000 ns: PE 0 command 1 math copy (tiny.py:1), op 0 copy, wrote 'b'",
        "  it read src 'a' (tcm 0x0–0x20) at 20.000 ns, before PE 0 command 0 load (tiny.py:1)"
        " had written it",
        "  a RAW hazard that the policy none lets through",
    ]


def test_the_race_as_json(race):
    load = {"rank": 0, "command": 0, "verb": "load", "line": "tiny.py:1"}
    copy = {"rank": 0, "command": 1, "verb": "math copy", "line": "tiny.py:1"}
    assert json.loads(json.dumps(check_json(race.check()))) == {
        "right": False,
        "outputs": [
            {
                "right": False,
                "name": "x",
                "tensor": 0,
                "dtype": "f16",
                "ranks": [0],
                "wrong_ranks": [0],
                "elements": 256,
                "wrong_elements": 16,
                "max_abs_difference": None,
                "tile_difference": None,
                "tolerance": None,
            }
        ],
        "first_wrong": {
            "time_ps": 36_000,
            "stage": race.stage(StageKind.MATH),
            "writer": copy,
            "op": 0,
            "op_kind": "copy",
            "label": "b",
            "because": {
                "fault": "not yet written",
                "at_ps": 20_000,
                "reader": copy,
                "operand": "src",
                "label": "a",
                "memory": "tcm",
                "byte_from": 0,
                "byte_to": 32,
                "expected": load,
                "found": None,
                "hazard": "RAW",
            },
        },
    }


def test_a_wrong_value_that_reaches_no_output_is_told_all_the_same(build, timed, hbm, math):
    a, b = build.handle((4, 4)), build.handle((4, 4))
    build.load(hbm(build, (4, 4), 0), a)
    math(build, "copy", [a], b)
    check = timed(build).check()
    assert check.right
    assert check_lines(check)[:2] == [
        "output x: right, all 256 elements bit for bit as in program order",
        "a value on the way was wrong all the same",
    ]
    assert check.first_wrong is not None


def test_a_right_check_says_so_in_a_line_an_output(build, timed):
    build.overhead(1)
    check = timed(build).check()
    assert check_lines(check) == [
        "output x: right, all 256 elements bit for bit as in program order"
    ]
    assert check_json(check)["first_wrong"] is None


def test_bytes_overwritten_too_early_name_who_overwrote_them(build, timed, hbm, math):
    a = build.handle((4, 4), label="a")
    build.load(hbm(build, (4, 4), 0), a)
    build.wait(0)
    build.store(a, hbm(build, (4, 4), OUT_AT))
    math(build, "copy", [build.handle((4, 4))], a)
    run = timed(build)
    read = run.start(StageKind.DMA_WRITE)
    lines = check_lines(run.moved(StageKind.MATH, end=read).check())
    # the wait's dispatch ends 10 ns after the load's arrival at 142, the store's 10 ns later
    assert lines[2] == (
        "  it read src 'a' (tcm 0x0–0x20) at 162.000 ns, after PE 0 command 3 math copy (tiny.py:1)"
        " had overwritten it"
    )


def test_writes_of_an_output_in_the_wrong_order_are_told_without_a_reader(build, timed, hbm):
    a, b = build.handle((4, 4), label="a"), build.handle((4, 4), label="b")
    for at, target in ((0, a), (64, b)):
        build.load(hbm(build, (4, 4), at), target)
    build.wait(0, 1)
    build.store(a, hbm(build, (4, 4), OUT_AT))
    build.store(b, hbm(build, (4, 4), OUT_AT))
    build.overhead(1000)
    run = timed(build)
    # 16 elements, 33 … 48 and not 1 … 16, as the second store is the last
    swapped = run.moved(StageKind.FINISH, 0, end=run.end(StageKind.FINISH, 1) + 1).check()
    # two loads of 32 bytes: the second arrives at 20 + 22 + 100 + 32 = 174, the wait ends at 184.
    # A store is dispatched for 10 ns, writes for 32, 1 ps later into HBM, and arrives 100 ns after
    # that: 142.001 ns. The second one, which the first is moved behind, ends at 184 + 284.002
    assert check_lines(swapped) == [
        "output x: wrong, 16 of 256 elements not as in program order on PE 0,"
        " largest difference 32",
        "first wrong at 468.003 ns: PE 0 command 3 store (tiny.py:1), op 0 store, wrote 'x'",
        "  which is 'x' (x 0x100–0x120) at the end, after PE 0 command 3 store (tiny.py:1) had"
        " overwritten what PE 0 command 4 store (tiny.py:1) wrote",
    ]


OUTPUT = OutputCheck(
    name="o",
    tensor=3,
    dtype="bf16",
    ranks=tuple(range(8)),
    wrong_ranks=(),
    elements=4096,
    wrong_elements=0,
    max_abs_difference=0.0,
)


def test_many_wrong_pes_are_counted_after_the_first_four():
    wrong = replace(
        OUTPUT, wrong_ranks=(1, 2, 4, 5, 6, 7), wrong_elements=1500, max_abs_difference=0.03125
    )
    assert check_lines(DataCheck("none", (wrong,), None)) == [
        "output o: wrong, 1,500 of 4,096 elements not as in program order"
        " on PE 1, 2, 4, 5 and 2 more, largest difference 0.0312"
    ]


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        (0.01, "right, all 4,096 elements bit for bit as in program order; {} 0.01 away, within"),
        (0.1, "wrong, all 4,096 elements bit for bit as in program order; {} 0.1 away, beyond"),
    ],
)
def test_another_tile_is_said_with_what_it_changes(difference, words):
    other = replace(OUTPUT, tile_difference=difference, tolerance=0.03)
    start = words.format("the tile is not capture's, whose values are")
    assert check_lines(DataCheck("serial", (other,), None)) == [
        f"output o: {start} the 0.03 that bf16 allows"
    ]


def test_a_trace_without_tensors_has_nothing_to_check():
    assert check_lines(DataCheck("none", (), None)) == ["no tensor to check"]
