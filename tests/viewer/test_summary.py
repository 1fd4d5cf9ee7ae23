"""The timeline in numbers."""

from dataclasses import replace

import numpy as np
import pytest
from kerntape.replay.analysis.critical_path import critical_path
from kerntape.replay.replay import replay
from kerntape.schemas.deadlock import BlockedCommand, Deadlock
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.schemas.stages import Block, Engine
from kerntape.schemas.timeline import Status
from kerntape.viewer.model import hazard_head
from kerntape.viewer.model.hazard_groups import hazard_groups
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.idleness import Idle
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.summary import (
    engine_uses,
    engine_uses_of,
    path_shares,
    path_summary_of,
)
from kerntape.viewer.model.summary_lines import Added, Leads, Target, summary_lines
from kerntape.viewer.model.text import line_cells
from message_kernels import captured
from timeline_builder import CPU, GEMM, MATH, TCM, decode_like, topology, two_commands


def index_of(timeline):
    return TimelineIndex(timeline, "x")


def added(index, hazards):
    return Added(engine_uses_of(index), path_summary_of(index), hazard_groups(index, hazards))


def text_of(timeline, width=100, height=60):
    index = index_of(timeline)
    hazards = HazardIndex(index)
    lines = [
        one.line for one in summary_lines(index, hazards, added(index, hazards), width, height)
    ]
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
    assert [(use.title, len(use.lanes), use.busy_ps) for use in two] == [
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
        "  GEMM is busiest, 50.0 %; idle, it mostly waits for its data, 20.8 %",
        "",
        "                             idle, waiting for",
        "  engine              busy     data dispatch  command     done",
        "  CPU               20.8 %        ·        ·   70.8 %    8.3 %",
        "  TCM               41.7 %        ·   10.4 %        ·   47.9 %",
        "  GEMM              50.0 %   20.8 %   10.4 %        ·   18.8 %",
        "  MATH               8.3 %        ·   20.8 %   70.8 %        ·",
        "",
        "  hazards   ! 0 violated   ? potential: not searched   ◇ 0 held   ◇ 0 at no cost",
        "",
        "  critical path, 7 stages",
        "  GEMM              50.0 %    48.00 ns  ████████████████████",
        "  CPU               20.8 %    20.00 ns  ████████▎",
        "  TCM               20.8 %    20.00 ns  ████████▎",
        "  MATH               8.3 %     8.00 ns  ███▎",
    ]


def test_where_the_reasons_do_not_all_fit_the_smallest_are_added_up():
    # two of four: data, which the busiest waits for (of 96 ns GEMM 20), then command, the largest of
    # the others: CPU and MATH 68 ns each; left are done and dispatch, of CPU 8, TCM 56, GEMM 28, MATH 20
    lines = text_of(two_commands().build(), 2 + 15 + 9 + 3 * 9)
    assert lines[4:9] == [
        "  engine              busy     data  command    other",
        "  CPU               20.8 %        ·   70.8 %    8.3 %",
        "  TCM               41.7 %        ·        ·   58.3 %",
        "  GEMM              50.0 %   20.8 %        ·   29.2 %",
        "  MATH               8.3 %        ·   70.8 %   20.8 %",
    ]


def test_what_the_busiest_waits_for_keeps_its_column_in_the_narrowest_table():
    # one reason and the others: of 96 ns CPU 76 in others, TCM 56, GEMM 28, MATH 88
    lines = text_of(two_commands().build(), 2 + 15 + 9 + 2 * 9)
    assert lines[4:9] == [
        "  engine              busy     data    other",
        "  CPU               20.8 %        ·   79.2 %",
        "  TCM               41.7 %        ·   58.3 %",
        "  GEMM              50.0 %   20.8 %   29.2 %",
        "  MATH               8.3 %        ·   91.7 %",
    ]


def test_before_anything_is_added_up_it_says_what_is_known():
    index = index_of(two_commands().build())
    lines = [one.line for one in summary_lines(index, HazardIndex(index), Added(), 80, 60)]
    assert ["".join(span.text for span in line).rstrip() for line in lines] == [
        "  96.00 ns makespan · 8 stages · 2 commands · 1 PE",
        "",
        "  adding up what every engine waited for …",
        "",
        "  hazards   ! 0 violated   ? potential: not searched   ◇ 0 held   ◇ 0 at no cost",
    ]


def test_lines_lead_to_a_lane_a_stage_of_the_path_and_a_hazard():
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=30)
    index = index_of(builder.build())
    hazards = HazardIndex(index)
    lines = summary_lines(index, hazards, added(index, hazards), 100, 60)
    leads = [one.target for one in lines if one.target is not None]
    assert leads == [
        *(Target(Leads.LANE, lane) for lane in (CPU, TCM, GEMM, MATH)),
        Target(Leads.HAZARD, 0),
        Target(Leads.PATH, 3),  # GEMM's two stages are of 24 ns: the first
        Target(Leads.PATH, 0),
        Target(Leads.PATH, 1),
        Target(Leads.PATH, 7),
    ]


def test_links_are_added_up_by_their_level():
    timeline = two_commands().build()
    links = (Engine(Block.NOC, -1, "pe.0>1", True), Engine(Block.NOC, -1, "pe.1>0", True))
    moved = np.array(timeline.stages.engine)
    moved[[3, 4]] = (
        len(timeline.engines),
        len(timeline.engines) + 1,
    )  # the two GEMM stages, 24 ns each
    linked = replace(
        timeline,
        engines=(*timeline.engines, *links),
        stages=replace(timeline.stages, engine=moved),
    )
    uses = {use.title: use for use in engine_uses(index_of(linked))}
    assert (len(uses["NOC pe"].lanes), uses["NOC pe"].busy_ps) == (2, 48_000)
    path = path_shares(index_of(linked), critical_path(linked))
    assert (path[0].title, path[0].time_ps) == ("NOC pe", 48_000)


def test_hazards_alike_are_added_up_violations_first():
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=30)
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=50)
    builder.hazard(Outcome.HELD, HazardKind.WAW, 0, 1, 2, cost_ns=60)
    builder.hazard(Outcome.VIOLATED, HazardKind.WAR, 0, 1, 2, cost_ns=5)
    builder.hazard(Outcome.POTENTIAL, HazardKind.WAR, 0, 1, 2)
    shown = text_of(builder.build())
    first = next(at for at, line in enumerate(shown) if line.startswith("  hazards"))
    assert shown[first : first + 5] == [
        "  hazards   ! 1 violated   ? 1 potential   ◇ 3 held   ◇ 0 at no cost",
        "  ! WAR on s: violated once, 5.00 ns",
        "  ? WAR on s: possible once",
        "  ◇ RAW on s: held 2 times, 80.00 ns in all, the longest 50.00 ns",
        "  ◇ WAW on s: held once, 60.00 ns",
    ]


def waits(rank, command, phrase="a message to arrive"):
    return BlockedCommand(rank, command, "recv E", "decode.py:8", phrase, rank, 0)


def test_a_deadlock_says_what_is_waited_for_for_ever_and_what_clears_it():
    # of PE 0 the first of its two commands in the cycle; five PEs in all, three of them told
    cycle = (waits(0, 3, "a free slot"), waits(1, 1), waits(0, 1))
    deadlock = Deadlock(cycle, (waits(2, 4), waits(3, 4), waits(4, 4)), clearing_depth=4)
    timeline = replace(two_commands().build(), status=Status.DEADLOCK, deadlock=deadlock)
    assert text_of(timeline)[:6] == [
        "  DEADLOCK  96.00 ns makespan · 8 stages · 2 commands · 1 PE",
        "    PE 0 command 1 recv E waits for ever for a message to arrive",
        "    PE 1 command 1 recv E waits for ever for a message to arrive",
        "    PE 2 command 4 recv E waits for ever for a message to arrive",
        "    2 more PEs wait for ever; ! lists who waits for whom",
        "    a queue depth of 4 clears it: --set topology.ipcq.depth=4",
    ]
    alone = replace(timeline, deadlock=Deadlock((waits(0, 1),), (), None))
    assert text_of(alone)[2:4] == [
        "    ! lists who waits for whom",
        "    no queue depth and no shipped policy clears it",
    ]


def test_of_a_run_that_stopped_the_hazards_are_not_evaluated():
    deadlock = Deadlock((waits(0, 1),), (), None)
    timeline = replace(two_commands().build(), status=Status.DEADLOCK, deadlock=deadlock)
    assert (
        "  hazards   not evaluated: the replay did not end   ? potential: not searched"
        in text_of(timeline)
    )


def test_an_engine_that_has_more_to_do_than_it_ever_will_waits_for_ever():
    # both PEs send 13 messages before they receive: 8 slots and 4 sends ahead are one too few
    stopped = replay(captured("all_send_first", with_data=False, messages=13).trace)
    index = index_of(stopped)
    uses = {use.title: use for use in engine_uses(index)}
    assert uses["IPCQ send"].idle_ps[Idle.EVER] > 0
    assert uses["IPCQ send"].idle_ps[Idle.DONE] == 0
    assert uses["HBM"].idle_ps[Idle.EVER] == 0  # it has read the block, and that was all
    assert uses["HBM"].idle_ps[Idle.DONE] > 0
    assert all(use.all_ps == len(use.lanes) * stopped.makespan_ps for use in uses.values())
    assert any(line.split()[-3:] == ["for", "ever", "done"] for line in text_of(stopped))


def test_the_tensors_in_which_pes_meet_are_said_not_to_be_compared(monkeypatch):
    monkeypatch.setattr(hazard_head, "shared_tensors", lambda trace: ("x", "y"))
    assert "  not compared: 2 tensors that several PEs reach (--check-data sees them)" in text_of(
        two_commands().build()
    )


def test_a_low_screen_shows_the_largest_of_every_part_and_the_rest_below_it():
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=50)
    builder.hazard(Outcome.HELD, HazardKind.WAW, 0, 1, 2, cost_ns=40)
    timeline = builder.build()
    whole = text_of(timeline)
    assert text_of(timeline, height=len(whole)) == whole
    # all lines but one of the three empty ones
    assert text_of(timeline, height=len(whole) - 1) == [*whole[:13], *whole[14:]]
    # 2 lines of totals, 2 + 4 of engines, 1 of hazards, 1 of the path: 12 lines have room for 2 more,
    # and never less than one hazard and three parts of the path are shown
    low = text_of(timeline, height=12)
    assert low == [
        *whole[:2],
        *whole[3:9],
        "  hazards   ! 0 violated   ? potential: not searched   ◇ 2 held   ◇ 0 at no cost",
        "  ◇ RAW on s: held once, 50.00 ns",
        *whole[14:18],
        "",
        "  other hazards",
        "  ◇ WAW on s: held once, 40.00 ns",
        "",
        "  the rest of the critical path",
        whole[18],
    ]


def test_an_empty_timeline_has_a_summary_too():
    builder = two_commands()
    builder.stages.clear()
    assert text_of(builder.build())[0] == "  0 ps makespan · 0 stages · 0 of 2 commands · 1 PE"


@pytest.mark.parametrize("width", [1, 2, 10, 30, 79, 300])
def test_every_line_is_exactly_as_wide_as_asked_for(width):
    assert text_of(decode_like(2), width)
