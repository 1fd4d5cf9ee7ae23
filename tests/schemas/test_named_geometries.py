"""What a form's commands name in a slot is looked at once where all name alike, and else in each."""

import numpy as np
import pytest
from kerntape.schemas.form_rows import FormRows
from kerntape.schemas.named_geometries import Handles, NamedGeometries

SLOTS = 3


def named(slots: list[list[int]], streams: int = 1) -> NamedGeometries:
    """Four commands of one form, [slot, command]; of all streams' handles, h has geometry h."""
    rows = FormRows(np.zeros(4, np.int32), np.array([SLOTS], np.int32))
    geometries = np.arange(5 * streams, dtype=np.int8)
    counts = np.full(streams, 5, np.int32), np.full(streams, 4 // streams, np.int32)
    return Handles(geometries, *counts).named(rows.groups[0], np.array(slots, np.int32))


@pytest.mark.parametrize(
    ("wrong", "first"),
    [
        (3, [0, None, None]),  # slot 0 names geometry 3 always
        (1, [None, 0, 0]),
        (2, [None, 1, 3]),  # slot 1 names 1 and 2 in turn, slot 2 names 2 in the last command only
        (4, [None, None, None]),
    ],
)
def test_the_first_command_with_a_wrong_geometry_is_found(
    wrong: int, first: list[int | None]
) -> None:
    each = named([[3, 3, 3, 3], [1, 2, 1, 2], [1, 1, 1, 2]])
    mask = np.arange(5) == wrong
    assert [each.first(slot, mask) for slot in range(SLOTS)] == first


def test_handles_count_within_their_stream() -> None:
    # two streams of two commands and five handles: the second's handle 4 is the tenth of all
    each = named([[4, 0, 4, 0], [1, 1, 1, 1], [0, 0, 0, 2]], streams=2)
    assert each.ids.tolist() == [[4, 0, 9, 5], [1, 1, 6, 6], [0, 0, 5, 7]]


def test_an_id_that_no_handle_has_waits_for_the_check_that_names_it() -> None:
    assert named([[0, 0, 0, 9], [0, 0, 0, -7], [0, 0, 0, 0]]).ids.shape == (SLOTS, 4)
