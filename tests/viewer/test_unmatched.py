"""Two timelines that cannot be lined up, told side by side."""

from dataclasses import replace

import pytest
from kerntape.schemas.trace import TensorInfo
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.text import line_cells
from kerntape.viewer.model.unmatched import unmatched_lines
from timeline_builder import decode_like, two_commands

COMPLAINT = "the two timelines must run the same commands to be compared"


def with_tensors(timeline, *names):
    """The timeline as that of a kernel which was given these tensors."""
    tensors = tuple(TensorInfo(name, (8,), "f32", "contiguous", False) for name in names)
    header = replace(timeline.trace.header, tensors=tensors)
    return replace(timeline, trace=replace(timeline.trace, header=header))


def text_of(upper, lower, width=80):
    indexes = TimelineIndex(upper, "one.ktrace"), TimelineIndex(lower, "other.ktrace")
    lines = unmatched_lines(*indexes, COMPLAINT, width)
    assert {line_cells(line) for line in lines} == {width}
    return ["".join(span.text for span in line).rstrip() for line in lines]


def test_what_is_the_same_and_what_is_not_stands_side_by_side():
    one, other = two_commands().build(), decode_like(2)
    assert text_of(one, with_tensors(other, "k", "v")) == [
        " the two cannot be lined up: they have nothing in common",
        "",
        "             one.ktrace                 other.ktrace",
        " kernel      decode                     decode                     same",
        " topology    single_pe                  single_pe                  same",
        " PEs         1                          1                          same",
        " commands    2                          6                          differs",
        " calibration default                    default                    same",
        " policy      strict_fifo                strict_fifo                same",
        " makespan    96.00 ns                   1.246 µs                   differs",
        " HBM tensors none                       k, v                       none in both",
        "",
        " the two timelines must run the same commands to be compared",
    ]


def test_tensors_of_one_name_that_meet_nowhere_are_told():
    one, other = with_tensors(two_commands().build(), "q", "k"), decode_like(2)
    assert text_of(one, with_tensors(other, "k", "v"))[10:12] == [
        " HBM tensors q, k                       k, v                       1 in both",
        " in both     k                          no part that both read     differs",
    ]


@pytest.mark.parametrize("width", [1, 20, 79, 200])
def test_every_line_is_as_wide_as_asked_for(width):
    assert text_of(two_commands().build(), decode_like(2), width)
