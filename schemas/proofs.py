"""Questions that prove many values of a file sound at once, without saying which one is not.

Nearly all files are sound, and a handful of questions to a whole column of fields says so sooner than
one to each field. Where the answer is no, `Unproven` is raised: whoever asked then looks at the fields
one by one (`plain_data.Field`), and those say what is wrong and where.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

Column = Sequence[Any]
Meaning = TypeVar("Meaning")


class Unproven(Exception):  # noqa: N818 - nothing is wrong yet
    """Some value may not be what it must be."""


def prove(holds: bool) -> None:
    """Raises Unproven where it does not."""
    if not holds:
        raise Unproven


def all_are(values: Iterable[Any], *kinds: type) -> bool:
    """Whether each value is of one of these types, and of no subtype: True is no int."""
    return set(map(type, values)) <= set(kinds)


def columns(rows: Column, width: int) -> list[Column]:
    """The fields of rows that are tuples of that many, column by column."""
    prove(all_are(rows, tuple) and set(map(len, rows)) <= {width})
    return list(zip(*rows, strict=True)) if rows else [()] * width


def flat(tuples: Column) -> list[Any]:
    """What is in the tuples, one after another."""
    prove(all_are(tuples, tuple))
    return list(chain.from_iterable(tuples))


def texts(column: Column) -> Column:
    """The column, all of it text."""
    prove(all_are(column, str))
    return column


def flags(column: Column) -> Column:
    """The column, all of it true or false."""
    prove(all_are(column, bool))
    return column


def integers(column: Column, low: int, high: int) -> Column:
    """The column, all of it ints of low … high."""
    prove(all_are(column, int))
    prove(not column or (low <= min(column) and max(column) <= high))
    return column


def meanings(column: Column, kind: type, by_value: Mapping[Any, Meaning]) -> list[Meaning]:
    """What each value of that type stands for."""
    prove(all_are(column, kind) and set(column) <= by_value.keys())
    return [by_value[value] for value in column]


def each_once(names: Iterable[Iterable[str]], count: int) -> None:
    """Proves that no name stands twice in one of the lists, which have `count` names in all."""
    prove(sum(map(len, map(set, names))) == count)
