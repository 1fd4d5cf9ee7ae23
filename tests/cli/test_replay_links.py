"""`kerntape replay` tells what crossed the links, and what went to other PEs' HBM."""

import json
from pathlib import Path

import pytest
from kerntape.cli.main import main
from kerntape.cli.replay_text import links_text

KERNEL = """\
def kernel(x, y, *, tl):
    tl.store(y, tl.load(x))


def launch(rt, pes: int = 3):
    x = rt.zeros((16,), "f32", placement=rt.owned_by(pe=0))
    rt.launch(kernel, (pes, 1, 1), x, rt.zeros((16,), "f32"))
"""


@pytest.fixture
def replayed(tmp_path: Path, monkeypatch, capsys):
    """Captures the kernel on one_cube and replays it; returns what is printed."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(KERNEL)

    def run(*options: str, pes: int = 3) -> str:
        captured = ["capture", "mine.py", "--topology", "one_cube", "-o", "x.ktrace"]
        assert main([*captured, "--arg", f"pes={pes}", "--no-data"]) == 0
        capsys.readouterr()
        assert main(["replay", "x.ktrace", *options]) == 0
        return capsys.readouterr().out

    return run


def test_remote_accesses_and_links_are_told_for_people(replayed):
    lines = replayed().splitlines()
    # PEs 1 and 2 read 64 bytes each; 64 / 102.4 ns a link
    assert "remote     2 reads (128 bytes)," in lines
    assert "           0 writes (0 bytes)" in lines
    table = [line.split() for line in lines[lines.index("") + 1 :]]
    assert table[-4:-3] == [["link", "bytes", "busy"]]
    assert [row[:4] for row in table[-3:]] == [
        ["pe.0>1", "128", "1.250", "ns"],
        ["pe.1>2", "64", "0.625", "ns"],
        ["all", "links", "192", "1.875"],
    ]


def test_remote_accesses_and_links_are_in_the_json(replayed):
    figures = json.loads(replayed("--json"))
    assert (figures["remote_reads"], figures["remote_read_bytes"]) == (2, 128)
    assert {name: use["bytes"] for name, use in figures["links"].items()} == {
        "pe.0>1": 128,
        "pe.1>2": 64,
    }
    makespan = figures["makespan_ps"]
    for use in figures["links"].values():
        assert use["utilisation"] == round(use["busy_ps"] / makespan, 6)


def test_a_replay_without_them_says_nothing_of_them(replayed):
    out = replayed(pes=1)
    assert "remote" not in out
    assert "link" not in out


def test_the_busiest_links_are_shown_and_the_rest_together():
    links = {
        f"pe.{n}>{n + 1}": {"bytes": 10 * n, "transfers": 1, "busy_ps": 1000, "utilisation": 0.1}
        for n in range(11)
    }
    lines = links_text(links).splitlines()
    assert lines[:2] == ["", ""]
    assert lines[3].split() == ["pe.10>11", "100", "1.000", "ns", "10.0", "%"]
    # 0 + 10 + 20 bytes are left, 550 there are
    assert lines[-2].split() == ["3", "more", "30", "3.000", "ns", "10.0", "%"]
    assert lines[-1].split() == ["all", "links", "550", "11.000", "ns", "10.0", "%"]
    assert len(lines) == 3 + 8 + 2
