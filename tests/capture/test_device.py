"""The SIPs that a launch may use: counted from 0 by the kernel, the machine's own in the trace."""

import pytest
from kerntape.capture.capture import CaptureResult, capture
from kerntape.capture.device import chosen_device, whole_machine
from kerntape.capture.runtime import Runtime
from kerntape.replay.replay import replay
from kerntape.schemas.errors import ConfigError, KernelError
from kerntape.schemas.timeline import Status
from kerntape.schemas.topology import Place
from kerntape.schemas.trace import Trace
from kerntape.schemas.trace_file import trace_bytes
from kerntape.topologies.loader import resolve_topology

MACHINE = resolve_topology("llama70b_4sip")
PES_OF_A_SIP = 128


# -- which there are


@pytest.mark.parametrize(
    ("text", "sips"),
    [
        ("0", (0,)),
        ("3", (3,)),
        ("0,2", (0, 2)),
        ("1-3", (1, 2, 3)),
        ("0-1,3", (0, 1, 3)),
        (" 1 , 2-2 ", (1, 2)),
        ("00-0000000003", (0, 1, 2, 3)),
        ("0-3", (0, 1, 2, 3)),
    ],
)
def test_sips_are_named_one_by_one_or_from_one_to_another(text: str, sips: tuple[int, ...]):
    assert chosen_device(MACHINE, text).sips == sips


@pytest.mark.parametrize(
    "text",
    ["", "x", "0,", "0,0", "2,1", "3-1", "0-1,1", "-1", "1-", "0x1", "٣", "0" * 20_000 + "x"],
)
def test_anything_else_names_none(text: str):
    with pytest.raises(ConfigError) as error:
        chosen_device(MACHINE, text)
    assert str(error.value) == (
        "--device must name SIPs, each once and in ascending order, as in 1 or 0,2 or 1-3, not"
        f" '{text}'"
    )


@pytest.mark.parametrize(
    "text", ["4", "1-4", "0,9999999", "0-99999999", "9" * 5000, "0" * 20_000 + "4"]
)
def test_one_that_there_is_not_is_told_which_there_are(text: str):
    with pytest.raises(ConfigError) as error:
        chosen_device(MACHINE, text)
    assert str(error.value) == (f"--device must name SIPs of llama70b_4sip (0 to 3), not '{text}'")


def test_a_machine_of_one_sip_has_only_that():
    with pytest.raises(ConfigError) as error:
        chosen_device(resolve_topology("one_cube"), "1")
    assert str(error.value) == "--device must name SIPs of one_cube (0, its only one), not '1'"


def test_a_device_knows_where_its_pes_are_on_the_machine():
    device = chosen_device(MACHINE, "1,3")
    assert device.on_machine(Place(sip=1, cube=5, pe=2)) == Place(sip=3, cube=5, pe=2)
    assert device.rank(Place(sip=0, cube=0, pe=0)) == PES_OF_A_SIP
    assert device.rank(Place(sip=1, cube=5, pe=2)) == 3 * PES_OF_A_SIP + 5 * 8 + 2


def test_a_message_names_the_sips_unless_they_are_all():
    assert str(chosen_device(MACHINE, "1")) == "SIP 1 of topology llama70b_4sip"
    assert str(chosen_device(MACHINE, "0,2")) == "SIPs 0, 2 of topology llama70b_4sip"
    assert (
        str(chosen_device(MACHINE, "0-3"))
        == str(whole_machine(MACHINE))
        == ("topology llama70b_4sip")
    )


def test_a_launch_function_sees_how_many_and_the_whole_machine():
    rt = Runtime(chosen_device(MACHINE, "1-3"), with_data=False, seed=0)
    assert (rt.sips, rt.topology) == (3, MACHINE)
    assert Runtime(whole_machine(MACHINE), with_data=False, seed=0).sips == 4


# -- a kernel of one's own

WHOAMI = """\
def kernel(x, y, *, tl):
    sip, count = tl.program_id(2), tl.num_programs(2)
    mine = tl.load(x)
    if sip + 1 < count and NEIGHBOURS:
        tl.send("global_E", mine)
    if sip > 0 and NEIGHBOURS:
        mine = tl.recv("global_W", (1,), "f32")
    tl.store(y, tl.add(mine, float(10 * sip + count)))

def launch(rt):
    by_sip = rt.split(axis=0, over="sip")
    x = rt.tensor([float(100 * sip) for sip in range(rt.sips)], dtype="f32", placement=by_sip)
    shifted = [100.0 * max(0, sip - NEIGHBOURS) + 10 * sip + rt.sips for sip in range(rt.sips)]
    y = rt.output(rt.empty((rt.sips,), "f32", placement=by_sip), reference=shifted)
    rt.launch(kernel, (1, 1, rt.sips), x, y)
"""


def whoami(tmp_path, device: str | None, neighbours: bool) -> CaptureResult:
    (tmp_path / "mine.py").write_text(WHOAMI.replace("NEIGHBOURS", str(int(neighbours))))
    return capture(f"{tmp_path}/mine.py", MACHINE, {}, device=device)


def ranks(trace: Trace) -> list[int]:
    return [pe.rank for pe in trace.pes]


@pytest.mark.parametrize(
    ("device", "first_ranks"),
    [(None, [0, 128, 256, 384]), ("2", [256]), ("0,2", [0, 256]), ("1-3", [128, 256, 384])],
)
def test_program_id_2_counts_the_chosen_and_the_trace_has_the_machines_ranks(
    tmp_path, device: str | None, first_ranks: list[int]
):
    result = whoami(tmp_path, device, neighbours=False)
    assert result.outputs["y"].max_abs_err == 0
    assert ranks(result.trace) == first_ranks
    assert result.trace.header.grid == (1, 1, len(first_ranks))


@pytest.mark.parametrize("device", ["0,1", "2-3", "1-3"])
def test_chosen_sips_that_are_neighbours_are_linked(tmp_path, device: str):
    result = whoami(tmp_path, device, neighbours=True)
    assert result.outputs["y"].max_abs_err == 0


def test_chosen_sips_with_another_between_them_are_not(tmp_path):
    with pytest.raises(KernelError) as error:
        whoami(tmp_path, "0,2", neighbours=True)
    # SIP 0's global_E is SIP 1, which the launch does not use
    assert str(error.value) == (
        "direction 'global_E' leads to PE 128, which is not part of this launch (PE 0, mine.py:5)"
    )


def test_an_owner_that_is_not_there_is_told_as_the_launch_counts():
    # SIPs 1 and 3 are 0 and 1 to the launch
    owner = Runtime(chosen_device(MACHINE, "1,3"), with_data=False, seed=0).owned_by(sip=3)
    with pytest.raises(ConfigError) as error:
        owner.check((4,), chosen_device(MACHINE, "1,3"))
    assert str(error.value) == (
        "the owner must be a PE of SIPs 1, 3 of topology llama70b_4sip, its SIPs counted from 0, not"
        " pe 0 of cube 0 of sip 3"
    )


OFF_THE_MACHINE = """
def kernel(x, *, tl):
    if tl.program_id(0) == 1:
        tl.send("N", tl.load(x))


def launch(rt):
    rt.launch(kernel, (2, 1, 1), rt.zeros((4,)))
"""


def test_messages_name_a_pe_by_the_machines_number_as_the_trace_does(tmp_path):
    (tmp_path / "mine.py").write_text(OFF_THE_MACHINE)
    with pytest.raises(KernelError) as error:
        capture(f"{tmp_path}/mine.py", MACHINE, {}, device="1")
    # PE 1 of the launch is the second of SIP 1: 128 + 1
    assert str(error.value) == (
        "direction 'N' leads off the machine from pe 1 of cube 0 of sip 1 (PE 129, mine.py:4)"
    )


def test_a_grid_of_more_sips_than_were_chosen_is_refused(tmp_path):
    (tmp_path / "mine.py").write_text(OWNED.replace("(1, 1, 2)", "(1, 1, 3)"))
    with pytest.raises(ConfigError) as error:
        capture(f"{tmp_path}/mine.py", MACHINE, {}, device="0,2")
    assert (
        "the launch grid's SIPs must be from 1 to 2 (SIPs 0, 2 of topology llama70b_4sip), not 3"
        in (str(error.value))
    )


OWNED = """\
def kernel(x, y, *, tl):
    if tl.program_id(2) == 1:
        tl.store(y, tl.load(x) * 2.0)

def launch(rt):
    there = rt.owned_by(pe=0, cube=0, sip=1)
    x = rt.tensor([1.0, 2.0], dtype="f32", placement=there)
    y = rt.output(rt.empty((2,), "f32", placement=there), reference=[2.0, 4.0])
    rt.launch(kernel, (1, 1, 2), x, y)
"""


def test_an_owner_is_counted_within_the_device_and_told_as_the_machines(tmp_path):
    (tmp_path / "mine.py").write_text(OWNED)
    result = capture(f"{tmp_path}/mine.py", MACHINE, {}, device="0,3")
    assert result.outputs["y"].max_abs_err == 0
    assert {pe.owners for pe in result.trace.pes} == {(384, 384)}
    placements = {tensor.placement for tensor in result.trace.header.tensors}
    assert placements == {"pe 0 of cube 0 of sip 3"}


# -- the shipped kernels

SMALL = {"g": "2", "d": "16", "tile": "8", "dtype": "f32", "s_kv": "64", "c": "2", "p": "4"}


def decoded(device: str | None, *, with_data: bool = True, **more: str) -> CaptureResult:
    return capture("gqa_decode", MACHINE, SMALL | more, device=device, with_data=with_data)


def test_heads_go_to_the_groups_of_the_chosen_sips():
    # 8 groups of 2 CUBEs a SIP: heads 0 … 7 on SIP 1, 8 … on SIP 3
    result = decoded("1,3", heads="9")
    assert result.outputs["o"].is_right
    busy = {pe.rank for pe in result.trace.pes if len(result.trace.streams[pe.stream].forms)}
    assert {rank // PES_OF_A_SIP for rank in busy} == {1, 3}
    assert sum(rank // PES_OF_A_SIP == 3 for rank in busy) == 2 * 4


def test_there_are_as_many_groups_as_the_chosen_sips_have():
    with pytest.raises(ConfigError) as error:
        decoded("1,3", heads="17")
    assert str(error.value) == (
        "gqa_decode: heads must be from 1 to 16"
        " (groups of 2 CUBEs on 2 of 4 SIPs of llama70b_4sip), not 17"
    )


def test_all_sips_named_are_all_sips_byte_for_byte():
    assert trace_bytes(decoded("0-3").trace) == trace_bytes(decoded(None).trace)


def test_the_first_sips_named_are_what_a_launch_without_a_device_uses():
    # one head is on SIP 0 in either case: nothing in the header but what the commands depend on
    assert trace_bytes(decoded("0").trace) == trace_bytes(decoded(None).trace)


def test_the_same_device_gives_the_same_bytes_with_and_without_data():
    traces = [decoded("2", with_data=data).trace for data in (True, True, False)]
    assert len({trace_bytes(trace) for trace in traces}) == 1


def test_another_sip_runs_the_same_streams_in_the_same_time():
    first, other = (decoded(device).trace for device in ("0", "3"))
    assert [rank + 3 * PES_OF_A_SIP for rank in ranks(first)] == ranks(other)
    assert [pe.stream for pe in first.pes] == [pe.stream for pe in other.pes]
    assert first.header == other.header
    ends = [replay(trace).end_ps.tolist() for trace in (first, other)]
    assert ends[0] == ends[1]


def test_prefill_and_the_baselines_run_on_the_chosen_sips():
    sizes = {"g": "2", "d": "16", "dtype": "f32", "s_kv": "24", "c": "2", "p": "2", "heads": "9"}
    for kernel in ("gqa_prefill", "attention_mesh_mlo", "attention_mesh_kv"):
        result = capture(kernel, MACHINE, sizes, device="1,2")
        assert result.outputs["o"].is_right
        assert {rank // PES_OF_A_SIP for rank in ranks(result.trace)} == {1, 2}


FAR = """\
def kernel(x, y, *, tl):
    other = 1 - tl.program_id(2)
    tl.store(y, tl.load(tl.part_of(x, sip=other)) * 1.0)

def launch(rt):
    by_sip = rt.split(axis=0, over="sip")
    x = rt.tensor([1.0, 2.0], dtype="f32", placement=by_sip)
    y = rt.output(rt.empty((2,), "f32", placement=by_sip), reference=[2.0, 1.0])
    rt.launch(kernel, (1, 1, 2), x, y)
"""


def test_another_sips_part_is_asked_for_as_the_launch_counts_and_crosses_the_sip_between(tmp_path):
    (tmp_path / "mine.py").write_text(FAR)
    result = capture(f"{tmp_path}/mine.py", MACHINE, {}, device="1,3")
    assert result.outputs["y"].max_abs_err == 0
    # x, y, and the other's x, in the HBM of PE 0 of SIPs 1 and 3
    assert [pe.owners for pe in result.trace.pes] == [(128, 128, 384), (384, 384, 128)]
    assert replay(result.trace).status is Status.OK
