"""What is spent on orders in vain stays within a share of what full replays cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.replay.sweep.thrift import Costs, Thrift
from law_graphs import LANE, graph_of

REPLAY = 1200


def test_a_point_allows_a_twelfth_of_a_replay():
    thrift = Thrift(REPLAY)
    thrift.promise(3)
    assert thrift.affords(300)
    assert not thrift.affords(301)


def test_a_saved_replay_may_be_spent_again():
    thrift = Thrift(REPLAY)
    thrift.save(2)
    thrift.spend(REPLAY)
    assert thrift.affords(REPLAY)
    assert not thrift.affords(REPLAY + 1)


@given(
    events=st.lists(
        st.one_of(
            st.tuples(st.just("promise"), st.integers(1, 64)),
            st.tuples(st.just("try"), st.integers(0, 2 * REPLAY)),
            st.tuples(st.just("save"), st.integers(0, 8)),
        )
    )
)
def test_a_sweep_never_costs_more_than_its_replays_and_a_twelfth(events):
    thrift, points, saved, spent = Thrift(REPLAY), 0, 0, 0
    for event, amount in events:
        if event == "promise":
            thrift.promise(amount)
            points += amount
        elif event == "save" and saved + amount <= points:
            thrift.save(amount)
            saved += amount
        elif event == "try" and thrift.affords(amount):
            thrift.spend(amount)
            spent += amount
    assert (points - saved) * REPLAY + spent <= points * REPLAY * 13 / 12


@pytest.mark.parametrize("stages", [1, 20_000])
def test_a_pass_and_an_order_cost_less_than_half_a_replay_however_large_the_graph(stages):
    costs = Costs.of(graph_of([(LANE, 0, [])] * stages)[0])
    assert costs.follow * 2 < costs.replay
    assert costs.record * 2 < costs.replay
