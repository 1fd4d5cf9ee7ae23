"""What a test types, as keys of a pilot, and what it waits for then."""

from textual.pilot import Pilot

KEY_NAMES = {
    " ": "space",
    "#": "number_sign",
    ":": "colon",
    ".": "full_stop",
    "_": "underscore",
    "^": "circumflex_accent",
    "$": "dollar_sign",
    "|": "vertical_line",
}


def typed(text: str) -> list[str]:
    """Textual's names for the keys."""
    return [KEY_NAMES.get(character, character) for character in text]


async def type_in(pilot: Pilot[None], words: str) -> None:
    """A line after `:`, and Enter."""
    await pilot.press("colon", *typed(words), "enter")


async def settled(pilot: Pilot[None]) -> None:
    """Whatever threads are at is done and shown."""
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def reload(pilot: Pilot[None]) -> None:
    """Opens the files anew, and waits until that is shown."""
    await type_in(pilot, "reload")
    await settled(pilot)
