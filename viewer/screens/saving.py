"""Saving tables from a screen: written by a thread, because a million lines take a while."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from ...schemas.columns import Int64s
from ...schemas.errors import FileError
from ..csv_file import write_csv, write_table
from ..model.index import TimelineIndex
from ..new_file import typed_path
from ..picture_file import free_name
from .from_thread import OfApp, shown_by


class Saying(OfApp, Protocol):
    """A screen that can say what came of it."""

    def say(self, message: str) -> None: ...


Rows = Iterable[Sequence[object]]

SAVING = "saving"
"""The group of the threads that save: the browser is not left before they are done."""


def save_stages(
    screen: Saying, view: str, index: TimelineIndex, stages: Int64s, name: str = ""
) -> None:
    """Saves stages under a name, or a free one made of the file's and the view's."""
    path = table_path(name) if name else _free_path(screen, view)
    words = f"{len(stages):,} stages"
    _save(screen, partial(write_csv, path, index, stages), words, path)


def save_table(screen: Saying, view: str, columns: Sequence[str], rows: Rows, words: str) -> None:
    """Saves a table under a free name made of the file's and the view's; `words` say what it holds."""
    path = _free_path(screen, view)
    _save(screen, partial(write_table, path, columns, rows), words, path)


def table_path(name: str) -> Path:
    """The file for a typed name, with `.csv` behind it. FileError where it is that of another table."""
    return typed_path(name, ".csv", "table")


def _free_path(screen: Saying, view: str) -> Path:
    return free_name(Path(), screen.app.title, ".csv", view)


def _save(screen: Saying, write: Callable[[], None], words: str, path: Path) -> None:
    """It goes on when the screen is closed: it is the app's work."""
    screen.say(f"saving {words} …")
    app = screen.app

    def tell(words: str) -> None:
        shown_by(app, _say, screen, words)

    work = partial(_write, write, f"saved {words} as {path.name}", tell)
    app.run_worker(work, group=SAVING, thread=True)


def _write(write: Callable[[], None], words: str, tell: Callable[[str], None]) -> None:
    try:
        write()
    except FileError as error:
        words = str(error)
    tell(words)


def _say(screen: Saying, words: str) -> None:
    """On the screen that saved, or on the main one where that is gone by now."""
    told = screen if screen.is_attached else screen.app.screen_stack[0]
    if hasattr(told, "say"):
        told.say(words)
