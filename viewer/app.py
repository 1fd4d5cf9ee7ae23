"""The browser as a Textual application, and its screen as a picture without a terminal."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from textual.app import App

from ..schemas.errors import KerntapeError
from ..schemas.timeline import Timeline
from .model.index import TimelineIndex
from .model.text import Line
from .picture_file import compose, free_name, write_picture
from .screens.timeline import TimelineScreen
from .widgets.painted import Painted


class Browser(App[None]):
    """Shows one timeline until the user quits."""

    CSS_PATH = "browser.tcss"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, timeline: Timeline, title: str) -> None:
        super().__init__()
        self.title = title
        self._index = TimelineIndex(timeline, title)

    def get_default_screen(self) -> TimelineScreen:
        """The one screen; panels are laid over it."""
        return TimelineScreen(self._index)

    def screen_lines(self) -> list[Line]:
        """What is painted on the whole terminal, panels over the timeline."""
        painted = [one for screen in self.screen_stack for one in screen.query(Painted)]
        patches = [(one.region.x, one.region.y, one.lines) for one in painted]
        return compose(patches, self.size.width, self.size.height)

    def on_timeline_screen_export_asked(self, event: TimelineScreen.ExportAsked) -> None:
        """Writes what is on the screen beside the user's other files, never over one of them."""
        path = free_name(Path(), self.title)
        try:
            write_picture(path, self.screen_lines(), self.size.width)
        except KerntapeError as error:
            event.screen.say(str(error))
        else:
            event.screen.say(f"saved {path.name}")


def browse(timeline: Timeline, *, title: str) -> None:
    """Opens the browser on the terminal until the user quits; `title` is shown as the file's name."""
    Browser(timeline, title).run()


def export_svg(
    timeline: Timeline,
    path: Path,
    *,
    title: str = "",
    size: tuple[int, int] = (100, 30),
    keys: Iterable[str] = (),
) -> None:
    """Writes the browser's screen as an SVG, after `keys` (Textual's names), without a terminal.

    `title` stands where the file's name does, by default the kernel's. `size` is (columns, lines).
    The same timeline, title, size and keys give the same bytes. Raises FileError where the file
    cannot be written.
    """
    shown = title or timeline.trace.header.kernel
    lines = asyncio.run(_lines_after(timeline, shown, size, keys))
    write_picture(path, lines, size[0])


async def _lines_after(
    timeline: Timeline, title: str, size: tuple[int, int], keys: Iterable[str]
) -> list[Line]:
    app = Browser(timeline, title)
    async with app.run_test(size=size) as pilot:
        await pilot.press(*keys)
        await app.workers.wait_for_complete()
        await pilot.pause()
        return app.screen_lines()
