"""The physics gate finds what it is there to find."""

from dataclasses import replace

import numpy as np
import pytest
from kerntape.replay.durations import durations
from kerntape.replay.lower import lower
from kerntape.replay.sanity import check_physics
from kerntape.replay.simpy_runner import run
from kerntape.replay.stage_graph import Durations
from kerntape.schemas.errors import SanityError
from kerntape.schemas.handles import Space
from kerntape.schemas.timeline import DurationClass
from law_graphs import SERVER, Release, graph_of
from towns import placed, town


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


@pytest.fixture
def crossing(build, calibration, nothing_held):
    """A load over two links: HBM, link, link, DMA are stages 1 to 4."""
    machine = town(pes=(3, 1))
    build.load(build.handle((8,), space=Space.HBM), build.handle((8,)))
    graph = lower(placed(build.trace(machine), [[2]]), machine, nothing_held)
    return graph, durations(graph, calibration)


def test_a_route_that_passes_on_what_it_is_given_passes(crossing):
    check_physics(*crossing, run(*crossing))


@pytest.mark.parametrize(("hop", "found"), [(2, 2), (3, 3)])
def test_bytes_that_are_lost_on_a_link_are_found_there(crossing, hop, found):
    graph, lasting = crossing
    # a class of the same duration that moves no bytes
    classes = (*graph.duration_classes, DurationClass("noc.read:pe", 0))
    column = broken(graph.stages.duration_class, hop, len(classes) - 1)
    stage_ps = lasting.stage_ps.tolist()
    same = Durations(
        np.array([*stage_ps, stage_ps[graph.stages.duration_class[hop]]]), lasting.lag_ps
    )
    wrong = replace(
        graph, duration_classes=classes, stages=replace(graph.stages, duration_class=column)
    )
    with pytest.raises(SanityError) as refused:
        check_physics(wrong, same, run(wrong, same))
    assert str(refused.value) == (
        f"stage {found} does not pass on the bytes that the hop before it moves; this is a bug in"
        " kerntape, please report it"
    )


def test_a_link_that_starts_behind_nothing_is_found(crossing):
    graph, lasting = crossing
    # the second link waits for the first one's end instead of its start
    row = int(graph.releases.offsets[3])
    wrong = replace(
        graph,
        releases=replace(graph.releases, from_start=broken(graph.releases.from_start, row, 0)),
    )
    with pytest.raises(SanityError, match="stage 3 does not pass on the bytes"):
        check_physics(wrong, lasting, run(wrong, lasting))
