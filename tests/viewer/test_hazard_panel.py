"""The list of hazards, driven by its keys: filters, possible pairs, policies."""

import pytest
from kerntape.capture.capture import capture
from kerntape.replay.hazards.verdicts import Verdict
from kerntape.replay.replay import replay
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.topologies.loader import resolve_topology
from kerntape.viewer.model.fates import Fate
from kerntape.viewer.model.hazard_filter import EVERYTHING, HazardFilter
from kerntape.viewer.pair_verdicts import PairVerdicts
from kerntape.viewer.panel_actions import HAZARDS, in_section
from kerntape.viewer.screens.ask import AskLine
from kerntape.viewer.screens.hazards import HazardPanel
from painted_text import line_texts
from race import RACE
from settling import settled


@pytest.fixture(scope="module")
def one_slot(captured_decode):
    """The score tile recycled through one slot: strict_fifo lets the next scores overwrite it."""
    return captured_decode("opt2", s_kv=256, slots=1)


@pytest.fixture
def race(tmp_path):
    """PE 0 stores where PE 1 loads, with no message between."""
    path = tmp_path / "race.py"
    path.write_text(RACE)
    machine = resolve_topology("one_cube")
    return replay(capture(f"{path}:launch", machine, {}, with_data=False).trace)


def test_every_key_of_the_list_filters_as_the_table_says(drive, one_slot):
    expected = {
        "next_fate": HazardFilter(fate=Fate.VIOLATED),
        "next_kind": HazardFilter(kind=HazardKind.RAW),
        "same_pe": HazardFilter(pe=0),
        "no_filter": EVERYTHING,
    }

    async def scenario(pilot, screen):
        await pilot.press("tab")
        panel = pilot.app.screen
        assert isinstance(panel, HazardPanel)
        for action in in_section(HAZARDS):
            for key in action.keys if action.name in expected else ():
                panel._want(EVERYTHING)
                await pilot.press(key)
                assert panel.wanted == expected[action.name], key
        await pilot.press("p", "p")
        assert panel.wanted.pe is None

    drive(one_slot, scenario)


def test_a_handle_is_typed_and_the_title_tells_the_filter(drive, one_slot):
    async def scenario(pilot, screen):
        await pilot.press("tab", "slash", "left_parenthesis", "enter")
        assert isinstance(pilot.app.screen, AskLine)
        await pilot.press("backspace", *"^S$", "enter")
        panel = pilot.app.screen
        await settled(pilot)
        title = line_texts(panel.panel.lines)[0]
        assert title.startswith("── hazards · 7 of 10 · on '^S$' ──")
        await pilot.press("slash", "escape", "r")
        assert panel.count() == 10

    drive(one_slot, scenario)


def test_the_chosen_hazard_stays_chosen_whenever_the_filter_lets_it(drive, one_slot):
    async def scenario(pilot, screen):
        await pilot.press("tab", "end")
        panel = pilot.app.screen
        row = panel._row()
        await pilot.press(*"oooo")  # the last of all cost nothing
        assert panel.wanted.fate is Fate.FREE
        assert panel._row() == row

    drive(one_slot, scenario)


def test_possible_pairs_are_found_on_demand_and_marked_on_the_timeline(drive, captured_decode):
    timeline = replay(captured_decode("opt2", s_kv=512, slots=2).trace, policy="rw_handles")

    async def scenario(pilot, screen):
        before = len(screen.hazards)
        await pilot.press("tab", "a")
        await settled(pilot)
        panel = pilot.app.screen
        assert screen.hazards.table.count(Outcome.POTENTIAL) > 0
        assert len(screen.hazards) > before
        await pilot.press("o", "o")
        assert panel.wanted.fate is Fate.POTENTIAL
        row = panel._row()
        await pilot.press("enter")
        assert pilot.app.screen is screen
        assert screen.look.stage == int(screen.hazards.sites.later[row])

    drive(timeline, scenario)


def test_the_possible_pairs_are_told_not_to_be_looked_for_yet_and_then_what_came_of_it(
    drive, one_slot
):
    # strict_fifo and one slot: of the pairs that nothing orders, 7 went wrong here; no other can
    async def scenario(pilot, screen):
        await pilot.press("tab")
        panel = pilot.app.screen
        assert "? potential: a finds them" in line_texts(panel.panel.lines)[1]
        await pilot.press("o", "o")
        assert panel.wanted.fate is Fate.POTENTIAL
        assert line_texts(panel.panel.lines)[2].startswith("  not looked for yet: a finds")
        await pilot.press("a")
        await settled(pilot)
        shown = line_texts(panel.panel.lines)
        assert "[? 0 potential]" in shown[1]
        assert shown[2] == "  strict_fifo: no other hazard is possible, under any calibration"
        await pilot.press("a")
        assert "nothing else can go wrong" in line_texts(panel.panel.lines)[0]

    drive(one_slot, scenario)


def test_the_search_goes_on_when_the_list_is_closed_and_holds_under_any_calibration(
    drive, captured_decode
):
    timeline = replay(captured_decode("opt2", s_kv=512, slots=2).trace, policy="rw_handles")

    async def scenario(pilot, screen):
        await pilot.press("tab", "a", "escape")
        await settled(pilot)
        found = screen.hazards.counts[Fate.POTENTIAL]
        assert found > 0
        await pilot.press("c", "down", "right")
        await settled(pilot)
        assert screen.index.timeline is not timeline
        told = screen.hazards.counts
        assert told[Fate.POTENTIAL] + told[Fate.VIOLATED] >= found
        await pilot.press("R")
        await settled(pilot)
        assert screen.hazards.counts[Fate.POTENTIAL] == found
        await pilot.press("escape", "tab", "o", "o")
        assert pilot.app.screen.count() == found

    drive(timeline, scenario)


def test_what_pes_do_to_each_other_is_said_not_to_be_compared(drive, race):
    async def scenario(pilot, screen):
        await pilot.press("tab")
        shown = " ".join(line_texts(pilot.app.screen.panel.lines))
        assert "  1 tensor is reached by several PEs, written by at least one: x of PE 1." in shown
        assert "Pairs of commands of different PEs are not compared; replay --check-data" in shown
        return [line for line in line_texts(pilot.app.screen.panel.lines) if "compared" in line]

    assert drive(race, scenario, (100, 40)) == [
        "  Pairs of commands of different PEs are not compared; replay --check-data sees what they do."
    ]


def test_the_policies_are_asked_about_the_chosen_pair(drive, one_slot):
    async def scenario(pilot, screen):
        await pilot.press("tab")
        await settled(pilot)
        last = line_texts(pilot.app.screen.panel.lines)[-2]
        assert last == (
            "  held by byte_range, rw_aware, serial · open under none, rw_handles, strict_fifo"
        )

    drive(one_slot, scenario)


def test_enter_on_a_filtered_list_shows_the_right_pair(drive, one_slot):
    async def scenario(pilot, screen):
        await pilot.press("tab", "f", "down", "enter")
        later = screen.index.command(screen.look.stage)
        raw = [
            row
            for row in screen.hazards.by_weight.tolist()
            if screen.hazards.kind(row) is HazardKind.RAW
        ]
        assert later == int(screen.hazards.table.later[raw[1]])

    drive(one_slot, scenario)


def test_a_list_of_nothing_has_keys_that_do_nothing(drive, decode):
    async def scenario(pilot, screen):
        await pilot.press("tab", "o", "f", "p", "r", "down", "end")
        assert isinstance(pilot.app.screen, HazardPanel)
        await pilot.press("enter")
        assert pilot.app.screen is screen

    drive(decode, scenario)


def test_verdicts_are_found_once_for_all_pes_of_a_stream(captured_decode):
    timeline = captured_decode("opt2", "one_cube", p=4, s_kv=1024, slots=1)
    table = timeline.hazards
    pair = (int(table.pe[0]), int(table.earlier[0]), int(table.later[0]))
    verdicts = PairVerdicts(timeline)
    assert verdicts.known(pair) == {}
    assert verdicts.ask(pair)
    told = []
    verdicts.work(lambda: told.append(1), lambda: False)
    assert told == [1]
    assert set(verdicts.known(pair)) == {
        "byte_range", "none", "rw_aware", "rw_handles", "serial", "strict_fifo",
    }  # fmt: skip
    assert verdicts.known(pair)["strict_fifo"] is Verdict.HELD
    assert not verdicts.ask(pair)


def test_a_cancelled_thread_tells_nothing(one_slot):
    verdicts = PairVerdicts(one_slot)
    assert verdicts.ask((0, 5, 6))
    told = []
    verdicts.work(lambda: told.append(1), lambda: True)
    assert told == []
    assert verdicts.known((0, 5, 6)) == {}
