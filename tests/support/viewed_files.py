"""`kerntape view` on files, driven by keys, and traces to write into them."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path

import pytest
from kerntape.capture.capture import capture
from kerntape.cli import view
from kerntape.schemas.timeline import Timeline
from kerntape.schemas.trace import Trace
from kerntape.topologies.loader import resolve_topology
from kerntape.viewer.app import Browser
from kerntape.viewer.screens.reload import Reopen
from kerntape.viewer.screens.timeline import TimelineScreen
from kerntape.viewer.widgets.palette import Theme
from settling import settled
from textual.pilot import Pilot

Scenario = Callable[[Pilot[None], TimelineScreen], Awaitable[None]]


def view_files(patch: pytest.MonkeyPatch, scenario: Scenario, *arguments: object) -> None:
    """Runs a scenario on the timeline, past the first one, as `kerntape view` with these arguments does."""

    def browse(
        timeline: Timeline,
        *,
        title: str,
        other: tuple[Timeline, str] | None,
        path: Path,
        theme: Theme | None,
        reopen: Reopen,
    ) -> None:
        async def go() -> None:
            app = Browser(timeline, title, other, path, reopen=reopen)
            async with app.run_test(size=(120, 30)) as pilot:
                await settled(pilot)
                await pilot.press("escape")
                assert isinstance(app.screen, TimelineScreen)
                await scenario(pilot, app.screen)

        asyncio.run(go())

    patch.setattr(view, "on_terminal", lambda: True)
    patch.setattr("kerntape.viewer.app.browse", browse)
    parser = argparse.ArgumentParser()
    view.add_arguments(parser)
    assert view.run(parser.parse_args([str(argument) for argument in arguments])) == 0


@cache
def captured_trace(
    kernel: str = "gqa_decode", topology: str = "single_pe", **arguments: object
) -> Trace:
    """A shipped kernel's, of its default variant where none is given."""
    texts = {name: str(value) for name, value in arguments.items()}
    return capture(kernel, resolve_topology(topology), texts, with_data=False).trace
