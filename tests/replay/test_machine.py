"""On which machines a trace may be replayed: those that have what it uses, however they differ else."""

from typing import Any

import pytest
from kerntape.replay.machine import compatible, resolve_model, topology_of
from kerntape.replay.op_log import op_log_sha256
from kerntape.replay.replay import replay
from kerntape.replay.settings import parsed_settings
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.errors import ConfigError, KerntapeError, UsageError
from kerntape.schemas.handles import Space
from kerntape.schemas.topology import Topology
from towns import placed, town

ROW = town(pes=(3, 1))
TWO_SIPS = town(sips=2, pes=(2, 1))


@pytest.fixture
def eastwards(build) -> Any:
    """PE 0 sends E, and PE 1 receives from W."""
    there = type(build)()
    build.message(CommandKind.SEND, "E", build.handle((8,)))
    there.message(CommandKind.RECV, "W", there.handle((8,)))
    return build.trace(ROW, there)


@pytest.fixture
def reaching(build) -> Any:
    """PE 0 loads what the PE of some rank holds."""

    def reaching(machine: Topology, owner: int, rank: int = 0) -> Any:
        build.load(build.handle((8,), space=Space.HBM), build.handle((8,)))
        return placed(build.trace(machine), [[owner]], {0: rank})

    return reaching


def rewired(machine: Topology, **directions: dict[str, Any] | None) -> Topology:
    """The machine, called `other`, with directions added or replaced; None takes one out."""
    values = machine.model_dump()
    values["name"] = "other"
    values["directions"] |= directions
    kept = {name: wire for name, wire in values["directions"].items() if wire is not None}
    return Topology.model_validate(values | {"directions": kept})


def wire(step: list[int], opposite: str) -> dict[str, Any]:
    return {"level": "pe", "step": step, "opposite": opposite}


def refusal(trace: Any, machine: Topology) -> str:
    with pytest.raises(ConfigError) as refused:
        compatible(trace, machine)
    return str(refused.value)


# -- directions


def test_more_directions_than_the_traces_change_nothing(eastwards):
    more = rewired(ROW, far_E=wire([2, 0], "far_W"), far_W=wire([-2, 0], "far_E"))
    logs = [op_log_sha256(replay(eastwards, topology=machine)) for machine in (ROW, more)]
    assert logs[0] == logs[1]


def test_a_direction_that_the_trace_sends_in_must_lead_where_it_did(eastwards):
    farther = rewired(ROW, E=wire([2, 0], "W"), W=wire([-2, 0], "E"))
    assert refusal(eastwards, farther) == (
        "topology 'other': directions.E must be the trace's (level: pe, step: [1, 0], opposite: W),"
        " not (level: pe, step: [2, 0], opposite: W); capture again on this topology"
    )


def test_a_direction_that_the_trace_sends_in_must_be_there(eastwards):
    renamed = rewired(ROW, E=None, W=None, east=wire([1, 0], "west"), west=wire([-1, 0], "east"))
    assert refusal(eastwards, renamed) == (
        "topology 'other': has no direction 'E', which must be the trace's (level: pe, step: [1, 0],"
        " opposite: W); capture again on this topology"
    )


def test_a_direction_that_the_trace_does_not_use_may_be_any_or_none(reaching):
    # PE 0 reaches PE 1 by whatever wire leads there
    renamed = rewired(ROW, E=None, W=None, east=wire([1, 0], "west"), west=wire([-1, 0], "east"))
    trace = reaching(ROW, owner=1)
    assert op_log_sha256(replay(trace, topology=renamed)) == op_log_sha256(replay(trace))


def test_a_way_to_other_pes_hbm_must_be_wired_all_the_same(reaching):
    trace = reaching(ROW, owner=1)
    unwired = rewired(ROW, E=wire([2, 0], "W"), W=wire([-2, 0], "E"))
    with pytest.raises(KerntapeError, match="no way leads from PE 1 to PE 0: topology 'other'"):
        replay(trace, topology=unwired)


# -- SIPs


@pytest.mark.parametrize("sips", [1, 3])
def test_more_or_fewer_sips_have_the_same_pes_under_the_same_ranks(eastwards, sips):
    machine = town(sips=sips, pes=(3, 1))
    assert op_log_sha256(replay(eastwards, topology=machine)) == op_log_sha256(replay(eastwards))


def test_a_trace_of_the_second_of_four_sips_is_replayed_on_two(reaching):
    # a SIP has 2 PEs: the last of SIP 1, rank 3, reads from the first of it
    trace = reaching(town(sips=4, pes=(2, 1)), owner=2, rank=3)
    assert op_log_sha256(replay(trace, topology=TWO_SIPS)) == op_log_sha256(replay(trace))


def test_the_first_pe_that_a_machine_lacks_is_named(reaching):
    trace = reaching(town(sips=4, pes=(2, 1)), owner=0, rank=4)
    assert refusal(trace, TWO_SIPS) == (
        "topology 'town': the trace has PE 4, which runs it: sips must be 3 or more, not 2;"
        " capture again on this topology"
    )


def test_so_is_the_first_that_only_holds_a_tensor(reaching):
    trace = reaching(town(sips=4, pes=(2, 1)), owner=4)
    assert refusal(trace, TWO_SIPS) == (
        "topology 'town': the trace has PE 4, which holds a tensor of it: sips must be 3 or more,"
        " not 2; capture again on this topology"
    )


@pytest.mark.parametrize(
    ("machine", "complaint"),
    [
        (town(pes=(3, 2)), "pes must be the trace's (columns=3 rows=1), not columns=3 rows=2"),
        (
            town(cubes=(2, 1), pes=(3, 1)),
            "cubes must be the trace's (columns=1 rows=1), not columns=2 rows=1",
        ),
    ],
)
def test_cubes_and_pes_must_be_as_many_for_ranks_to_mean_the_same(eastwards, machine, complaint):
    assert refusal(eastwards, machine) == (
        f"topology 'town': {complaint}; capture again on this topology"
    )


# -- structure by settings


def test_a_setting_changes_structure_and_the_machines_name(eastwards):
    machine, costs = resolve_model(
        eastwards, settings=["topology.ipcq.depth=4", "pe_cpu.fixed_cycles=20"]
    )
    assert machine.ipcq.depth == 4
    assert machine.name == "town + ipcq.depth=4"
    assert machine.model_copy(
        update={"name": "town", "ipcq": topology_of(eastwards).ipcq}
    ) == topology_of(eastwards)
    assert costs.name == "default + pe_cpu.fixed_cycles=20"


def test_a_replay_under_a_setting_is_one_on_a_machine_that_has_it(eastwards):
    ipcq = ROW.ipcq.model_copy(update={"slot_bytes": 4})
    finer = ROW.model_copy(update={"ipcq": ipcq})
    by_setting = replay(eastwards, settings=["topology.ipcq.slot_bytes=4"])
    assert op_log_sha256(by_setting) == op_log_sha256(replay(eastwards, topology=finer))
    assert op_log_sha256(by_setting) != op_log_sha256(replay(eastwards))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("topology.ipcq.depth", "--set must be PATH=VALUE, as in topology.ipcq.depth=4, not '{}'"),
        (
            "topology.ipcq.dept=4",
            "--set: unknown path 'topology.ipcq.dept'; did you mean 'topology.ipcq.depth'?",
        ),
        (
            "topology.ipcq=4",
            "--set: topology.ipcq names a group; set one of topology.ipcq.depth,"
            " topology.ipcq.slot_bytes, topology.ipcq.send_depth",
        ),
        ("topology.ipcq.depth=1.5", "--set: topology.ipcq.depth: must be a whole number, not 1.5"),
        ("topology.ipcq.depth=deep", "--set: topology.ipcq.depth: must be a number, not 'deep'"),
        ("topology.ipcq.depth=0", "--set: topology.ipcq.depth: must be at least 1, not 0"),
        (
            "topology.ipcq.depth=0e999999999",
            "--set: topology.ipcq.depth: must be at least 1, not 0",
        ),
        (
            "topology.ipcq.depth=1048577",
            "--set: topology.ipcq.depth: must be at most 1048576, not 1048577",
        ),
        (
            "topology.pe.tcm_bytes=2097152",
            "--set: topology.pe.tcm_bytes must be the trace's, whose commands depend on it; capture"
            " again on a topology with another",
        ),
        (
            "topology.sips=2",
            "--set: topology.sips must be the trace's, whose commands depend on it; capture again on a"
            " topology with another",
        ),
    ],
)
def test_a_wrong_setting_of_structure_is_refused_in_one_line(eastwards, setting, message):
    with pytest.raises(ConfigError) as refused:
        resolve_model(eastwards, settings=[setting])
    assert str(refused.value) == message.format(setting)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("1e15", "1E+15"),
        ("1e9999", "1E+9999"),
        ("1e999999999", "1E+999999999"),
        ("-1e999999999", "-1E+999999999"),
        ("9" * 5000, "9" * 40 + "…"),
    ],
)
def test_a_number_too_long_to_be_written_out_is_refused_at_once(eastwards, value, shown):
    with pytest.raises(UsageError) as refused:
        resolve_model(eastwards, settings=[f"topology.ipcq.depth={value}"])
    assert str(refused.value) == (
        f"--set: topology.ipcq.depth: must be a whole number of at most 15 digits, not {shown}"
    )


@pytest.mark.parametrize(
    ("path", "known"),
    [
        ("topology", "--set: topology names a group; set one of topology.pe.tile.m, "),
        ("topolgy.ipcq.depth", "--set: unknown path 'topolgy.ipcq.depth'; did you mean 'topology."),
        ("queues", "--set: unknown path 'queues'; known: clock_ghz, "),
    ],
)
def test_what_is_neither_a_number_nor_structure_is_refused_with_what_both_have(
    eastwards, path, known
):
    with pytest.raises(ConfigError) as refused:
        resolve_model(eastwards, settings=[f"{path}=3"])
    assert str(refused.value).startswith(known)
    assert "topology.ipcq.depth" in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "is_usage"),
    [
        (["clock_ghz"], True),
        (["clock_ghz=nan"], True),
        (["clock_ghz=0"], True),
        (["topology.ipcq.depth=0"], True),
        (["clock_ghz=1", "clock_ghz=2"], True),
        (["clock_gzh=1"], False),
        (["hbm=1"], False),
        (["topology.sips=2"], False),
    ],
)
def test_a_setting_that_no_file_could_make_right_is_wrong_usage(settings, is_usage):
    with pytest.raises(ConfigError) as refused:
        parsed_settings(settings)
    assert isinstance(refused.value, UsageError) is is_usage


def test_structure_that_is_set_twice_is_refused(eastwards):
    with pytest.raises(ConfigError) as refused:
        resolve_model(eastwards, settings=["topology.ipcq.depth=4", "topology.ipcq.depth=4"])
    assert str(refused.value) == (
        "--set: topology.ipcq.depth must be set once, not to 4 and to 4; leave one out"
    )
