"""`kerntape inspect` says which of a PE's tensors lie with other PEs."""

from pathlib import Path

from kerntape.cli.main import main

KERNEL = """\
def kernel(x, w, *, tl):
    tl.load(tl.part_of(x, pe=1))
    tl.load(w)


def launch(rt):
    w = rt.zeros((4,), "f32", placement=rt.owned_by(pe=7))
    rt.launch(kernel, (2, 1, 1), rt.zeros((4,), "f32"), w)
"""


def test_a_pes_tensors_in_others_hbm_are_listed_with_their_owners(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(KERNEL)
    captured = ["capture", "mine.py", "--topology", "one_cube", "--no-data", "-o", "x.ktrace"]
    assert main(captured) == 0
    capsys.readouterr()
    # w is tensor 0, x is 1; PE 1's own part of x is no other tensor
    for rank, told in ((0, "tensor 0 with PE 7, tensor 2 with PE 1"), (1, "tensor 0 with PE 7")):
        assert main(["inspect", "x.ktrace", "--pe", str(rank)]) == 0
        lines = capsys.readouterr().out.splitlines()
        place = lines.index(f"PE {rank}: commands 0 to 1 of 2")
        assert lines[place + 1] == f"        in others' HBM: {told}"
