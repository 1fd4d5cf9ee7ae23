"""The names and numbers by which ways over links are told apart."""

import pytest
from kerntape.replay.ways import (
    LEVEL_SETS,
    FarSlot,
    Way,
    over,
    packed_hops,
    unpacked_hops,
)
from kerntape.schemas.topology import Level

SIP, CUBE, PE = Level.SIP, Level.CUBE, Level.PE


def test_an_equation_over_links_is_named_by_their_levels_from_the_outermost():
    assert over("noc.read", (PE, CUBE, PE)) == "noc.read:cube+pe"
    assert over("noc.read", (PE, SIP)) == "noc.read:sip+pe"
    assert over("pe_dma.read", ()) == "pe_dma.read"


def test_there_are_seven_sets_of_levels():
    assert len(LEVEL_SETS) == len({over("x", levels) for levels in LEVEL_SETS}) == 7


@pytest.mark.parametrize("levels", LEVEL_SETS)
def test_hops_of_several_levels_are_one_number_and_back(levels):
    crossed = [level for place, level in enumerate(levels, start=3) for _ in range(place)]
    packed = packed_hops(crossed)
    assert unpacked_hops(packed, levels) == {level: n for n, level in enumerate(levels, start=3)}


def test_a_way_has_the_owners_channel_then_the_links_in_and_those_out():
    way = Way((CUBE, PE), first_slot=5)
    assert way.channel == FarSlot(5)
    assert way.inbound == ((CUBE, FarSlot(6)), (PE, FarSlot(7)))
    assert way.outbound == ((CUBE, FarSlot(8)), (PE, FarSlot(9)))
