"""Finding stages by a pattern."""

import pytest
from kerntape.viewer.model.finding import PatternError, find, match_from
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from timeline_builder import decode_like, timeline_of_intervals, topology, two_commands


def stages_of(found):
    return [found.stage(place) for place in range(len(found))]


@pytest.fixture(scope="module")
def index():
    return TimelineIndex(two_commands().build(), "x")


@pytest.mark.parametrize(
    ("pattern", "stages"),
    [
        ("^fetch$", [1, 2]),  # a kind
        ("GEMM|math", [1, 2, 3, 4, 7]),  # the fetches' op is a gemm; "tl.exp" is no MATH
        ("^exp$", [7]),  # an op
        ("^q$", [0, 1, 2, 3, 4, 5]),  # a label: the command's stages
        ("^s$", [0, 1, 2, 3, 4, 5, 6, 7]),
        (r"decode\.py:8", [6, 7]),  # a kernel line
        (r"tl\.dot", [0, 1, 2, 3, 4, 5]),
        ("nothing", []),
    ],
)
def test_a_pattern_looks_at_kinds_ops_labels_and_lines(index, pattern, stages):
    assert sorted(stages_of(find(index, pattern))) == stages


def test_matches_are_in_the_order_of_their_starts(index):
    # fetch 1 at 10, fetch 2 and GEMM 3 at 30, GEMM 4 at 54
    assert stages_of(find(index, "fetch|gemm"))[:4] == [1, 2, 3, 4]


def test_one_goes_along_the_matches_and_round_their_ends(index):
    found = find(index, "^(fetch|MATH)$")
    assert stages_of(found) == [1, 2, 7]
    assert match_from(found, index, 1, 1) == (1, 2)
    assert match_from(found, index, 7, 1) == (0, 1)
    assert match_from(found, index, 1, -1) == (2, 7)
    assert match_from(found, index, 3, 1) == (2, 7)  # from a stage between two
    assert match_from(found, index, 3, -1) == (1, 2)
    assert match_from(found, index, NO_STAGE, 1) == (0, 1)
    assert found.words(1) == "match 2 of 3 for ^(fetch|MATH)$"


def test_alike_pes_are_all_searched():
    index = TimelineIndex(decode_like(1, launched=2, machine=topology(pes=(2, 1))), "x")
    one = len(find(TimelineIndex(decode_like(1), "x"), "^rmax$"))
    assert len(find(index, "^rmax$")) == 2 * one > 0


def test_a_pattern_that_is_none_is_said():
    index = TimelineIndex(two_commands().build(), "x")
    with pytest.raises(PatternError, match=r"^the pattern must be a regular expression: "):
        find(index, "(")


def test_an_empty_timeline_has_no_matches():
    index = TimelineIndex(timeline_of_intervals([], []), "x")
    assert match_from(find(index, "a"), index, NO_STAGE, 1) == (-1, NO_STAGE)
