"""Every shipped kernel under every policy: the sound ones are sound, and holding less costs no more.

That no policy that holds less ends later is no law (docs/hazards.md), but true of the shipped kernels as
long as nobody passes: under rw_aware some of them end earlier than under byte_range, some later.
"""

from functools import cache

import pytest
from golden_cases import CASES, Case
from kerntape.capture.capture import capture
from kerntape.replay.policy_table import PolicyRow, policy_table
from kerntape.schemas.timeline import Status
from kerntape.topologies.loader import resolve_topology

BY_WHAT_THEY_HOLD = ("none", "rw_handles", "strict_fifo", "byte_range", "serial")


@cache
def rows_of(case: Case) -> dict[str, PolicyRow]:
    machine = resolve_topology(case.topology)
    trace = capture(case.kernel, machine, dict(case.arguments), with_data=False).trace
    return {row.policy: row for row in policy_table(trace).rows}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_byte_range_rw_aware_and_serial_leave_no_hazard_possible(case: Case):
    rows = rows_of(case)
    assert [rows[name].potential for name in ("byte_range", "rw_aware", "serial")] == [0, 0, 0]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_goes_wrong_in_a_replay_is_among_what_can(case: Case):
    for row in rows_of(case).values():
        assert row.hazards is None or row.hazards["violations"] <= row.potential


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_policy_that_holds_less_ends_no_later(case: Case):
    rows = [rows_of(case)[name] for name in BY_WHAT_THEY_HOLD]
    makespans = [row.makespan_ps for row in rows if row.status is Status.OK]
    assert makespans == sorted(makespans)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_only_serial_can_end_in_a_deadlock(case: Case):
    # a ring that posts its receive before it sends waits for the neighbour's message first
    stopped = [row.policy for row in rows_of(case).values() if row.status is Status.DEADLOCK]
    assert stopped in ([], ["serial"])
