"""One PE's command rows as they are issued; in the end, its Stream. Appending is all it does."""

from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..schemas.columns import Int32s
from ..schemas.trace import Stream


class Recorder:
    """Rows of handles and of commands, growing. All ids and numbers count from 0."""

    def __init__(self) -> None:
        self._handles = array("q")
        self._handle_count = 0
        self._commands = array("i")
        self._command_count = 0
        self._slots = array("i")
        self._waits = array("i")

    def handle(self, geometry: int, address: int, tensor: int, label: int) -> int:
        """Adds a handle; returns its id."""
        self._handles.extend((geometry, address, tensor, label))
        self._handle_count += 1
        return self._handle_count - 1

    def command(self, form: int, line: int, slots: Iterable[int], waits: list[int]) -> int:
        """Adds a command; returns its index."""
        self._commands.extend((form, line, len(waits)))
        self._slots.extend(slots)
        self._waits.extend(waits)
        self._command_count += 1
        return self._command_count - 1

    def stream(self) -> Stream:
        """What was recorded, as columns."""
        forms, lines, wait_counts = _columns(self._commands, 3)
        geometries, addresses, tensors, labels = _columns(self._handles, 4)
        return Stream(
            forms=_int32s(forms),
            lines=_int32s(lines),
            wait_counts=_int32s(wait_counts),
            slots=_int32s(np.array(self._slots)),
            waits=_int32s(np.array(self._waits)),
            geometries=_int32s(geometries),
            addresses=np.array(addresses, dtype=np.int64),
            tensors=_int32s(tensors),
            labels=_int32s(labels),
        )


def _columns(rows: "array[int]", width: int) -> npt.NDArray[np.integer[Any]]:
    return np.array(rows).reshape(-1, width).T


def _int32s(column: npt.NDArray[np.integer[Any]]) -> Int32s:
    return np.array(column, dtype=np.int32)
