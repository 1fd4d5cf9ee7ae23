"""What a command line may say: the parser of one, the types of its values, and options given twice.

A value that an option can never have, whatever the files are, is wrong usage, as are options that do not
go together (schemas.errors.UsageError); what does not fit a file, or names nothing, is not.
"""

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeAlias

from ..schemas.errors import UsageError
from .flow import printable


class Parser(argparse.ArgumentParser):
    """Of a subcommand. Options are not abbreviated, and no value that is given is empty."""

    def __init__(self, **about: Any) -> None:
        super().__init__(allow_abbrev=False, **about)
        self.register("type", None, _not_empty)

    def error(self, message: str) -> NoReturn:
        """Prints how the command is used and what is wrong, and exits with 2."""
        super().error(printable(message))


def _not_empty(text: str) -> str:
    """The type of every value that has no other."""
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    return text


Fold = Callable[[Any, Any], Any]
"""What an option comes to: from what it was (its default, or what was given before) and what is given
now, as its type reads it. Raises UsageError where that cannot be.
"""


class Folding(argparse.Action):
    """An option whose value is what `fold` makes of all that is given, one after the other."""

    def __init__(self, *, fold: Fold, **about: Any) -> None:
        super().__init__(**about)
        self._fold = fold

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Argparse's."""
        setattr(namespace, self.dest, self._fold(getattr(namespace, self.dest), values))


Group: TypeAlias = argparse._MutuallyExclusiveGroup
"""Options of which one may be given; argparse has no other name for it."""


def add_once(
    parser: argparse.ArgumentParser | Group, name: str, *others: str, **about: Any
) -> None:
    """An option that may be given once, by one of its names: of two values, which is meant? None where it
    is not given.
    """
    names = f"{name} (or {', '.join(others)})" if others else name

    def fold(before: Any, given: Any) -> Any:
        if before is not None:
            raise UsageError(
                f"{names} must be given once, not as '{before}' and as '{given}'; leave one out"
            )
        return given

    parser.add_argument(name, *others, action=Folding, fold=fold, **about)


def number_from(least: int) -> Callable[[str], int]:
    """The type of an option's whole number of at least `least`."""

    def number(text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or int(text) < least:
            raise argparse.ArgumentTypeError(f"must be a number from {least}, not '{text}'")
        return int(text)

    return number


def one_of(*words: str) -> Callable[[str], str]:
    """The type of an option that takes one of a few words."""

    def word(text: str) -> str:
        if text not in words:
            raise argparse.ArgumentTypeError(f"must be {' or '.join(words)}, not '{text}'")
        return text

    return word
