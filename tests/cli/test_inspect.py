"""`kerntape inspect` checks a file and says what it holds, to a person and to a program."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from inspected import facts, output
from kerntape.cli.flow import WIDTH, flowed, printable
from kerntape.cli.main import main
from kerntape.replay.replay import replay
from kerntape.schemas.timeline_file import write_timeline
from kerntape.schemas.trace import SourceLine, Trace
from kerntape.schemas.trace_file import trace_bytes, write_trace
from message_kernels import captured
from small_timelines import deadlocked, two_pes_timeline
from small_traces import tile_loop, two_pes, with_inputs

GOLDEN = Path(__file__).parent.parent / "goldens" / "two_pes.version1.ktrace"


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """two_pes as version 1 wrote it."""
    return str(shutil.copy(GOLDEN, tmp_path / "two.ktrace"))


@pytest.fixture
def timeline(tmp_path: Path) -> str:
    path = tmp_path / "two.ktimeline"
    write_timeline(path, two_pes_timeline())
    return str(path)


def test_a_trace_is_shown_whole(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, trace, "--commands", "3") == (
        """\
two.ktrace: trace, format 1, 2,398 bytes

valid        yes: every hash, id, wait, address, extent and message was checked
replays      free of deadlock under every calibration (strict_fifo)
kernel       two_tiles, captured by kerntape 0.1.0
arguments    causal false, mask none, s_kv 64, scale 0.25, variant opt2
sources      two_tiles.py 5e5e5e5e5e5e
topology     pair: two PEs side by side
grid         2 PEs × 1 CUBE × 1 SIP
PEs          2, running 2 distinct streams
commands     17: 2 load, 1 store, 1 math, 1 dot, 4 composite, 2 send, 1 recv, 1 recv_async, 3 wait,
             1 overhead
descriptors  628 logical bytes
held once    17 commands, 22 handles, 11 strings, 12 geometries, 12 forms, 13 lines
header       sha256 7db197171247e9f82e319a9c2382b8548a24792d8e63122bc5d348b4773a19c7
content      sha256 87f4f189dd68eb8b25a050c5e06ee0beee77cdb9cb0644228497570dffb5b5c1
bytes        header 858, tables 1,002, columns 385
columns      22.647 bytes a command of the distinct streams

tensor  shape  dtype  placement
q       8×16   f16    replicated
k       16×64  f16    columns over pes
v       64×16  f16    rows over pes
o       8×16   f32    on rank 0 (output)

PE 0: commands 0 to 2 of 9
     0  load           20 bytes  two_tiles.py:10  line 10
        load: src q 8×16 f16 hbm 0+0x0 → q 8×16 f16 tcm 0x0
     1  composite      70 bytes  after 0  two_tiles.py:12  line 12
        gemm: a q 8×16 f16 tcm 0x0, b k 16×32 f16 strided hbm 1+0x0 → s 8×32 f32 tcm 0x1000
          with m=8 k=16 n=32
        scale per output_tile: src s 8×32 f32 tcm 0x1000 → s 8×32 f32 tcm 0x1000 with factor=0.25
     2  composite     146 bytes  two_tiles.py:13  line 13
        rmax: src s 8×32 f32 tcm 0x1000 → m 8 f32 tcm 0x200 with reduce_axis=-1
        exp_diff: src_a s 8×32 f32 tcm 0x1000, src_b m 8 f32 tcm 0x200 → p 8×32 f16 tcm 0x1400
          with bcast_axis=0
        gemm: a p 8×32 f16 tcm 0x1400, b v 32×16 f16 hbm 2+0x0 → o 8×16 f32 tcm 0x400
          with m=8 k=32 n=16
        add per output_tile: src o 8×16 f32 tcm 0x400, other o 8×16 f32 tcm 0x400
          → o 8×16 f32 tcm 0x400
        reads and writes m, o
"""
    )


def test_a_pe_is_listed_from_where_one_asks(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    listed = output(capsys, trace, "--pe", "1", "--from", "4", "--commands", "2")
    assert listed.split("\n\n")[-1] == (
        """\
PE 1: commands 4 to 5 of 8
     4  recv_async W   12 bytes  two_tiles.py:22  line 22
        recv: → flag 1 i32 tcm 0x800
     5  send W         12 bytes  two_tiles.py:23  line 23
        send: src o 8×16 f32 tcm 0x400
"""
    )


def test_a_command_without_handles_is_one_line(
    trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = output(capsys, trace, "--pe", "1", "--from", "7").split("\n\n")[-1]
    assert listed == (
        "PE 1: commands 7 to 7 of 8\n"
        "     7  wait            4 bytes  after 4  two_tiles.py:25  line 25\n"
    )


def test_nothing_to_list_is_said(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    listed = output(capsys, trace, "--commands", "0").split("\n\n")[-1]
    assert listed == "PE 0: none of its 9 commands is listed\n"


def test_a_first_command_that_is_none_is_refused_with_the_last(
    trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        output(capsys, trace, "--from", "8").split("\n\n")[-1].startswith("PE 0: commands 8 to 8")
    )
    assert main(["inspect", trace, "--from", "9"]) == 1
    assert capsys.readouterr().err == (
        "kerntape: --from must be a command of PE 0, not 9: its last is 8\n"
    )


def test_a_pe_that_is_not_launched_is_refused(
    trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", trace, "--pe", "2"]) == 1
    assert capsys.readouterr().err == (
        "kerntape: --pe must be the rank of one of the 2 launched PEs (0 to 1), not 2\n"
    )


@pytest.mark.parametrize("option", ["--pe", "--commands", "--from"])
def test_a_number_that_is_none_is_wrong_usage(
    option: str, trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", trace, option, "-1"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"kerntape inspect: error: argument {option}: must be a number from 0, not '-1'"
    )


TRACE_KEYS = [
    *("file", "format", "size_bytes", "valid", "version", "header_sha256", "content_sha256"),
    *(
        "header",
        "sips",
        "pes",
        "distinct_streams",
        "commands",
        "commands_by_kind",
        "distinct_commands",
    ),
    *("distinct_handles", "logical_bytes", "tables", "section_bytes"),
    *("column_bytes_per_command", "kept_inputs", "deadlock_check", "pe"),
]


def test_the_json_of_a_trace_has_the_documented_keys(
    trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = facts(capsys, trace, "--commands", "2")
    assert list(found) == TRACE_KEYS
    assert (found["file"], found["format"], found["valid"]) == ("two.ktrace", "ktrace", True)
    assert found["size_bytes"] == Path(trace).stat().st_size
    assert found["header"]["arguments"]["scale"] == 0.25
    assert found["header"]["topology"]["pe"]["tcm_bytes"] == 8192
    assert found["commands_by_kind"]["composite"] == 4
    # 9 commands of PE 0: 20 + 70 + 146 + 4 + 12 + 28 + 12 + 8 + 20, 8 of PE 1: 240 + 12 + 12 + 40 + 4
    assert found["logical_bytes"] == 320 + 308
    assert found["kept_inputs"] is None
    assert found["deadlock_check"] == {
        "policy": "strict_fifo",
        "topology": "pair",
        "free": True,
        "deadlock": None,
        "unknown_because": None,
    }
    assert found["pe"]["bases"] == [0, 4096, 8192, 16384]
    assert [command["index"] for command in found["pe"]["listed"]] == [0, 1]
    assert found["pe"]["listed"][1]["ops"][0]["operands"]["b"] == {
        "id": 2,
        "label": "k",
        "shape": [16, 32],
        "strides": [128, 2],
        "is_contiguous": False,
        "dtype": "f16",
        "space": "hbm",
        "tensor": 1,
        "address": 0,
    }


def test_kept_inputs_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.ktrace"
    write_trace(path, with_inputs(two_pes()))
    assert facts(capsys, str(path))["kept_inputs"] == {"images": 2, "bytes": 2304}
    assert "inputs       2 images of 2,304 bytes\n" in output(capsys, str(path))


def test_numbers_that_json_has_not_are_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.ktrace"
    trace = two_pes()
    arguments = {"low": float("-inf"), "list": [float("nan"), 1.5]}
    write_trace(path, replace(trace, header=replace(trace.header, arguments=arguments)))
    printed = json.loads(
        output(capsys, str(path), "--json"), parse_constant=lambda text: pytest.fail(text)
    )
    assert printed["header"]["arguments"] == {"list": ["nan", 1.5], "low": "-inf"}


def test_pes_that_share_a_stream_are_counted_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.ktrace"
    write_trace(path, tile_loop(10, pes=8))
    found = facts(capsys, str(path))
    assert (found["pes"], found["distinct_streams"]) == (8, 1)
    assert (found["commands"], found["distinct_commands"]) == (8 * 21, 21)
    assert found["commands_by_kind"] == {"load": 8, "composite": 160}


def test_a_timeline_is_shown_with_the_trace_inside(
    timeline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = output(capsys, timeline)
    size = f"{Path(timeline).stat().st_size:,}"
    assert shown == (
        f"""\
two.ktimeline: timeline, format 1, {size} bytes

valid        yes: every hash, id and time, and the whole trace inside, was checked
status       ok
makespan     95.250 ns
topology     pair
calibration  sixteenths
policy       raw_only
stages       6: 3 dispatch, 1 dma_read, 2 gemm
hazards      1 held, 0 violated, 1 potential

engine        number  stages  busy ns
pe_cpu             2       3  126.000
pe_dma.read        1       1    2.500
pe_gemm            1       1    4.000
noc.link 0>1       1       1    4.000

kernel       two_tiles, captured by kerntape 0.1.0
arguments    causal false, mask none, s_kv 64, scale 0.25, variant opt2
sources      two_tiles.py 5e5e5e5e5e5e
topology     pair: two PEs side by side
grid         2 PEs × 1 CUBE × 1 SIP
PEs          2, running 2 distinct streams
commands     17: 2 load, 1 store, 1 math, 1 dot, 4 composite, 2 send, 1 recv, 1 recv_async, 3 wait,
             1 overhead
descriptors  628 logical bytes
held once    17 commands, 22 handles, 11 strings, 12 geometries, 12 forms, 13 lines
content      sha256 87f4f189dd68eb8b25a050c5e06ee0beee77cdb9cb0644228497570dffb5b5c1
"""
    )


def test_the_json_of_a_timeline_has_the_documented_keys(
    timeline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = facts(capsys, timeline)
    assert list(found) == [
        *("file", "format", "size_bytes", "valid", "version", "status", "makespan_ps"),
        *("topology", "calibration", "policy", "stages", "stages_by_kind", "engines"),
        *("duration_classes", "hazards", "deadlock", "trace", "pe"),
    ]
    assert found["makespan_ps"] == 95_250
    assert found["engines"][4] == {
        "title": "noc.link 0>1",
        "rank": None,
        "stages": 1,
        "busy_ps": 4000,
    }
    assert found["hazards"] == {"held": 1, "violated": 0, "potential": 1}
    assert list(found["trace"]) == [
        "content_sha256",
        *(key for key in TRACE_KEYS if key in found["trace"] and key != "content_sha256"),
    ]
    assert found["pe"] is None
    assert facts(capsys, timeline, "--pe", "1")["pe"]["rank"] == 1


def test_what_a_replay_did_not_look_for_is_said_not_to_be_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.ktimeline"
    write_timeline(path, replay(captured("all_send_first", with_data=False, messages=1).trace))
    assert "\nhazards      0 held, 0 violated, potential: not searched\n" in output(
        capsys, str(path)
    )
    assert facts(capsys, str(path))["hazards"] == {"held": 0, "violated": 0, "potential": None}
    write_timeline(path, deadlocked())
    assert "\nhazards      not evaluated: the replay did not end\n" in output(capsys, str(path))
    assert set(facts(capsys, str(path))["hazards"].values()) == {None}


@pytest.mark.parametrize(
    ("option", "value", "replayed"),
    [
        ("--policy", "serial", "under raw_only"),
        ("--topology", "single_pe", "on pair"),
        ("--set", "topology.ipcq.depth=4", "on pair"),
    ],
)
def test_a_model_is_refused_for_a_timeline(
    option: str, value: str, replayed: str, timeline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", timeline, option, value]) == 1
    assert capsys.readouterr().err == (
        f"kerntape: {option} is for a trace; this timeline was replayed {replayed}\n"
    )


@pytest.mark.parametrize("option", ["--from", "--commands"])
def test_a_timelines_commands_are_listed_where_one_asks_for_some(
    option: str, timeline: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "PE 0: commands " not in output(capsys, timeline)
    of_the_first = output(capsys, timeline, option, "3")
    assert "PE 0: commands " in of_the_first
    assert output(capsys, timeline, option, "3", "--pe", "0") == of_the_first


CHOSEN_SIPS = """\
def kernel(x, *, tl):
    tl.load(x)


def launch(rt, sips: int = 2):
    rt.launch(kernel, (1, 1, sips), rt.zeros((4,), "f32"))
"""


@pytest.mark.parametrize(
    ("machine", "sips", "shown"),
    [
        (("ahbm_2sip",), [0, 1], "1 PE × 1 CUBE × 2 SIPs"),
        (("llama70b_4sip", "--device", "0,2"), [0, 2], "1 PE × 1 CUBE × 2 SIPs (0, 2)"),
        (("llama70b_4sip", "--device", "3", "--arg", "sips=1"), [3], "1 PE × 1 CUBE × 1 SIP (3)"),
    ],
)
def test_the_sips_that_ran_are_told_where_they_are_not_simply_the_first(
    machine: tuple[str, ...],
    sips: list[int],
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("chosen.py").write_text(CHOSEN_SIPS)
    assert main(["capture", "chosen.py", "--topology", *machine, "-o", "x.ktrace"]) == 0
    assert main(["replay", "x.ktrace", "-o", "x.ktimeline"]) == 0
    capsys.readouterr()
    for name in ("x.ktrace", "x.ktimeline"):
        assert f"\ngrid         {shown}\n" in output(capsys, name, "--commands", "0")
    assert facts(capsys, "x.ktrace")["sips"] == sips
    assert facts(capsys, "x.ktimeline")["trace"]["sips"] == sips


@pytest.mark.parametrize("cut_bytes", [1, 100, 2390])
def test_a_damaged_file_is_one_line_and_exit_code_1(
    cut_bytes: int, trace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(trace).write_bytes(GOLDEN.read_bytes()[:-cut_bytes])
    assert main(["inspect", trace]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"kerntape: {trace}: ")
    assert printed.err.count("\n") == 1


def test_a_foreign_file_is_one_line_and_exit_code_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.ktrace"
    path.write_bytes(b"PK\x03\x04")
    assert main(["inspect", str(path)]) == 1
    assert capsys.readouterr().err == (
        f"kerntape: {path}: byte 0: must be a trace or a timeline, not a file that begins with"
        " b'PK\\x03\\x04'\n"
    )


def hostile() -> Trace:
    """Names that would write to a terminal, and lines that would not fit one."""
    trace = two_pes()
    line = SourceLine("a\nb.py", 1, "f", "x = '\x1b[2J'" + "y" * 200)
    return replace(
        trace,
        header=replace(trace.header, kernel="k\x1b]0;title\x07", arguments={"w" * 150: "\r"}),
        strings=tuple(f"{text}\x1b[31m\n" for text in trace.strings),
        lines=(line,) * len(trace.lines),
    )


def test_nothing_in_a_file_moves_the_cursor_or_widens_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.ktrace"
    path.write_bytes(trace_bytes(hostile()))
    shown = output(capsys, str(path))
    assert all(len(line) <= WIDTH for line in shown.splitlines())
    assert all(character.isprintable() or character == "\n" for character in shown)
    assert "kernel       k\\x1b]0;title\\x07, captured by kerntape 0.1.0\n" in shown
    assert len(shown.split("\n\n")) == 4


def test_pieces_flow_onto_as_few_lines_as_hold_them() -> None:
    pieces = ["a" * 60, "b" * 30, "c" * 10]
    assert flowed("  ", pieces) == ["  " + "a" * 60 + " " + "b" * 30, "    " + "c" * 10]
    assert flowed("", ["d" * 120]) == ["d" * 99 + "…"]


def test_unprintable_characters_are_spelled_out() -> None:
    assert printable("é × 例") == "é × 例"
    assert printable("a\tb\x00\u202e") == "a\\tb\\x00\\u202e"
