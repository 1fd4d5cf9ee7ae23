"""`:reload` where numbers were turned: they are turned again, and that leads back to where one was."""

import threading

from kerntape.replay.calibration import calibration_yaml, read_calibration
from kerntape.schemas.errors import TooLongError
from kerntape.schemas.trace_file import write_trace
from kerntape.viewer import recalibration
from kerntape.viewer.model import times
from painted_text import last_line
from pressed import reload, type_in
from settling import settled, until
from viewed_files import captured_trace


def test_what_was_turned_is_turned_again(on_files, decode_file):
    async def scenario(pilot, screen):
        await pilot.press("c", "down", "right")
        await settled(pilot)
        await pilot.press("escape")
        turned = screen.others.recalibration.settings
        before_ps = screen.others.opened[0].timeline.makespan_ps
        assert screen.index.timeline.calibration == turned.calibration
        write_trace(decode_file, captured_trace(s_kv=1024))
        await reload(pilot)
        await settled(pilot)
        assert screen.others.recalibration.settings == turned
        assert screen.index.timeline.calibration == turned.calibration
        assert screen.index.timeline.trace.header.arguments["s_kv"] == 1024
        opened_ps = screen.others.opened[0].timeline.makespan_ps
        assert screen.index.before_ps == opened_ps
        assert last_line(screen) == (
            f"opened anew: {times.short(opened_ps)}, was {times.short(before_ps)}"
        )
        await pilot.press("w")  # as anything that is said, until the next key
        assert not last_line(screen).startswith("opened anew")

    on_files(scenario, decode_file)


def test_where_what_was_turned_leads_nothing_has_moved_in_a_file_that_has_not_changed(
    on_files, decode_file
):
    async def scenario(pilot, screen):
        await pilot.press("c", "down", *["left"] * 12)  # the run gets longer
        await settled(pilot)
        await pilot.press("escape")
        await type_in(pilot, "time 1us")
        await pilot.press("w", "w", "p", "m", "full_stop", "v", "L", "P")
        assert screen.look.mark_ps == 1_000_000
        index, look = screen.index, screen.look
        await reload(pilot)
        assert screen.index is not index
        assert screen.index.timeline.makespan_ps == index.timeline.makespan_ps
        assert screen.look == look
        makespan = times.short(screen.others.opened[0].timeline.makespan_ps)
        assert last_line(screen) == f"opened anew: {makespan}, as before"

    on_files(scenario, decode_file)


def test_who_goes_on_before_what_was_turned_is_there_stays_where_he_goes(
    on_files, decode_file, monkeypatch
):
    gate, replayed = threading.Event(), recalibration.time

    async def scenario(pilot, screen):
        await pilot.press("c", "down", "right")
        await settled(pilot)
        await pilot.press("escape")
        turned = screen.others.recalibration.settings
        monkeypatch.setattr(
            recalibration, "time", lambda *given: gate.wait(20) and replayed(*given)
        )
        before = screen.index
        await type_in(pilot, "reload")
        await until(lambda: screen.index is not before)
        await type_in(pilot, "command 9")
        stage = screen.look.stage
        gate.set()
        await settled(pilot)
        assert screen.index.timeline.calibration == turned.calibration
        assert screen.look.stage == stage

    on_files(scenario, decode_file)


def test_what_was_turned_from_another_calibration_is_dropped_and_that_is_said(
    on_files, decode_file, tmp_path
):
    mine = tmp_path / "mine.yaml"
    default = calibration_yaml(read_calibration("default"))
    mine.write_text(default)

    async def scenario(pilot, screen):
        await pilot.press("c", "down", "right")
        await settled(pilot)
        await pilot.press("escape")
        was = times.short(screen.others.opened[0].timeline.makespan_ps)
        mine.write_text(default.replace("latency_ns: 100", "latency_ns: 200"))
        await reload(pilot)
        await settled(pilot)
        timeline = screen.index.timeline
        assert timeline.calibration.hbm.latency_ns == 200
        assert screen.others.recalibration.settings.is_base
        assert last_line(screen) == (
            f"opened anew: {times.short(timeline.makespan_ps)}, was {was}"
            " · what was turned is dropped: the calibration has changed"
        )

    on_files(scenario, decode_file, "--calibration", mine)


def test_what_was_turned_and_cannot_be_in_the_new_file_is_said(on_files, decode_file, monkeypatch):
    def fails(*arguments):
        raise TooLongError("it would take too long")

    async def scenario(pilot, screen):
        await pilot.press("c", "down", "right")
        await settled(pilot)
        await pilot.press("escape")
        write_trace(decode_file, captured_trace(s_kv=1024))
        monkeypatch.setattr(recalibration, "time", fails)
        await reload(pilot)
        await settled(pilot)
        assert last_line(screen) == "what was turned cannot be here: it would take too long"

    on_files(scenario, decode_file)


def test_a_replay_of_what_was_shown_before_is_not_shown_any_more(
    on_files, decode_file, monkeypatch
):
    gate, replayed = threading.Event(), recalibration.time

    def late(*arguments):
        assert gate.wait(20)
        return replayed(*arguments)

    monkeypatch.setattr(recalibration, "time", late)

    async def scenario(pilot, screen):
        await pilot.press("c", "down", "right", "escape", "c", "R", "escape")
        write_trace(decode_file, captured_trace(s_kv=1024))
        await type_in(pilot, "reload")
        await until(lambda: screen.index.timeline.trace.header.arguments["s_kv"] == 1024)
        index = screen.index
        gate.set()
        await settled(pilot)
        assert screen.index is index

    on_files(scenario, decode_file)
