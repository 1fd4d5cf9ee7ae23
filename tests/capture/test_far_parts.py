"""tl.part_of: what other PEs hold of a tensor, as one more tensor of the PE that asks."""

from pathlib import Path

import pytest
from kerntape.capture.capture import CaptureResult, capture
from kerntape.schemas.errors import KernelError
from kerntape.schemas.trace_file import read_trace, write_trace
from kerntape.topologies.loader import resolve_topology

LAUNCH = """

def launch(rt, pes: int = 4, cubes: int = 1):
    split = rt.split(axis=0, over=("cube", "pe"))
    x = rt.tensor(np.arange(8 * pes * cubes), dtype="f32", placement=split)
    y = rt.empty((8 * pes * cubes,), "f32", placement=split)
    rt.output(y)
    rt.launch(kernel, (pes, cubes, 1), x, y)
"""


@pytest.fixture
def run(tmp_path: Path):
    """Captures a kernel over x and y: 8 f32 a PE, x counting up."""

    def run(kernel: str, machine: str = "one_cube", **arguments: object) -> CaptureResult:
        (tmp_path / "mine.py").write_text(f"import numpy as np\n\n\n{kernel}{LAUNCH}")
        texts = {name: str(value) for name, value in arguments.items()}
        return capture(f"{tmp_path}/mine.py", resolve_topology(machine), texts, keep_inputs=True)

    return run


NEXT = """
def kernel(x, y, *, tl):
    there = tl.part_of(x, pe=(tl.program_id(0) + 1) % tl.num_programs(0))
    tl.store(y, tl.load(there))
"""


def test_each_pes_entry_has_the_part_behind_the_launchs_own_tensors(run):
    trace = run(NEXT).trace
    # x and y are 32 bytes each, from 0 and 64; the next PE's x is at its 0
    assert [pe.owners for pe in trace.pes] == [(0, 0, 1), (1, 1, 2), (2, 2, 3), (3, 3, 0)]
    assert {pe.bases for pe in trace.pes} == {(0, 64, 0)}
    load = trace.command(trace.streams[0], 0)
    assert (load.handles[0].tensor, load.handles[0].label) == (2, "x")


def test_pes_that_ask_alike_share_a_stream(run):
    assert len(run(NEXT).trace.streams) == 1


def test_the_trace_is_one_that_a_file_may_hold(run, tmp_path):
    trace = run(NEXT).trace
    write_trace(tmp_path / "x.ktrace", trace)
    again = read_trace(tmp_path / "x.ktrace")
    assert [pe.owners for pe in again.pes] == [pe.owners for pe in trace.pes]
    assert trace.tensor_name(trace.pes[0], 2) == "x of PE 1"
    assert trace.tensor_name(trace.pes[0], 0) == "x"


def test_a_part_is_kept_once_with_its_owner(run):
    # one image a PE and tensor, none for the parts that others reach
    assert sorted(run(NEXT).trace.inputs.images) == [(r, t) for r in range(4) for t in range(2)]


def test_a_part_that_is_asked_for_again_is_the_same_tensor(run):
    trace = run("""
def kernel(x, y, *, tl):
    ahead = [tl.part_of(x, pe=pe) for pe in (1, 2, 1)]
    for part in ahead:
        tl.load(part)
""").trace
    # PE 1 asks for itself first and last, and then it is its own x
    assert [pe.owners[2:] for pe in trace.pes] == [(1, 2), (2,), (1,), (1, 2)]
    numbers = [trace.streams[pe.stream].tensors.tolist() for pe in trace.pes]
    assert [[t for t in each if t >= 0] for each in numbers] == [
        [2, 3, 2],
        [0, 2, 0],
        [2, 0, 2],
        [2, 3, 2],
    ]


def test_ones_own_part_and_a_tensor_with_one_owner_are_as_they_were_given(tmp_path):
    (tmp_path / "mine.py").write_text("""
def kernel(x, w, *, tl):
    assert tl.part_of(x, pe=tl.program_id(0)) is x
    assert tl.part_of(x) is x
    assert tl.part_of(w, pe=1) is w
    tl.load(w)


def launch(rt):
    w = rt.zeros((4,), placement=rt.owned_by(pe=6))
    rt.launch(kernel, (2, 1, 1), rt.zeros((4,)), w)
""")
    trace = capture(f"{tmp_path}/mine.py", resolve_topology("one_cube"), {}).trace
    assert [pe.owners for pe in trace.pes] == [(6, 0), (6, 1)]


def test_coordinates_that_are_left_out_are_the_pes_own(run):
    trace = run(
        """
def kernel(x, y, *, tl):
    tl.load(tl.part_of(x, cube=1 - tl.program_id(1)))
""",
        machine="ahbm_2sip",
        pes=2,
        cubes=2,
    ).trace
    # ranks 0, 1 in CUBE 0 and 8, 9 in CUBE 1: the same PE of the other CUBE
    assert [(pe.rank, pe.owners[2]) for pe in trace.pes] == [(0, 8), (1, 9), (8, 0), (9, 1)]


def test_parts_may_differ_in_shape_and_are_sliced_like_any_tensor(tmp_path):
    # 10 rows over 4 PEs: 3, 3, 3, 1
    (tmp_path / "mine.py").write_text("""
def kernel(x, y, *, tl):
    last = tl.part_of(x, pe=3)
    assert last.shape == (1, 4)
    tl.store(y, tl.load(tl.part_of(x, pe=1)[1:3, ::2]))


def launch(rt):
    x = rt.tensor([[10 * row + column for column in range(4)] for row in range(10)],
                  dtype="f32", placement=rt.split(axis=0, over="pe"))
    y = rt.empty((2, 2), "f32")
    rt.output(y, reference=[[40, 42], [50, 52]])
    rt.launch(kernel, (4, 1, 1), x, y)
""")
    assert capture(f"{tmp_path}/mine.py", resolve_topology("one_cube"), {}).outputs["y"].is_right


def test_a_store_writes_the_others_memory(tmp_path):
    (tmp_path / "mine.py").write_text("""
def kernel(x, y, *, tl):
    tl.store(tl.part_of(y, pe=3 - tl.program_id(0)), tl.load(x))


def launch(rt):
    split = rt.split(axis=0, over="pe")
    x, y = rt.random((4, 8), "f32", placement=split), rt.empty((4, 8), "f32", placement=split)
    rt.output(y, reference=lambda: x.values[::-1])
    rt.launch(kernel, (4, 1, 1), x, y)
""")
    result = capture(f"{tmp_path}/mine.py", resolve_topology("one_cube"), {})
    assert result.outputs["y"].is_right
    without = capture(f"{tmp_path}/mine.py", resolve_topology("one_cube"), {}, with_data=False)
    assert [pe.owners for pe in without.trace.pes] == [pe.owners for pe in result.trace.pes]


def test_messages_order_what_one_pe_writes_and_another_reads(tmp_path):
    (tmp_path / "mine.py").write_text("""
import numpy as np


def kernel(x, y, *, tl):
    me = tl.program_id(0)
    if me == 1:
        # reads of PE 0 what PE 0 has doubled
        tl.recv("W", (1,), "f32")
        tl.store(y, tl.load(tl.part_of(x, pe=0)))
    else:
        rows = tl.load(x)
        tl.store(x, rows + rows)
        tl.store(y, rows)
        tl.send("E", tl.zeros((1,), "f32"))


def launch(rt):
    x = rt.tensor([1.0, 2.0, 3.0, 4.0], dtype="f32", placement=rt.split(axis=0, over="pe"))
    y = rt.empty((4,), "f32", placement=rt.split(axis=0, over="pe"))
    rt.output(y, reference=[1, 2, 2, 4])
    rt.launch(kernel, (2, 1, 1), x, y)
""")
    assert capture(f"{tmp_path}/mine.py", resolve_topology("one_cube"), {}).outputs["y"].is_right


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            "tl.part_of(x, pe=4)",
            "tl.part_of: pe 4 of cube 0 of sip 0 must be in the launch, and is not",
        ),
        (
            "tl.part_of(x, pe=-1)",
            "tl.part_of: pe -1 of cube 0 of sip 0 must be in the launch, and is not",
        ),
        (
            "tl.part_of(x[2:4], pe=1)",
            "tl.part_of: 'x' must be a tensor as the kernel was given it, not a part or a slice; take"
            " the part first, then slice it",
        ),
        (
            "tl.part_of(tl.part_of(x, pe=1), pe=2)",
            "tl.part_of: 'x' must be a tensor as the kernel was given it, not a part or a slice; take"
            " the part first, then slice it",
        ),
        (
            "tl.part_of(tl.load(x), pe=1)",
            "tl.part_of: must be given a tensor in HBM, not TensorHandle",
        ),
        ("tl.part_of(x, pe='E')", "tl.part_of: pe must be an int, not 'E'"),
    ],
)
def test_what_cannot_be_had_is_refused(run, call, message):
    with pytest.raises(KernelError) as refused:
        run(f"\ndef kernel(x, y, *, tl):\n    {call}\n")
    assert str(refused.value) == f"{message} (PE 0, mine.py:6)"


def test_a_part_belongs_to_the_pe_that_asked_for_it(run):
    with pytest.raises(KernelError) as refused:
        run("""
parts = []


def kernel(x, y, *, tl):
    parts.append(tl.part_of(x, pe=2))
    tl.load(parts[0])
""")
    assert str(refused.value) == (
        "tensor 'x' is what PE 0 sees of it, and PE 1 uses it; use the kernel's own argument, or"
        " tl.part_of with it (PE 1, mine.py:10)"
    )


@pytest.fixture
def columns_only(tmp_path: Path) -> str:
    """one_cube without its wires between columns: 4×2 PEs, each wired to the one above or below it."""
    shipped = (Path(__file__).parents[2] / "topologies" / "one_cube.yaml").read_text()
    lines = [line for line in shipped.splitlines() if not line.strip().startswith(("E:", "W:"))]
    path = tmp_path / "columns.yaml"
    path.write_text("\n".join(lines).replace("name: one_cube", "name: columns"))
    return str(path)


@pytest.mark.parametrize(
    ("reach", "name"),
    [
        ("tl.load(tl.part_of(x, pe=1))", "x"),
        ("tl.store(tl.part_of(y, pe=1), tl.load(x))", "y"),
    ],
)
def test_a_part_to_which_no_wires_lead_is_refused_where_it_is_reached_for(
    run, columns_only, reach, name
):
    kernel = f"""
def kernel(x, y, *, tl):
    if tl.program_id(0) == 0:
        {reach}
"""
    run(kernel)
    with pytest.raises(KernelError) as refused:
        run(kernel, columns_only)
    assert str(refused.value) == (
        f"'{name}' lies with PE 1, and no way leads from PE 1 to PE 0: topology 'columns' has no"
        " direction of level pe and step [-1, 0]; give it one, or place the tensor on the PEs that"
        " use it (PE 0, mine.py:7)"
    )


def test_a_part_that_is_only_asked_for_needs_no_wires_and_one_with_wires_is_had(run, columns_only):
    # PE 4 stands under PE 0 in the 4×2 CUBE
    trace = run(
        """
def kernel(x, y, *, tl):
    tl.part_of(x, pe=(tl.program_id(0) + 1) % 8)
    tl.store(y, tl.load(tl.part_of(x, pe=(tl.program_id(0) + 4) % 8)))
""",
        columns_only,
        pes=8,
    ).trace
    assert [pe.owners[-1] for pe in trace.pes] == [4, 5, 6, 7, 0, 1, 2, 3]


def test_a_tensor_of_one_owner_needs_wires_to_it_too(tmp_path, columns_only):
    (tmp_path / "mine.py").write_text("""
def kernel(w, *, tl):
    tl.load(w)


def launch(rt):
    rt.launch(kernel, (2, 1, 1), rt.zeros((4,), placement=rt.owned_by(pe=4)))
""")
    with pytest.raises(KernelError) as refused:
        capture(f"{tmp_path}/mine.py", resolve_topology(columns_only), {})
    # PE 0 is above PE 4; PE 1 would have to be reached from there by a column to the right
    assert str(refused.value).startswith("'w' lies with PE 4, and no way leads from PE 4 to PE 1: ")
