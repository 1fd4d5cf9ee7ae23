"""Which kerntape this is: its version, and a hash of the sources that a replay's figures follow from.

Two clones may have one version and different sources. What one of them has begun, the other must not
go on with.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

from ... import replay, schemas, topologies

DIGITS = 12


@cache
def code_identity() -> str:
    """`VERSION (HASH)`, as it is when a process first asks."""
    rooms = (Path(room.__path__[0]) for room in (schemas, topologies, replay))
    return f"{version('kerntape')} ({_sources_sha256(rooms)[:DIGITS]})"


def _sources_sha256(folders: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for folder in folders:
        for source in sorted(folder.rglob("*.py")):
            content = source.read_bytes()
            digest.update(f"{source.relative_to(folder).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()
