"""A PE that holds nothing of a tensor: its kernel must return before it uses it, and is told how."""

from pathlib import Path

import pytest
from kerntape.capture.capture import capture
from kerntape.schemas.errors import KernelError
from kerntape.topologies.loader import resolve_topology

KERNEL = """
def kernel(x, y, *, tl):
    {use}


def launch(rt):
    by_rows = rt.split(axis=0, over="pe")
    x = rt.random((3, 16), "f32", placement=by_rows)
    y = rt.zeros((3, 16), "f32", placement=by_rows)
    rt.launch(kernel, (4, 1, 1), x, y)
"""


@pytest.fixture
def run(tmp_path: Path):
    """Captures a kernel over x and y of 3 rows on 4 PEs: PE 3 has none."""

    def run(use: str, *, with_data: bool):
        (tmp_path / "mine.py").write_text(KERNEL.format(use=use))
        topology = resolve_topology("one_cube")
        return capture(f"{tmp_path}/mine.py", topology, {}, with_data=with_data)

    return run


@pytest.mark.parametrize("with_data", [True, False])
@pytest.mark.parametrize(
    ("use", "verb", "name"),
    [
        ("tl.exp(tl.load(x))", "tl.load", "x"),
        ("tl.composite(a=tl.ref(x), b=tl.empty((16, 8)), out_dtype='f32')", "tl.ref", "x"),
        ("tl.store(y, tl.zeros((1, 16)))", "tl.store", "y"),
        ("tl.load(x[0:1])", "a slice", "x"),
        ("tl.load(x[0])", "a slice", "x"),
    ],
)
def test_using_an_empty_part_is_refused_where_it_is_used(
    run, use: str, verb: str, name: str, with_data: bool
):
    with pytest.raises(KernelError) as error:
        run(use, with_data=with_data)
    assert str(error.value) == (
        f"{verb}: this PE has none of '{name}', its part is [0, 16]; return before it is used:"
        f" if {name}.shape[0] == 0: return (PE 3, mine.py:3)"
    )


def test_a_kernel_that_returns_before_issues_nothing_there(run):
    trace = run("x.shape[0] == 0 or tl.store(y, tl.load(x))", with_data=True).trace
    # load and store on PEs 0 to 2
    assert [len(trace.streams[pe.stream].forms) for pe in trace.pes] == [2, 2, 2, 0]


def test_an_empty_part_has_no_rows(run):
    trace = run("[tl.store(to, tl.load(row)) for row, to in zip(x, y)]", with_data=True).trace
    assert [len(trace.streams[pe.stream].forms) for pe in trace.pes] == [2, 2, 2, 0]
