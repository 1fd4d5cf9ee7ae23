"""A reader of kerntape's files written from docs/trace-format.md alone: it imports nothing of kerntape.

It checks hashes and undoes the encodings; it validates nothing else.
"""

import hashlib
import io
import struct
import zlib
from itertools import accumulate
from typing import Any

import msgpack

TRACE_MAGIC, TIMELINE_MAGIC = b"\x89KTRACE\n", b"\x89KTIMEL\n"
COLUMNS = [
    *("command_counts", "handle_counts", "forms", "lines", "wait_counts", "slots", "waits"),
    *("geometries", "addresses", "tensors", "labels"),
    *("ranks", "pe_streams", "tensor_counts", "owners", "bases"),
]


def rows_of(section: bytes) -> list[Any]:
    return list(msgpack.Unpacker(io.BytesIO(section), max_buffer_size=len(section) + 1))


def sections_of(content: bytes, magic: bytes, alignment: int) -> dict[str, tuple[bytes, bytes]]:
    """Per section its bytes and its SHA-256 as the directory has it."""
    found, version, directory_bytes = struct.unpack_from("<8sII", content)
    assert (found, version) == (magic, 1)
    sections = {}
    end = 16 + directory_bytes
    for name, size, sha256 in msgpack.unpackb(content[16:end]):
        start = (end + alignment - 1) // alignment * alignment
        end = start + size
        sections[name] = content[start:end], sha256
    assert end == len(content)
    return sections


def must_have_hash(sections: dict[str, tuple[bytes, bytes]], *but: str) -> None:
    for name, (section, sha256) in sections.items():
        assert name in but or hashlib.sha256(section).digest() == sha256


def read_trace(content: bytes) -> dict[str, Any]:
    """header, strings, geometries, forms, lines, streams, pes, inputs and the two hashes."""
    sections = sections_of(content, TRACE_MAGIC, alignment=1)
    must_have_hash(sections, "columns")
    tables = read_tables(sections["tables"][0])
    stored, digest = {}, hashlib.sha256(sections["tables"][0])
    for name, (width, count, stream) in zip(COLUMNS, rows_of(sections["columns"][0]), strict=True):
        raw = zlib.decompress(stream)
        digest.update(struct.pack("<BQ", width, count) + raw)
        stored[name] = list(struct.unpack(f"<{count}{'.bh.i...q'[width]}", raw))
    assert digest.digest() == sections["columns"][1]
    return {
        "header": msgpack.unpackb(sections["header"][0]),
        "header_sha256": sections["header"][1].hex(),
        "content_sha256": digest.hexdigest(),
        **tables,
        **streams_and_pes(stored, [slot_count(form) for form in tables["forms"]]),
        "inputs": rows_of(sections["inputs"][0]) if "inputs" in sections else None,
    }


def read_tables(section: bytes) -> dict[str, Any]:
    counts, *rows = rows_of(section)
    tables = {}
    for name, count in zip(("strings", "geometries", "forms", "lines"), counts, strict=True):
        tables[name], rows = rows[:count], rows[count:]
    return tables


def slot_count(form: list[Any]) -> int:
    _, ops, rw_count, _ = form
    return sum(len(operands) + has_out for _, operands, has_out, _, _ in ops) + rw_count


def logical_bytes(form: list[Any]) -> int:
    kind, ops, rw_count, _ = form
    size = sum(2 + 1 + 8 * len(op[1]) + 8 * op[2] + 1 + 4 * len(op[3]) for op in ops)
    return 4 + 1 + size + 1 + 8 * rw_count if kind == 4 else size


def streams_and_pes(stored: dict[str, list[int]], slot_counts: list[int]) -> dict[str, Any]:
    of_command = [slot_counts[form] for form in stored["forms"]]
    slots = ungrouped(stored["slots"], stored["forms"], of_command)
    addresses = ungrouped(stored["addresses"], stored["geometries"])
    waits = cut(stored["waits"], stored["wait_counts"])
    numbers = [number for count in stored["tensor_counts"] for number in range(count)]
    owners = cut([row[0] for row in ungrouped(stored["owners"], numbers)], stored["tensor_counts"])
    bases = cut([row[0] for row in ungrouped(stored["bases"], numbers)], stored["tensor_counts"])
    commands = [
        {"form": form, "line": line, "slots": slots[c], "waits": waits[c]}
        for c, (form, line) in enumerate(zip(stored["forms"], stored["lines"], strict=True))
    ]
    handles = [
        {"geometry": geometry, "address": address[0], "tensor": tensor, "label": label}
        for geometry, address, tensor, label in zip(
            stored["geometries"], addresses, stored["tensors"], stored["labels"], strict=True
        )
    ]
    streams = []
    for of_stream, named in zip(
        cut(commands, stored["command_counts"]), cut(handles, stored["handle_counts"]), strict=True
    ):
        for index, command in enumerate(of_stream):
            command["waits"] = [index - back for back in command["waits"]]
        streams.append({"commands": of_stream, "handles": named})
    ranks = list(accumulate(stored["ranks"]))
    pes = list(zip(ranks, stored["pe_streams"], owners, bases, strict=True))
    return {"streams": streams, "pes": pes}


def cut(flat: list[Any], counts: list[int]) -> list[list[Any]]:
    """The next `counts[0]` entries, the next `counts[1]`, and so on."""
    ends = list(accumulate(counts))
    assert (ends or [0])[-1] == len(flat)
    return [flat[end - count : end] for end, count in zip(ends, counts, strict=True)]


def ungrouped(
    stored: list[int], groups: list[int], widths: list[int] | None = None
) -> list[list[int]]:
    """The rows of a column that is grouped; rows of one entry where no widths are given."""
    widths = widths or [1] * len(groups)
    rows: list[list[int]] = [[] for _ in groups]
    place = 0
    for group in sorted(set(groups)):
        last: list[int] = []
        for row in (r for r, each in enumerate(groups) if each == group):
            entries = stored[place : place + widths[row]]
            place += widths[row]
            last = [a + b for a, b in zip(last or [0] * widths[row], entries, strict=True)]
            rows[row] = last
    assert place == len(stored)
    return rows


TIMELINE_COLUMNS = {
    "kind": "h",
    "engine": "i",
    "pe": "i",
    "command": "i",
    "op": "h",
    "tile": "i",
    "duration_class": "i",
    "ready_ps": "q",
    "start_ps": "q",
    "end_ps": "q",
    "cause": "i",
    "why": "b",
}
HAZARD_COLUMNS = {
    "hazard_outcome": "b",
    "hazard_kind": "b",
    "hazard_pe": "i",
    "hazard_earlier": "i",
    "hazard_earlier_op": "i",
    "hazard_earlier_handle": "i",
    "hazard_later": "i",
    "hazard_later_op": "i",
    "hazard_later_handle": "i",
    "hazard_byte_from": "q",
    "hazard_byte_to": "q",
    "hazard_cost_ps": "q",
}


def read_timeline(content: bytes) -> dict[str, Any]:
    """about, engines, duration_classes, trace, every column, and deadlock."""
    sections = sections_of(content, TIMELINE_MAGIC, alignment=64)
    must_have_hash(sections)
    about = msgpack.unpackb(sections["about"][0])
    timeline = {
        "about": about,
        "engines": rows_of(sections["engines"][0]),
        "duration_classes": rows_of(sections["duration_classes"][0]),
        "trace": read_trace(sections["trace"][0]),
        "deadlock": rows_of(sections["deadlock"][0]) if "deadlock" in sections else None,
    }
    for columns, count in ((TIMELINE_COLUMNS, "stages"), (HAZARD_COLUMNS, "hazards")):
        for name, item in columns.items():
            timeline[name] = list(struct.unpack(f"<{about[count]}{item}", sections[name][0]))
    return timeline
