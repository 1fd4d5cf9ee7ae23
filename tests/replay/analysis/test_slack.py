"""How much later a stage could end without moving the makespan."""

from hypothesis import given
from kerntape.replay.analysis.slack import slack_ps
from kerntape.replay.compiled_runner import run
from law_graphs import LANE, SERVER, Release, graph_of, law_graphs


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
