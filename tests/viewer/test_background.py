"""What the main screen has worked out by threads, on a screen of any height."""

import pytest
from kerntape.viewer.model.idle_cells import idle_times
from timeline_builder import decode_like, topology


@pytest.fixture(scope="module")
def many():
    """32 PEs: 4 CUBEs and 32 PEs as groups, 8 engines each, so 292 rows."""
    return decode_like(1, launched=32, machine=topology(cubes=(4, 1), pes=(4, 2)))


@pytest.mark.parametrize(("opened", "resized"), [((120, 330), None), ((120, 60), (120, 330))])
def test_idle_time_is_worked_out_for_every_row_of_a_tall_screen(drive, many, opened, resized):
    async def scenario(pilot, screen):
        await pilot.press("4", "i")
        if resized:
            await pilot.app.workers.wait_for_complete()
            await pilot.resize_terminal(*resized)
        await pilot.pause()
        await pilot.app.workers.wait_for_complete()
        rows = [row for row in screen.index.tree.rows if not row.is_group]
        return [row.key for row in rows if idle_times(screen.index).known(row) is None]

    assert drive(many, scenario, opened) == []
