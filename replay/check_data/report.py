"""A data check in words, and as the object that `replay --check-data --json` prints."""

from dataclasses import asdict
from math import isfinite
from typing import Any

from .findings import DataCheck, Fault, FirstWrong, OutputCheck, WrongBytes

MAX_RANKS_NAMED = 4


def check_lines(check: DataCheck) -> list[str]:
    """The check for a person: one line an output, then where it first went wrong and why."""
    lines = [_output_line(output) for output in check.outputs] or ["no tensor to check"]
    if check.first_wrong is None:
        return lines
    if check.right:
        lines.append("a value on the way was wrong all the same")
    return [*lines, *_first_wrong_lines(check.first_wrong, check.policy)]


def check_json(check: DataCheck) -> dict[str, Any]:
    """The check as plain data, keys stable. A difference that is no finite number is null."""
    return {
        "right": check.right,
        "outputs": [_output_json(output) for output in check.outputs],
        "first_wrong": None if check.first_wrong is None else asdict(check.first_wrong),
    }


def _output_json(output: OutputCheck) -> dict[str, Any]:
    facts = asdict(output)
    facts["max_abs_difference"] = _finite(output.max_abs_difference)
    facts["tile_difference"] = _finite(output.tile_difference)
    return {"right": output.right, **facts}


def _finite(number: float | None) -> float | None:
    return number if number is not None and isfinite(number) else None


def _output_line(output: OutputCheck) -> str:
    verdict = "right" if output.right else "wrong"
    return f"output {output.name}: {verdict}, {_order_words(output)}{_tile_words(output)}"


def _order_words(output: OutputCheck) -> str:
    if output.in_order:
        return f"all {output.elements:,} elements bit for bit as in program order"
    return (
        f"{output.wrong_elements:,} of {output.elements:,} elements not as in program order"
        f" on {_pes(output.wrong_ranks)}, largest difference {output.max_abs_difference:.3g}"
    )


def _pes(ranks: tuple[int, ...]) -> str:
    named = "PE " + ", ".join(map(str, ranks[:MAX_RANKS_NAMED]))
    more = len(ranks) - MAX_RANKS_NAMED
    return f"{named} and {more} more" if more > 0 else named


def _tile_words(output: OutputCheck) -> str:
    if output.tile_difference is None or output.tolerance is None:
        return ""
    verdict = "within" if output.within_tolerance else "beyond"
    return (
        f"; the tile is not capture's, whose values are {output.tile_difference:.3g} away,"
        f" {verdict} the {output.tolerance:.3g} that {output.dtype} allows"
    )


def _first_wrong_lines(first: FirstWrong, policy: str) -> list[str]:
    return [
        f"first wrong at {_ns(first.time_ps)}: {first.writer}, op {first.op} {first.op_kind},"
        f" wrote '{first.label}'",
        f"  {_reason(first.because, first)}",
        *_hazard_lines(first.because, policy),
    ]


def _reason(because: WrongBytes, first: FirstWrong) -> str:
    what = f"'{because.label}' ({because.memory} {because.byte_from:#x}–{because.byte_to:#x})"
    if because.reader is None:
        return f"which is {what} at the end, {_fault_words(because)}"
    reader = "it" if because.reader == first.writer else str(because.reader)
    return (
        f"{reader} read {because.operand} {what} at {_ns(because.at_ps)}, {_fault_words(because)}"
    )


def _fault_words(because: WrongBytes) -> str:
    match because.fault:
        case Fault.NOT_YET_WRITTEN:
            return f"before {because.expected} had written it"
        case Fault.OVERWRITTEN_TOO_EARLY:
            return f"after {because.found} had overwritten it"
        case Fault.OVERWRITTEN_TOO_LATE:
            return f"after {because.found} had overwritten what {because.expected} wrote"


def _hazard_lines(because: WrongBytes, policy: str) -> list[str]:
    if because.hazard is None:
        return []
    return [f"  a {because.hazard} hazard that the policy {policy} lets through"]


def _ns(time_ps: int) -> str:
    return f"{time_ps / 1000:,.3f} ns"
