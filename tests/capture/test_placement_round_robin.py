"""Placement of a KV cache's tokens: dealt round robin or in blocks, counted from a request's start."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.capture.kernels.groups import HeadGroups, Seat
from kerntape.capture.kernels.kv_cache import KvCache
from kerntape.capture.placement import (
    REPLICATED,
    LaunchGrid,
    OverPlaces,
    contiguous_block,
    count_below,
    rotated_number,
    round_robin_share,
)
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.topology import Grid, Place
from kerntape.topologies.loader import resolve_topology

MACHINE = resolve_topology("llama70b_4sip")
GRID = LaunchGrid(pes=2, cubes=3, sips=1)

extents = st.integers(1, 8)
starts = st.integers(0, 20)
tokens = st.integers(0, 300)


def test_rank_r_is_dealt_r_and_every_rth_after_it():
    # 10 tokens over 4 ranks: global = slot · 4 + rank
    assert [list(round_robin_share(10, 4, rank)) for rank in range(4)] == [
        [0, 4, 8],
        [1, 5, 9],
        [2, 6],
        [3, 7],
    ]


def test_ranks_past_the_last_token_are_dealt_nothing():
    assert [len(round_robin_share(3, 8, rank)) for rank in range(8)] == [1, 1, 1, 0, 0, 0, 0, 0]


@given(parts=st.integers(1, 128), extent=tokens)
def test_every_token_is_dealt_to_one_rank_and_sizes_differ_by_one_at_most(parts: int, extent: int):
    shares = [round_robin_share(extent, parts, rank) for rank in range(parts)]
    assert sorted(token for share in shares for token in share) == list(range(extent))
    sizes = {len(share) for share in shares}
    assert max(sizes) - min(sizes) <= 1


@given(cubes=extents, pes=extents, start_cube=starts, start_pe=starts)
def test_a_rotated_rank_is_the_formula_and_every_pe_has_another(
    cubes: int, pes: int, start_cube: int, start_pe: int
):
    ranks = {
        (cube, pe): rotated_number((cube, pe), (cubes, pes), (start_cube, start_pe))
        for cube in range(cubes)
        for pe in range(pes)
    }
    assert sorted(ranks.values()) == list(range(cubes * pes))
    for (cube, pe), rank in ranks.items():
        # ADR-0060 §2.1
        assert rank == (cube - start_cube) % cubes * pes + (pe - start_pe) % pes


def test_the_pe_at_the_start_has_rank_0_and_the_ranks_go_on_through_its_cube():
    ranks = [rotated_number((cube, pe), (2, 4), (1, 3)) for cube in range(2) for pe in range(4)]
    assert ranks == [5, 6, 7, 4, 1, 2, 3, 0]


@given(extent=tokens, counter=tokens, parts=st.integers(1, 64))
def test_valid_lengths_are_the_formulas_of_the_design(extent: int, counter: int, parts: int):
    block = -(-extent // parts)
    for rank in range(parts):
        in_blocks = count_below(contiguous_block(parts * block, parts, rank), counter)
        assert in_blocks == min(max(counter - rank * block, 0), block)
        dealt = count_below(round_robin_share(max(extent, counter), parts, rank), counter)
        assert dealt == counter // parts + (1 if rank < counter % parts else 0)


@given(
    columns=st.integers(1, 4),
    rows=st.integers(1, 4),
    pes=st.integers(1, 8),
    block=st.integers(1, 9),
    counter=tokens,
    start_cube=starts,
    start_pe=starts,
    round_robin=st.booleans(),
)
def test_a_cache_has_every_token_in_one_slot_and_a_ranks_valid_slots_are_its_first(
    columns: int,
    rows: int,
    pes: int,
    block: int,
    counter: int,
    start_cube: int,
    start_pe: int,
    round_robin: bool,
):
    groups = HeadGroups(MACHINE, 1, Grid(columns=columns, rows=rows), pes)
    cache = KvCache(groups, block, round_robin, start_cube, start_pe)
    homes: dict[int, tuple[Seat, int]] = {}
    valid = []
    for seat in groups.seats().values():
        held = cache.tokens(seat)
        assert len(held) == block
        for slot, token in enumerate(held):
            assert token not in homes
            homes[token] = (seat, slot)
            assert held.index(token) == slot
            assert (token < counter) == (slot < cache.valid(seat, counter))
        valid.append(cache.valid(seat, counter))
    assert sorted(homes) == list(range(cache.capacity))
    assert sum(valid) == min(counter, cache.capacity)
    if round_robin:
        assert max(valid) - min(valid) <= 1


def test_a_round_robin_split_over_levels_can_start_anywhere():
    placement = REPLICATED.split(axis=0, over=("cube", "pe"), round_robin=True, starts=(2, 1))
    # cube 2, PE 1 has rank 0; then cube 2, PE 0; cube 0, PE 1; cube 0, PE 0; cube 1 …
    shares = {place: placement.part((8,), GRID, place)[0] for place in GRID.places()}
    assert {place: list(share) for place, share in shares.items()} == {
        Place(0, 2, 1): [0, 6],
        Place(0, 2, 0): [1, 7],
        Place(0, 0, 1): [2],
        Place(0, 0, 0): [3],
        Place(0, 1, 1): [4],
        Place(0, 1, 0): [5],
    }
    assert str(placement) == "axis 0 round-robin over cube×pe from 2×1"


def test_a_split_place_by_place_gives_copies_to_equal_numbers_and_nothing_to_pes_without_one():
    by_half = OverPlaces("halves", 2, {Place(0, 0, 0): 0, Place(0, 1, 0): 1, Place(0, 2, 0): 1})
    placement = REPLICATED.split(axis=1, over=by_half)
    parts = {place: placement.part((3, 5), GRID, place) for place in GRID.places()}
    assert parts[Place(0, 0, 0)] == (range(3), range(3))
    assert parts[Place(0, 1, 0)] == parts[Place(0, 2, 0)] == (range(3), range(3, 5))
    assert [len(parts[Place(0, cube, 1)][1]) for cube in range(3)] == [0, 0, 0]
    assert str(placement) == "axis 1 over halves"


def test_starts_must_go_with_the_levels():
    with pytest.raises(ConfigError) as error:
        REPLICATED.split(axis=0, over=("cube", "pe"), starts=(1,))
    assert str(error.value) == "a split over cube×pe must have 2 starts, not 1"
