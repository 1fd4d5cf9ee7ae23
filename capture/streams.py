"""Streams of a launch, equal ones kept once: compared when finished, never predicted."""

from ..schemas.trace import STREAM_COLUMNS, Stream


class SharedStreams:
    """Distinct streams, numbered from 0 in order of appearance."""

    def __init__(self) -> None:
        self._streams: list[Stream] = []
        self._by_hash: dict[int, list[int]] = {}

    def number(self, stream: Stream) -> int:
        """The number of the equal stream already here, or of this one, newly kept."""
        alike = self._by_hash.setdefault(hash(_columns(stream)), [])
        for number in alike:
            if _columns(self._streams[number]) == _columns(stream):
                return number
        self._streams.append(stream)
        alike.append(len(self._streams) - 1)
        return alike[-1]

    def unique(self) -> tuple[Stream, ...]:
        return tuple(self._streams)


def _columns(stream: Stream) -> tuple[bytes, ...]:
    return tuple(getattr(stream, name).tobytes() for name in STREAM_COLUMNS)
