"""The browser as a Textual application, and its screen as a picture without a terminal."""

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path

from textual import events
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.driver import Driver
from textual.message import Message
from textual.pilot import Pilot
from textual.theme import Theme as TextualTheme

from ..schemas.errors import KerntapeError
from ..schemas.timeline import Timeline
from .daemon_threads import DaemonThreads
from .model.index import TimelineIndex
from .model.text import Line
from .model.tones import Paint
from .picture_file import compose, picture_name, write_picture
from .screens.ask import AskLine
from .screens.command_line import CommandLine
from .screens.host import ExportAsked, LeaveAsked
from .screens.keys import KeysScreen
from .screens.saving import SAVING
from .screens.timeline import TimelineScreen
from .widgets.painted import Painted
from .widgets.palette import DARK, LIGHT, Palette, Theme
from .widgets.typed_line import TypedLine

THEMES = {"dark": DARK, "light": LIGHT}

CLEAR = "\x1b[H\x1b[2J"
"""Written before the terminal's own screen comes back: one that has grown meanwhile would keep the top
lines otherwise.
"""

SWITCH_S = 0.0005
"""How long a thread may run Python while the screen wants to; Python's own 5 ms add up to a tenth of a
second a key.
"""

TYPING_SCREENS = (AskLine, CommandLine, KeysScreen)
"""The screens with a line to type in."""

LIGHT_GROUNDS = ("7", "15")
"""The numbers of white among a terminal's sixteen colours."""


class LineReady(Message):
    """A line is there to be typed in, or has taken an Enter (`is_taken`)."""

    def __init__(self, *, is_taken: bool) -> None:
        super().__init__()
        self.is_taken = is_taken


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
        theme: Theme = DARK,
    ) -> None:
        has_colours = "NO_COLOR" not in os.environ
        super().__init__(ansi_color=not has_colours or None)
        self.palette = Palette(theme, has_colours=has_colours)
        for one in (DARK, LIGHT):
            self.register_theme(_textual_theme(one))
        self.theme = theme.name
        self.title = title
        self._keys_in_turn: deque[events.Key] = deque()
        self._is_entering = False
        self.ended_by: signal.Signals | None = None
        self._path = path
        self._index = TimelineIndex(timeline, title)
        self._other = TimelineIndex(*other) if other else None

    def get_driver_class(self) -> type[Driver]:
        """Textual's for this platform; it leaves nothing of the screen behind."""
        driver_class = super().get_driver_class()

        def stop_application_mode(driver: Driver) -> None:
            driver.write(CLEAR)
            driver_class.stop_application_mode(driver)

        return type("Clearing", (driver_class,), {"stop_application_mode": stop_application_mode})

    def on_load(self) -> None:
        """No thread at work keeps the browser from being left, or makes a key wait for long."""
        loop = asyncio.get_running_loop()
        loop.set_default_executor(DaemonThreads())
        if not self.is_headless and sys.platform != "win32":
            for ending in (signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(ending, self._end, ending)
        sys.setswitchinterval(SWITCH_S)

    def get_default_screen(self) -> TimelineScreen:
        """The one screen; panels are laid over it."""
        return TimelineScreen(self._index, self._other, self._path)

    def screen_lines(self) -> list[Line]:
        """What is painted on the whole terminal, panels over the timeline."""
        painted = [one for screen in self.screen_stack for one in screen.query(Painted)]
        patches = [(one.region.x, one.region.y, one.lines) for one in painted]
        return compose(patches, self.size.width, self.size.height)

    def on_export_asked(self, event: ExportAsked) -> None:
        """Writes what is on the screen beside the user's other files, never over one of them."""
        try:
            path = picture_name(event.name, self.title)
            write_picture(path, self.screen_lines(), self.size.width, Palette(self.palette.theme))
        except KerntapeError as error:
            event.say(str(error))
        else:
            event.say(f"saved {path.name}")

    # ---------------------------------------------------------------- keys in their turn

    async def on_event(self, event: events.Event) -> None:
        """Textual's. Where many keys come at once, each waits until a line that is to be typed in is
        there, and until it has taken an Enter: what is behind that is for the screen in front then.
        """
        if isinstance(event, events.Key):
            self._keys_in_turn.append(event)
            await self._take_keys()
        else:
            await super().on_event(event)

    async def _take_keys(self) -> None:
        while self._keys_in_turn and not self._waits_for_line:
            key = self._keys_in_turn.popleft()
            self._is_entering = key.key == "enter" and isinstance(self.focused, TypedLine)
            await super().on_event(key)

    @property
    def _waits_for_line(self) -> bool:
        is_due = isinstance(self.screen, TYPING_SCREENS)
        return self._is_entering or (is_due and not isinstance(self.focused, TypedLine))

    def line_is_ready(self, *, is_taken: bool) -> None:
        """A line is there to be typed in, or has taken an Enter: then what was typed is done first."""
        self.screen.call_later(self.post_message, LineReady(is_taken=is_taken))

    async def on_line_ready(self, event: LineReady) -> None:
        """The keys that waited are taken."""
        self._is_entering &= not event.is_taken
        await self._take_keys()

    # ---------------------------------------------------------------- leaving

    def on_leave_asked(self) -> None:
        """Leaves as soon as what is being saved is saved; keys go on meaning something until then."""
        if any(worker.group == SAVING for worker in self.workers):
            self.run_worker(self._leave_when_saved(), group="leaving", exclusive=True)
        else:
            self.exit()

    async def _leave_when_saved(self) -> None:
        saving = [worker for worker in self.workers if worker.group == SAVING]
        await self.workers.wait_for_complete(saving)
        self.call_later(self.exit)

    def pop_screen(self) -> AwaitComplete:
        """Textual's. A click that was on its way to a panel may find that no panel is left."""
        return super().pop_screen() if len(self.screen_stack) > 1 else AwaitComplete()

    def _end(self, ending: signal.Signals) -> None:
        """Leaves with the terminal as it was, and with the exit code of what a signal ended."""
        self.ended_by = ending
        self.exit()

    async def action_quit(self) -> None:
        """Textual's own key for leaving, ^Q."""
        self.post_message(LeaveAsked())

    def on_theme_asked(self) -> None:
        """Light colours for dark ones, or the other way round."""
        theme = LIGHT if self.palette.theme.is_dark else DARK
        self.palette = Palette(theme, has_colours=not self.no_color)
        self.theme = theme.name
        for screen in self.screen_stack:
            for painted in screen.query(Painted):
                painted.refresh()


def _textual_theme(theme: Theme) -> TextualTheme:
    """Textual's form of the colours that its own widgets need."""
    return TextualTheme(
        name=theme.name,
        primary=theme.paints[Paint.ACCENT],
        foreground=theme.paints[Paint.TEXT],
        background=theme.ground,
        surface=theme.ground,
        panel=theme.panel,
        dark=theme.is_dark,
    )


def theme_of_terminal(environment: Mapping[str, str]) -> Theme:
    """Light on a terminal that says that its ground is (COLORFGBG: `0;15`), else dark."""
    ground = environment.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if ground in LIGHT_GROUNDS else DARK


def browse(
    timeline: Timeline,
    *,
    title: str,
    other: tuple[Timeline, str] | None = None,
    path: Path | None = None,
    theme: str | None = None,
) -> None:
    """Opens the browser on the terminal until the user quits; `title` is shown as the file's name.

    `other` is a second timeline and its title: both are then shown side by side. Bookmarks are kept
    beside the file at `path`; without one, until the browser is left. `theme` is a name of THEMES;
    without one the terminal is asked for its ground.
    """
    colours = THEMES[theme] if theme else theme_of_terminal(os.environ)
    browser = Browser(timeline, title, other, path, colours)
    browser.run()
    if browser.ended_by is not None:
        raise SystemExit(128 + browser.ended_by)


def export_svg(
    timeline: Timeline,
    path: Path,
    *,
    title: str = "",
    size: tuple[int, int] = (100, 30),
    keys: Iterable[str] = (),
    other: tuple[Timeline, str] | None = None,
    theme: str = "dark",
) -> None:
    """Writes the browser's screen as an SVG, after `keys` (Textual's names), without a terminal.

    `title` stands where the file's name does, by default the kernel's. `size` is (columns, lines).
    `other` is a second timeline and its title, side by side with the first. The same timelines,
    titles, size and keys give the same bytes. Raises FileError where the file cannot be written.
    """
    shown = title or timeline.trace.header.kernel
    lines = asyncio.run(_lines_after(Browser(timeline, shown, other), size, keys))
    write_picture(path, lines, size[0], Palette(THEMES[theme]))


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
