"""Durations of a graph whose stages were looked at once are those that a replay works out."""

from decimal import Decimal

import pytest
from kerntape.replay.calibration import read_calibration, shipped_calibrations
from kerntape.replay.durations import durations
from kerntape.replay.lower import lower
from kerntape.replay.parameters import changed
from kerntape.replay.sweep.class_times import ClassTimes
from kerntape.schemas.errors import ConfigError


@pytest.fixture
def graph(tiled, topology, nothing_held):
    return lower(tiled, topology, nothing_held)


@pytest.mark.parametrize("name", list(shipped_calibrations()))
def test_they_are_equal_under_every_calibration(graph, name):
    calibration = read_calibration(name)
    found, expected = ClassTimes(graph).durations(calibration), durations(graph, calibration)
    assert found.stage_ps.tolist() == expected.stage_ps.tolist()
    assert found.lag_ps.tolist() == expected.lag_ps.tolist()


def test_what_is_served_and_what_lags_from_a_start_takes_at_least_a_picosecond(graph, calibration):
    at_once = changed(
        calibration,
        {
            "clock_ghz": Decimal(10**12),
            "pe_cpu.fixed_cycles": Decimal(0),
            "hbm.latency_ns": Decimal(0),
            "hbm.bytes_per_ns": Decimal(10**12),
        },
    )
    found, expected = ClassTimes(graph).durations(at_once), durations(graph, at_once)
    assert found.stage_ps.tolist() == expected.stage_ps.tolist()
    assert found.lag_ps.tolist() == expected.lag_ps.tolist()
    # a dispatch needs no engine and may take no time
    dispatch = next(
        place
        for place, each in enumerate(graph.duration_classes)
        if each.equation == "pe_cpu.dispatch"
    )
    assert found.stage_ps[dispatch] == 0


def test_times_that_could_overflow_are_refused_in_the_same_words(graph, calibration):
    aeons = changed(
        calibration, {"clock_ghz": Decimal("1e-12"), "pe_cpu.fixed_cycles": Decimal(10**9)}
    )
    with pytest.raises(ConfigError) as ours:
        ClassTimes(graph).durations(aeons)
    with pytest.raises(ConfigError) as theirs:
        durations(graph, aeons)
    assert str(ours.value) == str(theirs.value)
