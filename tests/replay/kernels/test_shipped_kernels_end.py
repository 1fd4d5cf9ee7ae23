"""Every shipped kernel is free of deadlock under every calibration, as `kerntape inspect` finds it."""

import pytest
from golden_cases import CASES, Case
from kerntape.capture.capture import capture
from kerntape.replay.deadlock import find_deadlock
from kerntape.replay.policy import resolve_policy
from kerntape.replay.replay import replay
from kerntape.topologies.loader import resolve_topology


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_shipped_kernel_ends_and_what_serial_stops_is_found_without_a_replay(case: Case):
    machine = resolve_topology(case.topology)
    trace = capture(case.kernel, machine, dict(case.arguments), with_data=False).trace
    assert find_deadlock(trace, machine, resolve_policy("strict_fifo")) is None
    stopped = replay(trace, policy="serial").deadlock
    assert find_deadlock(trace, machine, resolve_policy("serial")) == stopped
