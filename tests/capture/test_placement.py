"""Placement: which global indexes each PE holds, as index arithmetic."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.capture.device import chosen_device, whole_machine
from kerntape.capture.placement import (
    REPLICATED,
    LaunchGrid,
    Placement,
    contiguous_block,
    launch_grid,
)
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.topology import Place
from kerntape.topologies.loader import resolve_topology

GRID = LaunchGrid(pes=2, cubes=3, sips=1)
ONE_CUBE = whole_machine(resolve_topology("one_cube"))


def parts_of(placement: Placement, shape: tuple[int, ...], grid: LaunchGrid) -> list[list[range]]:
    return [list(placement.part(shape, grid, place)) for place in grid.places()]


def test_rank_r_owns_the_block_from_r_times_b_to_the_next_cut_off_at_the_end():
    # 10 indexes over 4 parts: B = ⌈10/4⌉ = 3
    assert [contiguous_block(10, 4, rank) for rank in range(4)] == [
        range(3),
        range(3, 6),
        range(6, 9),
        range(9, 10),
    ]


def test_ranks_past_the_end_own_nothing():
    # 3 indexes over 8 parts: B = 1, so ranks 3 to 7 have none
    assert [len(contiguous_block(3, 8, rank)) for rank in range(8)] == [1, 1, 1, 0, 0, 0, 0, 0]


@given(extent=st.integers(0, 5000), parts=st.integers(1, 512))
def test_every_index_is_on_exactly_one_rank_and_blocks_are_in_order(extent: int, parts: int):
    blocks = [contiguous_block(extent, parts, rank) for rank in range(parts)]
    assert list(itertools.chain.from_iterable(blocks)) == list(range(extent))


@given(
    pes=st.integers(1, 8),
    cubes=st.integers(1, 8),
    sips=st.integers(1, 2),
    extent=st.integers(0, 99),
)
def test_a_split_over_cubes_and_pes_gives_each_index_one_home_in_each_sip(
    pes: int, cubes: int, sips: int, extent: int
):
    grid = LaunchGrid(pes, cubes, sips)
    placement = REPLICATED.split(axis=0, over=("cube", "pe"))
    for sip in range(sips):
        parts = [
            placement.part((extent,), grid, place)[0] for place in grid.places() if place.sip == sip
        ]
        assert list(itertools.chain.from_iterable(parts)) == list(range(extent))


@given(
    pes=st.integers(1, 4),
    cubes=st.integers(1, 4),
    rows=st.integers(0, 20),
    columns=st.integers(0, 20),
)
def test_two_split_axes_tile_the_tensor(pes: int, cubes: int, rows: int, columns: int):
    grid = LaunchGrid(pes, cubes, 1)
    placement = REPLICATED.split(axis=0, over="cube").split(axis=1, over="pe")
    held = [
        index
        for part in parts_of(placement, (rows, columns), grid)
        for index in itertools.product(*part)
    ]
    assert sorted(held) == list(itertools.product(range(rows), range(columns)))


def test_the_first_level_of_a_split_is_the_slowest():
    # 6 indexes over 3 cubes × 2 PEs: cube 0 has 0 and 1, its PE 1 has index 1
    by_cube = REPLICATED.split(axis=0, over=("cube", "pe"))
    assert by_cube.part((6,), GRID, Place(sip=0, cube=0, pe=1)) == (range(1, 2),)
    # with PEs first, PE 1 has the upper half: 3, 4 and 5, one to each cube
    by_pe = REPLICATED.split(axis=0, over=("pe", "cube"))
    assert by_pe.part((6,), GRID, Place(sip=0, cube=0, pe=1)) == (range(3, 4),)


def test_along_a_level_that_no_axis_is_split_over_every_pe_holds_a_copy():
    assert parts_of(REPLICATED.split(axis=1, over="pe"), (4, 6), GRID) == 3 * [
        [range(4), range(3)],
        [range(4), range(3, 6)],
    ]


def test_a_replicated_tensor_is_whole_everywhere_and_at_home_everywhere():
    place = Place(sip=0, cube=2, pe=1)
    assert REPLICATED.part((4, 6), GRID, place) == (range(4), range(6))
    assert REPLICATED.home(place) == place


def test_a_tensor_with_a_single_owner_is_seen_whole_by_all_and_lies_with_the_owner():
    owner = Place(sip=0, cube=1, pe=0)
    placement = Placement(owner=owner)
    assert placement.part((4,), GRID, Place(0, 0, 0)) == (range(4),)
    assert {placement.home(place) for place in GRID.places()} == {owner}


def test_places_are_in_rank_order():
    topology = resolve_topology("ahbm_2sip")
    grid = launch_grid((8, 16, 2), whole_machine(topology))
    assert [topology.rank(place) for place in grid.places()] == list(range(256))
    assert len(grid) == 256


@pytest.mark.parametrize(
    ("placement", "text"),
    [
        (REPLICATED, "replicated"),
        (REPLICATED.split(axis=1, over=("cube", "pe")), "axis 1 over cube×pe"),
        (
            REPLICATED.split(axis=0, over="sip").split(axis=1, over="pe"),
            "axis 0 over sip, axis 1 over pe",
        ),
        (Placement(owner=Place(sip=0, cube=1, pe=2)), "pe 2 of cube 1 of sip 0"),
    ],
)
def test_a_placement_prints_as_the_trace_header_shows_it(placement: Placement, text: str):
    assert str(placement) == text


@pytest.mark.parametrize(
    ("grid", "topology", "sips", "said"),
    [
        (
            (2, 1, 1),
            "single_pe",
            "0",
            "PEs must be from 1 to 1 (topology single_pe), not 2; --topology names another machine",
        ),
        (
            (1, 1, 3),
            "ahbm_2sip",
            "0-1",
            "SIPs must be from 1 to 2 (topology ahbm_2sip), not 3; --topology names another machine",
        ),
        (
            (1, 1, 2),
            "ahbm_2sip",
            "0",
            "SIPs must be from 1 to 1 (SIP 0 of topology ahbm_2sip), not 2; --device names more",
        ),
        (
            (9, 1, 1),
            "ahbm_2sip",
            "0",
            "PEs must be from 1 to 8 (SIP 0 of topology ahbm_2sip), not 9;"
            " --topology names another machine",
        ),
        ((0, 1, 1), "single_pe", "0", "PEs must be from 1 to 1 (topology single_pe), not 0"),
    ],
)
def test_a_grid_that_does_not_fit_names_the_machine_and_what_chooses_another(
    grid: tuple[int, int, int], topology: str, sips: str, said: str
):
    with pytest.raises(ConfigError) as error:
        launch_grid(grid, chosen_device(resolve_topology(topology), sips))
    assert str(error.value) == f"the launch grid's {said}"


def test_a_grid_that_is_not_three_numbers_says_what_it_must_be():
    with pytest.raises(ConfigError) as error:
        launch_grid((1, 1), whole_machine(resolve_topology("single_pe")))
    assert str(error.value) == "a launch grid must be (PEs, CUBEs, SIPs), not (1, 1)"


def test_an_unknown_level_says_what_was_meant():
    with pytest.raises(ConfigError) as error:
        REPLICATED.split(axis=0, over="cubes")
    assert str(error.value) == "unknown level 'cubes'; did you mean 'cube'?"


def test_a_level_can_be_split_over_once():
    with pytest.raises(ConfigError) as error:
        REPLICATED.split(axis=0, over="pe").split(axis=1, over=("cube", "pe"))
    assert str(error.value) == "a placement can be split over pe once, not twice"


def test_an_axis_can_be_split_once():
    with pytest.raises(ConfigError) as error:
        REPLICATED.split(axis=0, over="pe").split(axis=0, over="cube")
    assert str(error.value) == "axis 0 can be split once, not twice; name both levels in one split"


def test_a_tensor_with_an_owner_cannot_be_split():
    with pytest.raises(ConfigError) as error:
        Placement(owner=Place(0, 0, 0)).split(axis=0, over="pe")
    assert str(error.value) == "a tensor with a single owner cannot be split"


def test_a_split_axis_must_be_one_of_the_tensors():
    with pytest.raises(ConfigError) as error:
        REPLICATED.split(axis=2, over="pe").check((4, 4), ONE_CUBE)
    assert str(error.value) == "the split axis must be from 0 to 1, not 2"


@pytest.mark.parametrize("owner", [Place(0, 0, 8), Place(0, 1, 0), Place(1, 0, 0), Place(0, 0, -1)])
def test_an_owner_must_be_a_pe_of_the_device(owner: Place):
    with pytest.raises(ConfigError) as error:
        Placement(owner=owner).check((4,), ONE_CUBE)
    assert str(error.value) == (
        "the owner must be a PE of topology one_cube,"
        f" not pe {owner.pe} of cube {owner.cube} of sip {owner.sip}"
    )


def test_a_tensor_lies_at_every_launched_pe_or_at_its_owner_alone():
    outside = Place(sip=0, cube=0, pe=7)
    assert all(REPLICATED.lies_at(place, GRID) for place in GRID.places())
    assert not REPLICATED.lies_at(outside, GRID)
    owned = Placement(owner=outside)
    assert owned.lies_at(outside, GRID)
    assert not any(owned.lies_at(place, GRID) for place in GRID.places())
