"""What the main screen's actions do that are no moves: by name, each given the screen."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from ...schemas.errors import KerntapeError
from ..actions import named, on_timeline
from ..model import path_list, times
from ..model.area import in_area
from ..model.deadlock_lines import (
    BLOCKED_COLUMNS,
    blocked_commands,
    blocked_rows,
    deadlock_foot,
    deadlock_head,
    deadlock_lines,
    stage_before,
)
from ..model.finding import wanted_of
from ..model.index import NO_STAGE
from ..model.jumps import JumpError, beyond_words, to_command, to_line, to_pe, to_time
from ..model.look import jump
from ..model.marking import area_words, mark_area
from ..model.matching import compiled
from ..model.text import quoted
from ..new_file import check_new
from ..picture_file import picture_path
from ..typed import Typed, TypedError, completions, parse, speed_of
from ..typed_actions import TYPED
from .area import AreaPanel
from .bookmarks import Bookmarks
from .command_line import CommandLine
from .finder import Finder
from .host import Host, LeaveAsked, PictureAsked, ThemeAsked
from .keys import show_keys
from .left_off import LeftOff
from .list_panel import ListPanel
from .player import Player
from .reload import Reload
from .row_filter import ask_rows, filter_by
from .saving import save_stages, table_path
from .whole_stage import show_stage


class Main(Host, Protocol):
    """The main screen and its parts."""

    @property
    def finder(self) -> Finder: ...
    @property
    def player(self) -> Player: ...
    @property
    def bookmarks(self) -> Bookmarks: ...
    @property
    def left_off(self) -> LeftOff: ...
    @property
    def reload(self) -> Reload: ...

    def action_do(self, name: str) -> None:
        """Carries out an action by its name in the action table."""


MOST_DIGITS = 9
"""Numbers of commands and PEs have no more."""

PROMPT = (
    "7.4us · #31 · pe 5 · line 118 · find K · table NAME · reload · Tab completes · or any action"
)

Doing = Callable[[Main], None]
TypedDoing = Callable[[Main, str], None]


def _path_steps(screen: Main) -> None:
    index = screen.index
    panel = ListPanel(
        "critical path",
        "path_steps",
        count=path_list.path_count(index),
        head=partial(path_list.path_head, index),
        listed=partial(path_list.path_lines, index, screen.hazards),
        place=path_list.path_place(index, screen.look.stage),
        table=(path_list.PATH_COLUMNS, partial(path_list.path_rows, index)),
    )
    screen.app.push_screen(panel, partial(_go_to_step, screen))


def _go_to_step(screen: Main, place: int | None) -> None:
    if place is not None:
        stage = path_list.path_stage(screen.index, place)
        screen.go(jump(screen.index, screen.look, stage))


def _deadlock(screen: Main) -> None:
    found = screen.index.timeline.deadlock
    panel = ListPanel(
        "deadlock",
        "deadlock",
        count=len(blocked_commands(found)) if found else 0,
        head=partial(deadlock_head, found),
        listed=lambda *place: deadlock_lines(found, *place) if found else [],
        foot=partial(deadlock_foot, screen.index),
        place=screen.left_off.in_deadlock(screen.index),
        table=(BLOCKED_COLUMNS, partial(blocked_rows, found)),
    )
    screen.app.push_screen(panel, partial(_go_to_blocked, screen, panel))


def _go_to_blocked(screen: Main, panel: ListPanel, place: int | None) -> None:
    screen.left_off.leave_deadlock(screen.index, panel.place)
    found = screen.index.timeline.deadlock
    if place is None or found is None:
        return
    blocked = blocked_commands(found)[place]
    stage = stage_before(screen.index, blocked)
    if stage == NO_STAGE:
        screen.say(str(blocked))
    else:
        screen.go(jump(screen.index, screen.look, stage), str(blocked))


def _step_hazard(screen: Main, by: int) -> None:
    row = screen.hazards.beside(screen.look.stage, by)
    if row is None:
        seen = len(screen.hazards)
        screen.say(
            "no hazard in this direction" if seen else "no hazard: Tab, a finds possible ones"
        )
        return
    later = int(screen.hazards.sites.later[row])
    screen.go(jump(screen.index, screen.look, later), screen.hazards.sentence(row))


def _area(screen: Main) -> None:
    look = mark_area(screen.index, screen.look)
    screen.go(look, area_words(screen.look, look))
    if look.area is not None:
        show_area(screen)


def show_area(screen: Main) -> None:
    """The figures of the area, or that there is none."""
    area = screen.look.area
    if area is None:
        screen.say(
            "no area yet: v begins one at the cursor, v ends it elsewhere; or drag the mouse"
        )
        return
    screen.app.push_screen(AreaPanel(screen.index, screen.hazards, area))


def _command_line(screen: Main) -> None:
    offers = partial(_completions, screen)
    line = CommandLine(PROMPT, partial(_complaint, screen), offers)
    screen.app.push_screen(line, partial(_run, screen))


def _completions(screen: Main, text: str) -> tuple[str, ...]:
    return completions(text, screen.index)


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
        case "time":
            times.parse_signed(argument)
        case "speed":
            speed_of(argument)
        case "command":
            to_command(index, look, _number(argument))
        case "pe":
            to_pe(index, look, _number(argument))
        case "line":
            to_line(index, look, argument)
        case "find":
            wanted_of(argument)
        case "filter":
            compiled(argument)
        case "table" if argument:
            check_new(table_path(argument))
        case "picture" if argument:
            check_new(picture_path(argument))


def _number(text: str) -> int:
    if not text.isdecimal():
        raise TypedError(f"a number must be of digits, not {quoted(text)}")
    if len(text) > MOST_DIGITS:
        raise TypedError(f"a number must be of at most {MOST_DIGITS} digits, not {len(text):,}")
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


def _keys(screen: Main) -> None:
    show_keys(screen, (*on_timeline(), *TYPED))


def _save_table(screen: Main, name: str = "") -> None:
    """The stages of the area, or of what is shown."""
    index, look = screen.index, screen.look
    view = "area" if look.area else "timeline"
    stages = in_area(index, look.area or (look.from_ps, look.to_ps))
    save_stages(screen, view, index, stages, name)


def _save_picture(screen: Main, name: str = "") -> None:
    screen.post_message(PictureAsked(screen.say, "timeline", name))


def _to_time(screen: Main, text: str) -> None:
    index, time_ps = screen.index, times.parse_signed(text)
    screen.go(to_time(index, screen.look, time_ps), beyond_words(index, time_ps))


def _theme(screen: Main) -> None:
    screen.post_message(ThemeAsked())


def _leave(screen: Main) -> None:
    screen.post_message(LeaveAsked())


DOINGS: dict[str, Doing] = {
    "stage_box": show_stage,
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
    "filter": ask_rows,
    "command_line": _command_line,
    "bookmark": lambda screen: screen.bookmarks.add(),
    "bookmarks": lambda screen: screen.bookmarks.show(),
    "reload": lambda screen: screen.reload.begin(),
    "fresh_notes": lambda screen: screen.bookmarks.begin_anew(),
    "help": _keys,
    "save_picture": _save_picture,
    "save_table": _save_table,
    "theme": lambda screen: _theme(screen),
    "suspend": lambda screen: screen.app.action_suspend_process(),
    "quit": lambda screen: _leave(screen),
}
"""By the action's name."""

TYPED_DOINGS: dict[str, TypedDoing] = {
    "time": _to_time,
    "command": lambda screen, text: screen.go(to_command(screen.index, screen.look, int(text))),
    "pe": lambda screen, text: screen.go(to_pe(screen.index, screen.look, int(text))),
    "line": lambda screen, text: screen.go(to_line(screen.index, screen.look, text)),
    "find": lambda screen, text: screen.finder.find(text),
    "filter": filter_by,
    "mark": lambda screen, text: screen.bookmarks.add(name=text),
    "note": lambda screen, text: screen.bookmarks.add(text=text),
    "speed": lambda screen, text: screen.player.set_speed(speed_of(text)),
    "table": _save_table,
    "picture": _save_picture,
}
"""What is typed with an argument."""
