"""Moving through a long list of which only a part is shown."""


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
