"""milestone: the four panels are right, use the machine that they are given, and differ as they should."""

from collections import Counter

import pytest
from decode_captures import commands
from kernel_values import Computed, computed, decode_oracle, prefill_oracle
from kerntape.capture.capture import CaptureResult, capture
from kerntape.capture.kernels.milestone import PANELS
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import Trace
from kerntape.schemas.trace_file import trace_bytes
from kerntape.topologies.loader import resolve_topology
from prefill_captures import RING_OF_EIGHT

MACHINE = resolve_topology("llama70b_4sip")
SMALL = {"g": 2, "d": 16, "tile": 8, "dtype": "f32", "s_kv": 40}
DTYPES = ("f16", "bf16", "f32")


def captured(
    panel: str, topology: Topology = MACHINE, *, device: str | None = None, **arguments: object
) -> CaptureResult:
    texts = {name: str(value) for name, value in (SMALL | {"panel": panel} | arguments).items()}
    return capture("milestone", topology, texts, device=device, with_data=False)


# -- results


def check_outputs(run: Computed, panel: str, heads: int, suffixes: list[str]) -> None:
    assert sorted(run.copies) == [f"o{suffix}" for suffix in suffixes]
    for suffix in suffixes:
        q, k, v = (run.inputs[f"{name}{suffix}"] for name in "qkv")
        k, v = k[:, :40], v[:40]  # decode's cache has room for more
        if panel.endswith("prefill"):
            expected = prefill_oracle(q, k, v, heads, 16**-0.5, 0)
        else:
            expected = decode_oracle(q, k, v, heads, 16**-0.5)
        run.check(f"o{suffix}", expected)


VARIANTS_IN_DTYPES = [
    # each variant and each dtype once; that they go together is the kernels' own tests' to show
    pytest.param(variant, dtype, marks=[] if place == number else pytest.mark.slow)
    for place, variant in enumerate(("opt1", "opt2", "opt3"))
    for number, dtype in enumerate(DTYPES)
]


@pytest.mark.parametrize(("variant", "dtype"), VARIANTS_IN_DTYPES)
@pytest.mark.parametrize("panel", PANELS)
def test_every_panel_agrees_with_attention_row_by_row(panel: str, variant: str, dtype: str):
    suffixes = ["0", "1", "2"] if panel.startswith("multi") else [""]
    # the whole of 4×2 CUBEs of 4 PEs: four groups of two CUBEs
    sizes = SMALL | {"panel": panel, "variant": variant, "dtype": dtype, "users": 3}
    run = computed("milestone", RING_OF_EIGHT, **sizes)
    check_outputs(run, panel, 4, suffixes)


@pytest.mark.parametrize("panel", PANELS)
def test_every_panel_is_right_on_one_pe(panel: str):
    suffixes = ["0", "1"] if panel.startswith("multi") else [""]
    sizes = SMALL | {"panel": panel, "users": 2}
    run = computed("milestone", resolve_topology("single_pe"), **sizes)
    check_outputs(run, panel, 1, suffixes)


@pytest.mark.parametrize("panel", PANELS)
def test_every_panel_is_right_on_chosen_sips(panel: str):
    suffixes = ["0", "1"] if panel.startswith("multi") else [""]
    # ring groups of 8 CUBEs, two on each of SIPs 1 and 3
    sizes = SMALL | {"panel": panel, "users": 2, "g": 8, "p": 2}
    run = computed("milestone", MACHINE, device="1,3", **sizes)
    check_outputs(run, panel, 4, suffixes)
    assert {pe.rank // 128 for pe in run.trace.pes} == {1, 3}


# -- what is the machine's


def resolved(panel: str, *where: Topology, **more: object) -> tuple[object, ...]:
    found = captured(panel, *where, **more).trace.header.arguments
    return found["c"], found["p"], found["heads"]


@pytest.mark.parametrize("panel", PANELS)
def test_all_groups_of_all_sips_are_used_unless_less_is_asked_for(panel: str):
    # 16 CUBEs of 8 PEs a SIP: two groups of g = 8 CUBEs, as many KV heads
    assert resolved(panel, g=8, s_kv=16, users=1) == (8, 8, 8)
    assert resolved(panel, g=8, s_kv=16, users=1, device="2") == (8, 8, 2)
    assert resolved(panel, g=8, s_kv=16, users=1, device="0,3") == (8, 8, 4)
    assert resolved(panel, g=8, s_kv=16, device="1", heads=1, p=4) == (8, 4, 1)
    assert resolved(panel, g=8, s_kv=16, device="1", c=1, p=1) == (1, 1, 16)


@pytest.mark.parametrize("panel", PANELS)
def test_a_group_is_one_cube_where_a_sip_has_no_ring_of_g(panel: str):
    # 3 CUBEs tile no 4×4 mesh
    assert resolved(panel, g=3, device="0") == (1, 8, 16)
    assert resolved(panel, resolve_topology("one_cube")) == (1, 8, 1)
    assert resolved(panel, resolve_topology("single_pe")) == (1, 1, 1)


# -- what the panels are


def kinds(trace: Trace) -> Counter[CommandKind]:
    return Counter(command.kind for pe in range(len(trace.pes)) for command in commands(trace, pe))


@pytest.mark.parametrize("panel", PANELS)
def test_the_users_of_a_panel_have_a_request_each(panel: str):
    names = [tensor.name for tensor in captured(panel, users=3, device="0").trace.header.tensors]
    users = ["0", "1", "2"] if panel.startswith("multi") else [""]
    assert names == [f"{name}{user}" for user in users for name in "qkvo"]


@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_several_users_store_and_send_as_often_as_each_alone(phase: str):
    # 64 tokens on 16 ranks a group: no rank is without
    one = kinds(captured(f"single_user_{phase}", device="0", s_kv=64).trace)
    three = kinds(captured(f"multi_user_{phase}", device="0", s_kv=64, users=3).trace)
    for kind in (CommandKind.STORE, CommandKind.SEND):
        assert three[kind] == 3 * one[kind] > 0


def test_decode_reduces_to_one_store_a_head_and_prefill_stores_every_query_in_place():
    sizes = {"g": 8, "s_kv": 64, "device": "0"}  # two groups of 8 CUBEs of 8 PEs
    decode, prefill = (captured(f"single_user_{phase}", **sizes) for phase in ("decode", "prefill"))
    assert kinds(decode.trace)[CommandKind.STORE] == 2
    assert kinds(prefill.trace)[CommandKind.STORE] == 2 * 64
    # 63 states of three messages a group; a ring's K and V, 7 hops for each of 64 PEs
    assert kinds(decode.trace)[CommandKind.SEND] == 2 * 63 * 3
    assert kinds(prefill.trace)[CommandKind.SEND] == 2 * 64 * 7 * 2


@pytest.mark.parametrize("panel", ["multi_user_prefill", "multi_user_decode"])
def test_requests_are_rotated_over_the_ranks(panel: str):
    found = captured(panel, users=3, device="0").trace.header.tensors
    placements = [tensor.placement for tensor in found if tensor.name.startswith("v")]
    # c = 2: request 1 begins a CUBE further on, request 2 with the first CUBE again and a PE on
    assert len(set(placements[:2])) == 2
    assert ["from cube 1" in placement for placement in placements] == [False, True, False]


@pytest.mark.parametrize("panel", PANELS)
def test_the_same_panel_is_the_same_bytes_with_and_without_data(panel: str):
    texts = {name: str(value) for name, value in (SMALL | {"panel": panel, "users": 2}).items()}
    traces = [
        capture("milestone", RING_OF_EIGHT, texts, with_data=data).trace for data in (True, False)
    ]
    assert trace_bytes(traces[0]) == trace_bytes(traces[1])


def test_a_panel_is_its_kernels_trace_with_the_machines_sizes():
    trace = captured("multi_user_decode", RING_OF_EIGHT, users=2).trace
    sizes = SMALL | {"c": 2, "p": 4, "heads": 4, "requests": 2}
    texts = {name: str(value) for name, value in sizes.items()}
    alone = capture("gqa_decode", RING_OF_EIGHT, texts, with_data=False).trace
    assert [stream.forms.tolist() for stream in trace.streams] == [
        stream.forms.tolist() for stream in alone.streams
    ]


# -- arguments


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            {"panel": "single_user_decod"},
            "no panel 'single_user_decod'; did you mean 'single_user_decode'?",
        ),
        ({"panel": "multi_user_decode", "users": 0}, "users must be at least 1, not 0"),
        ({"panel": "single_user_prefill", "c": -1}, "c must be at least 0, not -1"),
        (
            {"panel": "single_user_prefill", "c": 4},
            "gqa_prefill: c must be 1 or g, which is 2, not 4",
        ),
        ({"panel": "single_user_decode", "d": 0}, "gqa_decode: d must be at least 1, not 0"),
    ],
)
def test_a_wrong_argument_says_what_it_must_be(arguments: dict[str, object], text: str):
    with pytest.raises(ConfigError) as error:
        captured(**arguments)
    assert str(error.value) == f"milestone: {text}"


def test_heads_beyond_the_device_are_refused():
    with pytest.raises(ConfigError) as error:
        captured("single_user_decode", g=8, device="1", heads=3)
    assert str(error.value) == (
        "milestone: gqa_decode: heads must be from 1 to 2"
        " (groups of 8 CUBEs on 1 of 4 SIPs of llama70b_4sip), not 3"
    )
