"""What `kerntape inspect` found, laid out for a person at 100 columns. Knows no file and no terminal."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from ..schemas.deadlock import deadlock_remedy
from .flow import counted, cut, flowed, printable
from .printing import aligned

OP_INDENT = " " * 8
SHORT_HASH = 12
TAIL_SHOWN = 16
TRACE_IS_VALID = "yes: every hash, id, wait, address, extent and message was checked"
TIMELINE_IS_VALID = "yes: every hash, id and time, and the whole trace inside, was checked"

Facts: TypeAlias = Mapping[str, Any]
Rows: TypeAlias = list[tuple[str, list[str]]]
"""A name, and the pieces of what there is to say about it: a line may break between pieces."""


def inspection_text(facts: Facts) -> str:
    """All parts that the file has, a blank line between them; no line is wider than WIDTH."""
    parts = _trace_parts(facts) if facts["format"] == "ktrace" else _timeline_parts(facts)
    if facts["pe"] is not None:
        parts.append(_pe_text(facts["pe"]))
    return "\n\n".join(parts)


def _trace_parts(facts: Facts) -> list[str]:
    per_command = facts["column_bytes_per_command"]
    rows: Rows = [
        ("header", [f"sha256 {facts['header_sha256']}"]),
        ("content", [f"sha256 {facts['content_sha256']}"]),
        ("bytes", _commas(f"{name} {size:,}" for name, size in facts["section_bytes"].items())),
        ("columns", [f"{per_command} bytes a command of the distinct streams"]),
    ]
    kept = facts["kept_inputs"]
    if kept is not None:
        rows.append(("inputs", [f"{counted(kept['images'], 'image')} of {kept['bytes']:,} bytes"]))
    checked = facts["deadlock_check"]
    parts = [
        _headline(facts, "trace"),
        _table(
            [
                ("valid", [TRACE_IS_VALID]),
                ("replays", _deadlock_verdict(checked, facts["header"]["topology"]["name"])),
                *_header_rows(facts["header"], facts["sips"]),
                *_count_rows(facts),
                *rows,
            ]
        ),
        _tensors_text(facts["header"]["tensors"]),
    ]
    if checked["deadlock"] is not None:
        parts.append(deadlock_text(checked["deadlock"]))
    return parts


def _timeline_parts(facts: Facts) -> list[str]:
    trace = facts["trace"]
    rows: Rows = [
        ("valid", [TIMELINE_IS_VALID]),
        ("status", [facts["status"]]),
        ("makespan", [f"{_nanoseconds(facts['makespan_ps'])} ns"]),
        ("topology", [facts["topology"]]),
        ("calibration", [facts["calibration"]]),
        ("policy", [facts["policy"]]),
        ("stages", _total(facts["stages"], facts["stages_by_kind"])),
        ("hazards", _hazards(facts["hazards"])),
    ]
    parts = [
        _headline(facts, "timeline"),
        _table(rows),
        _engines_text(facts["engines"]),
    ]
    if facts["deadlock"] is not None:
        parts.append(deadlock_text(facts["deadlock"]))
    content: Rows = [("content", [f"sha256 {trace['content_sha256']}"])]
    return [
        *parts,
        _table([*_header_rows(trace["header"], trace["sips"]), *_count_rows(trace), *content]),
    ]


def _hazards(counts: Mapping[str, int | None]) -> list[str]:
    """The pairs by outcome; what was not looked for is said to be so."""
    if counts["held"] is None:
        return ["not evaluated:", "the replay did not end"]
    return _commas(
        f"{name}: not searched" if count is None else f"{count:,} {name}"
        for name, count in counts.items()
    )


def _headline(facts: Facts, kind: str) -> str:
    about = f"{kind}, format {facts['version']}, {facts['size_bytes']:,} bytes"
    return cut(printable(f"{facts['file']}: {about}"))


def _header_rows(header: Facts, sips: Sequence[int]) -> Rows:
    arguments, sources, topology = header["arguments"], header["sources"], header["topology"]
    return [
        ("kernel", [f"{header['kernel']},", f"captured by kerntape {header['tool_version']}"]),
        ("arguments", _commas(f"{name} {_scalar(value)}" for name, value in arguments.items())),
        ("sources", _commas(f"{name} {sha[:SHORT_HASH]}" for name, sha in sources.items())),
        ("topology", [f"{topology['name']}: {topology['summary']}"]),
        ("grid", [_grid(header["grid"], sips)]),
    ]


def _grid(grid: Sequence[int], sips: Sequence[int]) -> str:
    """The launch's extents; and which SIPs it ran on, where these are not simply the first ones."""
    extents = zip(grid, ("PE", "CUBE", "SIP"), strict=True)
    chosen = "" if list(sips) == list(range(len(sips))) else f" ({', '.join(map(str, sips))})"
    return " × ".join(counted(extent, thing) for extent, thing in extents) + chosen


def _count_rows(facts: Facts) -> Rows:
    held_once = {
        "commands": facts["distinct_commands"],
        "handles": facts["distinct_handles"],
        **facts["tables"],
    }
    streams = counted(facts["distinct_streams"], "distinct stream")
    return [
        ("PEs", [f"{facts['pes']:,}, running {streams}"]),
        ("commands", _total(facts["commands"], facts["commands_by_kind"])),
        ("descriptors", [f"{facts['logical_bytes']:,} logical bytes"]),
        ("held once", _commas(f"{count:,} {name}" for name, count in held_once.items())),
    ]


def _total(total: int, by_kind: Mapping[str, int]) -> list[str]:
    return [f"{total:,}:", *_commas(f"{count:,} {kind}" for kind, count in by_kind.items())]


def _tensors_text(tensors: Sequence[Facts]) -> str:
    rows = [("tensor", "shape", "dtype", "placement")]
    for tensor in tensors:
        placement = tensor["placement"] + (" (output)" if tensor["is_output"] else "")
        rows.append(
            (
                printable(tensor["name"]),
                _shape(tensor["shape"]),
                tensor["dtype"],
                printable(placement),
            )
        )
    return cut(aligned(rows))


def _engines_text(engines: Sequence[Facts]) -> str:
    """One row a kind of engine, the PEs' summed up."""
    totals: dict[str, list[int]] = {}
    for engine in engines:
        total = totals.setdefault(engine["title"], [0, 0, 0])
        for place, amount in enumerate((1, engine["stages"], engine["busy_ps"])):
            total[place] += amount
    rows = [("engine", "number", "stages", "busy ns")]
    rows += [
        (printable(title), f"{number:,}", f"{stages:,}", _nanoseconds(busy_ps))
        for title, (number, stages, busy_ps) in totals.items()
    ]
    return cut(aligned(rows, right=(1, 2, 3)))


def _deadlock_verdict(checked: Facts, captured_on: str) -> list[str]:
    """Whether the replays end, under which policy, and on which machine if not the trace's."""
    if checked["free"] is None:
        return ["none can be made:", *checked["unknown_because"].split(" ")]
    verdict = "free of deadlock" if checked["free"] else "stop in a deadlock"
    elsewhere = "" if checked["topology"] == captured_on else f", {checked['topology']}"
    return [verdict, f"under every calibration ({checked['policy']}{elsewhere})"]


def deadlock_text(deadlock: Facts) -> str:
    remedy = deadlock_remedy(deadlock["clearing_depth"], deadlock["clearing_policies"])
    lines = [f"deadlock: each waits for the next; {remedy}", *deadlock["cycle"]]
    if deadlock["tail"]:
        lines += ["and behind them:", *deadlock["tail"][:TAIL_SHOWN]]
    more = len(deadlock["tail"]) - TAIL_SHOWN
    lines += [f"and the first command of {counted(more, 'more PE')}"] if more > 0 else []
    return "\n".join(part for line in lines for part in flowed("", line.split(" ")))


def _pe_text(pe: Facts) -> str:
    listed = pe["listed"]
    if not listed:
        return f"PE {pe['rank']}: none of its {counted(pe['commands'], 'command')} is listed"
    first, last = listed[0]["index"], listed[-1]["index"]
    lines = [f"PE {pe['rank']}: commands {first} to {last} of {pe['commands']:,}"]
    away = [number for number in _tensors_of(listed) if pe["owners"][number] != pe["rank"]]
    if away:
        told = _commas(f"tensor {number} with PE {pe['owners'][number]}" for number in away)
        lines += flowed(OP_INDENT, ["in others' HBM:", *told])
    for command in listed:
        lines += _command_lines(command)
    return "\n".join(lines)


def _tensors_of(commands: Sequence[Facts]) -> list[int]:
    """The HBM tensors that commands read or write, ascending."""
    ops = [op for command in commands for op in command["ops"]]
    handles = [handle for op in ops for handle in (*op["operands"].values(), op["out"]) if handle]
    return sorted({handle["tensor"] for handle in handles} - {None})


def _command_lines(command: Facts) -> list[str]:
    """The command with its source line, then a line or more for each op."""
    verb = f"{command['kind']} {command['direction']}".strip()
    line, waits = command["line"], ", ".join(map(str, command["waits"]))
    facts = (
        f"{command['index']:>6}  {verb:<12}{command['logical_bytes']:>5} bytes",
        f"after {waits}" if waits else "",
        f"{line['file']}:{line['number']}",
        line["text"].strip(),
    )
    lines = [cut(printable("  ".join(fact for fact in facts if fact)))]
    for op in command["ops"]:
        lines += _op_lines(op)
    if command["rw_handles"]:
        labels = _commas(handle["label"] for handle in command["rw_handles"])
        lines += flowed(OP_INDENT, ["reads and writes", *labels])
    return lines


def _op_lines(op: Facts) -> list[str]:
    """Nothing for an op without handles and scalars: the command's kind has said it."""
    pieces = _commas(f"{name} {_handle(handle)}" for name, handle in op["operands"].items())
    if op["out"] is not None:
        pieces.append(f"→ {_handle(op['out'])}")
    scalars = " ".join(f"{name}={_scalar(value)}" for name, value in op["scalars"].items())
    if scalars:
        pieces.append(f"with {scalars}")
    if not pieces:
        return []
    per = "" if op["scope"] == "kernel" else f" per {op['scope']}"
    return flowed(OP_INDENT, [f"{op['kind']}{per}:", *pieces])


def _handle(handle: Facts) -> str:
    tensor = "" if handle["tensor"] is None else f"{handle['tensor']}+"
    place = f"{handle['space']} {tensor}{handle['address']:#x}"
    strided = "" if handle["is_contiguous"] else "strided"
    words = (handle["label"], _shape(handle["shape"]), handle["dtype"], strided, place)
    return " ".join(word for word in words if word)


def _shape(shape: Iterable[int]) -> str:
    return "×".join(map(str, shape))


def _scalar(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
    return str(value)


def _nanoseconds(picoseconds: int) -> str:
    whole, rest = divmod(picoseconds, 1000)
    return f"{whole:,}.{rest:03}"


def _commas(pieces: Iterable[str]) -> list[str]:
    """The pieces, each but the last with a comma; `none` where there is none."""
    listed = list(pieces)
    return [f"{piece}," for piece in listed[:-1]] + listed[-1:]


def _table(rows: Rows) -> str:
    """Names and values in two columns; what does not fit goes on below, in the second."""
    width = max(len(name) for name, _ in rows) + 2
    lines: list[str] = []
    for name, pieces in rows:
        first, *more = flowed(" " * width, pieces or ["none"], hanging="")
        lines += [name.ljust(width) + first.lstrip(), *more]
    return "\n".join(lines)
