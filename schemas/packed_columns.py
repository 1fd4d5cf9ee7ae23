"""Integer columns on their way into a file and out of it: narrow, then compressed.

A column is written in the narrowest of 1, 2, 4 or 8 bytes (signed, little endian) that holds all
its values, compressed with zlib. Its item size and length are declared beside it, and compared with
a budget before anything is unpacked.
"""

import struct
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from .columns import Integers
from .errors import FileError
from .plain_data import Field, Rows
from .proofs import Column, Unproven, all_are, columns, integers, prove

LEVEL = 6
ITEMS: dict[int, np.dtype[np.signedinteger]] = {
    size: np.dtype(f"<i{size}") for size in (1, 2, 4, 8)
}
UNPACKED_ITEM_BYTES = 8
MAX_ITEM_COUNT = (1 << 31) - 1
_PREFIX = struct.Struct("<BQ")


@dataclass(frozen=True, slots=True)
class NarrowColumn:
    """`count` signed little-endian integers of `item_bytes` each: what a content hash covers."""

    item_bytes: int
    count: int
    raw: bytes

    @property
    def hashed(self) -> tuple[bytes, bytes]:
        """What a hash takes in: item size (u8) and count (u64, little endian), then the items."""
        return _PREFIX.pack(self.item_bytes, self.count), self.raw

    @property
    def packed(self) -> list[Any]:
        """As it stands in a file: [item size, count, zlib stream]."""
        return [self.item_bytes, self.count, zlib.compress(self.raw, LEVEL)]

    @property
    def values(self) -> Integers:
        """The items, as narrow as they are. Not to be written to."""
        return np.frombuffer(self.raw, dtype=ITEMS[self.item_bytes])


def narrow(values: Integers) -> NarrowColumn:
    """The column in the narrowest items that hold it."""
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    for item_bytes in ITEMS:
        bound = 1 << (8 * item_bytes - 1)
        if -bound <= low and high < bound:
            break
    return NarrowColumn(item_bytes, len(values), values.astype(ITEMS[item_bytes]).tobytes())


@dataclass(frozen=True, slots=True)
class PackedColumn:
    """A column as a file declares it; nothing is unpacked yet."""

    item_bytes: int
    count: int
    stream: bytes
    where: str

    def unpack(self) -> NarrowColumn:
        """The items. FileError unless the stream is exactly as long as declared."""
        size = self.item_bytes * self.count
        inflater = zlib.decompressobj()
        try:
            raw = inflater.decompress(self.stream, size + 1)
        except zlib.error as error:
            raise FileError(f"{self.where}: not a zlib stream ({error})") from error
        if len(raw) != size or not inflater.eof or inflater.unused_data:
            raise FileError(
                f"{self.where} must unpack to {self.count} items of {self.item_bytes} bytes,"
                f" not to {_found(raw, size, inflater.eof, inflater.unused_data)}"
            )
        return NarrowColumn(self.item_bytes, self.count, raw)


def _found(raw: bytes, size: int, whole: bool, behind: bytes) -> str:
    if len(raw) > size:
        return "more"
    if not whole:
        return f"{len(raw)} bytes of a stream that is cut short"
    return f"{len(raw)} bytes" + (" with others behind them" if behind else "")


def packed_columns(
    packed: bytes | memoryview, where: str, names: Sequence[str]
) -> list[PackedColumn]:
    """The declarations of columns of these names, a row each. FileError at the first that is none."""
    with suppress(Unproven):
        rows = Rows(packed, where, lists_as_tuples=True)
        declared = whole_declarations(rows.several(len(names)), names)
        rows.end()
        return declared
    rows = Rows(packed, where)
    declared = [packed_column(rows.next(f"column {name}")) for name in names]
    rows.end()
    return declared


def whole_declarations(rows: Column, names: Sequence[str]) -> list[PackedColumn]:
    """As `packed_column` of each row. Unproven where one may be wrong."""
    item_bytes, counts, streams = columns(rows, 3)
    prove(all_are(item_bytes, int) and set(item_bytes) <= ITEMS.keys())
    prove(all_are(streams, bytes))
    places = [f"column {name}" for name in names]
    return list(map(PackedColumn, item_bytes, integers(counts, 0, MAX_ITEM_COUNT), streams, places))


def packed_column(field: Field) -> PackedColumn:
    """The declaration of a column: [item size, count, zlib stream]."""
    item_bytes, count, stream = field.items(3)
    if item_bytes.integer() not in ITEMS:
        raise item_bytes.must_be("1, 2, 4 or 8")
    return PackedColumn(
        item_bytes.integer(), count.integer(0, MAX_ITEM_COUNT), stream.blob(), field.where
    )
