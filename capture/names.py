"""Where in the kernel a command was issued, and what its result is called there.

A command belongs to the nearest frame outside capture's own machinery; the kernels that ship
(capture/kernels/) are not machinery. A result is named after the variable that the source assigns
it to: `Sj = tl.composite(...)` names it Sj, a tuple or list by position.
"""

import ast
import linecache
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import CodeType, FrameType
from typing import TypeAlias

from .. import schemas
from ..schemas.trace import SourceLine
from .interning import InternPool

Span: TypeAlias = tuple[int, int, int, int]
"""(line, last line, column, last column) of an expression, as code positions have them."""

MACHINERY = (os.path.dirname(__file__), os.path.dirname(schemas.__file__))
BYTES_PER_INSTRUCTION = 2


@dataclass(frozen=True, slots=True)
class CallSite:
    """One place in a kernel that issues commands. `assigned` is '' where no name is clear.

    `line_number` is the line's number in the launch's table. `code` keeps the code object alive, so
    that its identity stays its own.
    """

    line: SourceLine
    line_number: int
    assigned: str
    code: CodeType


class CallSites:
    """Finds the call site of the command being issued; each place is worked out once."""

    def __init__(self, pool: InternPool) -> None:
        self._pool = pool
        self._sites: dict[tuple[int, int], CallSite] = {}
        self._is_machinery: dict[str, bool] = {}
        self._assigned: dict[str, dict[Span, str]] = {}

    def here(self) -> CallSite:
        """The call site of the nearest kernel frame."""
        frame = self._kernel_frame(sys._getframe(1))
        code = frame.f_code
        key = (id(code), frame.f_lasti)
        site = self._sites.get(key)
        if site is None:
            site = self._sites[key] = self._read(frame)
        return site

    def _kernel_frame(self, frame: FrameType) -> FrameType:
        known = self._is_machinery
        while True:
            file = frame.f_code.co_filename
            machinery = known.get(file)
            if machinery is None:
                machinery = known[file] = is_machinery(file)
            caller = frame.f_back if machinery else None
            if caller is None:
                return frame
            frame = caller

    def _read(self, frame: FrameType) -> CallSite:
        code = frame.f_code
        file = code.co_filename
        if file not in self._assigned:
            linecache.checkcache(file)
            self._assigned[file] = _assignments(file)
        span = _span(code, frame.f_lasti)
        assigned = self._assigned[file].get(span, "") if span else ""
        line = source_line(code, frame.f_lineno, span[1] if span else frame.f_lineno)
        return CallSite(line, self._pool.line(line), assigned, code)


def is_machinery(file: str) -> bool:
    """Whether a source file is capture's own (or the schemas' it uses): no command belongs to it."""
    return os.path.dirname(file) in MACHINERY


def source_line(code: CodeType, number: int, last: int) -> SourceLine:
    """The line of that number in the code's file, the file by its base name.

    Its text is the whole call, up to line `last`, in one line.
    """
    lines = (linecache.getline(code.co_filename, each) for each in range(number, last + 1))
    text = _between_brackets(" ".join(line.strip() for line in lines))
    return SourceLine(os.path.basename(code.co_filename), number, _function_of(code), text)


def _between_brackets(text: str) -> str:
    """Without the space (and the last comma) that only the breaks between lines put in brackets."""
    text = re.sub(r"([(\[{]) ", r"\1", text)
    return re.sub(r",? ([)\]}])", r"\1", text)


def _function_of(code: CodeType) -> str:
    """The def that the code belongs to: a comprehension is its function's, in every Python."""
    named = [part for part in code.co_qualname.split(".") if not part.startswith("<")]
    return named[-1] if named else code.co_name


def _span(code: CodeType, instruction_offset: int) -> Span | None:
    place = instruction_offset // BYTES_PER_INSTRUCTION
    first, last, column, last_column = next(
        islice(code.co_positions(), place, None), (None, None, None, None)
    )
    if first is None or last is None or column is None or last_column is None:
        return None
    return first, last, column, last_column


def _assignments(file: str) -> dict[Span, str]:
    """The name that each assigned expression of a source file gets; none for an unreadable one."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return {}
    names: dict[Span, str] = {}
    for node in ast.walk(tree):
        for expression, name in _named_by(node):
            names[_span_of(expression)] = name
    return names


def _named_by(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """(expression, name) for each expression that the statement or := assigns."""
    match node:
        case ast.Assign(targets=[target, *_], value=value):
            yield from _pairs(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _pairs(target, value)
        case ast.NamedExpr(target=target, value=value):
            yield from _pairs(target, value)
        case ast.AugAssign(target=target):
            yield node, ast.unparse(target)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.AST, str]]:
    match target, value:
        case (
            (ast.Tuple(elts=names) | ast.List(elts=names)),
            (ast.Tuple(elts=values) | ast.List(elts=values)),
        ) if len(names) == len(values):
            for each, its_value in zip(names, values, strict=True):
                yield from _pairs(each, its_value)
        case ((ast.Tuple() | ast.List()), _):
            return
        case _, (ast.Tuple(elts=values) | ast.List(elts=values)):
            for place, its_value in enumerate(values):
                yield its_value, f"{ast.unparse(target)}[{place}]"
        case _, (ast.ListComp(elt=element) | ast.GeneratorExp(elt=element)):
            yield element, ast.unparse(target)
        case _, ast.IfExp(body=body, orelse=otherwise):
            yield from _pairs(target, body)
            yield from _pairs(target, otherwise)
        case _:
            yield value, ast.unparse(target)


def _span_of(node: ast.AST) -> Span:
    assert isinstance(node, (ast.expr, ast.stmt))
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
