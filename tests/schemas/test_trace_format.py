"""docs/trace-format.md is exact: a reader written from it alone reads what kerntape reads."""

import ast
from dataclasses import astuple
from pathlib import Path
from typing import Any

import independent_reader
import pytest
from kerntape.schemas.commands import CommandKind, Scope
from kerntape.schemas.hazards import HAZARD_COLUMNS, KINDS, Outcome
from kerntape.schemas.stages import STAGE_COLUMNS, StageKind, Why
from kerntape.schemas.timeline_file import TIME_COLUMNS, write_timeline
from kerntape.schemas.trace import Trace
from kerntape.schemas.trace_columns import COLUMN_NAMES
from kerntape.schemas.trace_file import (
    UNPACKED_GRACE_BYTES,
    UNPACKED_PER_BYTE,
    parse_trace,
    trace_bytes,
)
from small_timelines import deadlocked, two_pes_timeline
from small_traces import tile_loop, two_pes, with_inputs

DOCUMENT = (Path(__file__).parents[2] / "docs" / "trace-format.md").read_text(encoding="utf-8")


def test_the_independent_reader_imports_nothing_of_kerntape() -> None:
    tree = ast.parse(Path(independent_reader.__file__).read_text(encoding="utf-8"))
    imported = {
        name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    } | {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported == {"hashlib", "io", "itertools", "msgpack", "struct", "typing", "zlib"}


def streams_as_kerntape_reads_them(trace: Trace) -> list[dict[str, Any]]:
    numbers = {form: number for number, form in enumerate(trace.forms)}
    lines = {line: number for number, line in enumerate(trace.lines)}
    return [
        {
            "commands": [
                {
                    "form": numbers[command.form],
                    "line": lines[command.line],
                    "slots": [handle.id for handle in command.handles],
                    "waits": list(command.waits),
                }
                for command in trace.commands(stream)
            ],
            "handles": [
                {"geometry": geometry, "address": address, "tensor": tensor, "label": label}
                for geometry, address, tensor, label in zip(
                    stream.geometries.tolist(),
                    stream.addresses.tolist(),
                    stream.tensors.tolist(),
                    stream.labels.tolist(),
                    strict=True,
                )
            ],
        }
        for stream in trace.streams
    ]


@pytest.mark.parametrize(
    "trace", [two_pes(), with_inputs(two_pes()), tile_loop(40, pes=6), tile_loop(3000)]
)
def test_the_independent_reader_reads_the_same_trace(trace: Trace) -> None:
    content = trace_bytes(trace)
    read, file = independent_reader.read_trace(content), parse_trace(content, "x")
    expected = file.trace
    assert read["header_sha256"] == file.header_sha256
    assert read["content_sha256"] == file.content_sha256
    assert read["header"]["kernel"] == expected.header.kernel
    assert read["header"]["arguments"] == expected.header.arguments
    assert read["header"]["topology"] == expected.header.topology
    assert [tensor["name"] for tensor in read["header"]["tensors"]] == ["q", "k", "v", "o"]
    assert read["strings"] == list(expected.strings)
    assert read["geometries"] == [
        [list(each.shape), list(each.strides), each.dtype, each.space]
        for each in expected.geometries
    ]
    assert read["lines"] == [list(astuple(line)) for line in expected.lines]
    assert [independent_reader.logical_bytes(form) for form in read["forms"]] == [
        form.logical_bytes for form in expected.forms
    ]
    assert read["forms"] == [
        [
            form.kind,
            [
                [
                    op.kind,
                    list(op.operands),
                    op.has_out,
                    [list(pair) for pair in op.extra],
                    op.scope,
                ]
                for op in form.ops
            ],
            form.rw_count,
            form.direction,
        ]
        for form in expected.forms
    ]
    assert read["streams"] == streams_as_kerntape_reads_them(expected)
    assert read["pes"] == [
        (pe.rank, pe.stream, list(pe.owners), list(pe.bases)) for pe in expected.pes
    ]
    if expected.inputs is None:
        assert read["inputs"] is None
    else:
        assert read["inputs"] == [[*key, image] for key, image in expected.inputs.images.items()]


def test_the_independent_reader_reads_the_same_timeline(tmp_path: Path) -> None:
    path = tmp_path / "x.ktimeline"
    timeline = deadlocked()
    write_timeline(path, timeline)
    read = independent_reader.read_timeline(path.read_bytes())
    assert read["about"]["status"] == "deadlock"
    assert read["about"]["calibration"]["pe_cpu"]["cycles_per_byte"] == "0.0625"
    assert read["about"]["policy"]["kinds"] == ["RAW"]
    assert read["about"]["topology"]["name"] == "pair"
    assert read["engines"] == [list(astuple(engine)) for engine in timeline.engines]
    assert read["duration_classes"] == [list(astuple(each)) for each in timeline.duration_classes]
    assert read["trace"]["streams"] == streams_as_kerntape_reads_them(timeline.trace)
    for name in STAGE_COLUMNS:
        assert read[name] == getattr(timeline.stages, name).tolist()
    for name in TIME_COLUMNS:
        assert read[name] == getattr(timeline, name).tolist()
    for name in HAZARD_COLUMNS:
        assert read[f"hazard_{name}"] == getattr(timeline.hazards, name).tolist()
    assert timeline.deadlock is not None
    blocked = [*timeline.deadlock.cycle, *timeline.deadlock.tail]
    assert read["deadlock"] == [[2, 2, []], *(list(astuple(each)) for each in blocked)]


def test_a_timeline_without_a_deadlock_has_no_such_section(tmp_path: Path) -> None:
    path = tmp_path / "x.ktimeline"
    write_timeline(path, two_pes_timeline())
    assert independent_reader.read_timeline(path.read_bytes())["deadlock"] is None


def test_the_document_lists_every_column_in_its_order() -> None:
    assert list(COLUMN_NAMES) == independent_reader.COLUMNS
    for number, name in enumerate(COLUMN_NAMES):
        assert f"\n| {number} | {name} | " in DOCUMENT
    for name, item in (STAGE_COLUMNS | TIME_COLUMNS).items():
        bits = 8 * item().itemsize
        assert f"\n| `{name}` | i{bits} | " in DOCUMENT
    for name in HAZARD_COLUMNS:
        assert f"`hazard_{name}`" in DOCUMENT


def test_the_document_lists_every_number_that_means_something() -> None:
    for kind in CommandKind:
        assert f"\n| {kind:d} | {kind.name.lower()} | " in DOCUMENT
    stage_kinds = ", ".join(f"{kind:d} {kind.title}" for kind in StageKind)
    assert f"| i16 | {stage_kinds} |" in DOCUMENT
    assert ", ".join(f"{why:d} {why.name.lower()}" for why in Why) in DOCUMENT
    assert ", ".join(f"{scope:d} = {scope.name}" for scope in Scope) in DOCUMENT
    assert ", ".join(f"{outcome:d} {outcome.name.lower()}" for outcome in Outcome) in DOCUMENT
    assert ", ".join(f"{number} {kind}" for number, kind in enumerate(KINDS)) in DOCUMENT


def test_the_document_states_the_limit_on_unpacking() -> None:
    assert UNPACKED_GRACE_BYTES == 1 << 20
    assert f"2²⁰ + {UNPACKED_PER_BYTE} · size of the file" in DOCUMENT
