"""Typed patterns, and which of many texts they match. Whatever is typed ends, or is refused in one line.

The syntax is Python's `re`. A pattern without repetitions, choices and groups takes time in proportion to
the texts, and is matched at once. Any other may take for ever (`(\\w+\\W*)+!`), and `re` lets no other
thread run meanwhile: a process of its own does it (matching_process.py), for a limited time.
"""

import json
import re
import subprocess
import sys
from collections.abc import Sequence

import numpy as np

from ...schemas.columns import Bools
from ...schemas.errors import KerntapeError
from . import matching_process

MOST_PATTERN, MOST_TEXT = 300, 4096
"""So many characters may a pattern have, and so many of a text are looked at."""

LIMIT_S, LIMIT_AT_ONCE_S = 2.0, 0.3
"""How long a process may compute for a thread, and while the screen waits for it."""

START_S = 30.0
"""How long it may take besides, on a busy machine."""

_NOT_QUICK = frozenset("*+?{|(")


class PatternError(KerntapeError):
    """A pattern that was typed is no regular expression, or takes too long."""


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, blind to case. PatternError where it is none."""
    if len(pattern) > MOST_PATTERN:
        raise PatternError(
            f"a pattern must be of at most {MOST_PATTERN} characters, not {len(pattern):,}"
        )
    try:
        return re.compile(pattern, re.IGNORECASE)
    except RecursionError:
        reason = "its groups lie too deep in each other"
    except (re.error, OverflowError, ValueError) as error:
        reason = str(error)
    raise PatternError(f"must be a regular expression: {reason}")


def is_quick(pattern: re.Pattern[str]) -> bool:
    """Whether its time is in proportion to the texts'."""
    return _NOT_QUICK.isdisjoint(pattern.pattern)


def matching(
    pattern: re.Pattern[str], texts: Sequence[str], limit_s: float = LIMIT_AT_ONCE_S
) -> Bools:
    """Per text, whether the pattern is found in it; each distinct text is looked at once.

    PatternError where that takes longer than the limit.
    """
    distinct = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    looked_at = [text[:MOST_TEXT] for text in distinct]
    if is_quick(pattern):
        found = [pattern.search(text) is not None for text in looked_at]
    else:
        found = _matched_elsewhere(pattern, looked_at, limit_s)
    places = np.array([distinct[text] for text in texts], dtype=np.int64)
    whole: Bools = np.array(found, dtype=np.bool_)[places]
    return whole


def _matched_elsewhere(
    pattern: re.Pattern[str], texts: Sequence[str], limit_s: float
) -> list[bool]:
    """As a process of its own finds."""
    asked = {
        "pattern": pattern.pattern,
        "flags": pattern.flags,
        "texts": texts,
        "limit_s": limit_s,
    }
    try:
        answer = subprocess.run(
            [sys.executable, "-I", "-S", matching_process.__file__],
            input=json.dumps(asked),
            capture_output=True,
            encoding="ascii",
            timeout=START_S + limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PatternError(_too_long()) from None
    except OSError as error:
        raise PatternError(
            f"the pattern cannot be searched for: {error.strerror}; leave out * + ? {{ | and ("
        ) from error
    if answer.returncode:
        raise PatternError(_too_long())
    return [one == "1" for one in answer.stdout]


def _too_long() -> str:
    return "the pattern takes too long: repeat nothing that repeats, as in (a+)+"
