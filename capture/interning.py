"""The tables that all PEs of a launch share: strings, geometries, forms and source lines, each kept once.

An entry's number is its place in order of first use. PEs run in a fixed order, so the numbers are
the same in every capture, and equal streams are equal number by number.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..schemas.commands import CommandForm
from ..schemas.dtypes import DType
from ..schemas.handles import Geometry, Space, contiguous_strides
from ..schemas.op_rules import Shape
from ..schemas.trace import SourceLine

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class InternedGeometry:
    """A geometry, its number in the launch's table, and its size."""

    geometry: Geometry
    number: int
    size_bytes: int


class InternTable(Generic[Entry]):
    """Entries by a key that tells them apart; numbered from 0 in order of first use."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._numbers: dict[Hashable, int] = {}

    def number(self, key: Hashable, entry: Entry) -> int:
        """The entry's number; the entry is added where its key is new."""
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = len(self._entries)
            self._entries.append(entry)
        return known

    def entries(self) -> tuple[Entry, ...]:
        return tuple(self._entries)


class InternPool:
    """The launch's tables."""

    def __init__(self) -> None:
        self.strings = InternTable[str]()
        self.geometries = InternTable[Geometry]()
        self.forms = InternTable[CommandForm]()
        self.lines = InternTable[SourceLine]()
        self._known_forms: dict[int, tuple[CommandForm, int]] = {}
        self._geometries: dict[Hashable, InternedGeometry] = {}
        self._dense: dict[Hashable, InternedGeometry] = {}

    def string(self, text: str) -> int:
        return self.strings.number(text, text)

    def line(self, line: SourceLine) -> int:
        return self.lines.number(line, line)

    def form(self, form: CommandForm) -> int:
        """The form's number. Forms are equal if they print alike: so 1 and 1.0 differ, NaN does not.

        An object seen before is found by its identity, which is why the pool keeps it alive.
        """
        known = self._known_forms.get(id(form))
        if known is None:
            number = self.forms.number(repr(form), form)
            known = self._known_forms[id(form)] = (form, number)
        return known[1]

    def geometry(
        self, shape: Shape, strides: Shape, dtype: DType, space: Space
    ) -> InternedGeometry:
        """The geometry, interned."""
        key = (shape, strides, dtype, space)
        known = self._geometries.get(key)
        if known is None:
            geometry = Geometry(shape, strides, dtype, space)
            number = self.geometries.number(key, geometry)
            known = self._geometries[key] = InternedGeometry(geometry, number, geometry.size_bytes)
        return known

    def dense(self, shape: Shape, dtype: DType, space: Space) -> InternedGeometry:
        """The contiguous geometry of that shape, interned."""
        key = (shape, dtype, space)
        known = self._dense.get(key)
        if known is None:
            strides = contiguous_strides(shape, dtype.size_bytes)
            known = self._dense[key] = self.geometry(shape, strides, dtype, space)
        return known
