"""Every equation, at round numbers and at the edge where a cycle more is needed."""

from decimal import Decimal
from pathlib import Path

import pytest
from kerntape.replay.calibration import read_calibration, shipped_calibrations
from kerntape.replay.durations import EQUATIONS, ClassTimes, durations, picoseconds
from kerntape.replay.lower import lower
from kerntape.replay.parameters import changed
from kerntape.replay.ways import LEVEL_SETS, over, packed_hops
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.handles import Space
from kerntape.schemas.timeline import DurationClass
from kerntape.schemas.topology import Level
from towns import slow_links


@pytest.mark.parametrize(
    ("equation", "quantity", "ps"),
    [
        ("none", 0, 0),
        ("pe_cpu.dispatch", 46, 10_000),
        ("pe_cpu.overhead", 7, 7_000),
        ("pe_scheduler.plan", 10, 0),
        ("hbm.channel", 16, 16_000),
        ("hbm.latency", 0, 100_000),
        ("hbm.arrival", 0, 100_000),
        ("pe_dma.read", 16, 16_000),
        ("pe_dma.write", 16, 16_000),
        ("pe_dma.write_behind", 16, 16_000),
        ("pe_dma.handover", 0, 1),
        ("pe_tcm.fetch", 16, 16_000),
        ("pe_gemm.step", 64, 64_000),
        ("pe_math.op", 16, 16_000),
        ("pe_ipcq.copy", 16, 16_000),
        ("pe_ipcq.credit", 0, 10_000),
        ("pe_ipcq.handover", 0, 1),
        ("noc.pe_link", 16, 16_000),
        ("noc.pe_hop", 0, 1_000),
        ("noc.cube_link", 16, 16_000),
        ("noc.cube_hop", 0, 1_000),
        ("noc.sip_link", 16, 16_000),
        ("noc.sip_hop", 0, 1_000),
    ],
)
def test_equations_at_round_numbers(calibration, equation, quantity, ps):
    assert picoseconds(DurationClass(equation, quantity), calibration) == ps


NS_A_BYTE = {Level.PE: 2, Level.CUBE: 4, Level.SIP: 8}
HOP_NS = {Level.PE: 3, Level.CUBE: 7, Level.SIP: 11}
"""Of towns.slow_links, where everything else moves 1 byte a ns."""


@pytest.mark.parametrize("levels", LEVEL_SETS)
def test_a_hop_over_links_lasts_as_long_as_the_slowest_of_them(levels):
    slow = slow_links()
    for equation in ("noc.read", "noc.write", "pe_dma.read", "pe_dma.write_behind"):
        ps = picoseconds(DurationClass(over(equation, levels), 16), slow)
        assert ps == 16_000 * max(NS_A_BYTE[level] for level in levels)


@pytest.mark.parametrize("levels", LEVEL_SETS)
def test_requests_and_acknowledgements_take_every_hop_of_the_way(levels):
    slow = slow_links()
    twice = packed_hops(levels * 2)
    hops_ps = 2_000 * sum(HOP_NS[level] for level in levels)
    assert picoseconds(DurationClass(over("noc.request", levels), twice), slow) == hops_ps
    # what is written arrives 100 ns after the channel
    known_ps = picoseconds(DurationClass(over("noc.acknowledgement", levels), twice), slow)
    assert known_ps == 100_000 + hops_ps


@pytest.mark.parametrize(
    ("rate", "equations"),
    [
        ("hbm.bytes_per_ns", {"noc.read", "pe_dma.read", "pe_dma.write_behind"}),
        ("pe_dma.read_bytes_per_ns", {"pe_dma.read"}),
        ("pe_dma.write_bytes_per_ns", {"noc.write", "pe_dma.write_behind"}),
    ],
)
def test_a_hop_over_wide_links_lasts_as_long_as_the_slowest_block_before_it_and_its_own(
    rate, equations
):
    wide = slow_links(pe_link_bytes_per_ns="8")
    slower = changed(wide, {rate: Decimal("0.5")})
    found = {
        equation
        for equation in ("noc.read", "noc.write", "pe_dma.read", "pe_dma.write_behind")
        if picoseconds(DurationClass(f"{equation}:pe", 16), slower) == 32_000
    }
    assert found == equations


def test_every_equation_is_tested_and_documented():
    tested = {
        values[0] for mark in test_equations_at_round_numbers.pytestmark for values in mark.args[1]
    }
    over_links = {"noc.read", "noc.write", "pe_dma.read", "pe_dma.write_behind"}
    over_links |= {"noc.request", "noc.acknowledgement"}
    ways = {over(equation, levels) for equation in over_links for levels in LEVEL_SETS}
    assert tested | ways == set(EQUATIONS)
    page = (Path(__file__).parents[2] / "docs" / "model.md").read_text(encoding="utf-8")
    names = tested | {f"{equation}:L" for equation in over_links}
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


@pytest.mark.parametrize(("elements", "cycles"), [(64, 1), (65, 2), (128, 2), (129, 3), (1, 1)])
def test_math_rounds_up_to_whole_vectors(calibration, elements, cycles):
    wide = calibration.pe_math.model_copy(update={"vector_width": Decimal(64)})
    changed = calibration.model_copy(update={"pe_math": wide})
    assert picoseconds(DurationClass("pe_math.op", elements), changed) == cycles * 1000


@pytest.mark.parametrize(("macs", "cycles"), [(1024, 9), (1025, 10), (65536, 72)])
def test_gemm_fills_and_then_rounds_up_to_whole_cycles(calibration, macs, cycles):
    rates = calibration.pe_gemm.model_copy(
        update={"macs_per_cycle": Decimal(1024), "fill_cycles": Decimal(8)}
    )
    changed = calibration.model_copy(update={"pe_gemm": rates})
    assert picoseconds(DurationClass("pe_gemm.step", macs), changed) == cycles * 1000


def test_a_rate_is_the_decimal_as_written_and_time_is_rounded_up(calibration):
    hbm = calibration.hbm.model_copy(update={"bytes_per_ns": Decimal("102.4")})
    changed = calibration.model_copy(update={"hbm": hbm})
    # 4096 / 102.4 = 40 ns exactly; one byte takes 9.765625 ps
    assert picoseconds(DurationClass("hbm.channel", 4096), changed) == 40_000
    assert picoseconds(DurationClass("hbm.channel", 1), changed) == 10


def test_a_replay_that_could_pass_2_to_the_62_ps_is_refused(
    build, topology, nothing_held, calibration
):
    for _ in range(2):
        build.overhead(10**12)
    graph = lower(build.trace(topology), topology, nothing_held)
    slow = calibration.model_copy(update={"clock_ghz": Decimal("0.0001")})
    with pytest.raises(ConfigError, match=r"times must stay below 2\^62 ps"):
        durations(graph, slow)


@pytest.fixture
def loaded(build, topology, nothing_held):
    """A load and a math op over what it brings."""
    source, x = build.handle((16,), space=Space.HBM), build.handle((16,))
    build.load(source, x)
    build.math("exp", [x], x)
    return lower(build.trace(topology), topology, nothing_held)


def lasting(graph, times, equation):
    (number,) = [n for n, each in enumerate(graph.duration_classes) if each.equation == equation]
    return times.stage_ps.tolist()[number]


def test_what_an_engine_serves_takes_at_least_a_picosecond_and_what_needs_none_may_take_nothing(
    loaded, calibration
):
    at_once = changed(
        calibration,
        {"clock_ghz": Decimal(10**12), "pe_cpu.fixed_cycles": 0, "pe_cpu.cycles_per_byte": 0},
    )
    times = durations(loaded, at_once)
    assert lasting(loaded, times, "pe_math.op") == 1
    assert lasting(loaded, times, "pe_cpu.dispatch") == 0


@pytest.mark.parametrize("name", list(shipped_calibrations()))
def test_a_graph_looked_at_once_has_the_same_durations_under_every_calibration(loaded, name):
    known = ClassTimes(loaded)
    known.durations(read_calibration("dispatch_free"))
    found, expected = (
        known.durations(read_calibration(name)),
        durations(loaded, read_calibration(name)),
    )
    assert found.stage_ps.tolist() == expected.stage_ps.tolist()
    assert found.lag_ps.tolist() == expected.lag_ps.tolist()
