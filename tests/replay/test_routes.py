"""Which links lie between two PEs: SIP by SIP, CUBE by CUBE, PE by PE, columns before rows."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.replay.components.noc import link_title
from kerntape.replay.routes import Routes
from kerntape.schemas.errors import KerntapeError
from towns import links_between, town


def titles(topology, sender, receiver):
    return [link_title(link) for link in Routes(topology).route(sender, receiver)]


def test_a_neighbour_is_one_link_away_and_a_pe_none_from_itself():
    row = town(pes=(3, 1))
    assert titles(row, 0, 1) == ["pe.0>1"]
    assert titles(row, 1, 0) == ["pe.1>0"]
    assert titles(row, 2, 2) == []


def test_columns_are_crossed_before_rows_in_both_directions():
    # 0 1 2
    # 3 4 5
    mesh = town(pes=(3, 2))
    assert titles(mesh, 0, 5) == ["pe.0>1", "pe.1>2", "pe.2>5"]
    assert titles(mesh, 5, 0) == ["pe.5>4", "pe.4>3", "pe.3>0"]


def test_a_cubes_links_lead_from_every_pe_to_the_one_of_its_number():
    # CUBEs 0 1 over 2 3, of two PEs each: PE 1 of CUBE 3 is rank 7
    cubes = town(cubes=(2, 2), pes=(2, 1))
    assert titles(cubes, 1, 7) == ["cube.0>1", "cube.1>3"]


def test_a_route_goes_to_the_cube_first_and_then_to_the_pe_in_it():
    cubes = town(cubes=(2, 2), pes=(2, 1))
    assert titles(cubes, 0, 7) == ["cube.0>1", "cube.1>3", "pe.6>7"]
    assert titles(cubes, 7, 0) == ["cube.3>2", "cube.2>0", "pe.1>0"]


def test_a_route_goes_to_the_sip_first():
    # a SIP has 2 CUBEs of 2 PEs; SIP 2's CUBE 1 is the machine's fifth; its PE 1 is rank 11
    sips = town(sips=3, cubes=(2, 1), pes=(2, 1))
    assert titles(sips, 0, 11) == ["sip.0>1", "sip.1>2", "cube.4>5", "pe.10>11"]
    assert titles(sips, 11, 0) == ["sip.2>1", "sip.1>0", "cube.1>0", "pe.1>0"]


SIZES = st.tuples(st.integers(1, 3), st.integers(1, 3))


@given(sips=st.integers(1, 3), cubes=SIZES, pes=SIZES, data=st.data())
def test_a_route_is_as_long_as_the_distance_and_each_link_starts_where_the_last_one_ended(
    sips, cubes, pes, data
):
    topology = town(sips, cubes, pes)
    ranks = st.integers(0, topology.pe_count - 1)
    sender, receiver = data.draw(ranks), data.draw(ranks)
    route = Routes(topology).route(sender, receiver)
    assert len(route) == links_between(topology, sender, receiver)
    for (level, _, end), (next_level, start, _) in pairwise(route):
        assert level is not next_level or end == start
    back = Routes(topology).route(receiver, sender)
    assert [level for level, *_ in back] == [level for level, *_ in route]


@given(sips=st.integers(1, 3), cubes=SIZES, pes=SIZES, data=st.data())
def test_the_levels_are_those_of_the_route_and_refused_as_it_is(sips, cubes, pes, data):
    topology = town(sips, cubes, pes)
    lost = data.draw(st.sets(st.integers(0, 9), max_size=2))
    names = {name for place, name in enumerate(topology.directions) if place in lost}
    wires = {
        name: wire
        for name, wire in topology.directions.items()
        if not names & {name, wire.opposite}
    }
    routes = Routes(topology.model_copy(update={"directions": wires}))
    ranks = st.integers(0, topology.pe_count - 1)
    for sender, receiver in data.draw(st.lists(st.tuples(ranks, ranks), max_size=9)):
        found = _answer(lambda a=sender, b=receiver: routes.levels(a, b))
        links = _answer(lambda a=sender, b=receiver: routes.route(a, b))
        assert found == (links if isinstance(links, str) else tuple(level for level, *_ in links))


def _answer(find):
    """What is found, or what the error says."""
    try:
        return find()
    except KerntapeError as error:
        return str(error)


def test_a_missing_wire_is_named():
    mesh = town(pes=(2, 2))
    wires = {name: wire for name, wire in mesh.directions.items() if name not in ("N", "S")}
    with pytest.raises(KerntapeError) as refused:
        Routes(mesh.model_copy(update={"directions": wires})).route(0, 3)
    assert str(refused.value) == (
        "no way leads from PE 0 to PE 3: topology 'town' has no direction of level pe and step [0, 1];"
        " give it one, or place the tensor on the PEs that use it"
    )
