"""The search for what can go wrong in any replay."""

import pytest
from kerntape.replay.hazards.potential import potential_hazards
from kerntape.viewer.potential_search import PotentialSearch


@pytest.fixture
def search(opt2):
    return PotentialSearch(opt2)


def test_it_finds_what_the_command_line_finds_and_is_begun_once(search, opt2):
    assert search.begin()
    assert not search.begin()
    assert search.work(lambda: None, lambda: False)
    expected = potential_hazards(opt2.trace, opt2.topology, opt2.policy)
    assert len(search.found) == len(expected)
    assert search.percent is None
    assert not search.begin()  # it is known


def test_it_tells_how_far_it_is(search):
    told = []
    assert search.begin()
    search.work(lambda: told.append(search.percent), lambda: False)
    assert told[-1] == 100
    assert told == sorted(set(told))


def test_a_cancelled_search_finds_nothing_and_can_be_begun_again(search):
    assert search.begin()
    assert not search.work(lambda: None, lambda: True)
    assert search.found is None
    assert search.begin()
