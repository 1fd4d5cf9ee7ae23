"""A calibration: the rates, latencies and costs of one machine, and nothing that changes structure.

Every number keeps its written decimal. Rates must be above zero, costs and latencies not below;
a finite number is meant throughout.
"""

from typing import Annotated

from pydantic import AfterValidator

from .config_file import Exact, StrictModel

MAX_NUMBER = 10**12


def _rate(value: Exact) -> Exact:
    if not value.is_finite() or not 0 < value <= MAX_NUMBER:
        raise ValueError(f"must be a finite number above 0 and at most 10^12, not {value}")
    return value


def _cost(value: Exact) -> Exact:
    if not value.is_finite() or not 0 <= value <= MAX_NUMBER:
        raise ValueError(f"must be a finite number from 0 to 10^12, not {value}")
    return value


Rate = Annotated[Exact, AfterValidator(_rate)]
Cost = Annotated[Exact, AfterValidator(_cost)]


class PeCpuCosts(StrictModel):
    """Dispatch: `fixed_cycles + cycles_per_byte × logical_bytes` (ADR-0064 by way of DDD-0065 §11)."""

    fixed_cycles: Cost
    cycles_per_byte: Cost


class PeSchedulerCosts(StrictModel):
    """Planning a composite, in cycles per op of it."""

    plan_cycles_per_op: Cost


class PeDmaRates(StrictModel):
    """The read and the write channel, each bytes per nanosecond."""

    read_bytes_per_ns: Rate
    write_bytes_per_ns: Rate


class PeGemmRates(StrictModel):
    macs_per_cycle: Rate
    fill_cycles: Cost


class PeMathRates(StrictModel):
    """Elements per cycle, whatever the op."""

    vector_width: Rate


class PeTcmRates(StrictModel):
    bytes_per_ns: Rate


class HbmRates(StrictModel):
    """One PE's share of its cube's HBM: the channel's rate, and the time until data arrives."""

    bytes_per_ns: Rate
    latency_ns: Cost


class IpcqCosts(StrictModel):
    """The queues between PEs: how fast a fragment is copied, and how long a credit takes home."""

    copy_bytes_per_ns: Rate
    credit_latency_ns: Cost


class NocRates(StrictModel):
    """Links: bytes per nanosecond and nanoseconds per hop, inside a cube, between cubes, between SIPs."""

    pe_link_bytes_per_ns: Rate
    pe_hop_latency_ns: Rate
    cube_link_bytes_per_ns: Rate
    cube_hop_latency_ns: Rate
    sip_link_bytes_per_ns: Rate
    sip_hop_latency_ns: Rate


class Calibration(StrictModel):
    """The numbers of a cost model. `clock_ghz` turns cycles into time for every block of a PE."""

    name: str
    summary: str
    clock_ghz: Rate
    pe_cpu: PeCpuCosts
    pe_scheduler: PeSchedulerCosts
    pe_dma: PeDmaRates
    pe_gemm: PeGemmRates
    pe_math: PeMathRates
    pe_tcm: PeTcmRates
    hbm: HbmRates
    ipcq: IpcqCosts
    noc: NocRates
