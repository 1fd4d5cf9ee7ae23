"""The grid of signatures: it misses none that shares a byte, and looks at few that share none."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.replay.hazards.conflicts import Access
from kerntape.replay.hazards.nearby import Nearby
from kerntape.schemas.footprints import Footprint, shared_bytes


@dataclass
class Touched:
    """Signature i touches the i-th entry's bytes in TCM."""

    covered: list[list[Footprint]]

    def in_tcm(self, signature: int) -> tuple[Access, ...]:
        return tuple(Access(0, 0, True, -1, one) for one in self.covered[signature])


def dense(start: int, size: int) -> Footprint:
    return Footprint(start, size, ())


footprints = st.builds(
    Footprint,
    st.integers(0, 200),
    st.sampled_from([0, 1, 4, 8, 64, 150]),
    st.sampled_from([(), ((2, 160),), ((3, 200),)]),
)


@given(covered=st.lists(st.lists(footprints, max_size=3), min_size=8, max_size=12), data=st.data())
def test_whatever_shares_a_byte_is_near(covered: list[list[Footprint]], data: Any) -> None:
    nearby = Nearby(Touched(covered))
    everything = set(range(len(covered)))
    some = st.lists(st.sampled_from(sorted(everything))).map(set)
    for held in (everything, data.draw(some), data.draw(some), everything):
        nearby.hold(held)
        for signature, own in enumerate(covered):
            near = nearby.near(signature)
            sharing = {
                other
                for other in held
                if any(shared_bytes(one, two) for one in covered[other] for two in own)
            }
            assert sharing <= set(near) <= held
            assert near == sorted(near)


@pytest.mark.parametrize(("start", "size"), [(0, 64), (64 * 511, 64), (64 * 100 + 4, 8)])
def test_of_a_row_of_loads_only_the_one_that_is_met_is_near(start: int, size: int) -> None:
    covered = [[dense(64 * place, 64)] for place in range(512)]
    nearby = Nearby(Touched([*covered, [dense(start, size)]]))
    nearby.hold(set(range(512)))
    assert nearby.near(512) == [start // 64]


def test_what_lies_across_two_cells_is_near_what_lies_in_either() -> None:
    nearby = Nearby(Touched([[dense(60, 8)], [dense(60, 4)], [dense(64, 1)], [dense(68, 4)]]))
    nearby.hold({0})
    assert [nearby.near(other) for other in (1, 2)] == [[0], [0]]


def test_a_large_handle_is_near_all_that_lie_in_it_and_they_to_it() -> None:
    # 1 MiB over 16 loads of 64 bytes, and one behind it
    covered = [[dense(64 * place, 64)] for place in range(16)] + [[dense(1 << 20, 64)]]
    nearby = Nearby(Touched([*covered, [dense(0, 1 << 20)]]))
    nearby.hold(set(range(18)))
    assert nearby.near(17) == [*range(16), 17]
    assert nearby.near(3) == [3, 17]
    nearby.hold(set(range(17)))
    assert nearby.near(3) == [3]
