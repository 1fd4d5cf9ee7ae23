"""Ways over a machine's wires: SIP by SIP, CUBE by CUBE, PE by PE, columns before rows."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from kerntape.schemas.topology import Level, Topology
from kerntape.schemas.wires import Wires, WireStep
from towns import links_between, town


def without(topology: Topology, *names: str) -> Topology:
    """The machine without some of its directions."""
    kept = {name: wire for name, wire in topology.directions.items() if name not in names}
    return topology.model_copy(update={"directions": kept})


def complaint(topology: Topology, sender: int, receiver: int) -> str | None:
    wires = Wires(topology)
    return wires.complaint(wires.way(sender, receiver), sender, receiver)


def test_a_way_crosses_columns_and_then_rows_of_each_level_from_the_outermost() -> None:
    # 2 SIPs of 2 CUBEs of 2×2 PEs: rank 15 is SIP 1, CUBE 1, PE 3 (column 1, row 1)
    assert list(Wires(town(sips=2, cubes=(2, 1), pes=(2, 2))).way(0, 15)) == [
        WireStep(Level.SIP, (1, 0), 0, 8),
        WireStep(Level.CUBE, (1, 0), 8, 12),
        WireStep(Level.PE, (1, 0), 12, 13),
        WireStep(Level.PE, (0, 1), 13, 15),
    ]


SIZES = st.tuples(st.integers(1, 3), st.integers(1, 3))


@given(sips=st.integers(1, 3), cubes=SIZES, pes=SIZES, data=st.data())
def test_a_way_leads_there_by_neighbours_and_is_as_long_as_the_distance(
    sips, cubes, pes, data
) -> None:
    topology = town(sips, cubes, pes)
    ranks = st.integers(0, topology.pe_count - 1)
    sender, receiver = data.draw(ranks), data.draw(ranks)
    way = list(Wires(topology).way(sender, receiver))
    assert len(way) == links_between(topology, sender, receiver)
    visited = [sender, *(each.end for each in way)]
    assert visited[-1] == receiver
    assert [each.start for each in way] == visited[:-1]
    for each, (here, ahead) in zip(way, pairwise(visited), strict=True):
        (name,) = (
            name
            for name, wire in topology.directions.items()
            if (wire.level, wire.step) == (each.level, each.step)
        )
        assert topology.peer(here, name) == ahead


def test_a_way_that_has_all_its_wires_has_no_complaint() -> None:
    cross = town(pes=(2, 2))
    assert complaint(cross, 0, 3) is None
    assert complaint(without(cross, "E", "W"), 0, 2) is None
    assert complaint(without(cross, "E", "W"), 1, 1) is None


def test_the_first_step_without_a_wire_is_named() -> None:
    assert complaint(without(town(pes=(2, 2)), "N", "S"), 0, 3) == (
        "no way leads from PE 0 to PE 3: topology 'town' has no direction of level pe and step [0, 1];"
        " give it one, or place the tensor on the PEs that use it"
    )


@given(sips=st.integers(1, 3), cubes=SIZES, pes=SIZES, data=st.data())
def test_where_no_way_leads_there_none_leads_back(sips, cubes, pes, data) -> None:
    whole = town(sips, cubes, pes)
    lost = data.draw(st.sets(st.sampled_from(sorted(whole.directions) or [""])))
    backs = {whole.directions[name].opposite for name in lost if name}
    topology = Topology.model_validate(without(whole, *lost, *backs).model_dump())
    ranks = st.integers(0, topology.pe_count - 1)
    here, there = data.draw(ranks), data.draw(ranks)
    assert (complaint(topology, here, there) is None) == (complaint(topology, there, here) is None)
