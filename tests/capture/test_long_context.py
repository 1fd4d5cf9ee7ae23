"""Long context (ADR-0060 §11.5): a Mi tokens run in the scratch of 4 Ki, and not without scratch_scope."""

from pathlib import Path

import long_sweep
import numpy as np
import pytest
from kerntape.capture.capture import CaptureResult, capture
from kerntape.schemas.errors import KernelError
from kerntape.schemas.handles import Space
from kerntape.schemas.trace import Trace
from kerntape.topologies.loader import resolve_topology
from prefill_captures import prefilled

MACHINE = resolve_topology("single_pe")
LONG, SHORT = 1 << 20, 1 << 12
SCRATCH_AT = MACHINE.pe.tcm_bytes - MACHINE.pe.scratch_bytes


def decoded(variant: str, s_kv: int) -> Trace:
    arguments = {"variant": variant, "s_kv": str(s_kv)}
    return capture("gqa_decode", MACHINE, arguments, with_data=False).trace


def swept(*, with_data: bool = False, **arguments: object) -> CaptureResult:
    """tests/support/long_sweep.py."""
    texts = {name: str(value) for name, value in arguments.items()}
    return capture(long_sweep.__file__, MACHINE, texts, with_data=with_data)


def high_water(trace: Trace) -> dict[str, int]:
    """The highest TCM byte that any handle covers, in the persistent part and in the scratch."""
    (stream,) = trace.streams
    size = np.array([geometry.size_bytes for geometry in trace.geometries])
    in_tcm = np.array([geometry.space is Space.TCM for geometry in trace.geometries])
    mine = in_tcm[stream.geometries]
    ends = (stream.addresses + size[stream.geometries])[mine]
    is_scratch = stream.addresses[mine] >= SCRATCH_AT
    return {
        "persistent": int(ends[~is_scratch].max()),
        "scratch": int(ends[is_scratch].max()),
    }


@pytest.mark.parametrize(
    "variant",
    [
        pytest.param("opt1", marks=pytest.mark.slow),
        "opt2",
        pytest.param("opt3", marks=pytest.mark.slow),
    ],
)
def test_a_mi_tokens_complete_in_the_scratch_of_4_ki(variant: str):
    short, long = (high_water(decoded(variant, s_kv)) for s_kv in (SHORT, LONG))
    assert short == long
    assert short["scratch"] < MACHINE.pe.tcm_bytes


def test_a_prefill_of_16_ki_tokens_has_the_high_water_mark_of_1_ki():
    sizes = {"g": 1, "d": 128, "tile": 64, "dtype": "bf16", "t_q": 256}
    short, long = (
        high_water(prefilled(MACHINE, s_kv=s_kv, **sizes).trace) for s_kv in (1024, 16384)
    )
    assert short == long


def test_a_users_sweep_in_a_scope_is_right_and_as_small():
    assert swept(with_data=True, s_kv=2048).outputs["o"].is_right
    assert high_water(swept(s_kv=SHORT).trace) == high_water(swept(s_kv=LONG).trace)


def test_without_a_scope_the_long_sweep_overflows_with_what_where_and_how_much():
    # a tile keeps S, 8 · 64 · 4 = 2048 bytes, P, 1024, and four vectors of 32 bytes in lines of 64:
    # 3328 bytes. 1 MiB holds 315 tiles and 256 bytes more, so the 316th tile's S is too much
    with pytest.raises(KernelError) as error:
        swept(s_kv=LONG, scoped=0)
    lines = Path(long_sweep.__file__).read_text(encoding="utf-8").splitlines()
    (line,) = [number for number, text in enumerate(lines, 1) if text.endswith("# scores")]
    assert str(error.value) == (
        "the TCM's scratch is full: 'S' [8, 64] f32 needs 2048 bytes, and 256 of 1048576 are free;"
        f" put the loop's body in tl.scratch_scope(), which recycles it (long_sweep.py:{line})"
    )


def test_without_a_scope_a_sweep_is_as_long_as_the_scratch_is_large():
    # after 314 tiles 256 + 3328 bytes are left for o's 2048; after 315 only 256
    swept(s_kv=314 * long_sweep.TILE, scoped=0)
    with pytest.raises(KernelError, match=r"scratch is full: 'o' \[8, 128\] bf16 needs 2048 bytes"):
        swept(s_kv=315 * long_sweep.TILE, scoped=0)
