"""What a command line may say: the error of one that cannot be meant, and the types of its values.

A value that an option can never have, whatever the files are, is wrong usage; one that does not fit a
file, or names nothing, is not.
"""

import argparse
from collections.abc import Callable

from ..schemas.errors import KerntapeError


class UsageError(KerntapeError):
    """Options that do not go together: exit code 2."""


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
