"""One PE's command rows as they are issued; in the end, its Stream. Appending is all it does."""

from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..schemas.trace import Stream


class Recorder:
    """The columns of schemas.trace.Stream, growing. All ids and numbers count from 0."""

    def __init__(self) -> None:
        self._forms = array("i")
        self._lines = array("i")
        self._wait_counts = array("i")
        self._slots = array("i")
        self._waits = array("i")
        self._geometries = array("i")
        self._addresses = array("q")
        self._tensors = array("i")
        self._labels = array("i")

    def handle(self, geometry: int, address: int, tensor: int, label: int) -> int:
        """Adds a handle; returns its id."""
        handle_id = len(self._geometries)
        self._geometries.append(geometry)
        self._addresses.append(address)
        self._tensors.append(tensor)
        self._labels.append(label)
        return handle_id

    def command(self, form: int, line: int, slots: Iterable[int], waits: list[int]) -> int:
        """Adds a command; returns its index."""
        index = len(self._forms)
        self._forms.append(form)
        self._lines.append(line)
        self._slots.extend(slots)
        self._wait_counts.append(len(waits))
        if waits:
            self._waits.extend(waits)
        return index

    def stream(self) -> Stream:
        """What was recorded, as columns of their own."""
        return Stream(
            forms=_column(self._forms, np.int32),
            lines=_column(self._lines, np.int32),
            wait_counts=_column(self._wait_counts, np.int32),
            slots=_column(self._slots, np.int32),
            waits=_column(self._waits, np.int32),
            geometries=_column(self._geometries, np.int32),
            addresses=_column(self._addresses, np.int64),
            tensors=_column(self._tensors, np.int32),
            labels=_column(self._labels, np.int32),
        )


def _column(values: "array[int]", dtype: type[np.integer[Any]]) -> npt.NDArray[Any]:
    return np.array(values, dtype=dtype)
