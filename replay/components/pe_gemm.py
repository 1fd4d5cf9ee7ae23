"""PE_GEMM: the matrix engine. One stage a tile step; partial sums stay in the engine over K.

step:  fill_cycles + ceil(m·k·n / macs_per_cycle) cycles
"""

from fractions import Fraction
from math import ceil

from ...schemas.calibration import Calibration
from ...schemas.stages import Block
from ..command_plan import EngineSlot

GEMM = EngineSlot(Block.PE_GEMM, "", arbitrates=True)


def step_ns(calibration: Calibration, macs: int) -> Fraction:
    """Source: DDD-0065 §7 by way of the tile plan; the fill is an assumption of the calibration."""
    rates = calibration.pe_gemm
    cycles = Fraction(rates.fill_cycles) + ceil(Fraction(macs) / Fraction(rates.macs_per_cycle))
    return cycles / Fraction(calibration.clock_ghz)


EQUATIONS = {"pe_gemm.step": step_ns}
