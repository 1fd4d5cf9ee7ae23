"""Plain data (numbers, text, lists, maps) as msgpack, and the questions to ask of it before use.

What comes out of a file is trusted in nothing: `Rows` bounds what unpacking may allocate, and a
`Field` hands out a value only as the type that its reader expects. Errors are FileErrors that name
the place inside the file; whoever opened the file adds its name and the remedy (`blamed_on`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from itertools import islice
from typing import Any

import msgpack  # type: ignore[import-untyped, unused-ignore]  # it ships no types

from .errors import FileError
from .proofs import Unproven, prove

MAX_ITEMS = 4096
"""Entries of one list or map. Bounds what a claimed length can allocate before it is disproved."""

MAX_DEPTH = 32
LEAVES = (str, bool, float, type(None))
MIN_INTEGER, MAX_INTEGER = -(1 << 63), (1 << 63) - 1
SHOWN_CHARACTERS = 60


@contextmanager
def blamed_on(file_name: str, remedy: str) -> Iterator[None]:
    """Completes FileErrors from inside: `file name: what is wrong; remedy`."""
    try:
        yield
    except FileError as error:
        raise FileError(f"{file_name}: {error}; {remedy}") from error


def shown(value: object) -> str:
    """The value for a message: on one line, whatever it holds, and short."""
    text = ascii(value)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def pack(value: object, where: str) -> bytes:
    """The value as msgpack: equal values give equal bytes. A Decimal is written as its text.

    Raises FileError where the value is not plain, or larger than a reader accepts.
    """
    return _packed(_canonical(value, where, 0))


def pack_row(row: list[Any]) -> bytes:
    """A row that kerntape made of ints, text, bytes and lists, as msgpack."""
    return _packed(row)


def _packed(value: object) -> bytes:
    try:
        packed: bytes = msgpack.packb(value, use_bin_type=True)
    except (ValueError, OverflowError) as error:
        raise FileError(f"cannot be written: {error}") from error
    return packed


def _canonical(value: object, where: str, depth: int) -> Any:
    """The same value with maps sorted by key; only what `Rows` reads back."""
    if depth > MAX_DEPTH:
        raise FileError(f"{where} must be nested at most {MAX_DEPTH} deep")
    match value:
        case None | bool() | float():
            return value
        case int() if not MIN_INTEGER <= value <= MAX_INTEGER:
            bits = value.bit_length() + 1
            raise FileError(f"{where} must be an integer of 64 bits with its sign, not of {bits}")
        case int():
            return int(value)
        case str():
            return str(value)
        case Decimal():
            return str(value)
        case list() | tuple() if len(value) <= MAX_ITEMS:
            return [
                item if _is_leaf(item, depth) else _canonical(item, f"{where}[{i}]", depth + 1)
                for i, item in enumerate(value)
            ]
        case dict() if len(value) <= MAX_ITEMS and all(isinstance(key, str) for key in value):
            return {
                str(key): value[key]
                if _is_leaf(value[key], depth)
                else _canonical(value[key], f"{where}.{key}", depth + 1)
                for key in sorted(value)
            }
    raise FileError(
        f"{where} must be plain data (text, numbers, lists and maps of at most {MAX_ITEMS}),"
        f" not {shown(value)}"
    )


def _is_leaf(item: Any, depth: int) -> bool:
    """Whether an item of something at that depth is canonical as it stands: nearly all are."""
    kind = type(item)
    canonical = kind in LEAVES or (kind is int and MIN_INTEGER <= item <= MAX_INTEGER)
    return canonical and depth < MAX_DEPTH


class Rows:
    """The msgpack objects that stand one after another in `packed`: one `Field` at a time, or several
    as they are."""

    def __init__(
        self, packed: bytes | memoryview, where: str, *, lists_as_tuples: bool = False
    ) -> None:
        self._where = where
        self._size = len(packed)
        self._unpacker = msgpack.Unpacker(
            max_buffer_size=max(1, self._size),
            max_array_len=MAX_ITEMS,
            max_map_len=MAX_ITEMS,
            max_ext_len=0,
            use_list=not lists_as_tuples,
        )
        self._unpacker.feed(packed)

    def next(self, name: str) -> "Field":
        """The next object, to be called `name`. FileError with its byte offset if it is none."""
        offset = self._unpacker.tell()
        try:
            return Field(self._unpacker.unpack(), name)
        except (ValueError, msgpack.UnpackException) as error:
            problem = str(error) or type(error).__name__
            raise FileError(
                f"{self._where}, byte {offset}: not a msgpack object for {name} ({problem})"
            ) from error

    def several(self, count: int) -> list[Any]:
        """The next objects, that many of them. Unproven where there are fewer."""
        try:
            values = list(islice(self._unpacker, count))
        except (ValueError, msgpack.UnpackException):
            raise Unproven from None
        prove(len(values) == count)
        return values

    @property
    def at_end(self) -> bool:
        return bool(self._unpacker.tell() == self._size)

    def end(self) -> None:
        """FileError unless everything was read."""
        left = self._size - self._unpacker.tell()
        if left:
            raise FileError(f"{self._where} must end here, but {left} more bytes follow")


def unpack(packed: bytes | memoryview, where: str) -> "Field":
    """The one msgpack object that `packed` is."""
    rows = Rows(packed, where)
    value = rows.next(where)
    rows.end()
    return value


class Field:
    """A value from a file and the name of its place there. A file has thousands, so a name is put
    together only where it is asked for.
    """

    __slots__ = ("_inside", "_name", "value")

    def __init__(self, value: object, name: str | int, inside: "Field | None" = None) -> None:
        """`name` is the whole place; or, inside another field, a list's index or a map's key."""
        self.value = value
        self._name = name
        self._inside = inside

    @property
    def where(self) -> str:
        if self._inside is None:
            return str(self._name)
        step = f"[{self._name}]" if isinstance(self._name, int) else f".{self._name}"
        return self._inside.where + step

    def must_be(self, what: str) -> FileError:
        """The error that this value is not what it must be."""
        return FileError(f"{self.where} must be {what}, not {shown(self.value)}")

    def integer(self, low: int = 0, high: int = MAX_INTEGER) -> int:
        """The value as an int of low … high."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.must_be("an integer")
        if not low <= self.value <= high:
            raise self.must_be(f"from {low} to {high}")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.must_be("true or false")
        return self.value

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.must_be("text")
        return self.value

    def one_of(self, words: tuple[str, ...]) -> str:
        """The value as one of the words."""
        if not isinstance(self.value, str) or self.value not in words:
            raise self.must_be("one of " + ", ".join(words))
        return self.value

    def blob(self, size: int | None = None) -> bytes:
        """The value as bytes, `size` of them where it is given."""
        if not isinstance(self.value, bytes):
            raise self.must_be("bytes")
        if size is not None and len(self.value) != size:
            raise FileError(f"{self.where} must have {size} bytes, not {len(self.value)}")
        return self.value

    def listed(self, count: int | None = None) -> list[Any]:
        """The value as a list of whatever is in it; of `count` items where it is given."""
        if not isinstance(self.value, list):
            raise self.must_be("a list")
        if count is not None and len(self.value) != count:
            raise FileError(f"{self.where} must have {count} entries, not {len(self.value)}")
        return self.value

    def items(self, count: int | None = None) -> list["Field"]:
        """The value's items; `count` of them where it is given."""
        return [Field(item, i, self) for i, item in enumerate(self.listed(count))]

    def integers(self, low: int = 0, high: int = MAX_INTEGER) -> tuple[int, ...]:
        """The value as ints of low … high."""
        values = self.listed()
        if set(map(type, values)) != {int} or min(values) < low or max(values) > high:
            return tuple([item.integer(low, high) for item in self.items()])
        return tuple(values)

    def texts(self) -> tuple[str, ...]:
        values = self.listed()
        if set(map(type, values)) != {str}:
            return tuple([item.text() for item in self.items()])
        return tuple(values)

    def mapping(self) -> dict[str, Any]:
        """The value as a map from text to plain data."""
        if not isinstance(self.value, dict) or not all(isinstance(k, str) for k in self.value):
            raise self.must_be("a map from text")
        return self.value

    def plain(self) -> dict[str, Any]:
        """The value as a map of plain data throughout, as `pack` takes it; sorted by key."""
        self.mapping()
        plain: dict[str, Any] = _canonical(self.value, self.where, 0)
        return plain

    def entries(self, keys: tuple[str, ...]) -> dict[str, "Field"]:
        """The value as a map with exactly these keys."""
        found = self.mapping()
        for key in keys:
            if key not in found:
                raise FileError(f"{self.where}: the key '{key}' is missing")
        for key in found:
            if key not in keys:
                raise FileError(f"{self.where}: unknown key {shown(key)}")
        return {key: Field(found[key], key, self) for key in keys}
