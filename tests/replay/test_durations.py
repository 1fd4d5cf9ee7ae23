"""Every equation, at round numbers and at the edge where a cycle more is needed."""

from decimal import Decimal
from pathlib import Path

import pytest
from kerntape.replay.durations import EQUATIONS, durations, picoseconds
from kerntape.replay.lower import lower
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.timeline import DurationClass


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


def test_every_equation_is_tested_and_documented():
    tested = {
        values[0] for mark in test_equations_at_round_numbers.pytestmark for values in mark.args[1]
    }
    assert tested == set(EQUATIONS)
    page = (Path(__file__).parents[2] / "docs" / "model.md").read_text(encoding="utf-8")
    assert [name for name in EQUATIONS if f"`{name}`" not in page] == []


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
