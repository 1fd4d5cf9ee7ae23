"""How much later a stage could end without moving the makespan."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kerntape.capture.capture import capture
from kerntape.replay import compiled_runner, native, slack_pass
from kerntape.replay.analysis import slack
from kerntape.replay.analysis.slack import slack_ps, timeline_slack_ps
from kerntape.replay.compiled_runner import run
from kerntape.replay.durations import durations
from kerntape.replay.lower import lower
from kerntape.replay.replay import replay
from kerntape.schemas.errors import KerntapeError
from kerntape.schemas.stages import arbitrated
from kerntape.topologies.loader import resolve_topology
from law_graphs import LANE, SERVER, Release, graph_of, law_graphs
from uncompiled import uncompiled


def by_the_definition(graph, lasting, start_ps):
    """Slack stage by stage, the last start first, as the docstring of the module has it.

    Stages that start at one instant are gone through until nothing changes any more.
    """
    length = lasting.stage_ps[graph.stages.duration_class]
    end_ps, releases = start_ps + length, graph.releases
    serves = arbitrated(graph.engines)[graph.stages.engine]
    latest = [int(end_ps.max(initial=0))] * len(graph)
    later = {}
    for stage in sorted(range(len(graph)), key=lambda one: start_ps[one]):
        for row in range(releases.offsets[stage], releases.offsets[stage + 1]):
            by = int(releases.releaser[row])
            gap = int(lasting.lag_ps[releases.lag_class[row]])
            gap -= int(length[by]) if releases.from_start[row] else 0
            later.setdefault(by, []).append((stage, gap))
    for engine in range(len(graph.engines)):
        served = np.flatnonzero(serves & (graph.stages.engine == engine))
        served = served[np.argsort(start_ps[served])].tolist()
        for before, after in pairwise(served):
            later.setdefault(before, []).append((after, 0))
    changed = True
    while changed:
        changed = False
        for stage in sorted(later, key=lambda one: (-start_ps[one], -end_ps[one])):
            allowed = min(latest[one] - int(length[one]) - gap for one, gap in later[stage])
            if allowed < latest[stage]:
                latest[stage], changed = allowed, True
    return [end - int(ended) for end, ended in zip(latest, end_ps, strict=True)]


@pytest.fixture(params=["as installed", "uncompiled"])
def pass_module(request, monkeypatch):
    """The module that is installed, and its source run as Python."""
    if request.param == "uncompiled":
        monkeypatch.setattr(slack, "slack_pass", uncompiled("slack_pass"))
    return slack.slack_pass


def slacks(stages, servers=1):
    graph, lasting = graph_of(stages, servers)
    return slack_ps(graph, lasting, run(graph, lasting).start_ps).tolist()


def test_a_stage_may_end_as_late_as_the_longer_way_beside_it_allows():
    # 0: 0–2 · 1: 2–9 and 2: 2–5 · 3 waits for both and for 1 ps more after 2: 9–10
    # 2 may end at 9 − 1 = 8 instead of 5
    stages = [
        (LANE, 2, []),
        (LANE, 7, [Release(0)]),
        (LANE, 3, [Release(0)]),
        (LANE, 1, [Release(1), Release(2, lag_ps=1)]),
    ]
    assert slacks(stages) == [0, 0, 3, 0]


def test_a_stage_that_nothing_waits_for_may_end_with_the_makespan():
    assert slacks([(LANE, 4, []), (LANE, 10, [])]) == [6, 0]


def test_a_release_from_the_start_moves_with_the_start():
    # 0: 0–10, 1 starts 3 after 0's start: 3–5; 2: 0–12 ends last. 0 may end at 12; 1 too: 7 more
    stages = [(LANE, 10, []), (LANE, 2, [Release(0, lag_ps=3, from_start=True)]), (LANE, 12, [])]
    assert slacks(stages) == [2, 7, 0]
    # 1 now lasts 8: 3–11. It may end at 12, so 0 may start 1 later
    stages[1] = (LANE, 8, [Release(0, lag_ps=3, from_start=True)])
    assert slacks(stages) == [1, 1, 0]


def test_the_next_stage_of_the_engine_waits_too():
    # the server runs 0: 0–4, then 1: 4–9, the makespan; 2 beside it 0–1 has 8
    assert slacks([(SERVER, 4, []), (SERVER, 5, []), (LANE, 1, [])]) == [0, 0, 8]


def test_an_empty_graph_has_no_slack():
    assert slacks([]) == []


@given(law_graphs())
def test_slack_is_never_negative_and_zero_along_the_causes_of_the_last_end(drawn):
    graph, lasting = drawn
    times = run(graph, lasting)
    slack = slack_ps(graph, lasting, times.start_ps)
    assert (slack >= 0).all()
    stage = int(times.end_ps.argmax()) if len(graph) else -1
    while stage >= 0:
        assert slack[stage] == 0
        stage = int(times.cause[stage])


@given(drawn=law_graphs(), at_once=st.sampled_from([1, 3, 1 << 17]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_stage_has_the_slack_of_the_definition(pass_module, drawn, at_once):
    graph, lasting = drawn
    start_ps = run(graph, lasting).start_ps
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(slack, "STAGES_AT_ONCE", at_once)
        assert slack_ps(graph, lasting, start_ps).tolist() == by_the_definition(
            graph, lasting, start_ps
        )


KERNELS = {
    "alike PEs that reduce": ("gqa_decode", "one_cube", {"c": 1, "p": 8, "s_kv": 1024}),
    "PEs of two SIPs": ("gqa_decode", "ahbm_2sip", {"c": 2, "p": 8, "s_kv": 512}),
    "one PE": ("gqa_decode", "single_pe", {"variant": "opt3", "s_kv": 128}),
}


def timeline_of(case, settings=()):
    kernel, machine, arguments = KERNELS[case]
    trace = capture(kernel, resolve_topology(machine), arguments, with_data=False).trace
    return replay(trace, settings=settings)


def in_service(timeline):
    """The stages by engine and start."""
    order = np.lexsort((timeline.start_ps, timeline.stages.engine))
    return order.astype(np.int32)


def slack_of_the_whole_graph(timeline):
    graph = lower(timeline.trace, timeline.topology, timeline.policy)
    lasting = durations(graph, timeline.calibration)
    return by_the_definition(graph, lasting, timeline.start_ps)


@pytest.mark.parametrize("case", KERNELS)
def test_pes_that_share_a_stream_have_the_slack_of_the_whole_graph(pass_module, case):
    timeline = timeline_of(case)
    found = timeline_slack_ps(timeline, in_service(timeline))
    assert found.tolist() == slack_of_the_whole_graph(timeline)


def test_a_release_from_a_start_lasts_a_picosecond_where_its_latency_is_none():
    timeline = timeline_of("one PE", settings=("hbm.latency_ns=0",))
    found = timeline_slack_ps(timeline, in_service(timeline))
    assert found.tolist() == slack_of_the_whole_graph(timeline)


def test_the_releases_that_cross_pes_are_all_there():
    timeline = timeline_of("alike PEs that reduce")
    graph = lower(timeline.trace, timeline.topology, timeline.policy)
    pe = graph.stages.pe
    released = np.repeat(np.arange(len(graph)), np.diff(graph.releases.offsets))
    assert (pe[released] != pe[graph.releases.releaser]).sum() > 0


def test_a_timeline_of_other_stages_or_lengths_than_its_trace_lowers_to_has_none():
    timeline = timeline_of("one PE")
    served, stages = in_service(timeline), timeline.stages
    kind = stages.kind.copy()
    kind[-1] += 1
    longer = timeline.end_ps.copy()
    longer[-1] += 1
    for other in (
        replace(timeline, stages=replace(stages, kind=kind)),
        replace(timeline, stages=replace(stages, pe=stages.pe + 1)),
        replace(timeline, end_ps=longer),
    ):
        assert timeline_slack_ps(other, served) is None


def test_the_pass_is_compiled_where_the_engine_is():
    assert native.is_compiled(slack_pass) == compiled_runner.is_compiled()


def test_a_stale_build_is_refused(monkeypatch):
    monkeypatch.setattr(slack_pass, "built_from", lambda: "of another source")
    with pytest.raises(KerntapeError, match="changed since slack_pass was compiled"):
        slacks([(LANE, 1, [])])
