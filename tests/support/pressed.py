"""What a test types after `:`."""

from settling import settled
from textual.pilot import Pilot


async def type_in(pilot: Pilot[None], words: str) -> None:
    """A line after `:`, and Enter."""
    await pilot.press("colon", *words, "enter")


async def reload(pilot: Pilot[None]) -> None:
    """Opens the files anew, and waits until that is shown."""
    await type_in(pilot, "reload")
    await settled(pilot)
