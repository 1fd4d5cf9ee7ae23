"""Machines of several levels, and hand-made traces on them whose tensors lie with any PE."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kerntape.schemas.calibration import Calibration
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import PeEntry, Trace

PE_STRUCTURE: dict[str, Any] = {
    "tcm_bytes": 1 << 20,
    "scratch_bytes": 1 << 19,
    "hbm_bytes": 1 << 30,
    "tile": {"m": 4, "k": 4, "n": 4},
    "tile_buffers": 2,
    "composites_in_flight": 2,
    "scheduler_queue": 4,
    "composite_cap_bytes": 1024,
}

SLOW_LINKS: dict[str, Any] = {
    "name": "slow links",
    "summary": "10 ns a dispatch, 1 byte a nanosecond but for links: 1/2, 1/4, 1/8 and 3, 7, 11 ns a hop",
    "clock_ghz": 1,
    "pe_cpu": {"fixed_cycles": 10, "cycles_per_byte": 0},
    "pe_scheduler": {"plan_cycles_per_op": 0},
    "pe_dma": {"read_bytes_per_ns": 1, "write_bytes_per_ns": 1},
    "pe_gemm": {"macs_per_cycle": 1, "fill_cycles": 0},
    "pe_math": {"vector_width": 1},
    "pe_tcm": {"bytes_per_ns": 1},
    "hbm": {"bytes_per_ns": 1, "latency_ns": 100},
    "ipcq": {"copy_bytes_per_ns": 1, "credit_latency_ns": 10},
    "noc": {
        "pe_link_bytes_per_ns": "0.5",
        "pe_hop_latency_ns": 3,
        "cube_link_bytes_per_ns": "0.25",
        "cube_hop_latency_ns": 7,
        "sip_link_bytes_per_ns": "0.125",
        "sip_hop_latency_ns": 11,
    },
}


def slow_links(**noc: str) -> Calibration:
    """Links slower the further they lead; some of their numbers changed."""
    return Calibration.model_validate({**SLOW_LINKS, "noc": {**SLOW_LINKS["noc"], **noc}})


def town(sips: int = 1, cubes: tuple[int, int] = (1, 1), pes: tuple[int, int] = (1, 1)) -> Topology:
    """SIPs in a row, and meshes of (columns, rows), every neighbour wired; deep queues."""
    return Topology.model_validate(
        {
            "name": "town",
            "summary": "small meshes in meshes",
            "sips": sips,
            "cubes": {"columns": cubes[0], "rows": cubes[1]},
            "pes": {"columns": pes[0], "rows": pes[1]},
            "pe": PE_STRUCTURE,
            "ipcq": {"depth": 64, "slot_bytes": 64, "send_depth": 64},
            "directions": {
                **_wires("pe", pes, ""),
                **_wires("cube", cubes, "cube_"),
                **_wires("sip", (sips, 1), "global_"),
            },
        }
    )


def _wires(level: str, extents: tuple[int, int], prefix: str) -> dict[str, Any]:
    ways = [("E", (1, 0), "W"), ("W", (-1, 0), "E"), ("N", (0, -1), "S"), ("S", (0, 1), "N")]
    return {
        f"{prefix}{name}": {"level": level, "step": list(step), "opposite": f"{prefix}{back}"}
        for name, step, back in ways
        if extents[0 if step[0] else 1] > 1
    }


def placed(
    trace: Trace, owners: Sequence[Sequence[int]], ranks: Mapping[int, int] | None = None
) -> Trace:
    """The trace with PE i's tensor t in the HBM of `owners[i][t]`; PE i has rank `ranks[i]`, or i.

    Tensors of one owner lie 4 KiB apart by their numbers.
    """
    entries = tuple(
        PeEntry(
            (ranks or {}).get(place, place),
            pe.stream,
            tuple(owners[place]),
            tuple(4096 * tensor for tensor in range(len(owners[place]))),
        )
        for place, pe in enumerate(trace.pes)
    )
    return replace(trace, pes=entries)


def links_between(topology: Topology, one: int, other: int) -> int:
    """How many links lie between two ranks: steps from SIP to SIP, CUBE to CUBE, PE to PE."""
    here, there = topology.place(one), topology.place(other)
    places = (
        ((here.sip, 0), (there.sip, 0)),
        (topology.cubes.at(here.cube), topology.cubes.at(there.cube)),
        (topology.pes.at(here.pe), topology.pes.at(there.pe)),
    )
    return sum(abs(a - b) for pair in places for a, b in zip(*pair, strict=True))
