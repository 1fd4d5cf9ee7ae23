"""What a worker does with a part that is sent to it, without a cluster."""

from pathlib import Path

import pytest
from kerntape.replay.sweep import cluster_task
from kerntape.replay.sweep.axes import parse_vary
from kerntape.replay.sweep.cluster_task import OtherVersionError, Part, evaluate_part, packed

MANY = parse_vary(f"hbm.latency_ns={','.join(map(str, range(100, 900)))}")


def part_of(plan) -> bytes:
    return packed(Part(plan, Path(plan.traces[0].path).read_bytes()))


def test_a_worker_lowers_a_case_once_for_the_chunks_that_follow_each_other(
    plan_of, tiled, monkeypatch
):
    lowered = []
    start_case = cluster_task.start_case
    monkeypatch.setattr(
        cluster_task, "start_case", lambda *case: lowered.append(case) or start_case(*case)
    )
    monkeypatch.setattr(cluster_task, "_KEPT", cluster_task.KeptCase())
    plan, version = plan_of(tiled, MANY, policies=["none", "serial"]), cluster_task.version_here()
    for points in (range(16), range(16, 32), range(800, 816)):
        assert len(evaluate_part(version, part_of(plan.part(points))).results) == 16
    assert len(lowered) == 2


def test_a_part_of_another_version_is_not_even_unpacked():
    with pytest.raises(OtherVersionError) as error:
        evaluate_part("0.0.9", b"not a pickle")
    assert error.value.found == cluster_task.version_here()


def test_a_trace_that_is_not_the_one_that_was_planned_is_a_failure(plan_of, stored, tiled, shorter):
    plan = plan_of(tiled, policies=["none"])
    stored(shorter)
    evaluated = evaluate_part(cluster_task.version_here(), part_of(plan))
    assert evaluated.results == ()
    assert evaluated.failure == (
        f"{plan.traces[0].path}: must stay as it is while it is swept, and has changed; name other"
        " results to sweep what is there now"
    )
