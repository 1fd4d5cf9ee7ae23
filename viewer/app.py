"""The browser as a Textual application, and its screen as a picture without a terminal."""

import asyncio
import os
import sys
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.message import Message
from textual.pilot import Pilot
from textual.theme import Theme as TextualTheme
from textual.widget import AwaitMount

from ..schemas.errors import KerntapeError
from ..schemas.timeline import Timeline
from .actions import named
from .daemon_threads import DaemonThreads
from .endings import Ending
from .job_control import has_shell, stop_job
from .model.help import MODIFIER_KEYS
from .model.index import TimelineIndex
from .model.text import Line
from .model.tones import Paint
from .picture_file import compose, picture_name, write_picture
from .screens.ask import AskLine
from .screens.command_line import CommandLine
from .screens.host import LeaveAsked, PictureAsked
from .screens.keys import KeysScreen
from .screens.panel import Panel
from .screens.reload import Reopen
from .screens.saving import SAVING
from .screens.timeline import TimelineScreen
from .terminal_driver import sturdy
from .widgets.painted import Painted
from .widgets.palette import DARK, LIGHT, Palette, Theme, theme_of_terminal

THEMES = {"dark": DARK, "light": LIGHT}

SWITCH_S = 0.0005
"""How long a thread may run Python while the screen wants to; Python's own 5 ms add up to a tenth of a
second a key.
"""

NO_SHELL = "there is no shell here to go back to: q leaves"

TYPING_SCREENS = (AskLine, CommandLine, KeysScreen)
"""The screens with a line to type in."""


class EnterTaken(Message):
    """A line that is typed in has taken an Enter."""


class Browser(App[None]):
    """Shows one timeline, or two side by side, until the user quits."""

    CSS_PATH = "browser.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, "suspend_process", show=False, priority=True) for key in named("suspend").keys
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        timeline: Timeline,
        title: str,
        other: tuple[Timeline, str] | None = None,
        path: Path | None = None,
        theme: Theme = DARK,
        reopen: Reopen | None = None,
    ) -> None:
        has_colours = "NO_COLOR" not in os.environ
        super().__init__(ansi_color=not has_colours or None)
        self.palette = Palette(theme, has_colours=has_colours)
        for one in (DARK, LIGHT):
            self.register_theme(_textual_theme(one))
        self.theme = theme.name
        self.title = title
        self._keys_in_turn: deque[events.Key | events.Paste] = deque()
        self._entered_on: AskLine | CommandLine | KeysScreen | None = None
        self.ending = Ending(self.exit)
        self._path = path
        self._reopen = reopen
        self._index = TimelineIndex(timeline, title)
        self._other = TimelineIndex(*other) if other else None

    def get_driver_class(self) -> type[Driver]:
        """Textual's for this platform, made to live through what terminals do."""
        return sturdy(super().get_driver_class())

    def on_load(self) -> None:
        """No thread at work keeps the browser from being left, or makes a key wait for long."""
        loop = asyncio.get_running_loop()
        loop.set_default_executor(DaemonThreads())
        if not self.is_headless:
            self.ending.listen(loop)
        sys.setswitchinterval(SWITCH_S)

    def get_default_screen(self) -> TimelineScreen:
        """The one screen; panels are laid over it."""
        return TimelineScreen(self._index, self._other, self._path, self._reopen)

    def screen_lines(self) -> list[Line]:
        """What is painted on the whole terminal, panels over the timeline."""
        painted = [one for screen in self.screen_stack for one in screen.query(Painted)]
        patches = [(one.region.x, one.region.y, one.lines) for one in painted]
        return compose(patches, self.size.width, self.size.height)

    def on_picture_asked(self, event: PictureAsked) -> None:
        """Writes what is on the screen beside the user's other files, never over one of them."""
        try:
            path = picture_name(event.name, self.title, event.view)
            write_picture(path, self.screen_lines(), self.size.width, Palette(self.palette.theme))
        except KerntapeError as error:
            event.say(str(error))
        else:
            event.say(f"saved {path.name}")

    # ---------------------------------------------------------------- keys in their turn

    async def on_event(self, event: events.Event) -> None:
        """Textual's. Where many keys come at once, each waits until the screen in front is there and knows
        what it means, and until a line has taken an Enter: what is behind that is for the screen in
        front then. So it is with what is pasted. Some terminals tell of Shift and the like alone: that
        is no key yet.
        """
        if not isinstance(event, events.Key | events.Paste):
            await super().on_event(event)
        elif isinstance(event, events.Paste) or event.key not in MODIFIER_KEYS:
            self._keys_in_turn.append(event)
            await self._take_keys()

    async def _take_keys(self) -> None:
        """Takes one. What a screen that it closes leads to comes before the next one."""
        if not self._keys_in_turn or self._entered_on is self.screen:
            return
        if not self._means_something(self._keys_in_turn[0]):
            return
        await self._front_is_there()
        key, screen = self._keys_in_turn.popleft(), self.screen
        if isinstance(screen, TYPING_SCREENS):
            screen.set_focus(screen.line)  # even if the terminal said that nobody looks at it
            is_entered = isinstance(key, events.Key) and key.key == "enter"
            self._entered_on = screen if is_entered else None
        await super().on_event(key)
        self.call_next(self._take_keys)

    def _means_something(self, event: events.Key | events.Paste) -> bool:
        """Whether the screen in front knows what the key means, or that it means nothing."""
        screen = self.screen
        if isinstance(screen, Panel) and isinstance(event, events.Key):
            return screen.takes(event.key)
        return True

    async def _front_is_there(self) -> None:
        """Waits until the screen in front has its widgets, which takes no key."""
        while not self.screen.is_mounted:
            await AwaitMount(self.screen, [self.screen])

    def line_has_taken_enter(self) -> None:
        """What was typed is done before the keys behind it are taken."""
        self.screen.call_later(self.post_message, EnterTaken())

    async def on_enter_taken(self) -> None:
        """The keys that waited are taken."""
        self._entered_on = None
        await self._take_keys()

    async def on_takes_keys_now(self) -> None:
        """The keys that waited until the screen in front knew what they mean are taken."""
        await self._take_keys()

    # ---------------------------------------------------------------- the shell, and back

    def action_suspend_process(self) -> None:
        """As terminal programs do on ^Z: the whole job stops, a script around it too, and the shell is
        back. Where no shell waits for it, nothing would ever wake it, and the screen says so.
        """
        if self._driver is not None and self._driver.can_suspend and has_shell():
            with self.suspend():
                stop_job()
        elif hasattr(self.screen, "say"):
            self.screen.say(NO_SHELL)
        else:
            self.bell()

    def on_driver_signal_resume(self) -> None:
        """The screen is painted anew: what the shell showed meanwhile lies where it was."""
        self.refresh(layout=True)
        for screen in self.screen_stack:
            screen.refresh(layout=True)

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


def browse(
    timeline: Timeline,
    *,
    title: str,
    other: tuple[Timeline, str] | None = None,
    path: Path | None = None,
    theme: str | None = None,
    reopen: Reopen | None = None,
) -> None:
    """Opens the browser on the terminal until the user quits; `title` is shown as the file's name.

    `other` is a second timeline and its title: both are then shown side by side. Bookmarks are kept
    beside the file at `path`; without one, until the browser is left. `theme` is a name of THEMES;
    without one the terminal is asked for its ground. `reopen` opens the files anew, in a thread, and
    gives their timelines.

    Raises SystemExit(1) where the browser failed, which it has told by then, and what `Ending.conclude`
    does where a signal ended it.
    """
    colours = THEMES[theme] if theme else theme_of_terminal(os.environ)
    browser = Browser(timeline, title, other, path, colours, reopen)
    browser.run()
    browser.ending.conclude(browser.return_code or 0)


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
