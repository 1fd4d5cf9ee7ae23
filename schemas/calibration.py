"""A calibration: the rates, latencies and costs of one machine, and nothing that changes structure.

Every number keeps its written decimal. Rates must be above zero, costs and latencies not below;
a finite number is meant throughout.
"""

from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator

from .config_file import Exact, Line, StrictModel, as_exact, complaint_about_part

MAX_NUMBER = 10**12
MIN_NUMBER = Decimal(1) / MAX_NUMBER


def _rate(value: Decimal) -> Decimal:
    if not MIN_NUMBER <= value <= MAX_NUMBER:
        raise ValueError(f"must be above 0 (from 10^-12 to 10^12), not {value}")
    return value


def _cost(value: Decimal) -> Decimal:
    if value and not MIN_NUMBER <= value <= MAX_NUMBER:
        raise ValueError(f"must be 0 or above (0, or from 10^-12 to 10^12), not {value}")
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


class CostModel(StrictModel):
    """Every number of a calibration. `clock_ghz` turns cycles into time for every block of a PE."""

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


class _Described(StrictModel):
    name: Line
    summary: Line


class Calibration(CostModel, _Described):
    """The numbers of a cost model. `name` says what it is made of; it and `summary` come first."""


def _some_costs(values: dict[str, Any]) -> dict[str, Any]:
    complaint = complaint_about_part(CostModel, values)
    if complaint:
        raise ValueError(complaint)
    return {key: _exact(value) for key, value in values.items()}


def _exact(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _exact(entry) for key, entry in value.items()}
    return as_exact(value)


SomeCosts = Annotated[dict[str, Any], AfterValidator(_some_costs)]
"""A part of a cost model: some of its keys, nested as there, each checked, numbers exact."""
