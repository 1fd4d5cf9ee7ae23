"""A plan numbers its points, and refuses before anything runs what would fail in the end."""

import math
import os
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from kerntape.replay.sweep.axes import Axis, Span, parse_vary
from kerntape.replay.sweep.plan import DifferentArgument
from kerntape.replay.sweep.planning import (
    MAX_POINTS,
    Base,
    Sampling,
    different_arguments,
    plan_sweep,
)
from kerntape.schemas.errors import ConfigError, FileError

DISPATCH = parse_vary("pe_cpu.fixed_cycles=20,40")
BUFFERS = parse_vary("topology.pe.tile_buffers=1,2")


def test_points_go_by_trace_then_policy_then_combination(plan_of, tiled, shorter):
    both = {"a.ktrace": tiled, "b.ktrace": shorter}
    plan = plan_of(both, DISPATCH, BUFFERS, policies=["none", "serial"])
    assert len(plan) == 2 * 2 * 4
    assert plan.combinations == ((20, 1), (20, 2), (40, 1), (40, 2))
    # 13 = (1 · 2 + 1) · 4 + 1
    assert plan.place(13) == (1, 1, 1)
    assert plan.asked(13).point == 13
    assert plan.topology(plan.case(13)).pe.tile_buffers == 2
    assert plan.asked(13).calibration.pe_cpu.fixed_cycles == 20


def test_points_that_differ_in_costs_alone_are_one_case(plan_of, tiled):
    plan = plan_of(tiled, DISPATCH, BUFFERS)
    assert [plan.case(point).structure for point in range(4)] == [(1,), (2,), (1,), (2,)]
    assert plan.topology(plan.case(1)).pe.tile_buffers == 2


def test_the_values_are_laid_over_calibration_and_settings(stored, tiled):
    base = Base(calibration="dispatch_light", settings=["pe_math.vector_width=7"])
    plan = plan_sweep([stored(tiled)], [DISPATCH], policies=["none"], base=base)
    calibration = plan.asked(0).calibration
    assert (calibration.pe_cpu.fixed_cycles, calibration.pe_math.vector_width) == (20, 7)


def test_a_sweep_without_anything_varied_has_a_point_per_trace_and_policy(plan_of, tiled):
    assert len(plan_of(tiled, policies=["none", "serial", "rw_aware"])) == 3


def test_the_hash_changes_with_everything_that_the_results_depend_on(plan_of, tiled, shorter):
    plan = plan_of(tiled, DISPATCH)
    others = [
        plan_of(tiled, parse_vary("pe_cpu.fixed_cycles=20,41")),
        plan_of(tiled, parse_vary("hbm.latency_ns=20,40")),
        plan_of(tiled, DISPATCH, policies=["none"]),
        plan_of(tiled, DISPATCH, op_logs=True),
        plan_of({"y.ktrace": tiled}, DISPATCH),
        plan_of(shorter, DISPATCH),
        replace(plan, traces=(replace(plan.traces[0], costs=plan.asked(0).calibration),)),
    ]
    hashes = {each.sha256 for each in (plan, *others)}
    assert len(hashes) == len(others) + 1
    assert plan_of(tiled, DISPATCH).sha256 == plan.sha256


def refusal(make, *arguments, **options) -> str:
    with pytest.raises((ConfigError, FileError)) as error:
        make(*arguments, **options)
    return str(error.value)


def test_a_range_is_sampled_or_refused(plan_of, tiled):
    span = Span("hbm.latency_ns", Decimal(50), Decimal(150))
    assert refusal(plan_of, tiled, span) == (
        "hbm.latency_ns: a range must be sampled; add --samples N --latin-hypercube,"
        " or list its values"
    )
    assert len(plan_of(tiled, span, sampling=Sampling(5, 0))) == 5


def test_more_points_than_anyone_waits_for_are_refused_at_once(plan_of, tiled):
    many = [Axis(path, tuple(range(1, 1001))) for path in ("pe_cpu.fixed_cycles", "hbm.latency_ns")]
    line = (
        f"a sweep must have at most {MAX_POINTS:,} points, not 2,000,000; give fewer values or"
        " --samples"
    )
    assert refusal(plan_of, tiled, *many, policies=["none", "serial"]) == line


def test_two_traces_of_one_name_cannot_be_told_apart(stored, tiled, tmp_path):
    (tmp_path / "other").mkdir()
    paths = [stored(tiled), stored(tiled, "other/x.ktrace")]
    assert refusal(plan_sweep, paths, [], policies=["none"]) == (
        "two of the traces are called 'x.ktrace'; give each once, by its own name"
    )


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ('解码 "a, b".ktrace', '解码 "a, b".ktrace'),
        ("full\u3000width.ktrace", "full\u3000width.ktrace"),
        ("two\nlines\r.ktrace", "two\\nlines\\r.ktrace"),
        (os.fsdecode(b"\xff.ktrace"), "\\udcff.ktrace"),
        ("a\u2028b.ktrace", "a\\u2028b.ktrace"),
    ],
)
def test_a_traces_name_is_its_files_as_one_line_of_text(stored, shorter, file, name):
    plan = plan_sweep([stored(shorter, file)], [], policies=["none"])
    assert [trace.name for trace in plan.traces] == [name]


def test_a_policy_is_given_once_and_must_exist(plan_of, tiled):
    twice = "two of the policies are called 'none'; give each once, by its own name"
    assert refusal(plan_of, tiled, policies=["none", "none"]) == twice
    unknown = "no policy 'serail'; did you mean 'serial'?"
    assert refusal(plan_of, tiled, policies=["serail"]) == unknown


@pytest.mark.parametrize("path", ["pe_cpu.fixed_cycles", "topology.pe.tile_buffers"])
def test_a_path_is_set_or_varied(stored, tiled, path):
    base = Base(settings=[f" {path} =3"])
    line = f"{path} must be set or varied, not both; leave out its --set"
    varied = [DISPATCH, BUFFERS]
    assert refusal(plan_sweep, [stored(tiled)], varied, policies=["none"], base=base) == line


def test_a_trace_that_cannot_be_read_is_refused():
    line = refusal(plan_sweep, [Path("nowhere.ktrace")], [], policies=["none"])
    assert line.startswith("nowhere.ktrace: ")


def test_arguments_differ_where_two_traces_that_have_them_have_other_values():
    traces = [
        {"variant": "opt2", "rows": 32, "scale": math.nan, "mask": None, "own": 1, "shape": [1]},
        {"variant": "opt3", "rows": 32, "scale": math.nan, "mask": True, "shape": [2]},
        {"variant": "opt3", "rows": 30, "scale": math.nan, "mask": True, "shape": [2]},
    ]
    assert different_arguments(traces) == (
        DifferentArgument("mask", (None, True, True)),
        DifferentArgument("rows", (32, 32, 30)),
        DifferentArgument("shape", ("[1]", "[2]", "[2]")),
    )
    assert different_arguments(traces[:1]) == ()
