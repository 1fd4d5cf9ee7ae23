"""Who looks on while a trace is executed: what every stage wrote, or who wrote what a few stages read."""

from collections.abc import Collection
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

import numpy as np

from ...schemas.columns import Int32s, Int64s
from .memory import Bytes, Home, Memory, MemoryName, Region

NOBODY = -1
DIGEST_BYTES = 16


class Witness(Protocol):
    """Is told of every access."""

    def reads(self, stage: int, slot: int, region: Region) -> None:
        """The stage is about to read the region, as the handle in a slot of its command."""
        ...

    def wrote(self, stage: int, region: Region) -> None:
        """The stage has just written the region."""
        ...


class Results:
    """A digest of what each stage wrote, by stage. A stage writes once at most."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.of_stage: dict[int, bytes] = {}

    def reads(self, stage: int, slot: int, region: Region) -> None:
        """Not of interest."""

    def wrote(self, stage: int, region: Region) -> None:
        contents = self._memory.contents(region)
        self.of_stage[stage] = blake2b(contents, digest_size=DIGEST_BYTES).digest()


@dataclass(frozen=True)
class Sighting:
    """Bytes as somebody saw them: `contents`, where they lie, and who had written each (or NOBODY)."""

    contents: Bytes
    places: Int64s
    writers: Int32s


class Authors:
    """The last writer of every byte, and what the watched stages read, by (stage, slot).

    `turns` has, per stage that has written and per watched one that has read, when: a count of these.
    """

    def __init__(self, memory: Memory, watched: Collection[int]) -> None:
        self._memory = memory
        self._watched = watched
        self._of_bytes: dict[Home, Int32s] = {}
        self.sightings: dict[tuple[int, int], Sighting] = {}
        self.turns: dict[int, int] = {}
        self._turn = 0

    def reads(self, stage: int, slot: int, region: Region) -> None:
        if stage in self._watched:
            self._take_turn(stage)
            contents = np.frombuffer(self._memory.contents(region), dtype=np.uint8)
            places = region.places()
            writers = self._writers(region.memory)[places]
            self.sightings[stage, slot] = Sighting(contents, places, writers)

    def wrote(self, stage: int, region: Region) -> None:
        self._take_turn(stage)
        self._writers(region.memory)[region.places()] = stage

    def _take_turn(self, stage: int) -> None:
        self.turns[stage] = self._turn
        self._turn += 1

    def image(self, name: MemoryName) -> Sighting:
        """A whole memory as it is now."""
        contents = self._memory.image(name)
        return Sighting(contents, np.arange(len(contents)), self._writers(name)[: len(contents)])

    def _writers(self, name: MemoryName) -> Int32s:
        home = self._memory.home(name)
        if home not in self._of_bytes:
            size_bytes = self._memory.size_bytes(home)
            self._of_bytes[home] = np.full(size_bytes, NOBODY, dtype=np.int32)
        return self._of_bytes[home]
