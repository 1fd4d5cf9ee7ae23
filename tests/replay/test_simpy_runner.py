"""The law on tiny graphs: order of service, ties, causes, lags. At most five stages each."""

from kerntape.replay.sanity import check_physics
from kerntape.replay.simpy_runner import run
from law_graphs import LANE, SERVER, Release, graph_of


def timeline(stages, servers=1):
    """(ready, start, end, cause) per stage."""
    graph, lasting = graph_of(stages, servers)
    times = run(graph, lasting)
    check_physics(graph, lasting, times)
    columns = (times.ready_ps, times.start_ps, times.end_ps, times.cause)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_stages_ready_together_are_served_by_id():
    assert timeline([(SERVER, 5, []), (SERVER, 3, [])]) == [(0, 0, 5, -1), (0, 5, 8, 0)]


def test_the_earlier_ready_goes_first_whatever_its_id():
    # 0 serves until 10; 2 is ready at 4 and 1 at 6
    stages = [
        (SERVER, 10, []),
        (SERVER, 1, [Release(by=3)]),
        (SERVER, 1, [Release(by=4)]),
        (LANE, 6, []),
        (LANE, 4, []),
    ]
    assert timeline(stages)[1:3] == [(6, 11, 12, 2), (4, 10, 11, 0)]


def test_what_becomes_ready_in_an_instant_is_known_before_anything_starts_in_it():
    # at 5 the server falls idle with stage 3 waiting since 5 by way of a chain of no time;
    # stage 2, released directly at 5, has the lesser id and goes first
    stages = [
        (SERVER, 5, []),
        (LANE, 0, [Release(by=0)]),
        (SERVER, 2, [Release(by=1)]),
        (SERVER, 2, [Release(by=0)]),
    ]
    assert timeline(stages)[2:] == [(5, 5, 7, 1), (5, 7, 9, 2)]


def test_the_cause_of_a_stage_that_did_not_queue_is_its_last_release():
    stages = [(LANE, 3, []), (LANE, 8, []), (SERVER, 1, [Release(by=0), Release(by=1)])]
    assert timeline(stages)[2] == (8, 8, 9, 1)


def test_of_releases_at_one_instant_the_least_id_is_the_cause():
    stages = [(LANE, 8, []), (LANE, 8, []), (SERVER, 1, [Release(by=1), Release(by=0)])]
    assert timeline(stages)[2] == (8, 8, 9, 0)


def test_a_start_releases_after_its_lag_while_the_stage_still_runs():
    stages = [(SERVER, 10, []), (1, 4, [Release(by=0, lag_ps=3, from_start=True)])]
    assert timeline(stages, servers=2)[1] == (3, 3, 7, 0)


def test_an_end_can_release_later_than_it_happens():
    stages = [(SERVER, 10, []), (SERVER, 4, [Release(by=0, lag_ps=5)])]
    assert timeline(stages)[1] == (15, 15, 19, 0)


def test_a_lane_runs_its_stages_side_by_side():
    assert timeline([(LANE, 5, []), (LANE, 3, [])]) == [(0, 0, 5, -1), (0, 0, 3, -1)]


def test_an_empty_graph_runs():
    assert timeline([]) == []


def test_what_a_cycle_holds_up_never_ends_and_the_rest_does():
    stages = [(LANE, 1, [Release(by=1)]), (LANE, 1, [Release(by=0)]), (LANE, 4, [])]
    graph, lasting = graph_of(stages)
    assert run(graph, lasting).end_ps.tolist() == [-1, -1, 4]
