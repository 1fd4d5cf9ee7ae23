"""What the main screen's actions do that are no moves: by name, each given the screen."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from ...schemas.errors import KerntapeError
from ..actions import named, on_timeline
from ..model import path, times
from ..model.area import in_area
from ..model.deadlock_lines import (
    blocked_commands,
    deadlock_head,
    deadlock_lines,
    stage_before,
)
from ..model.index import NO_STAGE
from ..model.jumps import JumpError, to_command, to_line, to_pe, to_time
from ..model.look import select
from ..model.marking import mark_area
from ..model.rows import filter_rows
from ..typed import Typed, TypedError, parse
from ..typed_actions import TYPED
from .area import AreaPanel
from .ask import AskLine
from .bookmarks import Bookmarks
from .command_line import CommandLine
from .finder import Finder, pattern_complaint
from .host import ExportAsked, Host, LeaveAsked, ThemeAsked
from .keys import show_keys
from .list_panel import ListPanel
from .player import Player
from .saving import save_stages


class Main(Host, Protocol):
    """The main screen and its parts."""

    @property
    def finder(self) -> Finder: ...
    @property
    def player(self) -> Player: ...
    @property
    def bookmarks(self) -> Bookmarks: ...

    def action_do(self, name: str) -> None:
        """Carries out an action by its name in the action table."""


Doing = Callable[[Main], None]
TypedDoing = Callable[[Main, str], None]


def _path_steps(screen: Main) -> None:
    index = screen.index
    panel = ListPanel(
        "critical path",
        "path_steps",
        count=path.path_count(index),
        head=partial(path.path_head, index),
        listed=partial(path.path_lines, index),
        place=path.path_place(index, screen.look.stage),
    )
    screen.app.push_screen(panel, partial(_go_to_step, screen))


def _go_to_step(screen: Main, place: int | None) -> None:
    if place is not None:
        stage = path.path_stage(screen.index, place)
        screen.go(select(screen.index, screen.look, stage))


def _deadlock(screen: Main) -> None:
    found = screen.index.timeline.deadlock
    panel = ListPanel(
        "deadlock",
        "deadlock",
        count=len(blocked_commands(found)) if found else 0,
        head=partial(deadlock_head, found),
        listed=lambda *place: deadlock_lines(found, *place) if found else [],
    )
    screen.app.push_screen(panel, partial(_go_to_blocked, screen))


def _go_to_blocked(screen: Main, place: int | None) -> None:
    found = screen.index.timeline.deadlock
    if place is None or found is None:
        return
    blocked = blocked_commands(found)[place]
    stage = stage_before(screen.index, blocked)
    if stage == NO_STAGE:
        screen.say(str(blocked))
    else:
        screen.go(select(screen.index, screen.look, stage), str(blocked))


def _step_hazard(screen: Main, by: int) -> None:
    row = screen.hazards.beside(screen.look.stage, by)
    if row is None:
        screen.say("no hazard in this direction")
        return
    later = int(screen.hazards.sites.later[row])
    screen.go(select(screen.index, screen.look, later), screen.hazards.sentence(row))


def _area(screen: Main) -> None:
    look = mark_area(screen.index, screen.look)
    screen.go(look, "" if look.area or screen.look.area else "area: v again ends it at the cursor")
    if look.area is not None:
        show_area(screen)


def show_area(screen: Main) -> None:
    """The figures of the area, or that there is none."""
    area = screen.look.area
    if area is None:
        screen.say("no area yet: v begins one at the cursor, or drag the mouse")
        return
    screen.app.push_screen(AreaPanel(screen.index, screen.hazards, area))


def _command_line(screen: Main) -> None:
    line = CommandLine(screen.index, partial(_complaint, screen))
    screen.app.push_screen(line, partial(_run, screen))


def _complaint(screen: Main, text: str) -> str:
    """What is wrong with a typed text; '' where it can be done, or nothing was typed."""
    if not text.strip():
        return ""
    try:
        typed = parse(text)
        _check(screen, typed)
    except KerntapeError as error:
        return str(error)
    return ""


def _check(screen: Main, typed: Typed) -> None:
    """Raises where a jump leads nowhere or an argument is wrong, before anything is done."""
    index, look, argument = screen.index, screen.look, typed.argument
    match typed.name:
        case "time" | "speed":
            times.parse(argument)
        case "command":
            to_command(index, look, _number(argument))
        case "pe":
            to_pe(index, look, _number(argument))
        case "line":
            to_line(index, look, argument)
        case "find" | "filter":
            complaint = pattern_complaint(argument)
            if complaint:
                raise TypedError(complaint)


def _number(text: str) -> int:
    if not text.isdecimal():
        raise TypedError(f"a number must be of digits, not {text!r}")
    return int(text)


def _run(screen: Main, text: str | None) -> None:
    """Does what was typed and has been checked."""
    if text is None or not text.strip():
        return
    typed = parse(text)
    try:
        if typed.name in TYPED_DOINGS and (typed.argument or named(typed.name).argument):
            TYPED_DOINGS[typed.name](screen, typed.argument)
        else:
            screen.action_do(typed.name)
    except (KerntapeError, JumpError) as error:
        screen.say(str(error))


def _filter(screen: Main) -> None:
    line = AskLine("only rows like (a regular expression; empty: all): ", pattern_complaint)
    screen.app.push_screen(line, partial(_filtered, screen))


def _filtered(screen: Main, pattern: str | None) -> None:
    if pattern is not None:
        filter_by(screen, pattern)


def filter_by(screen: Main, pattern: str) -> None:
    """Shows only rows like that; where none is, nothing changes."""
    look = filter_rows(screen.index, screen.look, pattern)
    screen.go(look, f"no row is like {pattern}" if look is screen.look else "")


def _keys(screen: Main) -> None:
    show_keys(screen, (*on_timeline(), *TYPED))


def _csv(screen: Main, name: str = "") -> None:
    """The stages of the area, or of what is shown."""
    index, look = screen.index, screen.look
    save_stages(screen, index, in_area(index, look.area or (look.from_ps, look.to_ps)), name)


def ask_export(screen: Main, name: str = "") -> None:
    """Asks for this screen as a picture, by the timeline's name if it has none of its own."""
    screen.post_message(ExportAsked(screen.say, name))


def _theme(screen: Main) -> None:
    screen.post_message(ThemeAsked())


def _leave(screen: Main) -> None:
    screen.post_message(LeaveAsked())


DOINGS: dict[str, Doing] = {
    "path_steps": _path_steps,
    "deadlock": _deadlock,
    "next_hazard": partial(_step_hazard, by=1),
    "previous_hazard": partial(_step_hazard, by=-1),
    "next_match": lambda screen: screen.finder.go(1),
    "previous_match": lambda screen: screen.finder.go(-1),
    "find": lambda screen: screen.finder.ask(),
    "play": lambda screen: screen.player.start(),
    "play_faster": lambda screen: screen.player.change(1),
    "play_slower": lambda screen: screen.player.change(-1),
    "area": _area,
    "area_figures": show_area,
    "filter": _filter,
    "command_line": _command_line,
    "bookmark": lambda screen: screen.bookmarks.add(),
    "bookmarks": lambda screen: screen.bookmarks.show(),
    "help": _keys,
    "export": lambda screen: ask_export(screen),
    "export_csv": _csv,
    "theme": lambda screen: _theme(screen),
    "quit": lambda screen: _leave(screen),
}
"""By the action's name."""

TYPED_DOINGS: dict[str, TypedDoing] = {
    "time": lambda screen, text: screen.go(to_time(screen.index, screen.look, times.parse(text))),
    "command": lambda screen, text: screen.go(to_command(screen.index, screen.look, int(text))),
    "pe": lambda screen, text: screen.go(to_pe(screen.index, screen.look, int(text))),
    "line": lambda screen, text: screen.go(to_line(screen.index, screen.look, text)),
    "find": lambda screen, text: screen.finder.find(text),
    "filter": filter_by,
    "mark": lambda screen, text: screen.bookmarks.add(name=text),
    "note": lambda screen, text: screen.bookmarks.add(text=text),
    "speed": lambda screen, text: screen.player.set_speed(times.parse(text)),
    "csv": _csv,
    "svg": lambda screen, text: ask_export(screen, text),
}
"""What is typed with an argument."""
