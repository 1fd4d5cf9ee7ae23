"""A trace's tables read whole, each proved sound by a few questions (schemas.proofs).

Every function takes a table's rows as they were unpacked, lists as tuples, and raises Unproven where one
of them may not be what it must be. `trace_tables` reads the same rows one by one, and has the words for
what is wrong.
"""

from collections.abc import Callable
from itertools import islice
from typing import Any

from .commands import CommandForm, CommandKind, OpForm, Scope
from .dtypes import DType
from .handles import Geometry, Space
from .plain_data import MAX_INTEGER, MAX_ITEMS
from .proofs import (
    Column,
    all_are,
    columns,
    each_once,
    flags,
    flat,
    integers,
    meanings,
    prove,
    texts,
)
from .trace import SourceLine

MAX_AXES = 16
MAX_BYTES = 1 << 50
MAX_EXTENT = 1 << 40
KINDS = {int(kind): kind for kind in CommandKind}
SCOPES = {int(scope): scope for scope in Scope}
DTYPES = {dtype.value: dtype for dtype in DType}
SPACES = {space.value: space for space in Space}


def strings(rows: Column) -> tuple[str, ...]:
    return tuple(texts(rows))


def geometries(rows: Column) -> tuple[Geometry, ...]:
    shapes, strides, dtypes, spaces = columns(rows, 4)
    integers(flat(shapes), 0, MAX_EXTENT)
    integers(flat(strides), 0, MAX_BYTES)
    axes = list(map(len, shapes))
    prove(axes == list(map(len, strides)) and max(axes, default=0) <= MAX_AXES)
    looks = meanings(dtypes, str, DTYPES), meanings(spaces, str, SPACES)
    found = tuple(map(Geometry, shapes, strides, *looks))
    prove(max(map(span_bytes, found), default=0) <= MAX_BYTES)
    return found


def span_bytes(geometry: Geometry) -> int:
    """What a geometry may take up at most: the size of its elements, or the way over its strides."""
    steps = zip(geometry.shape, geometry.strides, strict=True)
    return max(geometry.size_bytes, sum([extent * stride for extent, stride in steps]))


def forms(rows: Column) -> tuple[CommandForm, ...]:
    kinds, ops, rw_counts, directions = columns(rows, 4)
    every_op = iter(_ops(flat(ops)))
    return tuple(
        map(
            CommandForm,
            meanings(kinds, int, KINDS),
            [tuple(islice(every_op, len(own))) for own in ops],
            integers(rw_counts, 0, MAX_ITEMS),
            texts(directions),
        )
    )


def _ops(rows: Column) -> list[OpForm]:
    kinds, operands, has_outs, extras, scopes = columns(rows, 5)
    each_once(operands, len(texts(flat(operands))))
    names, scalars = columns(flat(extras), 2)
    prove(all_are(scalars, int, float, str))
    texts(names)
    each_once(map(dict, extras), len(names))
    scoped = meanings(scopes, int, SCOPES)
    return list(map(OpForm, texts(kinds), operands, flags(has_outs), extras, scoped))


def lines(rows: Column) -> tuple[SourceLine, ...]:
    files, numbers, functions, code = columns(rows, 4)
    numbers = integers(numbers, 0, MAX_INTEGER)
    return tuple(map(SourceLine, texts(files), numbers, texts(functions), texts(code)))


TABLES: dict[str, Callable[[Column], tuple[Any, ...]]] = {
    "strings": strings,
    "geometries": geometries,
    "forms": forms,
    "lines": lines,
}
"""Their readers, in the order in which a file has them."""
