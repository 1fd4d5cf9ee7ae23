"""Which numbers a graph uses, and calibrations with some changed."""

from decimal import Decimal

import pytest
from kerntape.replay.lower import lower
from kerntape.replay.parameters import changed, parameters_used, value_of
from kerntape.schemas.errors import ConfigError


def test_a_parameter_is_used_if_an_equation_of_the_graph_reads_it(
    build, topology, calibration, nothing_held
):
    x = build.handle((4, 4))
    build.math("exp", [x], x)
    graph = lower(build.trace(topology), topology, nothing_held)
    assert parameters_used(graph, calibration) == (
        "clock_ghz",
        "pe_cpu.fixed_cycles",
        "pe_cpu.cycles_per_byte",
        "pe_math.vector_width",
    )


def test_the_lags_count_too(build, topology, calibration, nothing_held):
    source, target = build.handle((4, 4), at=0, label="x"), build.handle((4, 4))
    build.load(source, target)
    graph = lower(build.trace(topology), topology, nothing_held)
    used = parameters_used(graph, calibration)
    assert "hbm.latency_ns" in used
    assert "pe_dma.read_bytes_per_ns" in used  # read with hbm.bytes_per_ns: the narrower counts
    assert "pe_dma.write_bytes_per_ns" not in used


def test_a_number_is_changed_exactly_and_the_name_tells_it(calibration):
    other = changed(calibration, {"hbm.latency_ns": "0.125", "clock_ghz": Decimal("1.5")})
    assert value_of(other, "hbm.latency_ns") == Decimal("0.125")
    assert value_of(other, "clock_ghz") == Decimal("1.5")
    assert value_of(calibration, "hbm.latency_ns") == 100
    assert other.name == "round + hbm.latency_ns=0.125 + clock_ghz=1.5"


def test_a_rate_of_zero_is_refused(calibration):
    with pytest.raises(ConfigError, match=r"change: hbm\.bytes_per_ns: must be above 0 .*, not 0"):
        changed(calibration, {"hbm.bytes_per_ns": "0"})
