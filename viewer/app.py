"""The browser as a Textual application, and its screen as a picture without a terminal."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from textual.app import App
from textual.pilot import Pilot

from ..schemas.errors import KerntapeError
from ..schemas.timeline import Timeline
from .model.index import TimelineIndex
from .model.text import Line
from .picture_file import compose, picture_name, write_picture
from .screens.timeline import TimelineScreen
from .widgets.painted import Painted


class Browser(App[None]):
    """Shows one timeline, or two side by side, until the user quits."""

    CSS_PATH = "browser.tcss"
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        timeline: Timeline,
        title: str,
        other: tuple[Timeline, str] | None = None,
        path: Path | None = None,
    ) -> None:
        super().__init__()
        self.title = title
        self._path = path
        self._index = TimelineIndex(timeline, title)
        self._other = TimelineIndex(*other) if other else None

    def get_default_screen(self) -> TimelineScreen:
        """The one screen; panels are laid over it."""
        return TimelineScreen(self._index, self._other, self._path)

    def screen_lines(self) -> list[Line]:
        """What is painted on the whole terminal, panels over the timeline."""
        painted = [one for screen in self.screen_stack for one in screen.query(Painted)]
        patches = [(one.region.x, one.region.y, one.lines) for one in painted]
        return compose(patches, self.size.width, self.size.height)

    def on_timeline_screen_export_asked(self, event: TimelineScreen.ExportAsked) -> None:
        """Writes what is on the screen beside the user's other files, never over one of them."""
        try:
            path = picture_name(event.name, self.title)
            write_picture(path, self.screen_lines(), self.size.width)
        except KerntapeError as error:
            event.screen.say(str(error))
        else:
            event.screen.say(f"saved {path.name}")


def browse(
    timeline: Timeline,
    *,
    title: str,
    other: tuple[Timeline, str] | None = None,
    path: Path | None = None,
) -> None:
    """Opens the browser on the terminal until the user quits; `title` is shown as the file's name.

    `other` is a second timeline and its title: both are then shown side by side. Bookmarks are kept
    beside the file at `path`; without one, until the browser is left.
    """
    Browser(timeline, title, other, path).run()


def export_svg(
    timeline: Timeline,
    path: Path,
    *,
    title: str = "",
    size: tuple[int, int] = (100, 30),
    keys: Iterable[str] = (),
    other: tuple[Timeline, str] | None = None,
) -> None:
    """Writes the browser's screen as an SVG, after `keys` (Textual's names), without a terminal.

    `title` stands where the file's name does, by default the kernel's. `size` is (columns, lines).
    `other` is a second timeline and its title, side by side with the first. The same timelines,
    titles, size and keys give the same bytes. Raises FileError where the file cannot be written.
    """
    shown = title or timeline.trace.header.kernel
    lines = asyncio.run(_lines_after(Browser(timeline, shown, other), size, keys))
    write_picture(path, lines, size[0])


async def _lines_after(app: Browser, size: tuple[int, int], keys: Iterable[str]) -> list[Line]:
    async with app.run_test(size=size) as pilot:
        await _settled(app, pilot)
        for key in keys:
            await pilot.press(key)
            await _settled(app, pilot)
        return app.screen_lines()


async def _settled(app: Browser, pilot: Pilot[None]) -> None:
    """Whatever threads are at has been shown."""
    await app.workers.wait_for_complete()
    await pilot.pause()
