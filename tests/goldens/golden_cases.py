"""Every shipped kernel in small: what the goldens pin, and how a golden is computed.

`python tests/goldens/golden_cases.py` writes op_logs.json anew; say why in CHANGELOG.md.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from kerntape.capture.capture import capture
from kerntape.capture.kernels.milestone import PANELS
from kerntape.replay.op_log import op_log_sha256
from kerntape.replay.replay import DEFAULT_RUNNER, replay
from kerntape.topologies.loader import resolve_topology

GOLDENS = Path(__file__).parent / "op_logs.json"
POLICIES = ("none", "rw_handles", "strict_fifo", "byte_range", "rw_aware", "serial")


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel with its arguments on a topology."""

    kernel: str
    topology: str
    arguments: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        words = " ".join(f"{name}={value}" for name, value in self.arguments)
        return f"{self.kernel} {words} on {self.topology}"


def _decode(variant: str, **more: str) -> Case:
    arguments = {"variant": variant, "s_kv": "200", **more}
    return Case("gqa_decode", "single_pe", tuple(arguments.items()))


def _on(kernel: str, topology: str, **arguments: str) -> Case:
    return Case(kernel, topology, tuple(arguments.items()))


def _panel(panel: str) -> Case:
    sizes = {"g": "2", "d": "32", "s_kv": "64", "p": "2", "heads": "1", "users": "3"}
    return _on("milestone", "ahbm_2sip", panel=panel, **sizes)


CASES = (
    *(_decode(variant) for variant in ("opt1", "opt2", "opt3")),
    *(_decode(variant, tile="0") for variant in ("opt1", "opt2", "opt3")),
    _decode("opt2", slots="1"),
    _decode("opt2", g="71", d="80", dtype="f32"),
    _decode("opt3", g="1", d="256", dtype="f16"),
    _on("gqa_decode", "one_cube", variant="opt2", s_kv="1000", p="8"),
    _on("gqa_decode", "ahbm_2sip", variant="opt3", s_kv="1000", c="2", p="4", d="64"),
    _on("gqa_prefill", "single_pe", s_kv="128", g="2", d="32"),
    _on("gqa_prefill", "ahbm_2sip", s_kv="128", g="2", d="32", c="2", p="2"),
    _on("gqa_prefill", "ahbm_2sip", s_kv="64", g="2", d="32", c="2", p="2", requests="3"),
    _on("attention_mesh_mlo", "one_cube", s_kv="100", g="2", d="32", p="8"),
    _on("attention_mesh_mlo", "ahbm_2sip", s_kv="9", d="32", c="2", p="8", exchange="two_level"),
    _on("attention_mesh_kv", "one_cube", s_kv="40", g="2", d="32", p="8"),
    _on("attention_mesh_kv", "ahbm_2sip", s_kv="20", g="2", d="32", c="2", p="3", causal="false"),
    *(_panel(panel) for panel in PANELS),
    _on("gated_ffn", "single_pe", d="128", hidden="200"),
    _on("gated_ffn", "single_pe", d="128", hidden="200", slots="1"),
    _on("gated_ffn", "one_cube", rows="20", d="96", hidden="70", tile="32", dtype="f32", p="8"),
)


def op_log_hashes(case: Case, runner: str = DEFAULT_RUNNER) -> dict[str, str]:
    """The op_log's SHA-256 under the default calibration, by policy."""
    machine = resolve_topology(case.topology)
    trace = capture(case.kernel, machine, dict(case.arguments), with_data=False).trace
    return {
        policy: op_log_sha256(replay(trace, policy=policy, runner=runner)) for policy in POLICIES
    }


def main() -> None:
    """Writes the goldens."""
    hashes = {str(case): op_log_hashes(case) for case in CASES}
    GOLDENS.write_text(json.dumps(hashes, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
