"""PE_TCM feeds the GEMM engine: one FETCH a GEMM step.

fetch:  bytes / bytes_per_ns, the A tile's bytes every step and the B tile's at its first use
"""

from fractions import Fraction

from ...schemas.calibration import Calibration
from ...schemas.stages import Block
from ..command_plan import EngineSlot

TCM = EngineSlot(Block.PE_TCM, "", arbitrates=True)


def fetch_ns(calibration: Calibration, size_bytes: int) -> Fraction:
    """TCM to engine. Source: assumption; DDD-0065 §7 names the stage and not its rate."""
    return size_bytes / Fraction(calibration.pe_tcm.bytes_per_ns)


EQUATIONS = {"pe_tcm.fetch": fetch_ns}
