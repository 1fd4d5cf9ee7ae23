"""The SIPs of a machine that a launch may use: all of them, or those that `--device` names.

A launch counts them from 0, in ascending order: that is its tl.program_id(2), and the `sip` of a
tensor's owner. A trace has the machine's own ranks. The wiring is the machine's too: SIPs that are
not neighbours there are none here.
"""

import re
from dataclasses import dataclass
from itertools import chain, pairwise

from ..schemas.errors import ConfigError
from ..schemas.topology import Place, Topology

_RUN = re.compile("([0-9]+)(?:-([0-9]+))?")

_DIGITS = 7
"""A number of more is that of no SIP, on whichever machine."""


@dataclass(frozen=True, slots=True)
class Device:
    """SIPs of a topology by number, ascending: a launch's SIP number i is `sips[i]`."""

    topology: Topology
    sips: tuple[int, ...]

    def on_machine(self, place: Place) -> Place:
        """Where a launch's PE is on the machine."""
        return Place(self.sips[place.sip], place.cube, place.pe)

    def rank(self, place: Place) -> int:
        """The machine's number of a launch's PE."""
        return self.topology.rank(self.on_machine(place))

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole machine."""
        return len(self.sips) == self.topology.sips

    def __str__(self) -> str:
        """As a message names it: the topology, and which of its SIPs where these are not all."""
        name = f"topology {self.topology.name}"
        if self.is_whole:
            return name
        return (
            f"{'SIP' if len(self.sips) == 1 else 'SIPs'} {', '.join(map(str, self.sips))} of {name}"
        )


def whole_machine(topology: Topology) -> Device:
    """Every SIP of it."""
    return Device(topology, tuple(range(topology.sips)))


def chosen_device(topology: Topology, text: str) -> Device:
    """The SIPs that the text names (`named_sips`). Raises ConfigError for one that there is not."""
    runs = named_sips(text)
    last = topology.sips - 1
    if runs[-1][-1] > last:
        there_are = f"0 to {last}" if last else "0, its only one"
        raise ConfigError(f"--device must name SIPs of {topology.name} ({there_are}), not '{text}'")
    return Device(topology, tuple(chain.from_iterable(runs)))


def named_sips(text: str) -> list[range]:
    """The runs that `1`, `0,2` or `1-3` names, of whichever machine. Raises ConfigError unless they name
    each SIP once and in ascending order.
    """
    runs = [_run(part.strip()) for part in text.split(",")]
    if not all(runs) or not all(before[-1] < after[0] for before, after in pairwise(runs)):
        raise ConfigError(
            "--device must name SIPs, each once and in ascending order, as in 1 or 0,2 or 1-3, not"
            f" '{text}'"
        )
    return runs


def _run(text: str) -> range:
    """The numbers from one to another, or one alone; none where that is not what the text says."""
    match = _RUN.fullmatch(text)
    return range(_sip(match[1]), _sip(match[2] or match[1]) + 1) if match else range(0)


def _sip(digits: str) -> int:
    significant = digits.lstrip("0") or "0"
    return int(significant) if len(significant) <= _DIGITS else 10**_DIGITS
