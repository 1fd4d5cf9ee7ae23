"""The ring of a CUBE group: a cycle of one-hop steps by which every block comes by every CUBE once."""

import pytest
from kerntape.capture.kernels.ring import RingSeat, ring_seats, ring_shape
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.topology import Grid, Place, Topology
from kerntape.topologies.loader import resolve_topology

AHBM = resolve_topology("ahbm_2sip")
MESH = AHBM.cubes
SHAPES = [(2, 1), (1, 2), (2, 2), (4, 2), (2, 4), (3, 2), (2, 3), (4, 4), (4, 3), (3, 4)]


def grid(columns: int, rows: int) -> Grid:
    return Grid(columns=columns, rows=rows)


def test_a_group_of_eight_is_a_ring_of_four_by_two():
    # 0 → 1 → 2 → 3 → 7 → 6 → 5 → 4 → 0
    seats = ring_seats(AHBM, grid(4, 2))
    assert seats[0] == RingSeat((0, 4, 5, 6, 7, 3, 2, 1), "cube_E", "cube_S")
    assert [seat.send_to for seat in seats] == [
        *("cube_E", "cube_E", "cube_E", "cube_S"),
        *("cube_N", "cube_W", "cube_W", "cube_W"),
    ]


def test_two_cubes_send_to_and_receive_from_each_other():
    assert ring_seats(AHBM, grid(2, 1)) == (
        RingSeat((0, 1), "cube_E", "cube_E"),
        RingSeat((1, 0), "cube_W", "cube_W"),
    )


def cube_of(topology: Topology, shape: Grid, member: int) -> int:
    column, row = shape.at(member)
    return row * topology.cubes.columns + column


@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_cube_sends_the_next_one_receives_one_step_later(shape: tuple[int, int]):
    rectangle = grid(*shape)
    seats = ring_seats(AHBM, rectangle)
    at_cube = {cube_of(AHBM, rectangle, member): seat for member, seat in enumerate(seats)}
    for cube, seat in at_cube.items():
        assert sorted(seat.sources) == list(range(rectangle.size))
        assert cube_of(AHBM, rectangle, seat.sources[0]) == cube
        there = AHBM.peer(AHBM.rank(Place(0, cube, 0)), seat.send_to)
        assert there is not None
        following = at_cube[AHBM.place(there).cube]
        assert AHBM.directions[seat.send_to].opposite == following.receive_from
        assert following.sources[1:] == seat.sources[:-1]


@pytest.mark.parametrize(
    ("cubes", "shape"), [(1, (1, 1)), (2, (2, 1)), (4, (2, 2)), (8, (4, 2)), (16, (4, 4))]
)
def test_a_groups_rectangle_is_the_squarest_that_has_a_ring(cubes: int, shape: tuple[int, int]):
    assert ring_shape(MESH, cubes) == grid(*shape)


@pytest.mark.parametrize("cubes", [3, 5, 6, 32])
def test_without_a_ring_the_number_of_cubes_is_refused(cubes: int):
    with pytest.raises(ConfigError) as error:
        ring_shape(MESH, cubes)
    assert str(error.value) == (
        "c must be the size of a rectangle that tiles the SIP's 4×4 CUBEs and has a ring of"
        f" one-hop steps, not {cubes}"
    )


def test_a_line_of_cubes_has_no_ring():
    with pytest.raises(ConfigError):
        ring_shape(grid(4, 1), 4)


def test_a_hop_without_a_direction_is_refused():
    one_cube = resolve_topology("one_cube")
    with pytest.raises(ConfigError) as error:
        ring_seats(one_cube, grid(2, 1))
    assert str(error.value) == (
        "topology one_cube must have a direction of level cube and step [1, 0] for the ring,"
        " and has none"
    )
