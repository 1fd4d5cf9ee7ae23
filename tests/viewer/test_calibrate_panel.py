"""The calibration panel, driven by its keys: the picture behind it follows."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from kerntape.replay.calibration import read_calibration
from kerntape.replay.replay import prepare, replay, time
from kerntape.viewer import recalibration as recalibration_module
from kerntape.viewer.model.calibrating import turned, typed, unchanged
from kerntape.viewer.model.look import select
from kerntape.viewer.panel_actions import CALIBRATE, in_section
from kerntape.viewer.recalibration import Recalibration
from kerntape.viewer.screens.ask import AskLine
from kerntape.viewer.screens.calibrate import CalibratePanel
from kerntape.viewer.screens.compare import CompareScreen
from kerntape.viewer.widgets.painted import Painted
from painted_text import line_texts, prompt_line
from settling import settled

FIXED = "pe_cpu.fixed_cycles"


async def open_at(pilot, row):
    await pilot.press("c")
    await settled(pilot)
    panel = pilot.app.screen
    assert isinstance(panel, CalibratePanel)
    panel.place = panel._calibrating().rows.index(row)
    panel.renew()
    return panel


def test_turning_a_number_replays_and_the_header_tells_old_and_new(drive, opt2):
    expected = replay(opt2.trace, settings=[f"{FIXED}=48.4"]).makespan_ps

    async def scenario(pilot, screen):
        stage = 100
        screen.go(select(screen.index, screen.look, stage))
        await open_at(pilot, FIXED)
        await pilot.press("right", "l")
        await settled(pilot)
        assert screen.others.recalibration.settings.value(FIXED) == Decimal("48.4")
        assert screen.index.timeline.makespan_ps == expected
        assert screen.look.stage == stage
        header = line_texts(screen.query_one("#header", Painted).lines)[0]
        assert " → " in header
        assert header.endswith("%")
        await pilot.press("escape")
        assert pilot.app.screen is screen
        assert screen.index.timeline.makespan_ps == expected  # it stays as it was turned

    drive(opt2, scenario)


def test_every_key_of_the_panel_does_what_the_table_says(drive, opt2, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = {"turn_up": "44", "turn_down": "36.36", "reset_row": "40", "reset_all": "40"}

    async def scenario(pilot, screen):
        panel = await open_at(pilot, FIXED)
        recalibration = screen.others.recalibration
        for action in in_section(CALIBRATE):
            for key in action.keys if action.name != "compare_turned" else ():
                recalibration.settings = unchanged(opt2.calibration, opt2.policy)
                if action.name.startswith("reset"):
                    recalibration.settings = typed(recalibration.settings, FIXED, "7")
                await pilot.press(key)
                if action.name == "save_calibration":
                    await pilot.press("enter")
                await settled(pilot)
                value = recalibration.settings.value(FIXED)
                assert value == Decimal(values.get(action.name, "40")), key
        assert "saved decode-calibration.yaml" in " ".join(line_texts(panel.panel.lines))

    drive(opt2, scenario)
    assert read_calibration("decode-calibration.yaml").pe_cpu.fixed_cycles == 40


def test_a_saved_calibration_gives_the_same_run(drive, opt2, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def scenario(pilot, screen):
        await open_at(pilot, FIXED)
        await pilot.press("right", "s", "enter")
        await settled(pilot)
        return screen.index.timeline.makespan_ps

    makespan = drive(opt2, scenario)
    saved = replay(opt2.trace, calibration=str(Path("decode-calibration.yaml")))
    assert saved.makespan_ps == makespan
    assert saved.calibration.name == f"default + {FIXED}=44"


def test_a_file_that_is_there_already_is_never_overwritten(drive, opt2, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text("mine")
    Path("decode-calibration.yaml").write_text("mine too")

    async def scenario(pilot, screen):
        panel = await open_at(pilot, FIXED)
        await pilot.press("s", "enter")  # a free name is offered
        assert "saved decode-calibration-2.yaml" in " ".join(line_texts(panel.panel.lines))
        await pilot.press("s", *"mine", "enter")
        line = pilot.app.screen
        assert isinstance(line, AskLine)
        said = prompt_line(line)
        assert said == " mine.yaml exists already and is left alone: type another name"
        await pilot.press("escape", "s", "backspace", "enter")
        said = prompt_line(pilot.app.screen)
        assert said == " a calibration file must have a name: type one, or Esc"
        await pilot.press(*"none", "slash", *"mine", "enter")
        said = prompt_line(pilot.app.screen)
        assert said.startswith(" none/mine.yaml: cannot be written: there is no folder none")

    drive(opt2, scenario)
    assert Path("mine.yaml").read_text() == "mine"
    assert Path("decode-calibration.yaml").read_text() == "mine too"


def test_saving_tells_how_the_run_is_had_again(drive, opt2, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    async def scenario(pilot, screen):
        panel = await open_at(pilot, FIXED)
        await pilot.press("home", "right", "s", *"mine", "enter")
        await settled(pilot)
        policy = screen.index.timeline.policy.name
        said = " ".join(" ".join(line_texts(panel.panel.lines)[-3:]).split())
        assert f"kerntape replay --calibration mine.yaml --hazards {policy} uses it" in said

    drive(opt2, scenario)


def test_what_was_changed_is_told_above_the_rows_and_marked(drive, opt2):
    async def scenario(pilot, screen):
        panel = await open_at(pilot, FIXED)
        assert line_texts(panel.panel.lines)[1] == "   as it was opened: default, strict_fifo"
        await pilot.press("right")
        shown = line_texts(panel.panel.lines)
        assert shown[1] == f"  *1 changed: {FIXED} 40 → 44"
        assert sum(line.startswith(f" ›*{FIXED}") for line in shown) == 1
        await pilot.press("r")
        shown = line_texts(panel.panel.lines)
        assert shown[1].startswith("   as it was opened")
        assert f"   {FIXED} is 40 again" in shown
        await pilot.press("r")
        assert "   nothing to put back here: this is as it was opened" in line_texts(
            panel.panel.lines
        )
        await pilot.press("right", "down", "right", "R")
        assert "   all is as it was opened again" in line_texts(panel.panel.lines)
        assert screen.others.recalibration.settings.is_base
        await pilot.press("R")
        assert "   nothing to put back: all is as it was opened" in line_texts(panel.panel.lines)

    drive(opt2, scenario)


def test_a_number_out_of_range_is_one_clear_line(drive, opt2):
    async def scenario(pilot, screen):
        panel = await open_at(pilot, "hbm.bytes_per_ns")
        await pilot.press("enter", "0", "enter")
        said = prompt_line(pilot.app.screen)
        assert said == " bytes_per_ns: must be above 0 (from 10^-12 to 10^12), not 0"
        await pilot.press(*"e12", "backspace", *["backspace"] * 3, *"1e12", "enter", "right")
        assert "bytes_per_ns: must be above 0 (from 10^-12 to 10^12), not" in " ".join(
            line_texts(panel.panel.lines)
        )

    drive(opt2, scenario, (80, 24))


def test_a_click_chooses_the_row_that_it_is_on(drive, opt2):
    async def scenario(pilot, screen):
        panel = await open_at(pilot, FIXED)
        at = next(i for i, line in enumerate(line_texts(panel.panel.lines)) if FIXED in line)
        panel.place = 0
        await pilot.click("#panel", offset=(5, at))
        assert panel.row == FIXED

    drive(opt2, scenario)


def test_an_exact_number_is_typed_and_a_wrong_one_is_said(drive, opt2):
    async def scenario(pilot, screen):
        await open_at(pilot, FIXED)
        await pilot.press("enter", *"soon", "enter")
        line = pilot.app.screen
        assert isinstance(line, AskLine)
        said = prompt_line(line)
        assert said == " fixed_cycles: must be a number, not 'soon'"
        await pilot.press(*["backspace"] * 4, *"12", "full_stop", "5", "enter")
        await settled(pilot)
        assert screen.index.timeline.calibration.pe_cpu.fixed_cycles == Decimal("12.5")
        await pilot.press("enter", "escape")
        assert isinstance(pilot.app.screen, CalibratePanel)

    drive(opt2, scenario)


def test_the_policy_is_turned_like_a_number(drive, opt2):
    async def scenario(pilot, screen):
        await pilot.press("c", "right")
        await settled(pilot)
        name = screen.index.timeline.policy.name
        await pilot.press("R")
        await settled(pilot)
        assert screen.index.timeline is opt2
        assert screen.index.before_ps is None
        return name

    name = drive(opt2, scenario)
    assert name != "strict_fifo"


def test_what_cannot_be_turned_says_so(drive, opt2):
    async def scenario(pilot, screen):
        panel = await open_at(pilot, "pe_scheduler.plan_cycles_per_op")
        await pilot.press("right")
        assert "is 0, which has no tenth" in " ".join(line_texts(panel.panel.lines))
        await pilot.press("end", "right")
        assert "nothing to turn here" in " ".join(line_texts(panel.panel.lines))
        await pilot.press("enter")
        assert "only a number can be typed" in " ".join(line_texts(panel.panel.lines))
        await pilot.press("r")
        assert screen.others.recalibration.settings.is_base

    drive(opt2, scenario)


def test_settings_that_cannot_be_replayed_leave_the_picture_and_say_why(opt2):
    recalibration = Recalibration(opt2)
    recalibration.settings = typed(recalibration.settings, "hbm.latency_ns", "1000000000000")
    for path in ("pe_cpu.fixed_cycles", "pe_gemm.fill_cycles"):
        recalibration.settings = typed(recalibration.settings, path, "1000000000000")
    recalibration.ask(
        typed(recalibration.settings, "clock_ghz", "0.000000000001")  # 10^27 ps a dispatch
    )
    assert recalibration.begin()
    recalibration.work(lambda: None, lambda: False)
    assert "times must stay below 2^62 ps" in recalibration.complaint
    assert recalibration.timeline is opt2


@pytest.fixture
def replayed(monkeypatch):
    """The calibrations under which a trace was timed."""
    found = []

    def noted(prepared, calibration):
        found.append(calibration)
        return time(prepared, calibration)

    monkeypatch.setattr(recalibration_module, "time", noted)
    return found


def test_only_the_newest_settings_are_replayed(opt2, replayed):
    recalibration = Recalibration(opt2)
    settings = recalibration.settings
    for _ in range(20):
        settings = turned(settings, FIXED, 1)
        recalibration.ask(settings)
    assert recalibration.begin()
    assert not recalibration.begin()  # one thread is enough
    recalibration.work(lambda: None, lambda: False)
    assert replayed == [settings.calibration]
    assert recalibration.timeline.calibration == settings.calibration
    assert recalibration.begin()


def test_the_trace_stays_lowered_for_the_policies_that_were_asked_for_last(opt2, monkeypatch):
    lowered = []

    def noted(trace, topology, policy):
        lowered.append(policy.name)
        return prepare(trace, topology, policy)

    monkeypatch.setattr(recalibration_module, "prepare", noted)
    monkeypatch.setattr(recalibration_module, "FACTORS", ())
    recalibration = Recalibration(opt2)
    start = recalibration.settings
    policies = {policy.name: policy for policy in recalibration.policies()}
    for name in ("serial", "none", "serial", "rw_handles", "rw_aware", "serial", "none"):
        recalibration.ask(replace(start, policy=policies[name]))
        assert recalibration.begin()
        recalibration.work(lambda: None, lambda: True)
    # three are kept: serial, asked for again and again, stays; none has gone when rw_aware came
    assert lowered == ["serial", "none", "rw_handles", "rw_aware", "none"]


def test_a_new_wish_interrupts_the_measuring(opt2, replayed):
    recalibration = Recalibration(opt2)
    told = []

    def tell():
        told.append(len(replayed))
        if len(told) == 3:
            recalibration.ask(turned(recalibration.settings, FIXED, 1))

    recalibration.ask(turned(recalibration.settings, FIXED, 1))
    assert recalibration.begin()
    recalibration.work(tell, lambda: False)
    assert told[:4] == [1, 1, 1, 2]  # a replay, two effects, and the new replay at once
    assert not recalibration.is_behind


def test_what_was_measured_is_as_true_when_the_panel_is_opened_again(opt2, replayed):
    recalibration = Recalibration(opt2)
    recalibration.ask(turned(recalibration.settings, FIXED, 1))
    assert recalibration.begin()
    recalibration.work(lambda: None, lambda: False)
    worths = recalibration.worths
    assert set(worths.effects) == set(recalibration.parameters)
    recalibration.ask(recalibration.settings)
    assert recalibration.begin()
    recalibration.work(lambda: None, lambda: False)
    assert recalibration.worths is worths
    assert len(replayed) == 1


def test_the_settings_before_wrong_ones_are_right_again(opt2):
    recalibration = Recalibration(opt2)
    start = recalibration.settings
    wrong = start
    for path in (FIXED, "pe_gemm.fill_cycles", "hbm.latency_ns"):
        wrong = typed(wrong, path, "1000000000000")
    for settings in (start, typed(wrong, "clock_ghz", "0.000000000001"), start):
        recalibration.ask(settings)
        assert recalibration.begin()
        recalibration.work(lambda: None, lambda: True)
        assert bool(recalibration.complaint) == (settings is not start)


def test_a_cancelled_thread_stops_measuring(opt2):
    recalibration = Recalibration(opt2)
    recalibration.ask(recalibration.settings)
    assert recalibration.begin()
    recalibration.work(lambda: None, lambda: True)
    assert recalibration.worths.effects == {}


@pytest.mark.parametrize("key", ["c", "escape", "q"])
def test_the_panel_is_closed_by_its_keys(drive, opt2, key):
    async def scenario(pilot, screen):
        await pilot.press("c", key)
        assert pilot.app.screen is screen

    drive(opt2, scenario)


def test_x_leads_from_the_turned_number_to_the_comparison_with_how_it_was(drive, opt2):
    async def scenario(pilot, screen):
        await open_at(pilot, FIXED)
        await pilot.press("right")
        await settled(pilot)
        await pilot.press("x")
        await settled(pilot)
        assert isinstance(pilot.app.screen, CompareScreen)
        upper, lower = pilot.app.screen.comparison.sides
        assert upper.timeline.makespan_ps == opt2.makespan_ps
        assert lower.timeline is screen.index.timeline

    drive(opt2, scenario)
