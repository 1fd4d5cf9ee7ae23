"""What PE_CPU pays a tile (DDD-0065 §11): opt2 less than half of opt3, where commands have a fixed cost."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from kerntape.capture.capture import capture
from kerntape.replay.calibration import resolve_calibration, shipped_calibrations
from kerntape.replay.replay import replay
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.stages import StageKind
from kerntape.schemas.trace import Trace
from kerntape.topologies.loader import resolve_topology

MACHINE = resolve_topology("single_pe")
TILES = 16
COMMANDS = {"opt2": 2, "opt3": 10}
"""A tile's, by variant."""
WITH_FIXED_COST = [
    name
    for name in shipped_calibrations()
    if resolve_calibration(MACHINE, name).pe_cpu.fixed_cycles > 0
]


@cache
def trace_of(variant: str) -> Trace:
    arguments = {"variant": variant, "s_kv": str(64 * TILES), "tile": "64"}
    return capture("gqa_decode", MACHINE, arguments, with_data=False).trace


def dispatch_ps(variant: str, **model: object) -> int:
    """The dispatches of all tiles: those of a tile stand together, from the first composite on."""
    timeline = replay(trace_of(variant), **model)
    commands = timeline.trace.commands(timeline.trace.streams[0])
    first = next(one.index for one in commands if one.kind is CommandKind.COMPOSITE)
    stages = timeline.stages
    mine = (stages.command >= first) & (stages.command < first + TILES * COMMANDS[variant])
    of_tiles = np.flatnonzero(mine & (stages.kind == StageKind.DISPATCH))
    assert len(of_tiles) == TILES * COMMANDS[variant]
    return int((timeline.end_ps - timeline.start_ps)[of_tiles].sum())


def test_by_default_a_tile_costs_104_5_ns_as_opt2_and_421_75_ns_as_opt3():
    # 2 · 40 + 392 bytes · 0.0625, and 10 · 40 + 348 bytes · 0.0625
    assert dispatch_ps("opt2") == TILES * 104_500
    assert dispatch_ps("opt3") == TILES * 421_750


@pytest.mark.parametrize("calibration", WITH_FIXED_COST)
def test_opt3_costs_more_than_twice_opt2_under_every_calibration_with_a_fixed_cost(calibration):
    opt2, opt3 = (dispatch_ps(variant, calibration=calibration) for variant in COMMANDS)
    assert opt3 > 2 * opt2


def test_three_of_the_shipped_calibrations_have_a_fixed_cost():
    assert WITH_FIXED_COST == ["default", "dispatch_heavy", "dispatch_light"]


# 80 + 392·R against 400 + 348·R; at 0.03125 each has halves of a picosecond, rounded up, in two commands
@pytest.mark.parametrize(
    ("cycles_per_byte", "opt2_ps", "opt3_ps", "ratio"),
    [
        ("0.25", 178_000, 487_000, "2.74"),
        ("0.0625", 104_500, 421_750, "4.04"),
        ("0.03125", 92_251, 410_876, "4.45"),
    ],
)
def test_the_sensitivity_sweep_over_the_cost_of_a_byte(cycles_per_byte, opt2_ps, opt3_ps, ratio):
    settings = [f"pe_cpu.cycles_per_byte={cycles_per_byte}"]
    opt2, opt3 = (dispatch_ps(variant, settings=settings) for variant in COMMANDS)
    assert (opt2, opt3) == (TILES * opt2_ps, TILES * opt3_ps)
    assert opt2 < opt3
    assert f"{float(Fraction(opt3, opt2)):.2f}" == ratio


def test_a_topologys_own_costs_reach_the_dispatch():
    # 2 · 20 + 392 · 0.0625 = 64.5
    cheaper = MACHINE.model_copy(update={"pe_cost_model": {"pe_cpu": {"fixed_cycles": 20}}})
    assert dispatch_ps("opt2", topology=cheaper) == TILES * 64_500
