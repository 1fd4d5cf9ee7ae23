"""Integer columns on their way into a file and out of it: narrow, then compressed.

A column is written in the narrowest of 1, 2, 4 or 8 bytes (signed, little endian) that holds all
its values, compressed with zlib. Its item size and length are declared beside it, and compared with
a budget before anything is unpacked.
"""

import struct
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from .columns import Integers
from .errors import FileError
from .plain_data import Field

LEVEL = 6
ITEM_BYTES = (1, 2, 4, 8)
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
        return np.frombuffer(self.raw, dtype=f"<i{self.item_bytes}")


def narrow(values: Integers) -> NarrowColumn:
    """The column in the narrowest items that hold it."""
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    for item_bytes in ITEM_BYTES:
        bound = 1 << (8 * item_bytes - 1)
        if -bound <= low and high < bound:
            break
    return NarrowColumn(item_bytes, len(values), values.astype(f"<i{item_bytes}").tobytes())


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


def packed_column(field: Field) -> PackedColumn:
    """The declaration of a column: [item size, count, zlib stream]."""
    item_bytes, count, stream = field.items(3)
    if item_bytes.integer() not in ITEM_BYTES:
        raise item_bytes.must_be("1, 2, 4 or 8")
    return PackedColumn(
        item_bytes.integer(), count.integer(0, MAX_ITEM_COUNT), stream.blob(), field.where
    )
