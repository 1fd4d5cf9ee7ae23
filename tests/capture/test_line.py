"""The line through all ranks of a CUBE group: each rank once, each hop a link."""

from itertools import pairwise

import pytest
from kerntape.capture.kernels.groups import HeadGroups, head_groups
from kerntape.capture.kernels.line import LineSeat, line_of, line_seats
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.topology import Grid, Place, Topology
from kerntape.topologies.loader import resolve_topology

MACHINE = resolve_topology("llama70b_4sip")


def test_two_cubes_of_eight_pes_from_the_begin_to_the_end():
    #   CUBE 1    7 → 6 → 5 → 4 → 0 → 1 → 2 → 3 ┐
    #   CUBE 0    7 ← 6 ← 5 ← 4 ← 0 ← 1 ← 2 ← 3 ┘
    there = [7, 6, 5, 4, 0, 1, 2, 3]
    assert line_of(head_groups(MACHINE, 1, 2, 8)) == [
        *((1, pe) for pe in there),
        *((0, pe) for pe in reversed(there)),
    ]


def test_a_seat_has_the_directions_to_its_two_neighbours():
    seats = line_seats(head_groups(MACHINE, 1, 2, 2))
    # CUBE 1: PE 1, PE 0; then CUBE 0 to its west: PE 0, PE 1
    assert seats == {
        (1, 1): LineSeat(0, backward=None, forward="W"),
        (1, 0): LineSeat(1, backward="E", forward="cube_W"),
        (0, 0): LineSeat(2, backward="cube_E", forward="E"),
        (0, 1): LineSeat(3, backward="W", forward=None),
    }


@pytest.mark.parametrize("cubes", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("pes", range(1, 9))
def test_every_rank_is_on_the_line_once_and_forward_leads_to_the_next(cubes: int, pes: int):
    groups = head_groups(MACHINE, 1, cubes, pes)
    line, seats = line_of(groups), line_seats(groups)
    assert sorted(line) == [(cube, pe) for cube in range(cubes) for pe in range(pes)]
    assert [seats[member].position for member in line] == list(range(cubes * pes))
    places = {seat.member: place for place, seat in groups.seats().items()}
    for here, there in pairwise(line):
        assert peer(groups, places[here], seats[here].forward) == places[there]
        assert peer(groups, places[there], seats[there].backward) == places[here]
    assert seats[line[0]].backward is None
    assert seats[line[-1]].forward is None


def peer(groups: HeadGroups, place: Place, direction: str | None) -> Place:
    assert direction is not None
    rank = groups.topology.peer(groups.topology.rank(place), direction)
    assert rank is not None
    return groups.topology.place(rank)


@pytest.mark.parametrize(("cubes", "level", "step"), [(1, "pe", [-1, 0]), (2, "cube", [-1, 0])])
def test_a_hop_without_a_direction_says_which_is_missing(cubes: int, level: str, step: list[int]):
    plain = Topology.model_validate(
        MACHINE.model_dump() | {"directions": {}, "cubes": Grid(columns=4, rows=4)}
    )
    with pytest.raises(ConfigError) as error:
        line_seats(head_groups(plain, 1, cubes, 1 if level == "cube" else 2))
    assert str(error.value) == (
        f"topology llama70b_4sip must have a direction of level {level} and step {step} for the"
        " line, and has none"
    )
