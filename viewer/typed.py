"""What is typed after `:`, from the action table: its name and argument, and how it could go on.

    7.4us · #31 · time 7.4us · command 31 · pe 5 · line decode.py:118 · table NAME · zoom_in · q

Knows no Textual. Every action of the timeline can be typed by its name, those without keys only so.
"""

from dataclasses import dataclass

from ..schemas.errors import KerntapeError, did_you_mean
from .actions import named, on_timeline
from .model import times
from .model.finding import PREFIXES, find_completions
from .model.index import TimelineIndex
from .model.playing import LEAST_PS_PER_S
from .model.text import quoted
from .panel_actions import PANEL_ACTIONS
from .typed_actions import TYPED

SHORT = {
    "q": "quit",
    "h": "help",
    "e": "save_picture",
    "E": "save_table",
    "n": "next_match",
    "N": "previous_match",
}
"""Words that hands know from elsewhere."""

WITH_PATTERN = ("find", "filter")


class TypedError(KerntapeError):
    """What was typed says nothing that can be done."""


@dataclass(frozen=True, slots=True)
class Typed:
    """An action's name and what was typed behind it."""

    name: str
    argument: str = ""


def parse(text: str) -> Typed:
    """What the text asks for. TypedError with the nearest name where there is no such action."""
    word, _, argument = text.strip().partition(" ")
    argument = argument.strip()
    if word.startswith("#"):
        return Typed("command", word.removeprefix("#"))
    if word.lstrip("-−")[:1].isdecimal():
        return Typed("time", text.strip())
    name = SHORT.get(word, word)
    elsewhere = [action.section for action in PANEL_ACTIONS if action.name == name]
    if elsewhere:
        raise TypedError(f"{name} is for another screen: {elsewhere[0].lower()}")
    if name not in names():
        raise TypedError(f"no action is called {quoted(word)}{did_you_mean(word, names())}")
    if named(name).argument and not argument and name not in OPTIONAL:
        raise TypedError(f"{name} needs {named(name).argument}: {named(name).shown}")
    if argument and not named(name).argument and name not in WITH_PATTERN:
        raise TypedError(f"{name} takes nothing behind it")
    return Typed(name, argument)


def speed_of(text: str) -> int:
    """Picoseconds to play in a second. TypedError where that is less than one a tick."""
    speed = times.parse(text)
    if speed < LEAST_PS_PER_S:
        least = times.short(LEAST_PS_PER_S)
        raise TypedError(f"a speed must be at least {least} a second, not {quoted(text)}")
    return speed


OPTIONAL = ("picture", "table", "mark")
"""Actions that find an argument themselves."""


def names() -> tuple[str, ...]:
    """Every name that can be typed, sorted."""
    return tuple(sorted(action.name for action in (*on_timeline(), *TYPED)))


def completions(text: str, index: TimelineIndex) -> tuple[str, ...]:
    """How the text could go on: whole texts, sorted, those that begin with it."""
    word, space, argument = text.lstrip().partition(" ")
    if not space:
        return tuple(name for name in names() if name.startswith(word))
    if word == "find":
        return tuple(f"find {one}" for one in _to_find(argument.lstrip(), index))
    return tuple(
        f"{word} {one}" for one in _arguments(word, index) if one.startswith(argument.lstrip())
    )


def _arguments(word: str, index: TimelineIndex) -> tuple[str, ...]:
    trace = index.timeline.trace
    match word:
        case "pe":
            return tuple(str(pe.rank) for pe in trace.pes)
        case "line":
            lines = {(line.file, line.number) for line in trace.lines}
            return tuple(f"{file}:{number}" for file, number in sorted(lines))
    return ()


def _to_find(pattern: str, index: TimelineIndex) -> tuple[str, ...]:
    """How a pattern could go on: a prefix, what there is behind one, or a handle's label."""
    labels = {text for text in index.timeline.trace.strings if text.isidentifier()}
    is_bare = ":" not in pattern
    more = (one for one in sorted(labels) if is_bare and one.startswith(pattern))
    return (*find_completions(index, pattern), *more)


def completed(text: str, found: tuple[str, ...], behind: str = " ") -> str:
    """The text with what all its completions share; the only one with `behind` behind it, unless a
    pattern goes on there.
    """
    if not found:
        return text
    if len(found) == 1:
        return found[0] + ("" if found[0].endswith(PREFIXES) else behind)
    first, last = found[0], max(found)
    shared = next(
        (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first)
    )
    return max(first[:shared], text, key=len)
