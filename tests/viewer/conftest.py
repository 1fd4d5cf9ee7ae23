"""Timelines to look at, and a way to drive the browser without a terminal."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from kerntape.replay.replay import replay
from kerntape.schemas.timeline import Timeline
from kerntape.schemas.trace_file import write_trace
from kerntape.viewer.app import Browser
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.screens.summary import SummaryScreen
from kerntape.viewer.screens.timeline import TimelineScreen
from settling import at_rest, press_until_taken, settled
from textual.pilot import Pilot
from timeline_builder import decode_like
from viewed_files import captured_trace, view_files

T = TypeVar("T")
Scenario = Callable[[Pilot[None], TimelineScreen], Awaitable[T]]

SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.fixture(scope="session", autouse=True)
def pressed_keys_are_quick() -> Iterator[None]:
    """The pilot goes on from a key as soon as, and not before, all is done about it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("textual.app.wait_for_idle", at_rest)
        patch.setattr(Pilot, "press", press_until_taken)
        yield


@pytest.fixture(scope="session", autouse=True)
def screens_are_as_with_a_compiled_engine() -> Iterator[None]:
    """What a screen shows is the same wherever the tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kerntape.viewer.recalibration.is_compiled", lambda: True)
        yield


@pytest.fixture(scope="session")
def decode() -> Timeline:
    """A flash-decode loop of four tiles on one PE: 243 stages over 1.76 µs."""
    return decode_like(4)


@pytest.fixture(scope="session")
def decode_index(decode: Timeline) -> TimelineIndex:
    return TimelineIndex(decode, "decode.ktrace")


@pytest.fixture(scope="session")
def decode_hazards(decode_index: TimelineIndex) -> HazardIndex:
    return HazardIndex(decode_index)


@pytest.fixture(scope="session")
def softmax_merge(decode_index: TimelineIndex) -> int:
    """The stage of `decode` that admits its first softmax_merge composite."""
    return int(decode_index.commands.first[2]) + 1


def captured(variant: str, topology: str = "single_pe", **arguments: object) -> Timeline:
    """A real decode, replayed: for screens that replay it again."""
    return replay(captured_trace(topology=topology, variant=variant, **arguments))


@pytest.fixture(scope="session")
def captured_decode() -> Callable[..., Timeline]:
    return captured


@pytest.fixture(scope="session")
def opt2() -> Timeline:
    """Decode opt2 over eight tiles on one PE."""
    return captured("opt2", s_kv=512)


@pytest.fixture(scope="session")
def opt3() -> Timeline:
    """Decode opt3 over the same eight tiles."""
    return captured("opt3", s_kv=512)


@pytest.fixture(scope="session")
def drive():
    """Runs a scenario of keys and clicks on the timeline, past the summary, and gives what it returns."""

    def run(timeline: Timeline, scenario: Scenario[T], size: tuple[int, int] = (100, 30)) -> T:
        async def go() -> T:
            app = Browser(timeline, "decode.ktrace")
            async with app.run_test(size=size) as pilot:
                await pilot.pause()
                assert isinstance(app.screen, SummaryScreen)
                await pilot.press("escape")
                screen = app.screen
                assert isinstance(screen, TimelineScreen)
                return await scenario(pilot, screen)

        return asyncio.run(go())

    return run


@pytest.fixture(scope="session")
def screen_text():
    """The whole screen as text after some keys, lines without the spaces at their ends."""

    def run(timeline: Timeline, keys: tuple[str, ...], size: tuple[int, int]) -> str:
        async def go() -> str:
            app = Browser(timeline, "decode.ktrace")
            async with app.run_test(size=size) as pilot:
                await pilot.pause()
                await pilot.press(*keys)
                await settled(pilot)
                lines = app.screen_lines()
            return as_text(lines)

        return asyncio.run(go())

    return run


@pytest.fixture
def on_files(monkeypatch):
    """Runs a scenario as `kerntape view` with these arguments does."""
    return partial(view_files, monkeypatch)


@pytest.fixture
def decode_file(tmp_path, monkeypatch):
    """x.ktrace in the folder that one is in: a trace of decode opt2 over 512 keys."""
    monkeypatch.chdir(tmp_path)
    path = Path("x.ktrace")
    write_trace(path, captured_trace(s_kv=512))
    return path


def as_text(lines) -> str:
    """Lines of spans as plain text."""
    texts = ("".join(span.text for span in line).rstrip() for line in lines)
    return "\n".join(texts) + "\n"
