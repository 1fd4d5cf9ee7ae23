"""A static check tells how far it is, and whoever watches can end it."""

import pytest
from kerntape.replay.hazards.potential import COMMANDS_A_WORD, check_statically
from kerntape.replay.policy import resolve_policy
from small_traces import tile_loop
from timeline_builder import topology


@pytest.fixture
def checked():
    """A trace of one PE with more commands than are told at a time, checked under a watcher."""
    trace = tile_loop(tiles=COMMANDS_A_WORD)

    def check(watch):
        return check_statically(trace, topology(), resolve_policy("strict_fifo"), watch)

    return trace.streams[0].command_count, check


def test_a_watcher_is_told_again_and_again_how_many_commands_are_done(checked):
    total, check = checked
    told = []
    check(lambda done, of: told.append((done, of)))
    assert told == [(done, total) for done in [*range(0, total, COMMANDS_A_WORD), total]]


def test_what_a_watcher_raises_ends_the_check(checked):
    _, check = checked

    def watch(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(watch)
