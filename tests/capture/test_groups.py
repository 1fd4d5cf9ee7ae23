"""CUBE groups and reduction trees, as geometry: rectangles that tile a SIP, hops between neighbours."""

import itertools
from math import ceil, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.capture.kernels.groups import group_shape, head_groups
from kerntape.capture.kernels.trees import (
    CUBE_TREES,
    PE_TREES,
    Hops,
    Role,
    Shape,
    Spot,
    chain,
    columns_first,
    cycle,
    ring,
    roles,
    rounds,
    rows_first,
)
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.topology import Grid, Place
from kerntape.topologies.loader import resolve_topology

MACHINE = resolve_topology("llama70b_4sip")
MESH = MACHINE.cubes


def places(count: int, columns: int = 4) -> list[Spot]:
    """The first places of a mesh, row by row."""
    return [(number % columns, number // columns) for number in range(count)]


def numbered(spots: list[Spot], hops: Hops) -> dict[int, int]:
    """The hops by members' numbers."""
    return {spots.index(child): spots.index(parent) for child, parent in hops.items()}


def rounds_of(found: tuple[Role, ...]) -> int:
    """In which round the root has merged everything, at one message a round."""

    def complete(member: int) -> int:
        return rounds([(complete(source), source) for source in found[member].sources])

    (root,) = (member for member, role in enumerate(found) if role.sources and role.target is None)
    return complete(root)


def refusal(run: object, *arguments: object) -> str:
    with pytest.raises(ConfigError) as error:
        run(*arguments)
    return str(error.value)


# -- CUBE groups


@pytest.mark.parametrize(
    ("cubes", "shape"), [(1, (1, 1)), (2, (2, 1)), (4, (4, 1)), (8, (4, 2)), (16, (4, 4))]
)
def test_a_group_is_the_widest_rectangle_with_the_shortest_way_to_its_middle(cubes, shape):
    # 4 as 4×1 and as 2×2: 2 hops both; 8 as 4×2 and as 2×4: 3 hops both
    found = group_shape(MESH, cubes)
    assert (found.columns, found.rows) == shape


def test_a_square_is_taken_where_it_has_the_shorter_way():
    # 9 of 9×9: 3×3 has ⌊3/2⌋ + ⌊3/2⌋ = 2 hops, 9×1 has 4
    assert group_shape(Grid(columns=9, rows=9), 9) == Grid(columns=3, rows=3)


@pytest.mark.parametrize("cubes", [0, 3, 5, 12, 32])
def test_a_number_of_cubes_that_no_rectangle_has_names_those_there_are(cubes):
    assert refusal(group_shape, MESH, cubes) == (
        "c must be a size of rectangles that tile the SIP's 4×4 CUBEs (1, 2, 4, 8, 16),"
        f" not {cubes}"
    )


def test_groups_of_8_cubes_are_counted_sip_by_sip_two_in_each():
    groups = head_groups(MACHINE, heads=8, cubes=8, pes=8)
    assert groups.grid == (8, 16, 4)
    assert groups.ranks == 64
    seats = groups.seats()
    assert len(seats) == 512
    for head in range(8):
        places_of_head = [place for place, seat in seats.items() if seat.head == head]
        assert {place.sip for place in places_of_head} == {head // 2}
        first = 8 * (head % 2)
        assert sorted({place.cube for place in places_of_head}) == list(range(first, first + 8))
    assert seats[Place(3, 13, 6)].member == (5, 6)


def test_a_launch_is_no_larger_than_its_groups():
    assert head_groups(MACHINE, heads=1, cubes=8, pes=4).grid == (4, 8, 1)
    assert head_groups(MACHINE, heads=3, cubes=1, pes=8).grid == (8, 3, 1)
    assert head_groups(MACHINE, heads=3, cubes=8, pes=1).grid == (1, 16, 2)


@given(cubes=st.sampled_from([1, 2, 4, 8, 16]), pes=st.integers(1, 8), data=st.data())
def test_groups_do_not_share_pes_and_members_are_the_same_rectangle_everywhere(
    cubes: int, pes: int, data: st.DataObject
):
    heads = data.draw(st.integers(1, 4 * 16 // cubes))
    groups = head_groups(MACHINE, heads, cubes, pes)
    seats = groups.seats()
    assert len(seats) == heads * cubes * pes
    for head in range(heads):
        own = [
            (MESH.at(place.cube), groups.cube_spots[seat.member[0]])
            for place, seat in seats.items()
            if seat.head == head
        ]
        assert len({(x - to_x, y - to_y) for (x, y), (to_x, to_y) in own}) == 1


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (
            {"heads": 9, "cubes": 8, "pes": 8},
            "heads must be from 1 to 8 (groups of 8 CUBEs on llama70b_4sip), not 9",
        ),
        (
            {"heads": 1, "cubes": 8, "pes": 9},
            "p must be from 1 to 8 (PEs of a CUBE on llama70b_4sip), not 9",
        ),
        (
            {"heads": 0, "cubes": 16, "pes": 1},
            "heads must be from 1 to 4 (groups of 16 CUBEs on llama70b_4sip), not 0",
        ),
    ],
)
def test_more_than_the_machine_has_is_refused(wanted: dict[str, int], text: str):
    assert refusal(lambda: head_groups(MACHINE, **wanted)) == text


# -- trees


# the pictures of capture/kernels/trees.py
@pytest.mark.parametrize(
    ("shape", "hops"),
    [
        (columns_first, {4: 0, 5: 1, 6: 2, 7: 3, 0: 1, 1: 2, 3: 2}),
        (rows_first, {0: 1, 1: 2, 3: 2, 4: 5, 5: 6, 7: 6, 6: 2}),
        (chain, {7: 6, 6: 5, 5: 4, 4: 0, 0: 1, 1: 2, 2: 3}),
        (ring, {5: 6, 6: 7, 7: 3, 3: 2, 4: 0, 0: 1, 1: 2}),
    ],
)
def test_the_trees_over_4_by_2(shape: Shape, hops: dict[int, int]):
    spots = places(8)
    assert numbered(spots, shape(spots)) == hops


ALL_TREES = [*PE_TREES.items(), ("centre", CUBE_TREES["centre"])]


@given(columns=st.integers(1, 6), count=st.integers(1, 30), data=st.data())
def test_every_hop_leads_to_a_neighbour_and_every_way_to_the_root(
    columns: int, count: int, data: st.DataObject
):
    name, shape = data.draw(st.sampled_from(ALL_TREES))
    if name == "centre":
        count = -(-count // columns) * columns
    spots = places(count, columns)
    try:
        hops = shape(spots)
    except ConfigError:
        assert name == "ring"
        return
    assert len(hops) == count - 1
    for (x, y), (to_x, to_y) in hops.items():
        assert (to_x, to_y) in spots
        assert abs(x - to_x) + abs(y - to_y) == 1
    for spot in spots:
        way = list(itertools.takewhile(lambda at: at in hops, _along(spot, hops)))
        assert len(way) < count


def _along(spot: Spot, hops: Hops):
    while True:
        yield spot
        spot = hops[spot]


@pytest.mark.parametrize("columns", [1, 2, 4])
def test_the_pe_tree_takes_log2_of_p_rounds(columns: int):
    for pes in range(2, 4 * columns + 1):
        spots = places(pes, columns)
        assert rounds_of(roles(spots, columns_first(spots), [True] * pes)) == ceil(log2(pes))


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (2, 1), (4, 1), (2, 2), (4, 2), (4, 4)])
def test_the_centre_tree_takes_half_the_columns_and_half_the_rows(columns: int, rows: int):
    # C = 8 is 4×2: ⌊4/2⌋ + ⌊2/2⌋ = 3 rounds
    spots = places(columns * rows, columns)
    found = roles(spots, rows_first(spots), [True] * len(spots))
    assert (rounds_of(found) if len(spots) > 1 else 0) == columns // 2 + rows // 2


def test_a_chain_of_8_takes_7_rounds_and_a_ring_4():
    spots = places(8)
    assert rounds_of(roles(spots, chain(spots), [True] * 8)) == 7
    assert rounds_of(roles(spots, ring(spots), [True] * 8)) == 4


def test_the_root_of_a_pe_tree_is_an_inner_pe():
    found = roles(places(8), columns_first(places(8)), [True] * 8)
    # PE 2: PE 6 below it is ready at once, PE 3 after one merge, PE 1 after two
    assert found[2] == Role(sources=(6, 3, 1), target=None)
    assert found[0] == Role(sources=(4,), target=1)
    assert found[4] == Role(sources=(), target=0)


def test_members_below_which_nobody_is_occupied_are_left_out():
    occupied = [number == 4 for number in range(8)]
    found = roles(places(8), columns_first(places(8)), occupied)
    # 4 → 0 → 1 → 2: what has nothing of its own passes on
    assert found == (
        Role((4,), 1),
        Role((0,), 2),
        Role((1,), None),
        Role(),
        Role((), 0),
        Role(),
        Role(),
        Role(),
    )


def test_where_nobody_is_occupied_nobody_does_anything():
    assert roles(places(8), chain(places(8)), [False] * 8) == (Role(),) * 8


@given(columns=st.integers(1, 8), rows=st.integers(1, 8))
def test_a_cycle_visits_every_place_once_and_closes(columns: int, rows: int):
    if columns * rows > 2 and (min(columns, rows) == 1 or columns * rows % 2):
        assert refusal(cycle, columns, rows) == (
            f"a ring must have two sides of at least 2, one of them even, not {columns}×{rows}"
        )
        return
    way = cycle(columns, rows)
    assert sorted(way) == sorted(places(columns * rows, columns))
    for (x, y), (to_x, to_y) in itertools.pairwise([*way, way[0]]):
        assert abs(x - to_x) + abs(y - to_y) == min(1, columns * rows - 1)


def test_a_ring_over_part_of_a_rectangle_is_refused():
    assert refusal(ring, places(7)) == (
        "a ring must be over a whole rectangle, not 7 of its places"
    )
