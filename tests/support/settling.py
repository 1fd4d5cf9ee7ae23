"""When an asyncio program has come to rest: for the keys that tests press."""

import asyncio


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
