"""`kerntape view`: the timeline browser on a trace or a timeline, or on two of them side by side."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .model_options import add_model_options, check_one_policy
from .usage import one_of

if TYPE_CHECKING:
    from pathlib import Path

    from ..schemas.timeline import Timeline

SUMMARY = "browse a timeline or a trace in the terminal, or compare two"

STREAMS = ("stdin", "stdout", "stderr")
"""What must be a terminal: keys come from stdin, and Textual draws on stderr."""

DUMB = ("dumb", "unknown")
"""What TERM is where text cannot be placed; the same words as rich's."""

_ERASE_LINE = "\r\x1b[K"

THEMES = ("dark", "light")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE is a .ktrace or a .ktimeline; its first bytes say which. The model's options hold for both."""
    parser.add_argument("file", metavar="FILE", help="a .ktrace or .ktimeline file")
    parser.add_argument("other", metavar="FILE2", nargs="?", help="a second one, to compare with")
    parser.add_argument(
        "--colours",
        type=one_of(*THEMES),
        metavar="COLOURS",
        help="dark or light, as the screen is (default: as the terminal says, else dark)",
    )
    add_model_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Opens the browser and returns when the user quits. FileError for a file that is none, then
    KerntapeError where there is no terminal.
    """
    from pathlib import Path

    from ..schemas.errors import KerntapeError
    from ..schemas.sections import sniff

    check_one_policy(arguments.policy)
    paths = [Path(name) for name in (arguments.file, arguments.other) if name is not None]
    for path in paths:
        sniff(path)
    if not on_terminal():
        raise KerntapeError(no_terminal())
    _load_meanwhile("kerntape.viewer.app")
    timelines = [(_opened(path, arguments), path.name) for path in paths]
    from ..viewer.app import browse

    (timeline, title), *others = timelines
    other = others[0] if others else None

    def reopen() -> tuple[Timeline, ...]:
        """As they were opened, with the same options."""
        return tuple(open_timeline(path, arguments) for path in paths)

    theme = arguments.colours
    browse(timeline, title=title, other=other, path=paths[0], theme=theme, reopen=reopen)
    return 0


def _load_meanwhile(module: str) -> None:
    """Imports a module in a thread: its code is read while the file's checksums are compared."""
    import importlib
    import threading

    threading.Thread(target=importlib.import_module, args=(module,), daemon=True).start()


def _opened(path: Path, arguments: argparse.Namespace) -> Timeline:
    """Says that it is at it, until it is done."""
    import sys

    print(f"opening {path.name} …", end="", file=sys.stderr, flush=True)
    try:
        return open_timeline(path, arguments)
    finally:
        print(_ERASE_LINE, end="", file=sys.stderr, flush=True)


def on_terminal() -> bool:
    """Whether a person sits at both ends of one that can show the browser."""
    return not _missing()


def no_terminal() -> str:
    """Why the browser cannot open, and what does without a terminal."""
    return (
        f"view needs a terminal for its keys and its screen, and {_missing()};"
        " `kerntape replay` prints a summary anywhere"
    )


def _missing() -> str:
    """What is no terminal, or why nothing can be drawn on the one there is; '' where all is there."""
    import os
    import sys

    streams = {name: getattr(sys, name) for name in STREAMS}
    elsewhere = [name for name, stream in streams.items() if not (stream and stream.isatty())]
    if elsewhere:
        told = " and ".join(word for word in (", ".join(elsewhere[:-1]), elsewhere[-1]) if word)
        return f"{told} {'is' if len(elsewhere) == 1 else 'are'} none"
    term = os.environ.get("TERM", "")
    return f"TERM says that this one is {term}" if term.lower() in DUMB else ""


def open_timeline(path: Path, arguments: argparse.Namespace) -> Timeline:
    """The file's timeline. A trace is replayed; a timeline too where an option of the model is given, and
    then what is not given stays as it is in the timeline.

    Raises FileError for a file that is not whole and sound, ConfigError for a model option.
    """
    from ..schemas.timeline_file import read_timeline
    from ..schemas.trace_file import is_trace
    from .model_options import read_replayed, replay_anew

    if not is_trace(path) and not _chooses_a_model(arguments):
        return read_timeline(path)
    return replay_anew(read_replayed(path), arguments)


def _chooses_a_model(arguments: argparse.Namespace) -> bool:
    """Whether any of the model's options was given."""
    options = ("calibration", "policy", "topology", "runner")
    named = any(getattr(arguments, name) is not None for name in options)
    return named or bool(arguments.settings)
