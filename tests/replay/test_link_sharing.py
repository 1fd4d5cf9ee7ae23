"""Messages of several PEs over one link take turns, and the links carry exactly what was sent.

The machine: two CUBEs of two PEs side by side, ranks 0 1 and 2 3; round numbers (conftest): 1 byte a
nanosecond everywhere, a hop of 1 ns. A message of 8 f16 elements is 16 bytes.
"""

from collections import Counter

import pytest
from decode_captures import commands, decoded
from kerntape.replay.replay import replay
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.stages import StageKind
from kerntape.schemas.topology import Topology
from kerntape.topologies.loader import resolve_topology
from prefill_captures import prefilled

SEND, RECV = CommandKind.SEND, CommandKind.RECV


@pytest.fixture
def two_cubes(pair) -> Topology:
    directions = {
        "cube_E": {"level": "cube", "step": [1, 0], "opposite": "cube_W"},
        "cube_W": {"level": "cube", "step": [-1, 0], "opposite": "cube_E"},
    }
    whole = pair.model_dump() | {"cubes": {"columns": 2, "rows": 1}, "directions": directions}
    return Topology.model_validate(whole)


def messages(build, ways: list[tuple[CommandKind, str] | None]):
    """One PE each: its one message, or nothing."""
    pes = [type(build)() for _ in ways]
    for pe, way in zip(pes, ways, strict=True):
        if way is not None:
            pe.message(*way, pe.handle((8,)))
    return pes


def test_two_pes_of_a_cube_share_the_link_to_the_next_cube(build, run_trace, two_cubes):
    ways = [(SEND, "cube_E"), (SEND, "cube_E"), (RECV, "cube_W"), (RECV, "cube_W")]
    replayed = run_trace(*messages(build, ways), machine=two_cubes)
    # both are copied out from 10 to 26 and ready for the link at 10.001; the lesser rank goes first
    assert replayed.rows(StageKind.SEND) == [("send", 10, 26)] * 2
    assert replayed.rows(StageKind.LINK) == [("link", 10.001, 26.001), ("link", 26.001, 42.001)]
    # arrived a hop later
    assert replayed.rows(StageKind.RECV) == [("recv", 27.001, 43.001), ("recv", 43.001, 59.001)]


def test_a_link_each_way_is_not_shared(build, run_trace, two_cubes):
    ways = [(SEND, "cube_E"), (RECV, "cube_E"), (RECV, "cube_W"), (SEND, "cube_W")]
    replayed = run_trace(*messages(build, ways), machine=two_cubes)
    assert replayed.rows(StageKind.LINK) == [("link", 10.001, 26.001)] * 2


def carried(timeline) -> Counter[str]:
    """The bytes that each link carried."""
    found: Counter[str] = Counter()
    stages = timeline.stages
    for stage in (stages.kind == StageKind.LINK).nonzero()[0].tolist():
        quantity = timeline.duration_classes[stages.duration_class[stage]].quantity
        found[timeline.engines[stages.engine[stage]].channel] += quantity
    return found


def sent(trace, machine: Topology) -> Counter[str]:
    """The same, counted from the commands: every message crosses the link of its direction."""
    found: Counter[str] = Counter()
    for place, entry in enumerate(trace.pes):
        for command in commands(trace, place):
            if command.kind is SEND:
                peer = machine.peer(entry.rank, command.form.direction)
                level = machine.directions[command.form.direction].level
                size = {"pe": 1, "cube": machine.pes.size}[level]
                link = f"{level}.{entry.rank // size}>{peer // size}"
                found[link] += command.handles[0].geometry.size_bytes
    return found


def test_every_link_carries_the_bytes_of_the_messages_in_its_direction():
    machine = resolve_topology("ahbm_2sip")
    decode = decoded(machine, c=8, p=8, heads=2, s_kv=1024).trace
    prefill = prefilled(machine, g=4, c=4, p=4, s_kv=64).trace
    for trace in (decode, prefill):
        assert carried(replay(trace)) == sent(trace, machine)
    # of 64 ranks 63 send m, l and O of 2 heads' rows: (2 + 2 + 2 · 16) floats
    assert sum(carried(replay(decode)).values()) == 2 * 63 * 36 * 4
