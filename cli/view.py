"""`kerntape view`: the timeline browser on a trace or a timeline, or on two of them side by side."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .replay import add_model_options

if TYPE_CHECKING:
    from pathlib import Path

    from ..schemas.timeline import Timeline

SUMMARY = "browse a timeline in the terminal, or compare two; a trace is replayed first"

NO_TERMINAL = (
    "view needs a terminal for its keys and its screen; `kerntape replay` prints a summary anywhere"
)

_ERASE_LINE = "\r\x1b[K"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE is a .ktrace or a .ktimeline; its first bytes say which. The model's options hold for both."""
    parser.add_argument("file", metavar="FILE", help="a .ktrace or .ktimeline file")
    parser.add_argument("other", metavar="FILE2", nargs="?", help="a second one, to compare with")
    add_model_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Opens the browser and returns when the user quits. KerntapeError where there is no terminal."""
    from pathlib import Path

    from ..schemas.errors import KerntapeError

    if not on_terminal():
        raise KerntapeError(NO_TERMINAL)
    path = Path(arguments.file)
    timeline = _opened(path, arguments)
    other = None
    if arguments.other is not None:
        second = Path(arguments.other)
        other = _opened(second, arguments), second.name
    from ..viewer.app import browse

    browse(timeline, title=path.name, other=other, path=path)
    return 0


def _opened(path: Path, arguments: argparse.Namespace) -> Timeline:
    """Says that it is at it, until it is done."""
    import sys

    print(f"opening {path.name} …", end="", file=sys.stderr, flush=True)
    try:
        return open_timeline(path, arguments)
    finally:
        print(_ERASE_LINE, end="", file=sys.stderr, flush=True)


def on_terminal() -> bool:
    """Whether a person sits at both ends: Textual reads keys from stdin and draws on stderr."""
    import sys

    return all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))


def open_timeline(path: Path, arguments: argparse.Namespace) -> Timeline:
    """The file's timeline. A trace, and a timeline under another model than its own, is replayed.

    Raises FileError for a file that is not whole and sound, ConfigError for a model option.
    """
    from ..replay.replay import replay
    from ..schemas.timeline_file import read_timeline
    from ..schemas.trace_file import is_trace, read_trace
    from ..topologies.loader import resolve_topology

    if is_trace(path):
        trace = read_trace(path)
    else:
        timeline = read_timeline(path)
        if not _chooses_a_model(arguments):
            return timeline
        trace = timeline.trace
    return replay(
        trace,
        topology=resolve_topology(arguments.topology) if arguments.topology else None,
        calibration=arguments.calibration,
        settings=arguments.settings,
        policy=arguments.policy,
        runner=arguments.runner,
    )


def _chooses_a_model(arguments: argparse.Namespace) -> bool:
    """Whether any of the model's options was given other than as it stands by default."""
    parser = argparse.ArgumentParser()
    add_model_options(parser)
    defaults = vars(parser.parse_args([]))
    return any(getattr(arguments, name) != value for name, value in defaults.items())
