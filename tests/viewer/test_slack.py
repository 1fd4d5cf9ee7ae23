"""Slack in the stage box, worked out from the trace inside the timeline."""

from dataclasses import replace

import numpy as np
import pytest
from kerntape.capture.capture import capture
from kerntape.replay.analysis.critical_path import critical_path
from kerntape.replay.replay import replay
from kerntape.schemas.timeline import Status
from kerntape.topologies.loader import resolve_topology
from kerntape.viewer.model import slack as model
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.look import first_look, select
from kerntape.viewer.model.slack import slack_of, slack_of_index
from kerntape.viewer.model.stage_box import box_lines
from timeline_builder import timeline_of_intervals, two_commands


@pytest.fixture(scope="module")
def opt2():
    arguments = {"variant": "opt2", "s_kv": 256}
    machine = resolve_topology("single_pe")
    return replay(capture("gqa_decode", machine, arguments, with_data=False).trace)


def test_slack_is_zero_along_the_critical_path_and_positive_elsewhere(opt2):
    slack = slack_of(TimelineIndex(opt2, "x"))
    assert slack is not None
    assert not slack[critical_path(opt2)].any()
    assert (slack >= 0).all()
    assert (slack > 0).any()


def test_a_timeline_that_is_not_what_its_trace_lowers_to_has_no_slack(opt2):
    for timeline in (
        two_commands().build(),
        replace(opt2, end_ps=opt2.end_ps + 1),
        replace(opt2, status=Status.DEADLOCK),
        timeline_of_intervals([], []),
    ):
        assert slack_of(TimelineIndex(timeline, "x")) is None


def test_the_box_tells_the_slack_once_it_is_known(opt2):
    index = TimelineIndex(opt2, "x")
    hazards, slack = HazardIndex(index), slack_of(index)
    critical = int(critical_path(opt2)[0])
    loose = int(np.argmax(slack))
    assert not slack_words(index, hazards, critical)
    slack_of_index(index).work()
    assert slack_words(index, hazards, critical) == ["│ slack none: it is critical"]
    assert slack_words(index, hazards, loose)[0].startswith("│ slack ")


@pytest.mark.parametrize(("most", "kept"), [(2**31 - 1, np.int32), (2**31, np.int64)])
def test_slack_is_kept_in_32_bits_where_it_fits(opt2, monkeypatch, most, kept):
    index = TimelineIndex(opt2, "x")
    monkeypatch.setattr(model, "slack_of", lambda _: np.array([0, most]))
    slack_of_index(index).work()
    assert slack_of_index(index).ps.dtype == kept
    assert slack_of_index(index).of(1) == most


def slack_words(index, hazards, stage):
    look = select(index, first_look(index), stage)
    lines = ["".join(s.text for s in line) for line in box_lines(index, hazards, look, 40, 40)]
    return [line.rstrip() for line in lines if "slack" in line]
