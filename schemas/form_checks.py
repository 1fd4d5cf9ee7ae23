"""Whether a command's form is one that its kind can have. docs/trace-format.md lists the rules."""

from collections.abc import Collection

from .commands import GEMM, CommandForm, CommandKind, OpForm, Scope
from .errors import FileError
from .plain_data import MAX_INTEGER, shown

QUEUE_KINDS = (CommandKind.SEND, CommandKind.RECV, CommandKind.RECV_ASYNC)
MAX_GEMM_EXTENT = 1 << 40

ANY_OPERANDS = None
SIGNATURES: dict[CommandKind, tuple[tuple[str, ...] | None, bool]] = {
    CommandKind.LOAD: (("src",), True),
    CommandKind.STORE: (("src",), True),
    CommandKind.MATH: (ANY_OPERANDS, True),
    CommandKind.DOT: (("a", "b"), True),
    CommandKind.SEND: (("src",), False),
    CommandKind.RECV: ((), True),
    CommandKind.RECV_ASYNC: ((), True),
    CommandKind.WAIT: ((), False),
    CommandKind.OVERHEAD: ((), False),
}
"""Per kind that is no composite, the operands of its one op and whether it has an output."""


def check_form(form: CommandForm, where: str, directions: Collection[str]) -> None:
    """FileError unless the form obeys its kind's rules. `directions` are the topology's."""
    _check_direction(form, where, directions)
    if form.kind is CommandKind.COMPOSITE:
        _check_composite(form, where)
    else:
        _check_single_op(form, where)
    for number, op in enumerate(form.ops):
        if op.kind == GEMM:
            _check_gemm(op, f"{where}.ops[{number}]")


def _check_direction(form: CommandForm, where: str, directions: Collection[str]) -> None:
    if form.kind not in QUEUE_KINDS:
        if form.direction:
            raise FileError(
                f"{where}: a {_name(form)} must have no direction, not {shown(form.direction)}"
            )
    elif form.direction not in directions:
        known = ", ".join(directions) or "none, as the topology has none"
        raise FileError(
            f"{where}: the direction must be one of {known}, not {shown(form.direction)}"
        )


def _check_composite(form: CommandForm, where: str) -> None:
    if not form.ops:
        raise FileError(f"{where}: a composite must have an op, not none")
    gemms = [number for number, op in enumerate(form.ops) if op.kind == GEMM]
    if len(gemms) > 1:
        raise FileError(f"{where}: a composite must have at most one gemm, not {len(gemms)}")
    first_in_loop = gemms[0] + 1 if gemms else len(form.ops)
    for number, op in enumerate(form.ops[:first_in_loop]):
        if op.scope is not Scope.KERNEL:
            raise FileError(
                f"{where}.ops[{number}]: the scope must be KERNEL, not {op.scope.name}:"
                " only an op behind the gemm runs per tile"
            )
    for number, op in enumerate(form.ops):
        if not op.has_out:
            raise FileError(f"{where}.ops[{number}]: an op of a composite must have an output")
    behind = [op.scope is Scope.KERNEL for op in form.ops[first_in_loop:]]
    if behind != sorted(behind):
        raise FileError(
            f"{where}: the ops that run per tile must come right behind the gemm, before any other"
        )


def _check_single_op(form: CommandForm, where: str) -> None:
    if form.rw_count:
        raise FileError(
            f"{where}: a {_name(form)} must have no read-write handles, not {form.rw_count}"
        )
    if len(form.ops) != 1:
        raise FileError(f"{where}: a {_name(form)} must have one op, not {len(form.ops)}")
    (op,) = form.ops
    operands, has_out = SIGNATURES[form.kind]
    if (operands is not ANY_OPERANDS and op.operands != operands) or op.has_out != has_out:
        raise FileError(
            f"{where}: a {_name(form)} must have operands {_listed(operands)} and"
            f" {_output(has_out)}, not {_listed(op.operands)} and {_output(op.has_out)}"
        )
    if (op.kind == GEMM) != (form.kind is CommandKind.DOT):
        raise FileError(
            f"{where}: a gemm must be a dot's or a composite's op, and a dot's op is one"
        )
    if op.scope is not Scope.KERNEL:
        raise FileError(f"{where}: a {_name(form)}'s scope must be KERNEL, not {op.scope.name}")
    if form.kind is CommandKind.OVERHEAD:
        _check_integer(op, "cycles", 0, MAX_INTEGER, where)


def _check_gemm(op: OpForm, where: str) -> None:
    if "a" not in op.operands or "b" not in op.operands or not op.has_out:
        raise FileError(f"{where}: a gemm must have operands a and b and an output")
    for name in ("m", "k", "n"):
        _check_integer(op, name, 1, MAX_GEMM_EXTENT, where)


def _check_integer(op: OpForm, name: str, low: int, high: int, where: str) -> None:
    value = dict(op.extra).get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        found = "missing" if value is None else shown(value)
        raise FileError(f"{where}: {op.kind}'s {name} must be an integer from {low}, not {found}")


def _name(form: CommandForm) -> str:
    return form.kind.name.lower()


def _listed(operands: tuple[str, ...] | None) -> str:
    return "of any number" if operands is ANY_OPERANDS else shown(list(operands))


def _output(has_out: bool) -> str:
    return "an output" if has_out else "no output"
