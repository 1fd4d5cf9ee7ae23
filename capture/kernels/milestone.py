"""The four-panel milestone: Llama3-70B's attention for one user and for several, prefill and decode.

    panel                  kernel         requests    ADR-0060
    single_user_prefill    gqa_prefill    1           §5.4, §5.5
    single_user_decode     gqa_decode     1           §5.2, §5.3
    multi_user_prefill     gqa_prefill    users       one after the other; see kernels/gqa_prefill.py
    multi_user_decode      gqa_decode     users       all swept, then all reduced

Users' requests are rotated over a group's ranks (ADR-0060 §2.2): request r has its first tokens r
CUBEs and ⌊r / c⌋ PEs further on. What is not said is the machine's: every KV head that the device
has a group of CUBEs for, with all of their PEs, g CUBEs a group where such a ring is in the SIP.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from ...schemas.errors import ConfigError
from ...schemas.topology import Grid
from ..runtime import Runtime
from . import gqa_decode, gqa_prefill
from .argument_checks import arguments_of, check_least, check_words
from .groups import group_mesh, group_shape
from .ring import ring_shape


@dataclass(frozen=True, slots=True)
class Panel:
    """One of the four: the launch function of its kernel, and whether all users come at once."""

    launch: Callable[..., None]
    has_all_users: bool


PANELS = {
    "single_user_prefill": Panel(gqa_prefill.launch, has_all_users=False),
    "single_user_decode": Panel(gqa_decode.launch, has_all_users=False),
    "multi_user_prefill": Panel(gqa_prefill.launch, has_all_users=True),
    "multi_user_decode": Panel(gqa_decode.launch, has_all_users=True),
}


def launch(
    rt: Runtime,
    panel: str = "single_user_decode",
    users: int = 4,
    variant: str = "opt2",
    g: int = 8,
    d: int = 128,
    s_kv: int = 1024,
    tile: int = 64,
    dtype: str = "bf16",
    scale: Annotated[float | None, "1/√d"] = None,
    c: int = 0,
    p: int = 0,
    heads: int = 0,
) -> None:
    """One panel of the milestone, on random inputs.

    panel    single_user_prefill, single_user_decode, multi_user_prefill or multi_user_decode
    users    requests at once in the panels of several users
    variant  opt1, opt2 or opt3
    g        query heads that share a KV head
    d        head dimension
    s_kv     tokens of a request: keys to attend to, and in prefill the queries too
    tile     keys a tile
    dtype    storage dtype: f16, bf16 or f32
    scale    factor of the scores; 1/√d unless given
    c        CUBEs a KV head; 0 for g where a SIP has a ring of so many, else for 1
    p        PEs of each CUBE that take part; 0 for all
    heads    KV heads, one group of c CUBEs each; 0 for as many as the device's SIPs have room for
    """
    with arguments_of("milestone"):
        check_words(panel=(panel, PANELS))
        check_least(1, users=users, g=g, tile=tile)
        check_least(0, c=c, p=p, heads=heads)
        mesh = rt.topology.cubes
        cubes = c or (g if _has_ring(mesh, g) else 1)
        pes = p or rt.topology.pes.size
        groups = heads or rt.sips * group_mesh(mesh, group_shape(mesh, cubes)).size
        rt.resolve(c=cubes, p=pes, heads=groups)
        chosen = PANELS[panel]
        chosen.launch(
            rt,
            variant=variant,
            g=g,
            d=d,
            s_kv=s_kv,
            tile=tile,
            dtype=dtype,
            scale=scale,
            c=cubes,
            p=pes,
            heads=groups,
            requests=users if chosen.has_all_users else 1,
        )


def _has_ring(mesh: Grid, cubes: int) -> bool:
    try:
        ring_shape(mesh, cubes)
    except ConfigError:
        return False
    return True
