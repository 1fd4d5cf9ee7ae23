"""The physics gate finds what it is there to find."""

from dataclasses import replace

import pytest
from kerntape.replay.sanity import check_physics
from kerntape.replay.simpy_runner import run
from kerntape.schemas.errors import SanityError
from law_graphs import SERVER, Release, graph_of


@pytest.fixture
def sound():
    """Stage 0 and 1 on one engine, then 2, released by 1."""
    graph, lasting = graph_of([(SERVER, 5, []), (SERVER, 3, []), (SERVER, 2, [Release(by=1)])])
    return graph, lasting, run(graph, lasting)


def broken(column, stage, value):
    changed = column.copy()
    changed[stage] = value
    return changed


def test_a_sound_run_passes(sound):
    check_physics(*sound)


@pytest.mark.parametrize(
    ("column", "stage", "value", "message"),
    [
        ("ready_ps", 0, -1, "stage 0 was ready before the launch"),
        ("start_ps", 2, 7, "stage 2 started before it was ready"),
        ("end_ps", 0, 6, "stage 0 did not last as long as its class"),
        ("ready_ps", 2, 7, "stage 2 was not ready at its last release"),
    ],
)
def test_each_rule_names_the_stage_that_breaks_it(sound, column, stage, value, message):
    graph, lasting, times = sound
    wrong = replace(times, **{column: broken(getattr(times, column), stage, value)})
    with pytest.raises(SanityError, match=message + ".*please report it"):
        check_physics(graph, lasting, wrong)


def test_two_stages_at_once_on_an_engine_are_found(sound):
    graph, lasting, times = sound
    wrong = replace(
        times,
        start_ps=broken(times.start_ps, 1, 4),
        end_ps=broken(times.end_ps, 1, 7),
        ready_ps=broken(times.ready_ps, 2, 7),
    )
    with pytest.raises(SanityError, match="stage 1 overlaps the stage its engine served before"):
        check_physics(graph, lasting, wrong)


def test_an_overtaken_stage_is_found():
    # 0 serves until 5; 1 is ready at 0 and 2 at 1, yet 2 goes first
    graph, lasting = graph_of(
        [(SERVER, 5, []), (SERVER, 3, []), (SERVER, 2, [Release(by=3)]), (1, 1, [])]
    )
    times = run(graph, lasting)
    wrong = replace(
        times,
        start_ps=broken(broken(times.start_ps, 2, 5), 1, 7),
        end_ps=broken(broken(times.end_ps, 2, 7), 1, 10),
    )
    with pytest.raises(SanityError, match="stage 1 was overtaken"):
        check_physics(graph, lasting, wrong)
