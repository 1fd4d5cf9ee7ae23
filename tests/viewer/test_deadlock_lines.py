"""A deadlock in lines."""

import pytest
from kerntape.schemas.deadlock import BlockedCommand, Deadlock
from kerntape.viewer.model.deadlock_lines import (
    BLOCKED_COLUMNS,
    blocked_rows,
    deadlock_head,
    deadlock_lines,
    stage_before,
)
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from painted_text import line_texts
from timeline_builder import two_commands


def blocked(rank, command, for_rank, for_command):
    line = f"ring.py:{10 + rank}"
    return BlockedCommand(rank, command, "send E", line, "a free slot", for_rank, for_command)


RING = Deadlock(
    cycle=(blocked(0, 4, 1, 4), blocked(1, 4, 2, 4), blocked(2, 4, 0, 4)),
    tail=(blocked(3, 2, 0, 4),),
    clearing_depth=4,
)


def test_the_head_says_how_many_wait_and_what_clears_it():
    assert line_texts(deadlock_head(RING, 100)) == [
        "  3 commands wait for each other, 1 more PEs wait behind them",
        "  a queue depth of 4 clears it: --set topology.ipcq.depth=4",
    ]
    alone = Deadlock((blocked(0, 1, 0, 0),), (), None)
    assert line_texts(deadlock_head(alone, 100)) == [
        "  one command waits for itself",
        "  no queue depth and no shipped policy clears it",
    ]
    assert line_texts(deadlock_head(None, 100)) == ["  no deadlock: every command finished"]


def test_the_cycle_is_drawn_as_one_and_the_tail_below_it():
    assert line_texts(deadlock_lines(RING, 1, 0, 100, 5)) == [
        "   ╭▶ PE 0 command 4 send E waits for a free slot: PE 1 command 4  ring.py:10",
        " › │  PE 1 command 4 send E waits for a free slot: PE 2 command 4  ring.py:11",
        "   ╰─ PE 2 command 4 send E waits for a free slot: PE 0 command 4  ring.py:12",
        "      PE 3 command 2 send E waits for a free slot: PE 0 command 4  ring.py:13",
        "",
    ]


def test_the_blocked_commands_are_saved_the_cycle_first():
    rows = [dict(zip(BLOCKED_COLUMNS, row, strict=True)) for row in blocked_rows(RING)]
    assert [row["in_cycle"] for row in rows] == [1, 1, 1, 0]
    assert rows[3] == {
        "in_cycle": 0,
        "pe": 3,
        "command": 2,
        "verb": "send E",
        "waits_for": "a free slot",
        "for_pe": 0,
        "for_command": 4,
        "line": "ring.py:13",
    }
    assert list(blocked_rows(None)) == []


def test_a_cycle_of_one_is_a_loop():
    alone = Deadlock((blocked(0, 1, 0, 0),), (), None)
    assert line_texts(deadlock_lines(alone, 0, 0, 100, 1))[0].startswith(" › ↻  PE 0 command 1")


@pytest.mark.parametrize(
    ("rank", "command", "stage"), [(0, 0, 5), (0, 1, 7), (0, 9, 7), (5, 0, NO_STAGE)]
)
def test_a_blocked_command_is_shown_at_the_last_stage_that_ran_before_it(rank, command, stage):
    index = TimelineIndex(two_commands().build(), "x")
    assert stage_before(index, blocked(rank, command, 0, 0)) == stage
