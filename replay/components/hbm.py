"""HBM: each PE has its share of its CUBE's pseudo-channels, one server for reads and writes, its own
and those of the PEs that reach for its tensors.

channel:   bytes / bytes_per_ns
latency:   a lag, never occupancy: the next hop of a read starts `latency_ns` after the channel
           did (at least 1 ps, as every lag from a start)
arrival:   a write has arrived `latency_ns` after the channel is done with it
"""

from fractions import Fraction

from ...schemas.calibration import Calibration
from ...schemas.stages import Block
from ..command_plan import EngineSlot

CHANNEL = EngineSlot(Block.HBM, "", arbitrates=True)


def channel_ns(calibration: Calibration, size_bytes: int) -> Fraction:
    """The time the channel is taken. Source: assumption; DDD-0065 leaves HBM to the topology."""
    return size_bytes / Fraction(calibration.hbm.bytes_per_ns)


def latency_ns(calibration: Calibration, _: int) -> Fraction:
    """The lag between the channel and the data. The quantity is not used."""
    return Fraction(calibration.hbm.latency_ns)


EQUATIONS = {"hbm.channel": channel_ns, "hbm.latency": latency_ns, "hbm.arrival": latency_ns}
