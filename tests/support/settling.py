"""When what a test does is done: an asyncio program has come to rest, its threads too."""

import asyncio
from collections.abc import Callable

from textual.pilot import Pilot

PRESS = Pilot.press


async def at_rest(_least_s: float = 0, most_s: float = 1) -> None:
    """Waits until the running loop has nothing to run: all that is left waits for a timer, a thread or
    a file. Gives up after `most_s`, where something never rests.

    Stands for `textual._wait.wait_for_idle`, which sleeps until the processor looks idle: 20 ms at
    least, longer on a busy machine, and too short where the process was not given its turn.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + most_s
    while True:
        await asyncio.sleep(0)
        if not loop._ready or loop.time() > end:  # what asyncio's loops run next, but this
            return


async def until(is_so: Callable[[], object], most_s: float = 20) -> None:
    """Waits for what comes to be so while other things go on: a thread halts, or shows what it found."""
    loop = asyncio.get_running_loop()
    end = loop.time() + most_s
    while not is_so():
        assert loop.time() < end
        await asyncio.sleep(0.001)


async def settled(pilot: Pilot[None]) -> None:
    """Whatever threads are at is done and shown."""
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def press_until_taken(pilot: Pilot[None], *keys: str) -> None:
    """Stands for `Pilot.press`, which does not know that a screen may let keys wait until it knows what
    they mean.
    """
    await PRESS(pilot, *keys)
    await until(lambda: not pilot.app._keys_in_turn)
    await pilot.pause()
