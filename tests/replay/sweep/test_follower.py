"""A pass along a recorded order gives the law's times, or says that the order does not hold."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kerntape.replay import (
    compiled_runner,
    native,
    order_layout,
    order_pass,
    simpy_runner,
    stage_order,
)
from kerntape.replay.stage_graph import Durations, StageGraph
from kerntape.replay.sweep import follower, order_recorder
from kerntape.replay.sweep.follower import Follower
from law_graphs import LANE, SERVER, Release, graph_of, law_graphs
from uncompiled import uncompiled


@pytest.fixture(params=["as installed", "uncompiled"])
def make_follower(request, monkeypatch):
    """Follower over the installed modules, and over their sources; every stage's end is wanted."""
    if request.param == "uncompiled":
        monkeypatch.setattr(follower, "order_pass", uncompiled("order_pass"))
        layout = uncompiled("order_layout")
        monkeypatch.setattr(order_recorder, "order_layout", layout)
        monkeypatch.setattr(stage_order, "order_layout", layout)
    return lambda graph: Follower(graph, np.arange(len(graph)))


@st.composite
def other_durations(draw: st.DrawFn, graph: StageGraph) -> Durations:
    """Any that obey the law's rule for one instant."""
    serves = np.array([engine.arbitrates for engine in graph.engines])[graph.stages.engine]
    served = set(graph.stages.duration_class[serves].tolist())
    classes = range(len(graph.duration_classes))
    lasting = [draw(st.integers(int(each in served), 4)) for each in classes]
    lags = [0, *(draw(st.integers(1, 4)) for _ in graph.lag_classes[1:])]
    return Durations(np.array(lasting, np.int64), np.array(lags, np.int64))


@st.composite
def graphs_and_calibrations(draw: st.DrawFn) -> tuple[StageGraph, Durations, list[Durations]]:
    graph, recorded = draw(law_graphs())
    others = draw(st.lists(other_durations(graph), min_size=1, max_size=4))
    return graph, recorded, others


def served_orders(graph: StageGraph, durations: Durations) -> list[list[int]]:
    """Per serving engine, its stages in order of service."""
    start = compiled_runner.run(graph, durations).start_ps
    on = graph.stages.engine
    return [
        sorted(np.flatnonzero(on == number).tolist(), key=lambda stage: start[stage])
        for number, engine in enumerate(graph.engines)
        if engine.arbitrates
    ]


@given(case=graphs_and_calibrations())
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_order_holds_exactly_where_a_full_replay_serves_in_it_and_the_times_are_equal(
    make_follower, case
):
    graph, recorded, others = case
    along = make_follower(graph)
    order = along.record(compiled_runner.run(graph, recorded).start_ps)
    followed = along.follow(order, others)
    for lane, durations in enumerate(others):
        same = served_orders(graph, durations) == served_orders(graph, recorded)
        assert followed.holds[lane] == same
        if same:
            expected = simpy_runner.run(graph, durations).end_ps.tolist()
            assert followed.end_ps[:, lane].tolist() == expected
            assert followed.makespan_ps[lane] == max(expected, default=0)


# Stage 0 and 1 wait for an engine; 2 and 3 (lanes) release them. In the recorded run 2 lasts 5 and 3
# lasts 7, so 0 is served at 5, and 1 when 0 ends, at 15. Each lasts 10.
TWO_IN_A_QUEUE = [
    (SERVER, 10, [Release(by=2)]),
    (SERVER, 10, [Release(by=3)]),
    (LANE, 5, []),
    (LANE, 7, []),
]


def lasting(*ps: int) -> Durations:
    return Durations(np.array(ps, np.int64), np.array([0], np.int64))


def test_the_order_holds_up_to_the_tie_that_ids_decide_and_not_beyond(make_follower):
    graph, recorded = graph_of(TWO_IN_A_QUEUE)
    along = make_follower(graph)
    order = along.record(compiled_runner.run(graph, recorded).start_ps)
    # ready (6, 7), (7, 7): still 0 first; (8, 7): 1 comes first, so the order is broken
    followed = along.follow(order, [lasting(10, 10, ps, 7) for ps in (6, 7, 8)])
    assert followed.holds == (True, True, False)
    assert followed.end_ps[:2, :2].tolist() == [[16, 17], [26, 27]]


def test_a_tie_against_the_ids_breaks_the_order(make_follower):
    graph, _ = graph_of(TWO_IN_A_QUEUE)
    along = make_follower(graph)
    order = along.record(compiled_runner.run(graph, lasting(10, 10, 9, 7)).start_ps)
    # recorded: 1 (ready 7) before 0 (ready 9); holds at ready 8, not at 7, where the least id is first
    assert along.follow(order, [lasting(10, 10, ps, 7) for ps in (8, 7)]).holds == (True, False)


def test_a_pass_stops_in_the_block_in_which_the_last_lane_breaks_the_order(make_follower):
    # the two of the queue are followed by a chain of 996 stages; 256 places are a block
    chain = [(LANE, 1, [Release(by=place)]) for place in [1, *range(4, 999)]]
    graph, _ = graph_of(TWO_IN_A_QUEUE + chain)
    along = make_follower(graph)
    rest = [1] * len(chain)
    order = along.record(compiled_runner.run(graph, lasting(10, 10, 5, 7, *rest)).start_ps)
    broken = along.follow(order, [lasting(10, 10, 9, 7, *rest), lasting(10, 10, 8, 7, *rest)])
    assert broken.holds == (False, False)
    assert broken.share_looked_at == 256 / 1000
    half = along.follow(order, [lasting(10, 10, 9, 7, *rest), lasting(10, 10, 5, 7, *rest)])
    assert half.holds == (False, True)
    assert half.share_looked_at == 1


@given(case=graphs_and_calibrations(), data=st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_ends_that_nobody_wants_leave_their_slots_to_others_and_change_no_time(
    make_follower, case, data
):
    graph, recorded, _ = case
    wanted = data.draw(
        st.lists(st.integers(0, len(graph) - 1), max_size=3) if len(graph) else st.just([])
    )
    every = make_follower(graph)
    few = Follower(graph, np.array(wanted, np.int64))
    start_ps = compiled_runner.run(graph, recorded).start_ps
    expected = every.follow(every.record(start_ps), [recorded])
    found = few.follow(few.record(start_ps), [recorded])
    assert found.end_ps.tolist() == expected.end_ps[wanted].tolist()
    assert found.makespan_ps.tolist() == expected.makespan_ps.tolist()


def test_a_chain_takes_two_slots_however_long_it_is():
    # an end is read by the next stage alone; the last stage's is kept, as the last end of all may be
    graph, recorded = graph_of([(LANE, 1, []), *[(LANE, 1, [Release(by=i)]) for i in range(99)]])
    along = Follower(graph, np.zeros(0, np.int64))
    order = along.record(compiled_runner.run(graph, recorded).start_ps)
    assert len(order.end_ps) == 2 * order_pass.LANES
    assert along.follow(order, [recorded]).makespan_ps.tolist() == [100]


def test_starts_too_late_to_share_a_key_with_the_engine_are_sorted_all_the_same(make_follower):
    # 2 engines take 2 bits; starts near 2^61 take 62
    far = 1 << 61
    graph, recorded = graph_of([(LANE, far, []), *[(SERVER, 1, [Release(by=0)])] * 3])
    along = make_follower(graph)
    order = along.record(compiled_runner.run(graph, recorded).start_ps)
    followed = along.follow(order, [recorded])
    assert followed.holds == (True,)
    assert followed.end_ps[:, 0].tolist() == [far, far + 1, far + 2, far + 3]


def test_an_order_is_recorded_alike_however_often(make_follower):
    graph, recorded = graph_of(TWO_IN_A_QUEUE)
    along = make_follower(graph)
    start_ps = compiled_runner.run(graph, recorded).start_ps
    first, second = along.record(start_ps), along.record(start_ps)
    found = [along.follow(order, [recorded]).end_ps.tolist() for order in (first, second)]
    assert found[0] == found[1] == [[15], [25], [5], [7]]


def test_a_graph_without_stages_can_be_followed(make_follower):
    graph, recorded = graph_of([])
    along = make_follower(graph)
    followed = along.follow(along.record(np.zeros(0, np.int64)), [recorded])
    assert followed.holds == (True,)
    assert followed.end_ps.shape == (0, 1)


@pytest.mark.parametrize("module", [order_layout, order_pass])
def test_it_is_compiled_where_the_engine_is(module):
    assert native.is_compiled(module) == compiled_runner.is_compiled()
