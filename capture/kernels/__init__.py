"""The kernels that ship, in one explicit table: what `kerntape capture NAME` and `kerntape kernels` know."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShippedKernel:
    """Where a kernel's `launch(rt, **arguments)` stands, and what it does, in one sentence."""

    module: str
    summary: str


SHIPPED_KERNELS = {
    "gqa_decode": ShippedKernel(
        ".kernels.gqa_decode",
        "One decode step of grouped-query attention; a KV head's cache is split over c·p PEs.",
    ),
    "gqa_prefill": ShippedKernel(
        ".kernels.gqa_prefill",
        "Causal prefill of grouped-query attention; with c = g the K/V slices rotate in a ring.",
    ),
    "milestone": ShippedKernel(
        ".kernels.milestone",
        "The four panels {single, multi} user × {prefill, decode}, on all SIPs of the device.",
    ),
    "attention_mesh_mlo": ShippedKernel(
        ".kernels.attention_mesh_mlo",
        "The decode that gqa_decode replaces: no shared K/V, and the answer on all c·p PEs.",
    ),
    "attention_mesh_kv": ShippedKernel(
        ".kernels.attention_mesh_kv",
        "The prefill that gqa_prefill replaces: all K/V copies visit all c·p PEs, nothing is skipped.",
    ),
    "gated_ffn": ShippedKernel(
        ".kernels.gated_ffn",
        "One gated feed-forward block (SwiGLU); the token rows are split over p PEs.",
    ),
}
