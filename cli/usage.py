"""What a command line may say: the parser of one, and the types of its values.

A value that an option can never have, whatever the files are, is wrong usage, as are options that do not
go together (schemas.errors.UsageError); what does not fit a file, or names nothing, is not.
"""

import argparse
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NoReturn

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


class Once(argparse.Action):
    """An option that refuses to be given twice, by one of its names or by several: which is meant?"""

    _given: str | None = None

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        given = f"{option_string} {values}"
        if self._given is not None:
            raise UsageError(
                f"{self.option_strings[0]} must be given once, not as {self._given} and as {given};"
                " leave one out"
            )
        self._given = given
        setattr(namespace, self.dest, values)


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


_RUNS = re.compile(r"\s*\d{1,7}(-\d{1,7})?\s*(,\s*\d{1,7}(-\d{1,7})?\s*)*", re.ASCII)


def sips(text: str) -> str:
    """The type of an option that names SIPs of a machine, whichever that is."""
    if not _RUNS.fullmatch(text) or not _ascend(text):
        raise argparse.ArgumentTypeError(
            f"must be SIPs, each once and in ascending order, as in 1 or 0,2 or 1-3, not '{text}'"
        )
    return text


def _ascend(runs: str) -> bool:
    ends = [list(map(int, run.split("-"))) for run in runs.split(",")]
    return all(run[0] <= run[-1] for run in ends) and all(
        before[-1] < after[0] for before, after in pairwise(ends)
    )
