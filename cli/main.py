"""The `kerntape` command: finds the subcommand, and alone turns what can go wrong into an exit code.

0 done · 1 the input or the run failed · 2 wrong usage · 3 done and the answer is a finding ·
141 nobody reads the output · 143 ended by SIGTERM. A subcommand is a module of this package named in
SUBCOMMANDS, with SUMMARY, add_arguments(parser) and run(arguments) → exit code, where `arguments.words`
are what was typed; its heavy imports stand inside its functions, so that `kerntape --help` is quick.
"""

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from types import FrameType, ModuleType, TracebackType
from typing import NoReturn

from ..schemas.errors import (
    KernelRaisedError,
    KerntapeError,
    UsageError,
    did_you_mean,
    os_error_words,
)
from .flow import printable
from .usage import Parser

SUBCOMMANDS = (
    "demo",
    "capture",
    "replay",
    "hazards",
    "sweep",
    "view",
    "inspect",
    "kernels",
    "topologies",
    "calibrations",
    "policies",
)

DONE = 0
FAILED = 1
WRONG_USAGE = 2
NOBODY_READS = 141


def run() -> None:
    """The console entry point: a process's arguments, streams and exit code."""
    sys.excepthook = report_bug
    signal.signal(signal.SIGTERM, _terminated)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))


def _terminated(number: int, _: FrameType | None) -> NoReturn:
    """Leaves by way of every `finally`: nothing half-written stays, and no worker."""
    raise SystemExit(128 + number)


def main(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Only a bug in kerntape raises."""
    code = _without_traceback(lambda: _dispatch(arguments))
    flushed = _without_traceback(_flush_output)
    if flushed != DONE:
        _forget_output()
    return code or flushed


def _dispatch(arguments: Sequence[str]) -> int:
    if not arguments:
        print(_help_text(), file=sys.stderr)
        return WRONG_USAGE
    name, *rest = arguments
    match name:
        case "-h" | "--help" | "help":
            print(_help_text())
            return DONE
        case "--version":
            print(f"kerntape {_version()}")
            return DONE
        case _ if name in SUBCOMMANDS:
            return _run_subcommand(name, rest)
    hint = did_you_mean(name, SUBCOMMANDS)
    kind = "option" if name.startswith("-") else "subcommand"
    _failed(f"unknown {kind} '{name}'{hint}")
    return WRONG_USAGE


def _run_subcommand(name: str, rest: Sequence[str]) -> int:
    module = _subcommand(name)
    parser = Parser(prog=f"kerntape {name}", description=module.SUMMARY)
    module.add_arguments(parser)
    try:
        arguments = parser.parse_args(rest, argparse.Namespace(words=tuple(rest)))
    except SystemExit as stop:  # argparse has printed its help (0) or what is wrong (2)
        return int(stop.code or DONE)
    return int(module.run(arguments))


def _subcommand(name: str) -> ModuleType:
    return import_module(f".{name}", __package__)


def _help_text() -> str:
    width = max(map(len, SUBCOMMANDS))
    lines = [f"  {name:{width}}  {_subcommand(name).SUMMARY}" for name in SUBCOMMANDS]
    return "\n".join(
        [
            "usage: kerntape SUBCOMMAND …",
            "",
            "Capture a kernel's commands once; replay them on a model of the hardware.",
            "",
            *lines,
            "",
            "`kerntape SUBCOMMAND --help` explains one; `kerntape --version`: the version.",
        ]
    )


def _version() -> str:
    from importlib.metadata import version  # slow to import, and needed here alone

    return version("kerntape")


def _without_traceback(work: Callable[[], int]) -> int:
    """Do the work; what the user can mend becomes one line on stderr and an exit code."""
    try:
        return work()
    except KernelRaisedError as error:
        print(error.kernel_traceback.rstrip("\n"), file=sys.stderr)
        return _failed(str(error))
    except UsageError as error:
        _failed(str(error))
        return WRONG_USAGE
    except KerntapeError as error:
        return _failed(str(error))
    except KeyboardInterrupt:
        _failed("interrupted")
        return FAILED
    except BrokenPipeError:
        return NOBODY_READS
    except OSError as error:
        return _failed(os_error_words(error))
    except MemoryError:
        return _failed("out of memory")


def _failed(message: str) -> int:
    """Says it in one line, whatever a file's name or a kernel's own error has in it."""
    print(f"kerntape: {printable(message)}", file=sys.stderr)
    return FAILED


def _flush_output() -> int:
    if sys.stdout is not None:
        sys.stdout.flush()
    return DONE


def _forget_output() -> None:
    """Let what could not be written go, or the interpreter would try again as it exits."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def report_bug(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """The last resort of a process: the traceback, and a request to report it."""
    sys.__excepthook__(kind, error, trace)
    print(
        "kerntape: this is a bug in kerntape; please report it with the lines above",
        file=sys.stderr,
    )
