"""Reads and writes `.ktrace` files: header, tables, columns, kept inputs. docs/trace-format.md.

The same trace gives the same bytes: they depend on no time, machine, path or hash order (and
`content_sha256` not even on the zlib library). Reading checks everything, runs nothing, and
unpacks no more than `UNPACKED_PER_BYTE` times the file's size, plus a grace for small files.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from .atomic_file import write_whole
from .columns import Integers
from .errors import FileError
from .packed_columns import (
    UNPACKED_ITEM_BYTES,
    NarrowColumn,
    PackedColumn,
    narrow,
    packed_columns,
)
from .plain_data import blamed_on, pack_row, unpack
from .sections import (
    TRACE_FORMAT,
    NewSection,
    Section,
    file_bytes,
    must_have,
    new_section,
    open_sections,
    pieces,
    sniff,
)
from .stored_columns import pes_of, restored, stored, streams_of, with_ranks
from .trace import Trace
from .trace_checks import check_meaning, check_shape, check_trace
from .trace_columns import COLUMN_NAMES, WIDE_COLUMNS, TraceColumns, joined
from .trace_tables import (
    pack_header,
    pack_inputs,
    pack_tables,
    read_header,
    read_inputs,
    read_tables,
)

UNPACKED_PER_BYTE = 256
"""How many bytes of columns in memory a byte of file may stand for. Writers add zeros to hold it."""

UNPACKED_GRACE_BYTES = 1 << 20

HEADER, TABLES, COLUMNS, INPUTS, BALLAST = "header", "tables", "columns", "inputs", "ballast"
MAX_NARROW_BYTES = 4


@dataclass(frozen=True)
class TraceFile:
    """A trace that was read, and what is known of its file."""

    trace: Trace
    version: int
    header_sha256: str
    content_sha256: str
    section_bytes: Mapping[str, int]

    @property
    def size_bytes(self) -> int:
        """The sections' bytes: the file's size but for its directory."""
        return sum(self.section_bytes.values())


def is_trace(path: Path) -> bool:
    """Whether the file is a trace (else it is a timeline). FileError where it is neither."""
    return sniff(path) is TRACE_FORMAT


def write_trace(path: Path, trace: Trace) -> str:
    """Writes the file whole or not at all; returns the content's SHA-256.

    FileError where it cannot be written, or where `read_trace` would refuse it.
    """
    with blamed_on(str(path), "not written"):
        check_trace(trace)
        packed = _PackedTrace(trace)
        sections = packed.sections()
    with write_whole(path) as file:
        for piece in pieces(TRACE_FORMAT, sections):
            file.write(piece)
    return packed.content_sha256.hex()


def trace_bytes(trace: Trace) -> bytes:
    """What `write_trace` would write. The trace must be one that `check_trace` accepts."""
    return b"".join(pieces(TRACE_FORMAT, _PackedTrace(trace).sections()))


def content_sha256(trace: Trace) -> str:
    """The identity of the commands: the SHA-256 of tables and columns, not of header and inputs."""
    return _PackedTrace(trace).content_sha256.hex()


def read_trace(path: Path) -> Trace:
    """The trace in the file. FileError, naming file and place, where it is not whole and sound."""
    return read_trace_file(path).trace


def read_trace_file(path: Path) -> TraceFile:
    """As `read_trace`, with the file's hashes and sizes."""
    return parse_trace(file_bytes(path), str(path))


def parse_trace(content: bytes | memoryview, where: str) -> TraceFile:
    """The trace in a file's bytes. `where` names the file in errors."""
    sections = open_sections(memoryview(content), TRACE_FORMAT, where)
    with blamed_on(where, TRACE_FORMAT.remedy):
        must_have(sections, (HEADER, TABLES, COLUMNS), (INPUTS, BALLAST))
        packed = _declared_columns(sections[COLUMNS], len(content))
        for name in sections:
            if name != COLUMNS:
                sections[name].check_bytes()
        narrow_columns = [column.unpack() for column in packed]
        found = _content_digest(sections[TABLES].content, narrow_columns)
        sections[COLUMNS].check_sha256(found)
        return TraceFile(
            trace=_checked_trace(sections, narrow_columns),
            version=TRACE_FORMAT.version,
            header_sha256=sections[HEADER].sha256.hex(),
            content_sha256=found.hex(),
            section_bytes={name: len(section.content) for name, section in sections.items()},
        )


def _declared_columns(section: Section, file_bytes: int) -> list[PackedColumn]:
    """The columns as declared. FileError where they would unpack to more than the file justifies."""
    columns = packed_columns(section.content, f"section '{COLUMNS}'", COLUMN_NAMES)
    unpacked_bytes = UNPACKED_ITEM_BYTES * sum(column.count for column in columns)
    limit = UNPACKED_GRACE_BYTES + UNPACKED_PER_BYTE * file_bytes
    if unpacked_bytes > limit:
        raise FileError(
            f"the columns must unpack to at most {limit} bytes ({UNPACKED_PER_BYTE} for each byte"
            f" of the file), not {unpacked_bytes}"
        )
    return columns


def _checked_trace(sections: dict[str, Section], narrow_columns: list[NarrowColumn]) -> Trace:
    header = read_header(unpack(sections[HEADER].content, HEADER))
    tables = read_tables(sections[TABLES].content, header)
    if INPUTS in sections:
        tables = replace(tables, inputs=read_inputs(sections[INPUTS].content))
    as_stored = with_ranks(_trace_columns(narrow_columns))
    by_form = check_shape(as_stored, tables)
    columns, arranged = restored(as_stored, by_form, len(tables.geometries))
    check_meaning(columns, arranged, tables)
    return replace(tables, streams=streams_of(columns, arranged), pes=pes_of(columns))


def _trace_columns(narrow_columns: list[NarrowColumn]) -> TraceColumns:
    columns: dict[str, Integers] = {}
    for name, column in zip(COLUMN_NAMES, narrow_columns, strict=True):
        if name not in WIDE_COLUMNS and column.item_bytes > MAX_NARROW_BYTES:
            raise FileError(
                f"column {name} must have items of at most {MAX_NARROW_BYTES} bytes,"
                f" not {column.item_bytes}"
            )
        columns[name] = column.values
    return TraceColumns(**columns)


class _PackedTrace:
    """A trace's sections, ready to write."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._tables = pack_tables(trace)
        columns = stored(joined(trace.streams, trace.pes), trace.form_slot_counts)
        self._columns = [narrow(getattr(columns, name)) for name in COLUMN_NAMES]
        self.content_sha256 = _content_digest(self._tables, self._columns)

    def sections(self) -> list[NewSection]:
        packed_columns = b"".join(pack_row(column.packed) for column in self._columns)
        sections = [
            new_section(HEADER, pack_header(self._trace.header)),
            new_section(TABLES, self._tables),
            NewSection(COLUMNS, packed_columns, self.content_sha256),
        ]
        if self._trace.inputs is not None:
            sections.append(new_section(INPUTS, pack_inputs(self._trace.inputs)))
        ballast = self._ballast_bytes(sum(len(section.content) for section in sections))
        if ballast > 0:
            sections.append(new_section(BALLAST, bytes(ballast)))
        return sections

    def _ballast_bytes(self, sections_bytes: int) -> int:
        """What is missing to a file that may unpack to as much as this one does."""
        unpacked = UNPACKED_ITEM_BYTES * sum(column.count for column in self._columns)
        justified = UNPACKED_GRACE_BYTES + UNPACKED_PER_BYTE * sections_bytes
        return -(-(unpacked - justified) // UNPACKED_PER_BYTE)


def _content_digest(tables: bytes | memoryview, columns: list[NarrowColumn]) -> bytes:
    """SHA-256 over the tables' bytes, then each column uncompressed behind its size and length."""
    digest = hashlib.sha256(tables)
    for column in columns:
        for part in column.hashed:
            digest.update(part)
    return digest.digest()
