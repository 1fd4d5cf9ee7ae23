"""Where in the kernel's own files an exception came from: for messages, and for its author to read."""

import sysconfig
import traceback
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TypeVar

from .names import is_machinery, source_line

LIBRARIES = tuple(
    sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
Frame = TypeVar("Frame")


def kernel_line(error: BaseException) -> str:
    """`file:line` of the innermost kernel frame that the exception passed; '' if it passed none."""
    steps = _own_frames(_steps(error), lambda step: step.tb_frame.f_code.co_filename)
    if not steps:
        return ""
    number = steps[-1].tb_lineno
    return str(source_line(steps[-1].tb_frame.f_code, number, number))


def kernel_traceback(error: BaseException) -> str:
    """The traceback as Python prints it, with the kernel's own frames only."""
    summary = traceback.TracebackException.from_exception(error)
    frames = _own_frames(summary.stack, lambda frame: frame.filename)
    summary.stack = traceback.StackSummary.from_list(frames)
    return "".join(summary.format(chain=False))


def _steps(error: BaseException) -> Iterable[TracebackType]:
    step = error.__traceback__
    while step is not None:
        yield step
        step = step.tb_next


def _own_frames(frames: Iterable[Frame], file_of: Callable[[Frame], str]) -> list[Frame]:
    """Those of neither capture nor a library; a kernel that is installed as a library keeps its own."""
    outside = [frame for frame in frames if not is_machinery(file_of(frame))]
    own = [frame for frame in outside if not file_of(frame).startswith(("<frozen", *LIBRARIES))]
    return own or outside
