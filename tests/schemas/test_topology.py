"""A topology numbers its PEs, wires them by data, and refuses wiring that leads nowhere or only one way."""

import copy
import re
from typing import Any

import msgpack  # type: ignore[import-untyped]  # it ships no types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.schemas.config_file import check
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.topology import Level, Place, Topology

# 2 SIPs in a row, 3×2 CUBEs a SIP, 4×2 PEs a CUBE: 2 · 6 · 8 = 96 PEs.
MACHINE: dict[str, Any] = {
    "name": "test",
    "summary": "a machine for tests",
    "sips": 2,
    "cubes": {"columns": 3, "rows": 2},
    "pes": {"columns": 4, "rows": 2},
    "pe": {
        "tcm_bytes": 4096,
        "scratch_bytes": 1024,
        "hbm_bytes": 1 << 20,
        "tile": {"m": 32, "k": 64, "n": 32},
        "tile_buffers": 2,
        "composites_in_flight": 8,
        "scheduler_queue": 8,
        "composite_cap_bytes": 1024,
    },
    "ipcq": {"depth": 4, "slot_bytes": 1024, "send_depth": 2},
    "directions": {
        "N": {"level": "pe", "step": [0, -1], "opposite": "S"},
        "S": {"level": "pe", "step": [0, 1], "opposite": "N"},
        "cube_E": {"level": "cube", "step": [1, 0], "opposite": "cube_W"},
        "cube_W": {"level": "cube", "step": [-1, 0], "opposite": "cube_E"},
        "global_E": {"level": "sip", "step": [1, 0], "opposite": "global_W"},
        "global_W": {"level": "sip", "step": [-1, 0], "opposite": "global_E"},
    },
}


def machine(changes: dict[str, Any] | None = None) -> Topology:
    """The test machine with values at dotted paths replaced; None takes a key out."""
    values = copy.deepcopy(MACHINE)
    for path, value in (changes or {}).items():
        *parents, last = path.split(".")
        target = values
        for parent in parents:
            target = target[parent]
        if value is None:
            del target[last]
        else:
            target[last] = value
    return check(Topology, values, "test.yaml")


def test_a_rank_counts_pes_within_cubes_within_sips() -> None:
    # SIP 1, CUBE 4, PE 3 of 6 CUBEs of 8 PEs: (1 · 6 + 4) · 8 + 3 = 83
    assert machine().rank(Place(sip=1, cube=4, pe=3)) == 83
    assert machine().place(83) == Place(sip=1, cube=4, pe=3)
    assert machine().pe_count == 96


@given(st.integers(0, 95))
def test_rank_and_place_undo_each_other(rank: int) -> None:
    assert machine().rank(machine().place(rank)) == rank


def test_places_are_numbered_row_by_row_from_the_top_left() -> None:
    # 4 columns: PE 5 stands in column 1 of row 1, PE 1 above it
    assert machine().pes.at(5) == (1, 1)
    assert machine().peer(5, "N") == 1
    assert machine().peer(1, "S") == 5


def test_a_cube_direction_leads_to_the_pe_of_the_same_number() -> None:
    # rank 83 is CUBE 4 (column 1, row 1 of 3×2), PE 3; CUBE 5 is east of it: (6 + 5) · 8 + 3 = 91
    assert machine().peer(83, "cube_E") == 91
    assert machine().peer(91, "cube_E") is None


def test_a_sip_direction_leads_to_the_same_cube_and_pe() -> None:
    # rank 83 less one SIP of 48 PEs
    assert machine().peer(83, "global_W") == 35
    assert machine().peer(35, "global_W") is None


def test_past_an_edge_there_is_no_queue() -> None:
    assert machine().peer(0, "N") is None
    assert machine().peer(4, "S") is None


@given(st.integers(0, 95), st.sampled_from(sorted(MACHINE["directions"])))
def test_a_queue_leads_back_by_its_opposite(rank: int, direction: str) -> None:
    topology = machine()
    peer = topology.peer(rank, direction)
    if peer is not None:
        assert topology.peer(peer, topology.directions[direction].opposite) == rank


def test_a_direction_that_does_not_exist_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        machine().peer(0, "up")


def test_sips_stand_in_one_row() -> None:
    grid = machine().grid(Level.SIP)
    assert (grid.columns, grid.rows) == (2, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"directions.N.opposite": "SS"},
            "directions.N.opposite: no direction 'SS'; known: N, S, cube_E, cube_W, global_E, global_W",
        ),
        (
            {"directions.S.opposite": "S"},
            "directions.S: must lead back where 'N' comes from (level pe, step [0, 1], opposite N)",
        ),
        (
            {"directions.cube_W.step": [-2, 0]},
            "directions.cube_E.step: [1, 0] must be undone by 'cube_W', which has [-2, 0];"
            " make it [2, 0], or cube_W's [-1, 0]",
        ),
        (
            {"directions.S.level": "cube"},
            "directions.S: must lead back where 'N' comes from (level pe, step [0, 1], opposite N)",
        ),
        # whichever of the two was edited: the one that leads nowhere is to blame, before any pair
        (
            {"directions.S.step": [0, 0]},
            "directions.S.step: [0, 0] leads nowhere on 4×2 pes;"
            " change it or leave the direction out",
        ),
        (
            {"directions.S.step": [0, 2]},
            "directions.S.step: [0, 2] leads nowhere on 4×2 pes;"
            " change it or leave the direction out",
        ),
        (
            {"directions.cube_E.step": [1, 1]},
            "directions.cube_E.step: [1, 1] must be undone by 'cube_W', which has [-1, 0];"
            " make it [1, 0], or cube_W's [-1, -1]",
        ),
        (
            {"directions.N.step": [0, 0], "directions.S.step": [0, 0]},
            "directions.N.step: [0, 0] leads nowhere on 4×2 pes;"
            " change it or leave the direction out",
        ),
        (
            {"pes.rows": 1},
            "directions.N.step: [0, -1] leads nowhere on 4×1 pes;"
            " change it or leave the direction out",
        ),
        (
            {"sips": 1},
            "directions.global_E.step: [1, 0] leads nowhere on 1×1 sips;"
            " change it or leave the direction out",
        ),
        (
            {"directions.N.level": "Cube"},
            "directions.N.level: must be one of pe, cube, sip, not 'Cube'; did you mean 'cube'?",
        ),
        ({"directions.N.step": [0]}, "the key 'directions.N.step.1' is missing"),
        (
            {"directions.N.step": [0, "1"]},
            "directions.N.step.1: must be a whole number, not '1'",
        ),
        (
            {"directions.N.stop": 1},
            "unknown key 'directions.N.stop'; did you mean 'directions.N.step'?",
        ),
        (
            {"directions": {"N E": {"level": "pe", "step": [1, 0], "opposite": "W"}}},
            "directions.N E.[key]: must match ^[A-Za-z][A-Za-z0-9_+-]{0,31}$, not 'N E'",
        ),
        ({"sips": 0}, "sips: must be at least 1, not 0"),
        ({"sips": True}, "sips: must be a whole number, not true"),
        ({"pe.tile.k": -64}, "pe.tile.k: must be at least 1, not -64"),
        ({"pe.tcm_bytes": 1 << 60}, f"pe.tcm_bytes: must be at most {1 << 50}, not {1 << 60}"),
        (
            {"pe.scratch_bytes": 4096},
            "pe: scratch_bytes must be below tcm_bytes (4096), not 4096",
        ),
        ({"pe.tcm_byte": 1}, "unknown key 'pe.tcm_byte'; did you mean 'pe.tcm_bytes'?"),
        ({"ipcq.depth": None}, "the key 'ipcq.depth' is missing"),
        ({"sips": 1 << 20}, "sips × cubes × pes must be at most 65536 PEs, not 50331648"),
        (
            {"pe_cost_model": {"pe_cpu": {"fixd_cycles": 40}}},
            "pe_cost_model: unknown key 'pe_cpu.fixd_cycles'; did you mean 'pe_cpu.fixed_cycles'?",
        ),
        (
            {"pe_cost_model": {"hbm": {"bytes_per_ns": 0}}},
            "pe_cost_model: hbm.bytes_per_ns: must be above 0 (from 10^-12 to 10^12), not 0",
        ),
        (
            {"pe_cost_model": {"name": "x"}},
            "pe_cost_model: unknown key 'name'; known: clock_ghz, pe_cpu, pe_scheduler, pe_dma,"
            " pe_gemm, pe_math, pe_tcm, hbm, ipcq, noc",
        ),
        ({"pe_cost_model": 3}, "pe_cost_model: must be a mapping of keys to values, not 3"),
    ],
)
def test_a_wrong_machine_is_refused_in_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape('test.yaml: ' + message)}$"):
        machine(changes)


def test_a_step_may_skip_places() -> None:
    far = {"level": "pe", "step": [2, 0], "opposite": "far_W"}
    back = {"level": "pe", "step": [-2, 0], "opposite": "far_E"}
    topology = machine({"directions.far_E": far, "directions.far_W": back})
    assert topology.peer(1, "far_E") == 3
    assert topology.peer(2, "far_E") is None


def test_a_topology_with_a_cost_model_survives_a_trace_header_exactly() -> None:
    costs = {"pe_cpu": {"cycles_per_byte": "0.10"}, "clock_ghz": 1.1}
    topology = machine({"pe_cost_model": costs})
    packed = msgpack.packb(topology.model_dump(mode="json"))
    again = check(Topology, msgpack.unpackb(packed), "header")
    assert again == topology
    assert str(again.pe_cost_model["pe_cpu"]["cycles_per_byte"]) == "0.10"
    assert str(again.pe_cost_model["clock_ghz"]) == "1.1"
