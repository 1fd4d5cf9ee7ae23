"""The area's panel while a thread adds up for it."""

import threading

import pytest
from kerntape.viewer.screens import area
from kerntape.viewer.screens.area import AreaPanel
from painted_text import line_texts
from settling import settled, until


class Gate:
    """Adding up by kind halts half way until it is opened."""

    def __init__(self, monkeypatch):
        self.opened = threading.Event()
        self.halted = threading.Semaphore(0)
        self.begun, self.ended, self.by_lane = [], [], []
        by_kind, by_lane = area.figures_by_kind, area.figures_by_lane

        def late(index, hazards, place, watch):
            self.begun.append(place)
            watch(5, 10)
            self.halted.release()
            assert self.opened.wait(20)
            try:
                watch(6, 10)
            except Exception:
                self.ended.append(place)
                raise
            return by_kind(index, hazards, place)

        def told(index, hazards, place, watch):
            self.by_lane.append(place)
            return by_lane(index, hazards, place, watch)

        monkeypatch.setattr(area, "figures_by_kind", late)
        monkeypatch.setattr(area, "figures_by_lane", told)


@pytest.fixture
def gate(monkeypatch):
    return Gate(monkeypatch)


def shown(panel):
    return line_texts(panel.panel.lines)[1]


async def show(pilot, screen, place):
    panel = AreaPanel(screen.index, screen.hazards, place)
    await pilot.app.push_screen(panel)
    return panel


def test_how_far_it_is_is_shown_by_and_by(drive, opt2, gate):
    async def scenario(pilot, screen):
        panel = await show(pilot, screen, (0, 1_000_000))
        await until(lambda: shown(panel) == "  adding up, 25 %")
        gate.opened.set()
        await settled(pilot)
        assert shown(panel) == "  0 ps to 1 µs · 1 µs"

    drive(opt2, scenario)


def test_closed_panels_add_up_nothing_more_and_never_two_at_once(drive, opt2, gate):
    first, second = (0, 1_000_000), (0, 2_000_000)

    async def scenario(pilot, screen):
        panel = await show(pilot, screen, first)
        await until(lambda: gate.halted.acquire(blocking=False))
        panel.dismiss(None)
        await pilot.pause()
        await show(pilot, screen, second)
        await pilot.pause(0.05)
        assert gate.begun == [first]
        gate.opened.set()
        await until(lambda: gate.by_lane)
        await pilot.app.workers.wait_for_complete()
        assert gate.begun == [first, second]
        assert gate.ended == [first]
        assert gate.by_lane == [second]

    drive(opt2, scenario)
