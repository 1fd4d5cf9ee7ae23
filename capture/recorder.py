"""One PE's command rows as they are issued; in the end, its Stream. Appending is all it does."""

from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from ..schemas.columns import Int32s
from ..schemas.trace import Stream


class Recorder:
    """Rows of handles and of commands, growing. All ids and numbers count from 0."""

    def __init__(self) -> None:
        self._geometries = array("i")
        self._addresses = array("q")
        self._tensors = array("i")
        self._labels = array("i")
        self._forms = array("i")
        self._lines = array("i")
        self._wait_counts = array("i")
        self._slots = array("i")
        self._waits = array("i")

    def handle(self, geometry: int, address: int, tensor: int, label: int) -> int:
        """Adds a handle; returns its id."""
        self._geometries.append(geometry)
        self._addresses.append(address)
        self._tensors.append(tensor)
        self._labels.append(label)
        return len(self._labels) - 1

    def handles(
        self,
        geometries: Sequence[int],
        addresses: Sequence[int],
        tensor: int,
        labels: Sequence[int],
    ) -> int:
        """Adds handles that differ in all but the tensor; returns the first one's id."""
        self._geometries.extend(geometries)
        self._addresses.extend(addresses)
        self._tensors.extend([tensor] * len(labels))
        self._labels.extend(labels)
        return len(self._labels) - len(labels)

    def command(self, form: int, line: int, slots: Iterable[int], waits: list[int]) -> int:
        """Adds a command; returns its index."""
        self._forms.append(form)
        self._lines.append(line)
        self._wait_counts.append(len(waits))
        self._slots.extend(slots)
        self._waits.extend(waits)
        return len(self._forms) - 1

    def stream(self) -> Stream:
        """What was recorded, as columns."""
        return Stream(
            forms=_int32s(self._forms),
            lines=_int32s(self._lines),
            wait_counts=_int32s(self._wait_counts),
            slots=_int32s(self._slots),
            waits=_int32s(self._waits),
            geometries=_int32s(self._geometries),
            addresses=np.array(self._addresses, dtype=np.int64),
            tensors=_int32s(self._tensors),
            labels=_int32s(self._labels),
        )


def _int32s(column: "array[int]") -> Int32s:
    return np.array(column, dtype=np.int32)
