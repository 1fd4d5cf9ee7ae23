"""One thread at a time, for the newest wish; and what needs no screen loads none."""

import subprocess
import sys

from kerntape.viewer.newest import Newest

IMPORT_WITHOUT_SCREEN = """
import importlib, pkgutil, sys
import kerntape.viewer.model as model
for module in pkgutil.iter_modules(model.__path__):
    importlib.import_module(f"kerntape.viewer.model.{module.name}")
for name in ("actions", "newest", "pair_verdicts", "panel_actions", "recalibration"):
    importlib.import_module(f"kerntape.viewer.{name}")
print([name for name in sys.modules if name.partition(".")[0] in ("textual", "rich", "greenlet")])
"""


def test_one_thread_begins_and_takes_the_newest_wish_once():
    newest = Newest()
    newest.wish()
    newest.wish()
    assert newest.is_wished
    assert newest.begin()
    assert not newest.begin()
    assert newest.take()
    assert not newest.take()
    assert newest.may_end(is_cancelled=False)
    assert newest.begin()


def test_a_wish_that_comes_last_keeps_the_thread_going():
    newest = Newest()
    assert newest.begin()
    newest.wish()
    assert not newest.may_end(is_cancelled=False)
    assert not newest.begin()
    assert newest.may_end(is_cancelled=True)
    assert newest.begin()


def test_neither_the_model_nor_the_threads_work_loads_a_screen():
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_WITHOUT_SCREEN],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "[]\n")
