"""One trace under every shipped policy: the table's figures are those of each replay by itself."""

from dataclasses import replace

import numpy as np
import pytest
from kerntape.replay.hazards.potential import potential_hazards
from kerntape.replay.machine import topology_of
from kerntape.replay.policy import resolve_policy, shipped_policies
from kerntape.replay.policy_table import policy_table, policy_table_json
from kerntape.replay.replay import replay
from kerntape.replay.summary import hazard_totals
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.handles import Space
from kerntape.schemas.timeline import Status
from kerntape.schemas.trace import KeptInputs, TensorInfo


@pytest.fixture
def trace(build, topology):
    """x is loaded into a; b = a·a, then c = b·b as composites that PE_CPU does not keep apart, and c
    is stored over x."""
    x = build.handle((4, 4), space=Space.HBM, label="x")
    a, b, c = (build.handle((4, 4), label=label) for label in "abc")
    load = build.load(x, a)
    build.gemm(4, 4, 4, a, a, b, waits=[load])
    last = build.gemm(4, 4, 4, b, b, c)
    build.store(c, x, waits=[last])
    return build.trace(topology)


@pytest.fixture
def kept(trace):
    """The same with x = I."""
    tensor = TensorInfo("x", (4, 4), "f16", "replicated", True)
    header = replace(trace.header, tensors=(tensor,))
    image = np.eye(4, dtype=np.float16).tobytes()
    return replace(trace, header=header, inputs=KeptInputs({(0, 0): image}))


SLOW_MACS = ["pe_gemm.macs_per_cycle=1", "pe_cpu.fixed_cycles=1"]
"""The first GEMM is at work when the second would begin."""


def test_every_shipped_policy_has_a_row_with_its_own_replays_figures(trace):
    table = policy_table(trace, settings=SLOW_MACS)
    assert {row.policy for row in table.rows} == set(shipped_policies())
    for row in table.rows:
        alone = replay(trace, policy=row.policy, settings=SLOW_MACS)
        possible = potential_hazards(trace, topology_of(trace), resolve_policy(row.policy))
        assert row.makespan_ps == alone.makespan_ps
        assert row.hazards == hazard_totals(alone)
        assert row.potential == len(possible)
        assert row.data_right is None


def test_the_fastest_stands_first_and_equals_by_name(trace):
    rows = policy_table(trace, settings=SLOW_MACS).rows
    assert [row.policy for row in rows] == [
        *("none", "rw_handles"),
        *("byte_range", "rw_aware", "serial", "strict_fifo"),
    ]
    assert rows[0].makespan_ps == rows[1].makespan_ps < rows[2].makespan_ps == rows[5].makespan_ps


def test_values_are_checked_under_each_policy_where_asked(kept):
    table = policy_table(kept, settings=SLOW_MACS, check_values=True)
    right = {row.policy for row in table.rows if row.data_right}
    assert right == set(shipped_policies()) - {"none", "rw_handles"}
    assert {row.data_right for row in table.rows} == {True, False}
    assert {row.policy for row in table.rows if row.is_finding} == {"none", "rw_handles"}


def test_values_without_kept_inputs_are_refused(trace):
    with pytest.raises(ConfigError, match="captured without its inputs; capture again with --keep"):
        policy_table(trace, check_values=True)


def test_the_table_names_the_model(trace):
    table = policy_table(trace, calibration="dispatch_light", settings=["pe_cpu.fixed_cycles=3"])
    assert table.topology == "tiny"
    assert table.calibration == "dispatch_light + pe_cpu.fixed_cycles=3"
    with pytest.raises(ConfigError, match="no calibration 'defalt'; did you mean 'default'"):
        policy_table(trace, calibration="defalt")


def test_whoever_watches_is_told_before_the_first_policy_and_after_the_last(trace):
    told = []
    policy_table(trace, watch=lambda done, total: told.append((done, total)))
    assert told == [(done, 6) for done in range(7)]


def test_a_deadlock_has_no_hazards_and_stands_last(build, pair):
    # Each PE takes its message with a recv_async before it sends its own: serial waits for the
    # message first, and nobody sends.
    there = type(build)()
    for pe, direction in ((build, "E"), (there, "W")):
        taken = pe.message(CommandKind.RECV_ASYNC, direction, pe.handle((8,)))
        pe.message(CommandKind.SEND, direction, pe.handle((8,)))
        pe.wait(taken)
    table = policy_table(build.trace(pair, there))
    assert [row.policy for row in table.rows if row.is_finding] == ["serial"]
    assert [row.policy for row in table.rows if row.status is Status.DEADLOCK] == ["serial"]
    assert (table.rows[-1].policy, table.rows[-1].hazards) == ("serial", None)


def test_the_json_has_exactly_these_keys(trace):
    figures = policy_table_json(policy_table(trace), trace="x.ktrace", runner="simpy")
    assert list(figures) == [
        *("trace", "topology", "calibration", "runner", "shared_tensors", "policies")
    ]
    assert (figures["trace"], figures["runner"]) == ("x.ktrace", "simpy")
    for row in figures["policies"]:
        assert list(row) == [
            *("policy", "status", "makespan_ps", "hazards", "potential", "data_right")
        ]
        assert list(row["hazards"]) == ["held", "held_ps", "violations"]
