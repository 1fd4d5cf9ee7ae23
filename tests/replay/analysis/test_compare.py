"""Two timelines lined up: by stage, by command, by tile; and where their difference comes from."""

from dataclasses import replace

import numpy as np
import pytest
from kerntape.capture.capture import capture
from kerntape.replay.analysis.compare import Unit, align, same_commands
from kerntape.replay.analysis.differences import NO_STAGE, Level, differences
from kerntape.replay.replay import replay
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.stages import STAGE_COLUMNS, Block, StageKind, Stages
from kerntape.topologies.loader import resolve_topology
from timeline_builder import TimelineBuilder, two_commands


def decoded(variant, topology="single_pe", **arguments):
    texts = {"variant": variant, "s_kv": "256"} | {k: str(v) for k, v in arguments.items()}
    return capture("gqa_decode", resolve_topology(topology), texts, with_data=False).trace


@pytest.fixture(scope="module")
def opt2():
    return decoded("opt2")


@pytest.fixture(scope="module")
def opt3():
    return decoded("opt3")


def later(timeline, by_ps, first_stage=0):
    """The same run with every stage from `first_stage` on so much later."""
    shift = np.where(np.arange(len(timeline.start_ps)) >= first_stage, by_ps, 0)
    return replace(
        timeline,
        ready_ps=timeline.ready_ps + shift,
        start_ps=timeline.start_ps + shift,
        end_ps=timeline.end_ps + shift,
    )


def test_one_trace_under_two_models_is_lined_up_stage_by_stage(opt2):
    left, right = replay(opt2), replay(opt2, settings=["hbm.latency_ns=50"])
    lined_up = align(left, right)
    assert lined_up.unit is Unit.STAGE
    assert np.array_equal(np.sort(lined_up.left), np.arange(len(left.stages)))
    assert np.array_equal(lined_up.left, lined_up.right)
    assert np.array_equal(lined_up.right_ps, right.end_ps[lined_up.right])


def test_rows_are_in_the_order_of_the_left_times(opt2):
    lined_up = align(replay(opt2), replay(opt2, policy="serial"))
    assert (np.diff(lined_up.left_ps) >= 0).all()
    assert lined_up.offsets.tolist() == [0, len(lined_up)]


def test_where_stages_differ_commands_are_lined_up_by_their_last_end():
    """two_commands: command 0 ends at 78 with its GEMM 4, command 1 at 96 with its MATH 7."""
    left = two_commands().build()
    columns = {name: getattr(left.stages, name)[:-1] for name in STAGE_COLUMNS}
    times = {name: getattr(left, name)[:-1] for name in ("ready_ps", "start_ps", "end_ps")}
    right = replace(later(left, 5_000), stages=Stages(**columns))
    right = replace(right, **{name: times[name] + 5_000 for name in times})
    lined_up = align(left, right)
    assert lined_up.unit is Unit.COMMAND
    assert lined_up.number.tolist() == [0, 1]
    assert lined_up.left.tolist() == [4, 7]
    assert lined_up.left_ps.tolist() == [78_000, 96_000]
    assert lined_up.right_ps.tolist() == [83_000, 93_000]  # its MATH never ran: dispatch 78–88, +5


def test_two_kernels_are_lined_up_by_the_tiles_they_read(opt2, opt3):
    left, right = replay(opt2), replay(opt3)
    lined_up = align(left, right)
    assert lined_up.unit is Unit.TILE
    assert lined_up.tensors == ("k", "q", "v")
    names = [lined_up.tensors[tensor] for tensor in lined_up.tensor]
    tiles = sorted(zip(names, lined_up.number.tolist(), strict=True))
    # 256 keys in tiles of 64, and q once
    assert tiles == [
        ("k", 0),
        ("k", 1),
        ("k", 2),
        ("k", 3),
        ("q", 0),
        *[("v", n) for n in range(4)],
    ]


def test_a_tile_counts_when_the_first_command_that_reads_it_is_done(opt2, opt3):
    left, right = replay(opt2), replay(opt3)
    lined_up = align(left, right)
    row = next(
        row
        for row in range(len(lined_up))
        if lined_up.tensors[lined_up.tensor[row]] == "v" and lined_up.number[row] == 2
    )
    for timeline, stage, at_ps in (
        (left, lined_up.left[row], lined_up.left_ps[row]),
        (right, lined_up.right[row], lined_up.right_ps[row]),
    ):
        command = timeline.command_of(int(stage))
        assert [(h.label, h.address) for h in command.handles if h.tensor >= 0] == [
            ("v", 2 * 64 * 128 * 2)  # two tiles of 64 keys of 128 bf16 before it
        ]
        of_command = timeline.stages.command == command.index
        assert at_ps == timeline.end_ps[of_command].max()


def test_tiles_of_two_widths_meet_where_they_begin_together(opt2):
    wide = replay(decoded("opt2", tile=128))
    lined_up = align(replay(opt2), wide)
    assert lined_up.unit is Unit.TILE
    assert np.bincount(lined_up.tensor).tolist() == [2, 1, 2]  # k and v at keys 0 and 128, q once


def test_every_pe_is_lined_up_with_its_own_rank():
    two = replay(decoded("opt2", "one_cube", p=2)), replay(decoded("opt3", "one_cube", p=2))
    lined_up = align(*two)
    assert lined_up.offsets.tolist() == [0, 5, 10]  # two tiles each: q, two of k, two of v
    assert np.array_equal(lined_up.pe, two[0].stages.pe[lined_up.left])
    assert np.array_equal(lined_up.pe, two[1].stages.pe[lined_up.right])


def test_what_has_nothing_in_common_is_refused(opt2):
    with pytest.raises(ConfigError, match="these have nothing in common"):
        align(replay(opt2), two_commands().build())


def test_the_first_divergence_is_the_earliest_moment_that_is_apart():
    left = two_commands().build()
    lined_up = align(left, later(left, 1_000, first_stage=6))
    row = lined_up.first_divergence()
    assert lined_up.left[row] == 6
    assert lined_up.right_ps[row] - lined_up.left_ps[row] == 1_000
    assert align(left, left).first_divergence() == -1


def test_the_same_trace_read_twice_is_the_same_commands(opt2, opt3):
    assert same_commands(opt2, decoded("opt2"))
    assert not same_commands(opt2, opt3)
    assert not same_commands(opt2, decoded("opt2", s_kv=512))


@pytest.mark.parametrize("level", list(Level))
def test_the_differences_sum_to_the_difference_of_the_makespans(opt2, opt3, level):
    left, right = replay(opt2), replay(opt3)
    found = differences(left, right, level)
    assert sum(one.left_ps for one in found) == left.makespan_ps
    assert sum(one.right_ps for one in found) == right.makespan_ps
    assert sum(one.change_ps for one in found) == right.makespan_ps - left.makespan_ps
    sizes = [abs(one.change_ps) for one in found]
    assert sizes == sorted(sizes, reverse=True)


def test_opt3_loses_to_opt2_by_its_dispatches(opt2, opt3):
    """DDD-0065 §11: 421.75 ns of dispatch a tile against 104.5; the longest difference says so."""
    first = differences(replay(opt2), replay(opt3), Level.KIND)[0]
    assert (first.group.block, first.group.kind) == (Block.PE_CPU, StageKind.DISPATCH)
    assert first.change_ps > 0


def test_a_group_is_told_with_the_stage_that_spent_most_of_it():
    """two_commands' path: dispatch 0–10, fetch 10–30, GEMM 30–54 and 54–78, dispatch 78–88, MATH 88–96."""
    left = two_commands().build()
    empty = TimelineBuilder()
    empty.command(left.command_of(0).kind)
    found = {one.group.kind: one for one in differences(left, empty.build(), Level.KIND)}
    gemm = found[StageKind.GEMM]
    assert (gemm.left_ps, gemm.right_ps, gemm.change_ps) == (48_000, 0, -48_000)
    assert (gemm.left_stage, gemm.right_stage) == (4, NO_STAGE)
    assert found[StageKind.DISPATCH].left_ps == 20_000
    assert found[StageKind.MATH].group.op_kind == "exp"


def test_latency_is_told_with_the_stage_that_waited_for_it():
    builder = TimelineBuilder()
    command = builder.command(two_commands().build().command_of(7).kind)
    first = builder.stage(StageKind.MATH, 6, 10, command=command)
    second = builder.stage(StageKind.GEMM, 5, 10, command=command)
    builder.release(second, first, lag_ns=7)
    left = builder.build()
    (latency,) = (one for one in differences(left, left, Level.KIND) if one.group.block is None)
    assert (latency.left_ps, latency.group.kind, latency.left_stage) == (7_000, StageKind.GEMM, 1)
