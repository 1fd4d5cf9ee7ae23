"""What the main screen's actions do that are no moves: by name, each given the screen."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.worker import get_current_worker

from ...schemas.columns import Int64s
from ...schemas.errors import FileError, KerntapeError
from ..actions import named
from ..csv_file import write_csv
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
from ..picture_file import free_name
from ..typed import Typed, TypedError, parse
from .area import AreaPanel
from .ask import AskLine
from .command_line import CommandLine
from .finder import pattern_complaint
from .keys import KeysScreen
from .list_panel import ListPanel

if TYPE_CHECKING:
    from .timeline import TimelineScreen

Doing = Callable[["TimelineScreen"], None]
TypedDoing = Callable[["TimelineScreen", str], None]


def _path_steps(screen: "TimelineScreen") -> None:
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


def _go_to_step(screen: "TimelineScreen", place: int | None) -> None:
    if place is not None:
        stage = path.path_stage(screen.index, place)
        screen.go(select(screen.index, screen.look, stage))


def _deadlock(screen: "TimelineScreen") -> None:
    found = screen.index.timeline.deadlock
    panel = ListPanel(
        "deadlock",
        "deadlock",
        count=len(blocked_commands(found)) if found else 0,
        head=partial(deadlock_head, found),
        listed=lambda *place: deadlock_lines(found, *place) if found else [],
    )
    screen.app.push_screen(panel, partial(_go_to_blocked, screen))


def _go_to_blocked(screen: "TimelineScreen", place: int | None) -> None:
    found = screen.index.timeline.deadlock
    if place is None or found is None:
        return
    blocked = blocked_commands(found)[place]
    stage = stage_before(screen.index, blocked)
    if stage == NO_STAGE:
        screen.say(str(blocked))
    else:
        screen.go(select(screen.index, screen.look, stage), str(blocked))


def _step_hazard(screen: "TimelineScreen", by: int) -> None:
    row = screen.hazards.beside(screen.look.stage, by)
    if row is None:
        screen.say("no hazard in this direction")
        return
    later = int(screen.hazards.sites.later[row])
    screen.go(select(screen.index, screen.look, later), screen.hazards.sentence(row))


def _area(screen: "TimelineScreen") -> None:
    look = mark_area(screen.index, screen.look)
    screen.go(look, "" if look.area or screen.look.area else "area: v again ends it at the cursor")
    if look.area is not None:
        show_area(screen)


def show_area(screen: "TimelineScreen") -> None:
    """The figures of the area, or that there is none."""
    area = screen.look.area
    if area is None:
        screen.say("no area yet: v begins one at the cursor, or drag the mouse")
        return
    screen.app.push_screen(AreaPanel(screen.index, screen.hazards, area))


def _command_line(screen: "TimelineScreen") -> None:
    line = CommandLine(screen.index, partial(_complaint, screen))
    screen.app.push_screen(line, partial(_run, screen))


def _complaint(screen: "TimelineScreen", text: str) -> str:
    """What is wrong with a typed text; '' where it can be done, or nothing was typed."""
    if not text.strip():
        return ""
    try:
        typed = parse(text)
        _check(screen, typed)
    except KerntapeError as error:
        return str(error)
    return ""


def _check(screen: "TimelineScreen", typed: Typed) -> None:
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


def _run(screen: "TimelineScreen", text: str | None) -> None:
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


def _filter(screen: "TimelineScreen") -> None:
    line = AskLine("only rows like (a regular expression; empty: all): ", pattern_complaint)
    screen.app.push_screen(line, partial(_filtered, screen))


def _filtered(screen: "TimelineScreen", pattern: str | None) -> None:
    if pattern is not None:
        filter_by(screen, pattern)


def filter_by(screen: "TimelineScreen", pattern: str) -> None:
    """Shows only rows like that; where none is, nothing changes."""
    look = filter_rows(screen.index, screen.look, pattern)
    screen.go(look, f"no row is like {pattern}" if look is screen.look else "")


def _keys(screen: "TimelineScreen") -> None:
    screen.app.push_screen(KeysScreen(), partial(_do_chosen, screen))


def _do_chosen(screen: "TimelineScreen", name: str | None) -> None:
    if name is None:
        return
    if named(name).argument:
        screen.say(f"type {named(name).shown}")
    else:
        screen.action_do(name)


def _csv(screen: "TimelineScreen", name: str) -> None:
    """The stages of the area, or of what is shown."""
    index, look = screen.index, screen.look
    stages = in_area(index, look.area or (look.from_ps, look.to_ps))
    path_to = _with_suffix(name, ".csv") if name else free_name(Path(), index.name, ".csv")
    screen.say(f"saving {len(stages)} stages …")
    screen.run_worker(partial(_write_csv, screen, path_to, stages), thread=True)


def _write_csv(screen: "TimelineScreen", path_to: Path, stages: Int64s) -> None:
    """In a thread: a million lines take a while."""
    try:
        write_csv(path_to, screen.index, stages)
    except FileError as error:
        said = str(error)
    else:
        said = f"saved {len(stages)} stages as {path_to.name}"
    if not get_current_worker().is_cancelled:
        screen.app.call_from_thread(screen.say, said)


def _with_suffix(name: str, suffix: str) -> Path:
    return Path(name if name.endswith(suffix) else name + suffix)


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
    "svg": lambda screen, text: screen.ask_export(text),
}
"""What is typed with an argument."""
