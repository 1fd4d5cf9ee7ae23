"""A trace file gives back what was written, is the same bytes every time, and believes nothing."""

import hashlib
import io
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kerntape.schemas.errors import FileError
from kerntape.schemas.plain_data import Rows
from kerntape.schemas.sections import TRACE_FORMAT, NewSection, open_sections, pieces
from kerntape.schemas.trace import STREAM_COLUMNS, SourceLine, Trace
from kerntape.schemas.trace_columns import COLUMN_NAMES
from kerntape.schemas.trace_file import (
    content_sha256,
    is_trace,
    parse_trace,
    read_trace,
    read_trace_file,
    trace_bytes,
    write_trace,
)
from kerntape.schemas.trace_tables import PART_ROWS, pack_tables, read_tables
from peak_memory import peak_bytes_of
from small_traces import PAIR, tile_loop, two_pes, with_inputs

GOLDEN = Path(__file__).parent.parent / "goldens" / "two_pes.version1.ktrace"
TWO_PES_CONTENT = "87f4f189dd68eb8b25a050c5e06ee0beee77cdb9cb0644228497570dffb5b5c1"
FILE = trace_bytes(with_inputs(two_pes()))


def parsed(content: bytes) -> Trace:
    return parse_trace(content, "x.ktrace").trace


def refused(content: bytes) -> str:
    """The one line that a file of these bytes is refused with."""
    with pytest.raises(FileError) as caught:
        parse_trace(content, "x.ktrace")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def with_argument(name: str, value: Any) -> Trace:
    trace = two_pes()
    return replace(trace, header=replace(trace.header, arguments={name: value}))


# ── what comes back ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "trace", [two_pes(), with_inputs(two_pes()), tile_loop(7), tile_loop(3, pes=5)]
)
def test_a_trace_is_read_as_it_was_written(trace: Trace, tmp_path: Path) -> None:
    path = tmp_path / "x.ktrace"
    write_trace(path, trace)
    header = read_trace(path).header
    assert header.grid == trace.header.grid
    assert header == replace(trace.header, topology=header.topology)
    assert read_trace(path) == replace(trace, header=header)


def test_columns_come_back_in_the_types_that_the_record_names() -> None:
    stream = parsed(FILE).streams[1]
    types = {name: getattr(stream, name).dtype for name in STREAM_COLUMNS}
    assert types.pop("addresses") == np.int64
    assert set(types.values()) == {np.dtype(np.int32)}


def test_kept_inputs_come_back_and_a_trace_without_has_none() -> None:
    inputs = parsed(FILE).inputs
    assert inputs is not None
    assert inputs.images == {(0, 0): b"\x00\x3c" * 128, (1, 1): bytes(2048)}
    assert parsed(trace_bytes(two_pes())).inputs is None


def test_a_decimal_in_the_topology_keeps_its_text() -> None:
    topology = PAIR | {"pe_cost_model": {"pe_cpu": {"cycles_per_byte": Decimal("0.0625")}}}
    trace = replace(two_pes(), header=replace(two_pes().header, topology=topology))
    read = parsed(trace_bytes(trace)).header.topology
    assert read["pe_cost_model"] == {"pe_cpu": {"cycles_per_byte": "0.0625"}}


def test_writing_returns_the_content_hash_that_reading_reports(tmp_path: Path) -> None:
    path = tmp_path / "x.ktrace"
    assert write_trace(path, two_pes()) == TWO_PES_CONTENT
    assert content_sha256(two_pes()) == TWO_PES_CONTENT
    file = read_trace_file(path)
    assert file.content_sha256 == TWO_PES_CONTENT
    assert file.version == 1
    assert file.section_bytes.keys() == {"header", "tables", "columns"}


def test_a_file_of_version_1_stays_readable() -> None:
    file = read_trace_file(GOLDEN)
    assert file.content_sha256 == TWO_PES_CONTENT
    assert file.trace.streams == two_pes().streams
    assert file.trace.forms == two_pes().forms


# ── the same bytes ───────────────────────────────────────────────────────────────────────────────


def test_equal_traces_give_equal_bytes_whatever_the_order_of_their_maps() -> None:
    trace = with_inputs(two_pes())
    header, inputs = trace.header, trace.inputs
    assert inputs is not None
    shuffled = replace(
        trace,
        header=replace(
            header,
            arguments=dict(reversed(header.arguments.items())),
            topology=dict(reversed(header.topology.items())),
        ),
        inputs=replace(inputs, images=dict(reversed(inputs.images.items()))),
    )
    assert trace_bytes(shuffled) == trace_bytes(trace)


def test_what_was_read_is_written_as_the_same_bytes() -> None:
    assert trace_bytes(parsed(FILE)) == FILE


@pytest.mark.parametrize("seed", ["0", "1"])
def test_the_bytes_depend_on_no_hash_seed_and_no_folder(seed: str, tmp_path: Path) -> None:
    code = (
        "import hashlib; from kerntape.schemas.trace_file import trace_bytes;"
        "from small_traces import two_pes, with_inputs;"
        "print(hashlib.sha256(trace_bytes(with_inputs(two_pes()))).hexdigest())"
    )
    support = str(Path(__file__).parent.parent / "support")
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": support}
    printed = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    assert printed.strip() == hashlib.sha256(FILE).hexdigest()


def test_each_hash_covers_its_own_part_and_none_the_kept_inputs() -> None:
    plain = parse_trace(trace_bytes(two_pes()), "x")
    kept = parse_trace(FILE, "x")
    other_argument = parse_trace(trace_bytes(with_argument("s_kv", 128)), "x")
    fewer = two_pes()
    lines = fewer.streams[0].lines.copy()
    lines[8] = 0
    streams = (replace(fewer.streams[0], lines=lines), fewer.streams[1])
    other_line = parse_trace(trace_bytes(replace(fewer, streams=streams)), "x")
    assert (kept.header_sha256, kept.content_sha256) == (plain.header_sha256, plain.content_sha256)
    assert other_argument.content_sha256 == plain.content_sha256
    assert other_argument.header_sha256 != plain.header_sha256
    assert other_line.content_sha256 != plain.content_sha256
    assert other_line.header_sha256 == plain.header_sha256


# ── few bytes ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("tiles", [64, 1024, 20_000])
def test_a_command_of_a_loop_takes_few_bytes(tiles: int) -> None:
    file = parse_trace(trace_bytes(tile_loop(tiles)), "x")
    sections = file.section_bytes
    packed = sections["columns"] + sections.get("ballast", 0)
    assert packed <= 8 * file.trace.command_count


def test_512_alike_pes_cost_little_more_than_one() -> None:
    one, many = trace_bytes(tile_loop(64)), trace_bytes(tile_loop(64, pes=512))
    assert len(many) <= 1.1 * len(one)


# ── bad files, one by one ────────────────────────────────────────────────────────────────────────


def signed(changes: dict[str, bytes], content: bytes = FILE) -> bytes:
    """The file with sections replaced and their checksums made right again."""
    sections = open_sections(memoryview(content), TRACE_FORMAT, "x")
    new = {name: bytes(section.content) for name, section in sections.items()} | changes
    hashes = {name: hashlib.sha256(section).digest() for name, section in new.items()}
    hashes["columns"] = content_digest(new["tables"], new["columns"])
    return b"".join(
        pieces(TRACE_FORMAT, [NewSection(name, new[name], hashes[name]) for name in new])
    )


def content_digest(tables: bytes, columns: bytes) -> bytes:
    digest = hashlib.sha256(tables)
    for item_bytes, count, stream in rows_of(columns):
        digest.update(bytes([item_bytes]) + count.to_bytes(8, "little") + zlib.decompress(stream))
    return digest.digest()


def rows_of(packed: bytes | memoryview) -> list[Any]:
    return list(msgpack.Unpacker(io.BytesIO(packed)))


def columns_of(content: bytes = FILE) -> list[list[Any]]:
    section = open_sections(memoryview(content), TRACE_FORMAT, "x")["columns"]
    return rows_of(section.content)


def with_column(name: str, row: list[Any]) -> bytes:
    """FILE with a column's row replaced; its content hash is right where the row unpacks."""
    rows = columns_of()
    rows[COLUMN_NAMES.index(name)] = row
    return signed({"columns": b"".join(map(msgpack.packb, rows))})


def unsigned(name: str, section: bytes) -> bytes:
    """FILE with a section replaced and its old checksum kept."""
    sections = open_sections(memoryview(FILE), TRACE_FORMAT, "x")
    kept = [
        NewSection(each, section if each == name else bytes(old.content), old.sha256)
        for each, old in sections.items()
    ]
    return b"".join(pieces(TRACE_FORMAT, kept))


def test_an_empty_file_is_no_trace() -> None:
    assert refused(b"") == (
        "x.ktrace: must be a trace (.ktrace), not an empty file; capture it again"
    )


def test_a_foreign_file_is_told_by_its_first_bytes() -> None:
    assert refused(b'{"kernel": "gqa_decode"}') == (
        "x.ktrace: byte 0: must be a trace (.ktrace), not a file that begins with b'{\"kernel'"
    )


def test_a_timeline_is_called_by_its_name() -> None:
    assert refused(b"\x89KTIMEL\n" + FILE[8:]) == (
        "x.ktrace: byte 0: must be a trace (.ktrace), not a timeline (.ktimeline)"
    )


def test_another_version_says_who_can_read_it() -> None:
    assert refused(FILE[:8] + (2).to_bytes(4, "little") + FILE[12:]) == (
        "x.ktrace: byte 8: the format's version must be 1, not 2;"
        " use the kerntape that wrote it, or capture it again"
    )


def test_a_truncated_file_says_where_it_ends() -> None:
    section = open_sections(memoryview(FILE), TRACE_FORMAT, "x")["inputs"]
    end = section.offset + len(section.content)
    assert end == len(FILE)
    assert refused(FILE[:-1]) == (
        f"x.ktrace: truncated: section 'inputs' must end at byte {end}, and the file ends at"
        f" {end - 1}; capture it again"
    )


def test_a_file_cut_in_its_directory_says_so() -> None:
    end = open_sections(memoryview(FILE), TRACE_FORMAT, "x")["header"].offset
    assert refused(FILE[:20]) == (
        f"x.ktrace: truncated: the directory must end at byte {end}, and the file ends at 20;"
        " capture it again"
    )
    assert refused(FILE[:12] + (1 << 20).to_bytes(4, "little") + FILE[16:]) == (
        "x.ktrace: byte 12: the directory must have at most 65536 bytes, not 1048576;"
        " capture it again"
    )
    assert refused(FILE[:10]) == (
        "x.ktrace: must be a trace (.ktrace), not a file of 10 bytes; capture it again"
    )


def test_bytes_behind_the_end_are_refused() -> None:
    assert refused(FILE + b"\0") == (
        f"x.ktrace: must end at byte {len(FILE)}, not at {len(FILE) + 1}; capture it again"
    )


def test_a_damaged_section_is_named_with_both_hashes() -> None:
    section = open_sections(memoryview(FILE), TRACE_FORMAT, "x")["header"]
    middle = section.offset + 100
    damaged = bytearray(FILE)
    damaged[middle] ^= 1
    found = hashlib.sha256(damaged[section.offset : section.offset + len(section.content)])
    assert refused(bytes(damaged)) == (
        f"x.ktrace: section 'header', bytes {section.offset} to"
        f" {section.offset + len(section.content)}: its SHA-256 must be {section.sha256.hex()},"
        f" not {found.hexdigest()}; capture it again"
    )


def test_damage_to_kept_inputs_is_told_apart_from_damage_to_the_trace() -> None:
    damaged = FILE[:-1] + b"\x01"
    assert refused(damaged).startswith("x.ktrace: section 'inputs', bytes ")


def test_an_unknown_section_is_refused() -> None:
    sections = [NewSection("extra", b"", hashlib.sha256().digest())]
    assert refused(b"".join(pieces(TRACE_FORMAT, sections))) == (
        "x.ktrace: the sections must be header, tables, columns, not 'extra'; capture it again"
    )


def test_a_header_that_is_no_map_is_refused() -> None:
    assert refused(signed({"header": msgpack.packb([1, 2])})) == (
        "x.ktrace: header must be a map from text, not [1, 2]; capture it again"
    )


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("kernel", 7, "header.kernel must be text, not 7"),
        (
            "arguments",
            {"a": [{"b": b"!"}]},
            "header.arguments.a[0].b must be plain data (text, numbers, lists and maps of at most"
            " 4096), not b'!'",
        ),
        (
            "arguments",
            {"a": 1 << 63},
            "header.arguments.a must be an integer of 64 bits with its sign, not of 65",
        ),
        ("grid", [2, 1], "header.grid must have 3 entries, not 2"),
        ("grid", [2, 1, True], "header.grid[2] must be an integer, not True"),
        ("grid", [2, 0, 1], "header.grid[1] must be from 1 to 1099511627776, not 0"),
        ("sources", {"a.py": 3}, "header.sources.'a.py' must be text, not 3"),
        ("tensors", [{}], "header.tensors[0]: the key 'dtype' is missing"),
        ("colour", "red", "header: unknown key 'colour'"),
        ("topology", {}, "the header's topology: the key 'name' is missing"),
        (
            "topology",
            PAIR | {"summary": "two\nlines"},
            "the header's topology: summary: must be one line of text, not 'two\\nlines'",
        ),
    ],
)
def test_every_field_of_the_header_is_checked(key: str, value: Any, message: str) -> None:
    section = open_sections(memoryview(FILE), TRACE_FORMAT, "x")["header"]
    header = msgpack.unpackb(bytes(section.content)) | {key: value}
    assert refused(signed({"header": msgpack.packb(header)})) == (
        f"x.ktrace: {message}; capture it again"
    )


def tables_but(change: Callable[[list[Any]], None]) -> bytes:
    section = open_sections(memoryview(FILE), TRACE_FORMAT, "x")["tables"]
    rows = rows_of(section.content)
    change(rows)
    return signed({"tables": b"".join(map(msgpack.packb, rows))})


STRINGS, GEOMETRIES, FORMS, LINES = 1, 12, 24, 36  # the first row of each table, behind the counts


@pytest.mark.parametrize(
    ("row", "value", "message"),
    [
        (0, [11, 12, 12], "the tables' lengths must have 4 entries, not 3"),
        (0, [11, 12, 12, -1], "the tables' lengths[3] must be from 0 to 1002, not -1"),
        (STRINGS, b"q", "strings[0] must be text, not b'q'"),
        (
            GEOMETRIES + 3,
            [[8], [4], "f64", "tcm"],
            "geometries[3][2] must be one of f16, bf16, f32, i32, bool, not 'f64'",
        ),
        (
            GEOMETRIES + 3,
            [[8], [4], "f32", "sram"],
            "geometries[3][3] must be one of tcm, hbm, not 'sram'",
        ),
        (GEOMETRIES, [[8, 2], [4], "f32", "tcm"], "geometries[0][1] must have 2 entries, not 1"),
        (
            GEOMETRIES,
            [[8], [-4], "f32", "tcm"],
            "geometries[0][1][0] must be from 0 to 1125899906842624, not -4",
        ),
        (
            GEOMETRIES,
            [[1 << 30, 1 << 30], [0, 0], "f32", "tcm"],
            "geometries[0] must span at most 2^50 bytes, not (1073741824, 1073741824)",
        ),
        (
            GEOMETRIES,
            [[1] * 17, [1] * 17, "f32", "tcm"],
            "geometries[0][0] must have at most 16 axes, not 17",
        ),
        (FORMS, [10, [], 0, ""], "forms[0][0] must be a kind of command, 0 to 9, not 10"),
        (
            FORMS,
            [0, [["load", ["src"], 1, [], 0]], 0, ""],
            "forms[0][1][0][2] must be true or false, not 1",
        ),
        (
            FORMS,
            [0, [["load", ["src"], True, [["m", None]], 0]], 0, ""],
            "forms[0][1][0][3][0][1] must be a number or text, not None",
        ),
        (
            FORMS,
            [0, [["load", ["src"], True, [], 3]], 0, ""],
            "forms[0][1][0][4] must be 0 (KERNEL), 1 (K_TILE) or 2 (OUTPUT_TILE), not 3",
        ),
        (
            FORMS,
            [4, [["add", ["a", "a"], True, [], 0]], 0, ""],
            "forms[0][1][0][1] must name each once, not ['a', 'a']",
        ),
        (LINES, ["a.py", -1, "f", ""], "lines[0][1] must be from 0 to 9223372036854775807, not -1"),
    ],
)
def test_every_row_of_the_tables_is_checked(row: int, value: Any, message: str) -> None:
    def change(rows: list[Any]) -> None:
        rows[row] = value

    assert refused(tables_but(change)) == f"x.ktrace: {message}; capture it again"


def test_rows_that_no_table_counts_are_refused() -> None:
    assert refused(tables_but(lambda rows: rows.append("more"))) == (
        "x.ktrace: section 'tables' must end here, but 5 more bytes follow; capture it again"
    )


def test_rows_that_are_counted_and_not_there_are_missed() -> None:
    section = open_sections(memoryview(FILE), TRACE_FORMAT, "x")["tables"]
    missing = "not a msgpack object for"
    assert refused(signed({"tables": b""})) == (
        f"x.ktrace: section 'tables', byte 0: {missing} the tables' lengths"
        " (No more data to unpack.); capture it again"
    )

    def drop_last(rows: list[Any]) -> None:
        del rows[-1]

    without = open_sections(memoryview(tables_but(drop_last)), TRACE_FORMAT, "x")["tables"]
    end = len(without.content)
    assert end < len(section.content)
    assert refused(tables_but(drop_last)) == (
        f"x.ktrace: section 'tables', byte {end}: {missing} lines[12]"
        " (No more data to unpack.); capture it again"
    )
    cut = bytes(section.content[:-1])  # within the last row
    assert refused(signed({"tables": cut})).startswith(
        f"x.ktrace: section 'tables', byte {end}: {missing} lines[12]"
    )


def test_columns_that_are_too_few_or_too_many_are_refused() -> None:
    columns = bytes(open_sections(memoryview(FILE), TRACE_FORMAT, "x")["columns"].content)
    bases = len(msgpack.packb(columns_of()[-1]))
    assert refused(unsigned("columns", columns + b"\xc0")) == (
        "x.ktrace: section 'columns' must end here, but 1 more bytes follow; capture it again"
    )
    assert refused(unsigned("columns", columns[:-bases])) == (
        f"x.ktrace: section 'columns', byte {len(columns) - bases}: not a msgpack object for column"
        " bases (No more data to unpack.); capture it again"
    )


def test_a_row_that_is_no_msgpack_is_named_with_its_byte() -> None:
    section = open_sections(memoryview(FILE), TRACE_FORMAT, "x")["tables"]
    tables = bytes(section.content)
    assert refused(signed({"tables": tables[:5] + b"\xc1" + tables[6:]})) == (
        "x.ktrace: section 'tables', byte 5: not a msgpack object for strings[0] (FormatError);"
        " capture it again"
    )


# ── files that would unfold ──────────────────────────────────────────────────────────────────────


def test_a_column_that_declares_more_than_the_file_justifies_is_refused_unread() -> None:
    limit = (1 << 20) + 256 * len(unsigned("columns", b"".join(map(msgpack.packb, bombs()))))
    declared = 8 * (sum(row[1] for row in columns_of()[1:]) + (1 << 28))
    assert refused(unsigned("columns", b"".join(map(msgpack.packb, bombs())))) == (
        f"x.ktrace: the columns must unpack to at most {limit} bytes (256 for each byte of the"
        f" file), not {declared}; capture it again"
    )


def bombs() -> list[list[Any]]:
    return [[8, 1 << 28, zlib.compress(bytes(1000))], *columns_of()[1:]]


def test_a_stream_longer_than_it_declares_is_not_unpacked_further() -> None:
    bomb = zlib.compress(bytes(1 << 27))
    rows = columns_of()
    rows[2] = [1, rows[2][1], bomb]
    content = unsigned("columns", b"".join(map(msgpack.packb, rows)))
    del rows
    assert refused(content) == (
        "x.ktrace: column forms must unpack to 17 items of 1 bytes, not to more; capture it again"
    )
    assert peak_bytes_of(lambda: refused(content)) < 1 << 22


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([3, 17, b""], "column forms[0] must be 1, 2, 4 or 8, not 3"),
        ([1, -1, b""], "column forms[1] must be from 0 to 2147483647, not -1"),
        ([1, 17, "text"], "column forms[2] must be bytes, not 'text'"),
        (
            [1, 17, b"garbage"],
            "column forms: not a zlib stream (Error -3 while decompressing data: incorrect header"
            " check)",
        ),
        (
            [1, 17, zlib.compress(bytes(16))],
            "column forms must unpack to 17 items of 1 bytes, not to 16 bytes",
        ),
        (
            [1, 17, zlib.compress(bytes(17))[:-1]],
            "column forms must unpack to 17 items of 1 bytes, not to 17 bytes of a stream that is cut short",
        ),
        (
            [1, 17, zlib.compress(bytes(17)) + b"!"],
            "column forms must unpack to 17 items of 1 bytes, not to 17 bytes with others behind them",
        ),
    ],
)
def test_every_column_is_what_it_declares(row: list[Any], message: str) -> None:
    rows = columns_of()
    rows[2] = row
    content = unsigned("columns", b"".join(map(msgpack.packb, rows)))
    assert refused(content) == f"x.ktrace: {message}; capture it again"


def test_a_narrow_column_has_at_most_32_bits() -> None:
    stream = zlib.compress(bytes(8 * 17))
    assert refused(with_column("forms", [8, 17, stream])) == (
        "x.ktrace: column forms must have items of at most 4 bytes, not 8; capture it again"
    )


def test_a_table_is_unpacked_no_further_than_its_first_wrong_rows() -> None:
    count = 1 << 20
    tables = msgpack.packb([count, 0, 0, 0]) + b"\x80" * count  # a million empty maps, no text
    refusal = refused_tables(tables)
    assert str(refusal) == "strings[0] must be text, not {}"
    assert refusal.__context__ is None  # and holds on to no rows
    # the maps of a whole table would be 64 MiB
    assert peak_bytes_of(lambda: refused_tables(tables)) < 1 << 22


def refused_tables(tables: bytes) -> FileError:
    """What is said of a section of tables that is wrong."""
    with pytest.raises(FileError) as caught:
        read_tables(tables, two_pes().header)
    return caught.value


def test_a_table_of_several_parts_is_read_as_it_was_written() -> None:
    trace = two_pes()
    strings = tuple(f"string {number}" for number in range(2 * PART_ROWS + 1))
    lines = tuple(SourceLine("a.py", row, "f", "") for row in range(PART_ROWS))
    read = parsed(trace_bytes(replace(trace, strings=strings, lines=trace.lines + lines)))
    assert (read.strings, read.lines) == (strings, trace.lines + lines)


def test_sound_tables_are_not_read_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = two_pes()
    trace = replace(trace, strings=tuple("string" for _ in range(PART_ROWS + 1)))

    def row_by_row(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Rows, "next", row_by_row)
    read = read_tables(pack_tables(trace), trace.header)
    assert (read.strings, read.forms) == (trace.strings, trace.forms)


def test_a_wrong_row_behind_the_first_part_of_its_table_is_named() -> None:
    rows = [*["x"] * PART_ROWS, "last"]
    tables = msgpack.packb([len(rows), 0, 0, 0]) + b"".join(map(msgpack.packb, [*rows[:-1], 7]))
    assert str(refused_tables(tables)) == f"strings[{PART_ROWS}] must be text, not 7"


def test_nested_lengths_that_nothing_follows_allocate_little() -> None:
    nested = b"\xdc\x10\x00" * 1000  # a thousand lists of 4,096, each in the one before
    content = signed({"header": nested})
    assert peak_bytes_of(lambda: refused(content)) < 1 << 26


def test_a_long_loop_is_weighed_down_to_what_a_reader_allows() -> None:
    content = trace_bytes(tile_loop(20_000))
    sections = open_sections(memoryview(content), TRACE_FORMAT, "x")
    assert list(sections) == ["header", "tables", "columns", "ballast"]
    assert not any(sections["ballast"].content)
    items = sum(row[1] for row in columns_of(content))
    assert 8 * items <= (1 << 20) + 256 * len(content)
    light = len(content) - len(sections["ballast"].content)
    assert 8 * items > (1 << 20) + 256 * light


# ── what cannot be written ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            1 << 63,
            "header.arguments.x must be an integer of 64 bits with its sign, not of 65",
        ),
        (
            {"y": object},
            "header.arguments.x.y must be plain data (text, numbers, lists and maps of at most 4096),"
            " not <class 'object'>",
        ),
        (
            [0] * 4097,
            "header.arguments.x must be plain data (text, numbers, lists and maps of at most 4096),"
            " not [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0…",
        ),
        (
            "\udcff",
            "cannot be written: 'utf-8' codec can't encode character '\\udcff' in position 0:"
            " surrogates not allowed",
        ),
    ],
)
def test_an_argument_that_no_reader_could_read_is_not_written(value: Any, message: str) -> None:
    with pytest.raises(FileError) as caught:
        trace_bytes(with_argument("x", value))
    assert str(caught.value) == message


def test_a_trace_that_no_reader_would_take_is_not_written(tmp_path: Path) -> None:
    trace = two_pes()
    waits = trace.streams[0].waits + 5
    broken = replace(trace, streams=(replace(trace.streams[0], waits=waits), trace.streams[1]))
    with pytest.raises(FileError) as caught:
        write_trace(tmp_path / "x.ktrace", broken)
    assert str(caught.value) == (
        f"{tmp_path}/x.ktrace: PE 0, command 1: a wait must be for an earlier command, not for"
        " command 5; not written"
    )
    assert os.listdir(tmp_path) == []


# ── where files are ──────────────────────────────────────────────────────────────────────────────


def test_the_first_bytes_tell_a_trace_from_other_files(tmp_path: Path) -> None:
    path = tmp_path / "x.ktrace"
    path.write_bytes(FILE)
    assert is_trace(path)
    path.write_bytes(b"\x89KTIMEL\n")
    assert not is_trace(path)
    path.write_bytes(b"#!/bin/sh")
    with pytest.raises(FileError) as caught:
        is_trace(path)
    assert str(caught.value) == (
        f"{path}: byte 0: must be a trace or a timeline, not a file that begins with b'#!/bin/s'"
    )


def test_a_kernel_is_neither_and_has_to_be_captured(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def launch(rt): ...")
    with pytest.raises(FileError) as caught:
        is_trace(path)
    assert str(caught.value) == (
        f"{path}: byte 0: must be a trace or a timeline, not a file that begins with b'def laun';"
        " `kerntape capture` makes one of a kernel"
    )


def test_an_empty_file_is_neither_and_the_remedy_is_to_capture_again(tmp_path: Path) -> None:
    path = tmp_path / "x.ktrace"
    path.write_bytes(b"")
    with pytest.raises(FileError) as caught:
        is_trace(path)
    assert str(caught.value) == (
        f"{path}: must be a trace or a timeline, not an empty file; capture it again"
    )


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(FileError) as missing:
        read_trace(tmp_path / "x.ktrace")
    assert str(missing.value) == f"{tmp_path}/x.ktrace: cannot be read: No such file or directory"
    with pytest.raises(FileError) as folder:
        read_trace(tmp_path)
    assert str(folder.value) == f"{tmp_path}: must be a file, not a folder"
    with pytest.raises(FileError) as device:
        read_trace(Path("/dev/zero"))
    assert str(device.value) == "/dev/zero: must be a file, not a device or a pipe"


# ── bad files at random ──────────────────────────────────────────────────────────────────────────


def sound_or_refused(content: bytes, expected: Trace | None = None) -> None:
    """Reading gives a trace (the expected one, where one is) or a FileError, and nothing else."""
    try:
        trace = parsed(content)
    except FileError as error:
        message = str(error)
    else:
        assert expected is None or trace == expected
        return
    assert message.startswith("x.ktrace: ")
    assert "\n" not in message


@settings(max_examples=200)
@given(bits=st.lists(st.integers(0, 8 * len(FILE) - 1), min_size=1, max_size=3))
def test_no_flipped_bit_changes_what_is_read(bits: list[int]) -> None:
    damaged = bytearray(FILE)
    for bit in bits:
        damaged[bit // 8] ^= 1 << bit % 8
    sound_or_refused(bytes(damaged), parsed(FILE))


def test_no_bit_of_prelude_and_directory_can_flip_unseen() -> None:
    first = open_sections(memoryview(FILE), TRACE_FORMAT, "x")["header"].offset
    for bit in range(8 * first):
        damaged = bytearray(FILE)
        damaged[bit // 8] ^= 1 << bit % 8
        assert refused(bytes(damaged))


@settings(max_examples=100)
@given(end=st.integers(0, len(FILE) - 1))
def test_every_truncation_is_refused(end: int) -> None:
    assert refused(FILE[:end])


@settings(max_examples=100)
@given(garbage=st.binary(max_size=300), kept=st.integers(0, 60))
@example(garbage=b"\xff" * 8, kept=12)
def test_garbage_is_refused(garbage: bytes, kept: int) -> None:
    sound_or_refused(FILE[:kept] + garbage, parsed(FILE))


@settings(max_examples=200)
@given(
    section=st.sampled_from(["header", "tables"]),
    place=st.integers(0, 1001),
    patch=st.binary(min_size=1, max_size=4),
)
def test_tables_and_headers_with_right_hashes_and_wrong_bytes_are_sound_or_refused(
    section: str, place: int, patch: bytes
) -> None:
    content = bytearray(open_sections(memoryview(FILE), TRACE_FORMAT, "x")[section].content)
    place %= len(content)
    content[place : place + len(patch)] = patch
    sound_or_refused(signed({section: bytes(content)}))


NUMBERS = st.one_of(
    st.integers(-3, 40), st.sampled_from([1 << 31, -(1 << 31), (1 << 63) - 1, -(1 << 63), 8191])
)


@settings(max_examples=200)
@given(
    changes=st.lists(
        st.tuples(st.integers(0, 15), st.integers(0, 60), NUMBERS), min_size=1, max_size=3
    ),
    longer=st.tuples(st.integers(0, 15), st.integers(-2, 2)),
)
def test_columns_with_right_hashes_and_wrong_numbers_are_sound_or_refused(
    changes: list[tuple[int, int, int]], longer: tuple[int, int]
) -> None:
    columns = []
    for item_bytes, _, stream in columns_of():
        raw = np.frombuffer(zlib.decompress(stream), f"<i{item_bytes}")
        columns.append(raw.astype(np.int64))
    for number, row, value in changes:
        if len(columns[number]):
            columns[number][row % len(columns[number])] = value
    number, more = longer
    if more < 0:
        columns[number] = columns[number][:more]
    columns[number] = np.append(columns[number], np.zeros(max(0, more), np.int64))
    rows = [[8, len(column), zlib.compress(column.tobytes())] for column in columns]
    for number, column in enumerate(columns):
        if len(column) == 0 or np.abs(column).max() < 1 << 31:
            narrow = column.astype("<i4").tobytes()
            rows[number] = [4, len(column), zlib.compress(narrow)]
    sound_or_refused(signed({"columns": b"".join(map(msgpack.packb, rows))}))
