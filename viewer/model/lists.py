"""Moving through a long list of which only a part is shown, and what to say of the rest."""

from collections.abc import Sequence
from dataclasses import dataclass


def moved(action: str, place: int, count: int, page: int) -> int:
    """The place after a list action (viewer.actions, section "In a list or panel") among `count`."""
    steps = {
        "list_down": place + 1,
        "list_up": place - 1,
        "list_page_down": place + page,
        "list_page_up": place - page,
        "list_first": 0,
        "list_last": count - 1,
    }
    return max(0, min(steps[action], count - 1))


TO_THE_END = ("list_down", "list_page_down", "list_last")


def end_words(action: str, count: int) -> str:
    """Why a list action leads nowhere."""
    if not count:
        return "nothing is listed"
    return "this is the last line" if action in TO_THE_END else "this is the first line"


def scroll_top(top: int, chosen: int, count: int, height: int) -> int:
    """The first line to show so that `chosen` is among `height` lines, moving as little as may be."""
    top = min(max(top, chosen - height + 1), chosen)
    return max(0, min(top, count - height))


@dataclass(frozen=True, slots=True)
class Unseen:
    """How many lines of a list lie above and below those that are shown."""

    above: int = 0
    below: int = 0

    @property
    def words(self) -> str:
        """`↑ 3 more  ↓ 4 more`, only the ways in which there are any; '' where all is shown."""
        ways = (("↑", self.above), ("↓", self.below))
        return "  ".join(f"{way} {count:,} more" for way, count in ways if count)


ALL_SEEN = Unseen()


def unseen(count: int, top: int, height: int) -> Unseen:
    """What `height` lines from `top` on leave out of `count`."""
    return Unseen(min(top, count), max(count - top - height, 0))


def unseen_among(counts: Sequence[bool], top: int, height: int) -> Unseen:
    """What `height` lines from `top` on leave out of those lines that count."""
    return Unseen(sum(counts[:top]), sum(counts[top + height :]))
