"""The outside of every kerntape file: a magic, a version, a directory, and sections with checksums.

    0   8   magic
    8   4   version, u32 little endian
    12  4   size of the directory, u32 little endian
    16  …   directory: msgpack, a list of [name, size in bytes, SHA-256]
    …       the sections in the directory's order, each at the next multiple of the format's
            alignment, zeros in between; the last one ends the file

What a section's SHA-256 covers is the format's affair; mostly it is the section's bytes. Nothing
here allocates more than the file's size.
"""

import hashlib
import stat
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .errors import FileError
from .plain_data import blamed_on, pack_row, shown, unpack

PRELUDE = struct.Struct("<8sII")
SHA256_BYTES = 32
MAX_DIRECTORY_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file. `kind` is for messages, `remedy` what to do about a file that is damaged."""

    kind: str
    magic: bytes
    version: int
    alignment: int
    remedy: str


TRACE_FORMAT = Format("trace (.ktrace)", b"\x89KTRACE\n", 1, 1, "capture it again")
TIMELINE_FORMAT = Format("timeline (.ktimeline)", b"\x89KTIMEL\n", 1, 64, "replay its trace again")


@dataclass(frozen=True, slots=True)
class Section:
    """A section of an open file: where it is, what it claims its hash to be, and its bytes."""

    name: str
    offset: int
    sha256: bytes
    content: memoryview

    def check_sha256(self, found: bytes) -> None:
        """FileError unless the hash that was found is the one that was written."""
        if found != self.sha256:
            raise FileError(
                f"section '{self.name}', bytes {self.offset} to"
                f" {self.offset + len(self.content)}: its SHA-256 must be"
                f" {self.sha256.hex()}, not {found.hex()}"
            )

    def check_bytes(self) -> None:
        """FileError unless the section's bytes have the hash that was written."""
        self.check_sha256(hashlib.sha256(self.content).digest())


@dataclass(frozen=True, slots=True)
class NewSection:
    """A section to write; `content` is any contiguous buffer."""

    name: str
    content: bytes | memoryview
    sha256: bytes


def new_section(name: str, content: bytes | memoryview) -> NewSection:
    """A section whose checksum covers its bytes."""
    return NewSection(name, content, hashlib.sha256(content).digest())


def pieces(file_format: Format, sections: Iterable[NewSection]) -> Iterator[bytes | memoryview]:
    """The bytes of a file with these sections, in pieces of any size."""
    ordered = list(sections)
    directory = pack_row(
        [[section.name, _size(section.content), section.sha256] for section in ordered]
    )
    yield PRELUDE.pack(file_format.magic, file_format.version, len(directory)) + directory
    offset = PRELUDE.size + len(directory)
    for section in ordered:
        padding = -offset % file_format.alignment
        yield bytes(padding)
        yield section.content
        offset += padding + _size(section.content)


def _size(content: bytes | memoryview) -> int:
    return content.nbytes if isinstance(content, memoryview) else len(content)


def sniff(path: Path) -> Format:
    """Which format the file is, by its magic. FileError where it is neither, or cannot be read."""
    magic = file_bytes(path, len(TRACE_FORMAT.magic))
    for known in (TRACE_FORMAT, TIMELINE_FORMAT):
        if magic == known.magic:
            return known
    if not magic:
        raise FileError(f"{path}: {_too_short(0, 'trace or a timeline', TRACE_FORMAT)}")
    raise FileError(
        f"{path}: byte 0: must be a trace or a timeline, not {_other_kind(magic, path.name)}"
    )


def file_bytes(path: Path, count: int = -1) -> bytes:
    """The file's first `count` bytes, or all. FileError where it is no file or cannot be read."""
    with opened(path) as file:
        try:
            return file.read(count)
        except OSError as error:
            raise _cannot_read(path, error) from error


def opened(path: Path) -> BinaryIO:
    """The file, open for reading. FileError where it is missing, forbidden, or no plain file."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            return path.open("rb")
    except OSError as error:
        raise _cannot_read(path, error) from error
    found = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"
    raise FileError(f"{path}: must be a file, not {found}")


def _cannot_read(path: Path, error: OSError) -> FileError:
    return FileError(f"{path}: cannot be read: {error.strerror or error}")


def open_sections(content: memoryview, file_format: Format, where: str) -> dict[str, Section]:
    """The sections by name. `where` names the file in errors.

    FileError: another kind of file, another version, truncated, too long, or a bad directory.
    """
    end = PRELUDE.size + _directory_bytes(content, file_format, where)
    with blamed_on(where, file_format.remedy):
        if end > PRELUDE.size + MAX_DIRECTORY_BYTES:
            raise FileError(
                f"byte 12: the directory must have at most {MAX_DIRECTORY_BYTES} bytes,"
                f" not {end - PRELUDE.size}"
            )
        if end > len(content):
            raise FileError(
                f"truncated: the directory must end at byte {end}, and the file ends at"
                f" {len(content)}"
            )
        return _read_directory(content, end, file_format.alignment)


def _directory_bytes(content: memoryview, file_format: Format, where: str) -> int:
    if len(content) < PRELUDE.size:
        raise FileError(f"{where}: {_too_short(len(content), file_format.kind, file_format)}")
    magic, version, directory_bytes = PRELUDE.unpack_from(content)
    if magic != file_format.magic:
        raise FileError(
            f"{where}: byte 0: must be a {file_format.kind}, not {_other_kind(magic, where)}"
        )
    if version != file_format.version:
        raise FileError(
            f"{where}: byte 8: the format's version must be {file_format.version}, not {version};"
            f" use the kerntape that wrote it, or {file_format.remedy}"
        )
    return int(directory_bytes)


def _too_short(size_bytes: int, kind: str, file_format: Format) -> str:
    """What a file that cannot hold a magic must be, and what makes it one of a format."""
    found = f"a file of {size_bytes} bytes" if size_bytes else "an empty file"
    return f"must be a {kind}, not {found}; {file_format.remedy}"


def _other_kind(magic: bytes, name: str) -> str:
    """What a file is that begins like that, and what makes the right one of a kernel."""
    for known in (TRACE_FORMAT, TIMELINE_FORMAT):
        if magic == known.magic:
            return f"a {known.kind}"
    remedy = "; `kerntape capture` makes one of a kernel" if name.endswith(".py") else ""
    return f"a file that begins with {shown(magic)}{remedy}"


def _read_directory(content: memoryview, end: int, alignment: int) -> dict[str, Section]:
    sections: dict[str, Section] = {}
    offset = end
    for entry in unpack(content[PRELUDE.size : end], "the directory").items():
        name, size, sha256 = entry.items(3)
        start = offset + -offset % alignment
        offset = start + size.integer()
        if offset > len(content):
            raise FileError(
                f"truncated: section {shown(name.text())} must end at byte {offset}, and the file"
                f" ends at {len(content)}"
            )
        if name.text() in sections:
            raise FileError(f"section {shown(name.text())} must stand in the directory once")
        sections[name.text()] = Section(
            name.text(), start, sha256.blob(SHA256_BYTES), content[start:offset]
        )
    if offset != len(content):
        raise FileError(f"must end at byte {offset}, not at {len(content)}")
    return sections


def must_have(
    sections: dict[str, Section], required: tuple[str, ...], optional: tuple[str, ...]
) -> None:
    """FileError unless the file has the required sections, and no unknown ones, in that order."""
    expected = [name for name in (*required, *optional) if name in sections or name in required]
    if list(sections) != expected:
        raise FileError(
            f"the sections must be {', '.join(expected)}, not {shown(', '.join(sections))}"
        )
