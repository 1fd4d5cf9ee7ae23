"""`kerntape topologies`: the shipped machines, or one whole: sizes, capacities and who faces whom."""

import argparse
from typing import TYPE_CHECKING

from .listing import add_listing_arguments, print_listing
from .printing import aligned, print_json

if TYPE_CHECKING:
    from ..schemas.topology import Level, Topology

SUMMARY = "list the machines, or print one with which PE faces which"

Faces = dict[str, list[int | None]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """NAME may be a shipped topology or a YAML file."""
    add_listing_arguments(parser, "topology")
    parser.add_argument(
        "--yaml", action="store_true", help="print NAME as a file to change and pass to --topology"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the list, or one topology. Raises ConfigError where NAME is not one."""
    from ..schemas.errors import UsageError
    from ..schemas.yaml_text import format_yaml
    from ..topologies.loader import resolve_topology, shipped_topologies

    if arguments.name is None:
        if arguments.yaml:
            raise UsageError("--yaml prints one topology: name it")
        print_listing("topologies", shipped_topologies(), arguments.json)
        return 0
    topology = resolve_topology(arguments.name)
    if arguments.yaml:
        print(format_yaml(topology), end="")
    elif arguments.json:
        print_json(topology_json(topology))
    else:
        print(topology_text(topology))
    return 0


def topology_json(topology: "Topology") -> dict[str, object]:
    """The file's keys, `pe_count`, and `faces`: per level and direction, place → place or null."""
    faces = {str(level): faces_at(topology, level) for level in _levels(topology)}
    return topology.model_dump() | {"pe_count": topology.pe_count, "faces": faces}


def topology_text(topology: "Topology") -> str:
    """The machine for a person: one table of numbers, one table of neighbours a level."""
    from ..schemas.config_file import leaves

    parts = [f"{topology.name}: {topology.summary}", aligned(_sizes(topology))]
    parts += [_faces_text(topology, level) for level in _levels(topology)]
    if topology.pe_cost_model:
        rows = [(path, str(value)) for path, value in leaves(topology.pe_cost_model).items()]
        parts.append("pe_cost_model, over the default calibration:\n" + aligned(rows))
    return "\n\n".join(parts)


def faces_at(topology: "Topology", level: "Level") -> Faces:
    """Per direction of the level, which place each place faces: None past an edge."""
    grid = topology.grid(level)
    return {
        name: [grid.neighbour(place, direction.step) for place in range(grid.size)]
        for name, direction in topology.directions.items()
        if direction.level is level
    }


def _levels(topology: "Topology") -> list["Level"]:
    from ..schemas.topology import Level

    used = {direction.level for direction in topology.directions.values()}
    return [level for level in Level if level in used]


def _sizes(topology: "Topology") -> list[tuple[str, str]]:
    pe, ipcq, tile = topology.pe, topology.ipcq, topology.pe.tile
    return [
        ("PEs", f"{topology.pe_count}"),
        ("SIPs", f"{topology.sips}"),
        ("CUBEs a SIP", f"{topology.cubes.columns} columns × {topology.cubes.rows} rows"),
        ("PEs a CUBE", f"{topology.pes.columns} columns × {topology.pes.rows} rows"),
        ("TCM a PE", f"{size_text(pe.tcm_bytes)}, of it scratch {size_text(pe.scratch_bytes)}"),
        ("HBM a PE", size_text(pe.hbm_bytes)),
        ("GEMM tile", f"{tile.m} × {tile.k} × {tile.n} (M × K × N)"),
        ("tile buffers", f"{pe.tile_buffers}"),
        ("composites in flight", f"{pe.composites_in_flight}"),
        ("scheduler queue", f"{pe.scheduler_queue} composites"),
        ("composite cap", size_text(pe.composite_cap_bytes)),
        ("queue", f"{ipcq.depth} slots of {size_text(ipcq.slot_bytes)}"),
        ("sends accepted ahead", f"{ipcq.send_depth}"),
    ]


def size_text(size_bytes: int) -> str:
    """Bytes in the largest unit that divides them: 4194304 → 4 MiB, 1500 → 1500 B."""
    units = ("B", "KiB", "MiB", "GiB", "TiB")
    power = 0
    while size_bytes % 1024 == 0 and power < len(units) - 1:
        size_bytes, power = size_bytes // 1024, power + 1
    return f"{size_bytes} {units[power]}"


_HEADINGS = {
    "pe": "In every CUBE, the PE that each PE faces:",
    "cube": "In every SIP, the CUBE that each CUBE faces, PE by PE:",
    "sip": "The SIP that each SIP faces, CUBE by CUBE and PE by PE:",
}


def _faces_text(topology: "Topology", level: "Level") -> str:
    faces = faces_at(topology, level)
    rows = [[str(level).upper(), *faces]]
    for place in range(topology.grid(level).size):
        met = [places[place] for places in faces.values()]
        rows.append([str(place), *("–" if other is None else str(other) for other in met)])
    opposites = [f"{name} arrives as {topology.directions[name].opposite}" for name in faces]
    table = aligned(rows, right=range(len(rows[0])))
    return "\n".join([_HEADINGS[level], table, ", ".join(opposites)])
