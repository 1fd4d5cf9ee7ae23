"""Lists of which only a part is shown: what is said of the rest, on every screen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.replay.replay import replay
from kerntape.viewer.model.help import help_title, hint_line, more_line
from kerntape.viewer.model.lists import ALL_SEEN, Unseen, unseen, unseen_among
from kerntape.viewer.model.text import line_cells
from kerntape.viewer.screens.calibrate import CalibratePanel
from kerntape.viewer.screens.compare import CompareScreen
from kerntape.viewer.screens.summary import SummaryScreen
from kerntape.viewer.widgets.painted import Painted
from message_kernels import captured
from painted_text import last_line, line_text, line_texts
from settling import settled
from timeline_builder import decode_like, topology


@pytest.mark.parametrize(
    ("count", "top", "height", "words"),
    [
        (5, 0, 5, ""),
        (9, 0, 5, "↓ 4 more"),
        (9, 4, 5, "↑ 4 more"),
        (12, 3, 5, "↑ 3 more  ↓ 4 more"),
        (1_000_006, 0, 6, "↓ 1,000,000 more"),
        (0, 0, 5, ""),
        (2, 0, 0, "↓ 2 more"),
    ],
)
def test_what_lies_above_and_below_is_counted(count, top, height, words):
    assert unseen(count, top, height).words == words


def test_only_lines_that_say_something_count():
    assert unseen_among([True, False, True, True, False, True], 2, 2) == Unseen(1, 1)


@given(st.lists(st.booleans()), st.integers(0, 40), st.integers(0, 40))
def test_what_is_above_shown_and_below_is_all_there_is(counts, top, height):
    found = unseen_among(counts, top, height)
    assert found.above + sum(counts[top : top + height]) + found.below == sum(counts)
    whole = unseen(len(counts), min(top, len(counts)), height)
    assert unseen_among([True] * len(counts), min(top, len(counts)), height) == whole


@pytest.mark.parametrize("width", [3, 20, 80])
def test_the_line_that_says_it_takes_its_width(width):
    hidden = Unseen(3, 4)
    for line in (
        more_line(hidden, width),
        more_line(ALL_SEEN, width),
        help_title(width, hidden),
        hint_line((("a", "first"), ("?", "keys"), ("q", "quit")), width, hidden),
    ):
        assert line_cells(line) == width
    assert line_text(more_line(ALL_SEEN, width)) == ""


def test_hints_give_way_to_it_but_for_the_last_two():
    hints = (("a", "first"), ("b", "second"), ("?", "keys"), ("q", "quit"))
    assert line_text(hint_line(hints, 40)) == " a first  b second  ? keys  q quit"
    assert (
        line_text(hint_line(hints, 40, Unseen(0, 4))) == " a first  ? keys  q quit       ↓ 4 more"
    )


def last(painted):
    return line_text(painted.lines[-1]).strip()


def test_the_calibration_counts_the_numbers_and_engines_that_it_does_not_show(drive, opt2):
    async def scenario(pilot, screen):
        await pilot.press("c")
        await settled(pilot)
        panel = pilot.app.screen
        assert isinstance(panel, CalibratePanel)
        # 18 of 30 lines: a title, the changes, an empty line, two of detail and this one leave 12, one
        # of which is a head
        numbers = line_texts(panel.panel.lines)[2:14]
        assert numbers[1].startswith("   number")
        whole = len(panel._calibrating().rows)
        assert last(panel.panel) == f"↓ {whole - 11} more"
        await pilot.press("end")
        engines = line_texts(panel.panel.lines)[2:14]
        rows = [line for line in engines if line.strip() and "engine, if" not in line]
        assert last(panel.panel) == f"↑ {whole - len(rows)} more"

    drive(opt2, scenario)


def test_every_line_of_a_list_is_counted_above_or_below(drive, decode):
    async def scenario(pilot, screen):
        await pilot.press("o", "home")
        panel = pilot.app.screen
        # 45 steps; the panel has 18 of 30 lines: a title, four of sums and heads, and this one
        room = 18 - 2 - len(panel._head(panel.panel.size.width))
        assert last(panel.panel) == f"↓ {45 - room} more"
        await pilot.press(*["down"] * room)
        assert last(panel.panel) == f"↑ 1 more  ↓ {44 - room} more"
        await pilot.press("end")
        assert last(panel.panel) == f"↑ {45 - room} more"

    drive(decode, scenario)


def test_the_hazards_and_a_panel_without_a_choice_say_it_too(drive, opt2):
    async def scenario(pilot, screen):
        await pilot.press("tab")
        panel = pilot.app.screen
        assert last(panel.panel) == f"↓ {panel.count() - panel._room} more"
        await pilot.press("escape", "O", "end")
        stage = pilot.app.screen
        told = sum(any(span.text.strip() for span in line) for line in stage._lines(80))
        shown = sum(bool(text) for text in line_texts(stage.panel.lines)[1:-1])
        assert last(stage.panel) == f"↑ {told - shown} more"
        await pilot.press("question_mark")
        title = line_text(pilot.app.screen.query_one("#panel", Painted).lines[0])
        assert " more ─" in title

    drive(opt2, scenario, (80, 24))


def test_the_summary_counts_what_is_listed_and_no_heads(screen_text, opt2):
    # 22 lines less header, air and hints; the last are the hazards and parts of the path that are left
    shown = screen_text(opt2, (), (80, 24)).splitlines()
    whole = screen_text(opt2, (), (80, 60)).splitlines()
    assert " more" not in whole[-1]
    listed = [
        line for line in whole[2:-1] if (line[2:4].strip() and " %  " in line) or "◇ R" in line
    ]
    seen = [line for line in listed if line in shown]
    assert shown[-1].endswith(f"  ↓ {len(listed) - len(seen)} more")
    assert len(listed) > len(seen)


def test_the_summary_says_what_is_above_once_it_is_scrolled(drive, opt2):
    async def scenario(pilot, screen):
        await pilot.press("u")
        await settled(pilot)
        await pilot.press("end")
        assert isinstance(pilot.app.screen, SummaryScreen)
        return last(pilot.app.screen.query_one("#summary", Painted))

    assert drive(opt2, scenario, (80, 16)).split("  ")[-1].startswith("↑ ")


def test_the_rows_of_the_timeline_are_counted_in_its_last_line_and_pinned_ones_do_not_scroll(drive):
    many = decode_like(1, launched=4, machine=topology(pes=(4, 1)))

    async def scenario(pilot, screen):
        await pilot.press("4")
        rows = len(screen.index.tree.rows)
        # 24 lines less header, minimap (2), ruler, stage (2) and last lines (4) are 14 rows
        assert last_line(screen).endswith(f"↓ {rows - 14} more")
        await pilot.press("P", *["down"] * 20)
        above, below = screen._unseen_rows.above, screen._unseen_rows.below
        assert above + 13 + below == rows - 1
        await pilot.resize_terminal(80, 60)
        await pilot.pause()
        return last_line(screen)

    assert " more" not in drive(many, scenario, (80, 24))


def test_each_pane_and_the_table_of_a_comparison_say_what_they_do_not_show(drive, opt2):
    async def scenario(pilot, screen):
        await pilot.press("c", "down", "right")
        await settled(pilot)
        await pilot.press("x")
        await settled(pilot)
        compare = pilot.app.screen
        assert isinstance(compare, CompareScreen)
        shown = line_texts(compare.query_one("#compare", Painted).lines)
        rows = len(compare.index.tree.rows)
        panes = [line.rpartition("  ")[2] for line in shown[:-1] if line.endswith(" more")]
        count = len(compare.comparison.differences(compare.pair.level))
        assert panes == [f"↓ {rows - compare._rows} more"] * 2
        # a quarter of 16 lines, one of them a head
        assert shown[-1].endswith(f"↓ {count - 3} more")

    drive(opt2, scenario, (80, 24))


def test_a_deadlock_s_list_says_it(drive):
    stopped = replay(captured("all_send_first", with_data=False, messages=13).trace)

    async def scenario(pilot, screen):
        await pilot.press("exclamation_mark")
        panel = pilot.app.screen
        # 6 commands wait for each other; a low screen has room for one of them
        assert last(panel.panel) == "↓ 5 more"
        await pilot.press("end")
        assert last(panel.panel) == "↑ 5 more"
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert " more" not in last(panel.panel)

    drive(stopped, scenario, (80, 12))
