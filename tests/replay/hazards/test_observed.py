"""What a hold costs and what went wrong, read from the times of a replay written by hand."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from kerntape.replay.hazards.observed import observed_hazards
from kerntape.replay.stage_graph import (
    CommandStages,
    Durations,
    HeldPairs,
    Releases,
    StageGraph,
)
from kerntape.replay.times import Times
from kerntape.schemas.hazards import HAZARD_COLUMNS, Hazards, Outcome, no_hazards
from kerntape.schemas.stages import STAGE_COLUMNS, Stages, Why

LAG_PS = 7


@dataclass
class Replay:
    """Commands of one PE: each has a begin stage (2·i) and a finish stage (2·i + 1)."""

    times: list[tuple[int, int]] = field(default_factory=list)
    releases: list[tuple[int, int, int, int, Why]] = field(default_factory=list)
    held: list[tuple[int, int]] = field(default_factory=list)
    potential: list[tuple[int, int]] = field(default_factory=list)

    def command(self, begin_ps: int, finish_ps: int) -> int:
        self.times += [(begin_ps, begin_ps), (finish_ps, finish_ps)]
        return len(self.times) // 2 - 1

    def release(self, later: int, earlier: int, why: Why = Why.DISPATCH) -> None:
        """The later one begins after the earlier one's finish."""
        self.releases.append((2 * later, 2 * earlier + 1, 0, 0, why))

    def hold(self, later: int, earlier: int) -> None:
        self.release(later, earlier, Why.HAZARD)
        self.held.append((earlier, later))

    def observed(self) -> Hazards:
        start_ps, end_ps = (np.array(column, np.int64) for column in zip(*self.times, strict=True))
        times = Times(start_ps, start_ps, end_ps, np.full(len(start_ps), -1, np.int32))
        durations = Durations(np.zeros(1, np.int64), np.array([0, LAG_PS], np.int64))
        return observed_hazards(self.graph(), durations, times, _pairs(Hazards, self.potential))

    def graph(self) -> StageGraph:
        count = len(self.times)
        rows = np.array(sorted(self.releases), np.int32).reshape(-1, 5)
        return StageGraph(
            engines=(),
            stages=Stages(
                **{name: np.zeros(count, dtype) for name, dtype in STAGE_COLUMNS.items()}
            ),
            releases=Releases(
                offsets=np.searchsorted(rows[:, 0], np.arange(count + 1)),
                releaser=rows[:, 1],
                from_start=rows[:, 2].astype(np.int8),
                lag_class=rows[:, 3],
                why=rows[:, 4].astype(np.int8),
            ),
            duration_classes=(),
            lag_classes=(),
            commands=CommandStages(
                offsets=np.array([0, count // 2]),
                dispatch=np.arange(0, count, 2, dtype=np.int32),
                begin=np.arange(0, count, 2, dtype=np.int32),
                finish=np.arange(1, count, 2, dtype=np.int32),
            ),
            held=_pairs(HeldPairs, self.held),
        )


def _pairs(table, pairs):
    columns = {name: np.zeros(len(pairs), dtype) for name, dtype in HAZARD_COLUMNS.items()}
    if table is HeldPairs:
        del columns["outcome"], columns["cost_ps"]
    columns["earlier"][:] = [earlier for earlier, _ in pairs]
    columns["later"][:] = [later for _, later in pairs]
    return table(**columns)


@pytest.fixture
def replay() -> Replay:
    return Replay()


def _told(hazards: Hazards):
    columns = (hazards.outcome, hazards.earlier, hazards.later, hazards.cost_ps)
    return [(Outcome(a), int(b), int(c), int(d)) for a, b, c, d in zip(*columns, strict=True)]


def test_a_hold_costs_the_time_from_the_last_other_release_to_the_earlier_finish(replay) -> None:
    # 2 could have begun when 0 finished, at 20; it is held for 1 until 50: 30 ps.
    replay.command(0, 20)
    replay.command(10, 50)
    replay.command(50, 60)
    replay.release(2, 0)
    replay.hold(2, 1)
    assert _told(replay.observed()) == [(Outcome.HELD, 1, 2, 30)]


def test_a_release_from_a_start_counts_with_its_lag(replay) -> None:
    # 1 was released by the start of 0's finish stage (at 20) plus 7, then held until 50: 23 ps.
    replay.command(0, 20)
    replay.command(10, 50)
    replay.command(50, 60)
    replay.releases.append((4, 1, 1, 1, Why.DATA))
    replay.hold(2, 1)
    assert _told(replay.observed()) == [(Outcome.HELD, 1, 2, 23)]


def test_of_several_holds_the_one_that_came_last_costs_and_the_others_nothing(replay) -> None:
    # Free at 20, held for 1 until 50 and for 2 until 45: 30 ps, all of them for 1.
    for begin_ps, finish_ps in ((0, 20), (5, 50), (6, 45), (50, 60)):
        replay.command(begin_ps, finish_ps)
    replay.release(3, 0)
    replay.hold(3, 1)
    replay.hold(3, 2)
    assert _told(replay.observed()) == [(Outcome.HELD, 1, 3, 30), (Outcome.HELD, 2, 3, 0)]


def test_holds_that_end_together_cost_once_on_the_earlier_command(replay) -> None:
    for begin_ps, finish_ps in ((0, 20), (5, 50), (6, 50), (50, 60)):
        replay.command(begin_ps, finish_ps)
    replay.release(3, 0)
    replay.hold(3, 1)
    replay.hold(3, 2)
    assert [cost for *_, cost in _told(replay.observed())] == [30, 0]


def test_a_hold_that_ended_before_something_else_costs_nothing(replay) -> None:
    replay.command(0, 50)
    replay.command(10, 20)
    replay.command(50, 60)
    replay.release(2, 0)
    replay.hold(2, 1)
    assert _told(replay.observed()) == [(Outcome.HELD, 1, 2, 0)]


def test_a_command_that_only_its_hold_released_was_held_from_the_start(replay) -> None:
    replay.command(0, 40)
    replay.command(40, 50)
    replay.hold(1, 0)
    assert _told(replay.observed()) == [(Outcome.HELD, 0, 1, 40)]


def test_a_potential_pair_went_wrong_where_both_were_at_work(replay) -> None:
    # 0 works in [0, 30), 1 in [20, 60): together for 10.
    replay.command(0, 30)
    replay.command(20, 60)
    replay.potential.append((0, 1))
    assert _told(replay.observed()) == [(Outcome.VIOLATED, 0, 1, 10)]


def test_one_that_was_at_work_within_the_other_overlapped_for_as_long_as_it_lasted(replay) -> None:
    replay.command(0, 90)
    replay.command(20, 35)
    replay.potential.append((0, 1))
    assert _told(replay.observed()) == [(Outcome.VIOLATED, 0, 1, 15)]


def test_a_pair_that_happened_in_order_did_not_go_wrong(replay) -> None:
    # Results appear before reads at one instant: to begin at 30 is to begin after.
    replay.command(0, 30)
    replay.command(30, 60)
    replay.potential.append((0, 1))
    assert _told(replay.observed()) == []


def test_a_pair_that_happened_in_the_wrong_order_went_wrong_without_overlapping(replay) -> None:
    # The earlier command, a composite, was admitted only after the later one was done.
    replay.command(50, 80)
    replay.command(20, 40)
    replay.potential.append((0, 1))
    assert _told(replay.observed()) == [(Outcome.VIOLATED, 0, 1, 0)]


def test_held_pairs_stand_before_those_that_went_wrong(replay) -> None:
    replay.command(0, 30)
    replay.command(20, 60)
    replay.command(60, 70)
    replay.hold(2, 1)
    replay.potential.append((0, 1))
    assert [outcome for outcome, *_ in _told(replay.observed())] == [
        Outcome.HELD,
        Outcome.VIOLATED,
    ]


def test_without_holds_and_hazards_the_table_is_empty(replay) -> None:
    replay.command(0, 30)
    found = replay.observed()
    assert len(found) == 0
    assert {name: column.dtype for name, column in vars(found).items()} == {
        name: column.dtype for name, column in vars(no_hazards()).items()
    }
