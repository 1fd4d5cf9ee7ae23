"""Finding stages by a pattern."""

import pytest
from kerntape.viewer.model.finding import (
    PatternError,
    find,
    find_completions,
    match_from,
    no_match_words,
)
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


@pytest.mark.parametrize(
    ("pattern", "stages"),
    [
        ("kind:gemm", [3, 4]),  # not the fetches, whose op is one
        ("op:gemm", [1, 2, 3, 4]),
        ("OP:^exp$", [7]),  # a prefix is blind to case too
        ("handle:^s$", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("line:exp", [6, 7]),  # tl.exp stands in line 8
        ("line::8 ", [6, 7]),  # file:number text
        ("kind:exp", []),
        ("op[:]gemm", []),  # no prefix: a colon itself is looked for
    ],
)
def test_a_prefix_looks_in_one_place_only(index, pattern, stages):
    assert sorted(stages_of(find(index, pattern))) == stages


def test_a_match_says_where_it_is(index):
    # 1 is a fetch whose op is a gemm; 3 is a GEMM and its op is one; 7 is of tl.exp and its op is exp
    found = find(index, "gemm|exp")
    said = {found.stage(place): found.words(place).partition(", in ")[2] for place in range(6)}
    assert (said[1], said[3]) == ("its op", "its kind, its op")
    assert said[7] == "its op, the kernel's line"
    labels = find(index, "handle:^q$")
    assert labels.words(0) == "match 1 of 6 for handle:^q$, in a handle's label"


def test_nothing_found_names_the_prefix_that_was_meant(index):
    assert no_match_words("xyz") == "no match for xyz"
    assert no_match_words("line:xyz") == "no match for line:xyz"
    assert no_match_words("lines:xyz") == "no match for lines:xyz; did you mean 'line:'?"


def test_prefixes_are_completed_and_what_there_is_behind_them(index):
    assert find_completions(index, "") == ("kind:", "op:", "handle:", "line:")
    assert find_completions(index, "L") == ("line:",)
    assert find_completions(index, "gem") == ()
    assert find_completions(index, "op:") == ("op:exp", "op:gemm")
    assert find_completions(index, "kind:g") == ("kind:GEMM",)
    assert find_completions(index, "line:") == (r"line:decode\.py:7", r"line:decode\.py:8")
    assert "handle:q" in find_completions(index, "handle:")


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
    assert found.words(1) == "match 2 of 3 for ^(fetch|MATH)$, in its kind"


def test_alike_pes_are_all_searched():
    index = TimelineIndex(decode_like(1, launched=2, machine=topology(pes=(2, 1))), "x")
    one = len(find(TimelineIndex(decode_like(1), "x"), "^rmax$"))
    assert len(find(index, "^rmax$")) == 2 * one > 0


def test_a_pattern_that_is_none_is_said():
    index = TimelineIndex(two_commands().build(), "x")
    with pytest.raises(PatternError, match=r"^must be a regular expression: "):
        find(index, "(")


def test_a_prefix_without_a_pattern_is_said(index):
    with pytest.raises(PatternError, match=r"^a pattern must follow kind:$"):
        find(index, "kind:")


def test_an_empty_timeline_has_no_matches():
    index = TimelineIndex(timeline_of_intervals([], []), "x")
    assert match_from(find(index, "a"), index, NO_STAGE, 1) == (-1, NO_STAGE)
