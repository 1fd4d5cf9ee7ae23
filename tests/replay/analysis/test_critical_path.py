"""The critical path and its time, by engine and by reason."""

from kerntape.replay.analysis.critical_path import (
    back,
    critical_path,
    spent_ps,
    time_by_engine,
    time_by_why,
)
from kerntape.schemas.stages import Why
from timeline_builder import decode_like, timeline_of_intervals, two_commands

# two_commands: 7 MATH 88–96 ← 6 dispatch 78–88 ← 5 finish 78 ← 4 GEMM 54–78 (queued) ← 3 GEMM 30–54
#               ← 1 fetch 10–30 ← 0 dispatch 0–10


def test_the_path_leads_from_the_last_end_back_along_the_causes():
    assert critical_path(two_commands().build()).tolist() == [7, 6, 5, 4, 3, 1, 0]


def test_of_stages_that_end_together_the_first_begins_the_path():
    timeline = timeline_of_intervals([0, 0, 0], [5, 9, 9])
    assert critical_path(timeline).tolist() == [1, 0]


def test_a_chain_stops_where_a_stage_started_no_later_than_asked():
    assert [*back(two_commands().build(), 7, 30_000)] == [7, 6, 5, 4]


def test_every_stage_of_the_path_has_its_part_of_the_makespan_and_the_latency_after_it():
    timeline = two_commands().build()
    spent, latency = spent_ps(timeline, critical_path(timeline))
    assert spent.tolist() == [8_000, 10_000, 0, 24_000, 24_000, 20_000, 10_000]
    assert not latency.any()
    # a read's data arrives 60 ns after its channel is free, the write's acknowledgement 100
    timeline = decode_like(1)
    _, latency = spent_ps(timeline, critical_path(timeline))
    assert latency[latency > 0].tolist() == [100_000, *[60_000] * 4]


def test_the_makespan_is_split_by_engine_largest_first():
    timeline = two_commands().build()
    found = time_by_engine(timeline, critical_path(timeline))
    assert [(engine.title if engine else "latency", ps) for engine, ps in found.items()] == [
        ("pe_gemm", 48_000),
        ("pe_cpu", 20_000),
        ("pe_tcm", 20_000),
        ("pe_math", 8_000),
    ]


def test_the_makespan_is_split_by_what_was_waited_for():
    # 7 ← 6: 10 for the dispatch · 6 ← 5: 0 · 5 ← 4: 24 data · 4 ← 3: 24 engine · 3 ← 1: 20 data
    # 1 ← 0: 10 for the dispatch · the last stage itself: 8
    timeline = two_commands().build()
    assert time_by_why(timeline, critical_path(timeline)) == {
        Why.DATA: 44_000,
        Why.ENGINE: 24_000,
        Why.DISPATCH: 20_000,
        Why.NOTHING: 8_000,
    }


def test_every_picosecond_is_counted_once_whatever_the_lags():
    timeline = decode_like(5)
    path = critical_path(timeline)
    assert sum(time_by_engine(timeline, path).values()) == timeline.makespan_ps
    assert sum(time_by_why(timeline, path).values()) == timeline.makespan_ps
    assert time_by_engine(timeline, path)[None] == 160_000  # a read's last 60 ns, the write's 100


def test_an_empty_timeline_has_an_empty_path():
    timeline = timeline_of_intervals([], [])
    path = critical_path(timeline)
    assert path.tolist() == []
    assert time_by_engine(timeline, path) == time_by_why(timeline, path) == {}


def test_time_before_the_first_stage_is_latency():
    timeline = timeline_of_intervals([500], [700])
    found = time_by_engine(timeline, critical_path(timeline))
    assert list(found.values()) == [500, 200]
    assert None in found
