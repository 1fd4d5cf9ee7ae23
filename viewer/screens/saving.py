"""Saving tables from a screen: written by a thread, because a million lines take a while."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from textual.app import App
from textual.worker import get_current_worker

from ...schemas.columns import Int64s
from ...schemas.errors import FileError
from ..csv_file import write_csv, write_table
from ..model.index import TimelineIndex
from ..picture_file import free_name


class Saying(Protocol):
    """A screen that can say what came of it."""

    @property
    def app(self) -> App[object]: ...

    def say(self, message: str) -> None: ...

    def run_worker(
        self, work: Callable[[], None], *, group: str = "default", thread: bool = False
    ) -> object: ...


Rows = Iterable[Sequence[object]]

SAVING = "saving"
"""The group of the threads that save: the browser is not left before they are done."""


def save_stages(screen: Saying, index: TimelineIndex, stages: Int64s, name: str = "") -> None:
    """Saves stages under a name, or a free one beside the user's other files."""
    path = _path(name, index.name)
    words = f"{len(stages):,} stages"
    _save(screen, partial(write_csv, path, index, stages), words, path)


def save_table(screen: Saying, title: str, columns: Sequence[str], rows: Rows, words: str) -> None:
    """Saves a table under a free name made of the title; `words` say what it holds."""
    path = _path("", title)
    _save(screen, partial(write_table, path, columns, rows), words, path)


def _path(name: str, title: str) -> Path:
    if not name:
        return free_name(Path(), title, ".csv")
    return Path(name if name.endswith(".csv") else f"{name}.csv")


def _save(screen: Saying, write: Callable[[], None], words: str, path: Path) -> None:
    screen.say(f"saving {words} …")
    work = partial(_write, screen, write, f"saved {words} as {path.name}")
    screen.run_worker(work, group=SAVING, thread=True)


def _write(screen: Saying, write: Callable[[], None], words: str) -> None:
    try:
        write()
    except FileError as error:
        words = str(error)
    if not get_current_worker().is_cancelled:
        screen.app.call_from_thread(screen.say, words)
