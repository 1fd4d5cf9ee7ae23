"""The timeline in numbers."""

from dataclasses import replace

from kerntape.replay.analysis.critical_path import critical_path
from kerntape.schemas.deadlock import BlockedCommand, Deadlock
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.schemas.timeline import Status
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.idleness import Idle
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.summary import (
    engine_uses,
    path_shares,
    summarise,
    summary_lines,
)
from kerntape.viewer.model.text import line_cells
from timeline_builder import decode_like, topology, two_commands


def index_of(timeline):
    return TimelineIndex(timeline, "x")


def text_of(timeline, width=100):
    index = index_of(timeline)
    lines = summary_lines(index, HazardIndex(index), summarise(index), width)
    assert {line_cells(line) for line in lines} == {width}
    return ["".join(span.text for span in line).rstrip() for line in lines]


def test_every_kind_of_engine_has_its_busy_time_and_its_idle_time_by_reason():
    uses = {use.title: use for use in engine_uses(index_of(two_commands().build()))}
    assert list(uses) == ["CPU", "TCM", "GEMM", "MATH"]
    assert uses["GEMM"].busy_ps == 48_000
    assert uses["GEMM"].idle_ps[Idle.DATA] == 20_000
    assert uses["GEMM"].all_ps == 96_000


def test_the_engines_of_all_pes_are_added_up():
    machine = topology(pes=(2, 1))
    one = engine_uses(index_of(decode_like(1)))
    two = engine_uses(index_of(decode_like(1, launched=2, machine=machine)))
    assert [(use.title, use.lanes, use.busy_ps) for use in two] == [
        (use.title, 2, 2 * use.busy_ps) for use in one
    ]


def test_the_critical_path_counts_every_picosecond_once():
    # 7 MATH 8 ← 6 dispatch 10 ← 5 finish 0 ← 4 GEMM 24 ← 3 GEMM 24 ← 1 fetch 20 ← 0 dispatch 10
    index = index_of(two_commands().build())
    path = critical_path(index.timeline)
    assert path.tolist() == [7, 6, 5, 4, 3, 1, 0]
    shares = [(share.title, share.time_ps) for share in path_shares(index, path)]
    assert shares == [("GEMM", 48_000), ("CPU", 20_000), ("TCM", 20_000), ("MATH", 8_000)]


def test_time_between_two_stages_of_the_path_is_latency():
    index = index_of(decode_like(2))
    shares = {
        share.title: share.time_ps for share in path_shares(index, critical_path(index.timeline))
    }
    assert (
        shares["latency"] >= 200_000
    )  # a read at the beginning and the write at the end: 100 ns each
    assert sum(shares.values()) == index.timeline.makespan_ps


def test_the_summary_of_a_small_timeline():
    assert text_of(two_commands().build()) == [
        "  96.00 ns makespan · 8 stages · 2 commands · 1 PE",
        "",
        "                             idle, waiting for",
        "  engine              busy      data  dispatch   command      done",
        "  CPU               20.8 %         ·         ·    70.8 %     8.3 %",
        "  TCM               41.7 %         ·    10.4 %         ·    47.9 %",
        "  GEMM              50.0 %    20.8 %    10.4 %         ·    18.8 %",
        "  MATH               8.3 %         ·    20.8 %    70.8 %         ·",
        "",
        "  critical path, 7 stages",
        "  GEMM              50.0 %    48.00 ns  ████████████████████",
        "  CPU               20.8 %    20.00 ns  ████████",
        "  TCM               20.8 %    20.00 ns  ████████",
        "  MATH               8.3 %    8.000 ns  ███",
        "",
        "  hazards   ◇ 0 held   ! 0 violated   ? 0 potential",
    ]


def test_the_worst_hazards_are_told_violations_first():
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=30)
    builder.hazard(Outcome.VIOLATED, HazardKind.WAR, 0, 1, 2, cost_ns=5)
    assert text_of(builder.build())[-3:] == [
        "  hazards   ◇ 1 held   ! 1 violated   ? 0 potential",
        "    command 1 writes s while command 0 was not done with it: they overlapped for 5 ns",
        "    command 1 was held 30 ns for s, written by command 0",
    ]


def test_a_deadlock_says_who_waits_for_whom_and_what_clears_it():
    blocked = BlockedCommand(0, 1, "recv E", "decode.py:8", "a message", 0, 0)
    deadlock = Deadlock(cycle=(blocked,), tail=(blocked, blocked), clearing_depth=4)
    timeline = replace(two_commands().build(), status=Status.DEADLOCK, deadlock=deadlock)
    assert text_of(timeline)[:3] == [
        "  DEADLOCK  96.00 ns makespan · 8 stages · 2 commands · 1 PE",
        "    PE 0 command 1 recv E (decode.py:8) waits for a message: PE 0 command 0",
        "    2 more PEs wait behind them; a queue depth of 4 clears it",
    ]


def test_an_empty_timeline_has_a_summary_too():
    builder = two_commands()
    builder.stages.clear()
    assert text_of(builder.build())[0] == "  0 ps makespan · 0 stages · 0 commands · 1 PE"
