"""`kerntape view`: what it opens, and what it says where it cannot."""

import argparse
import io
import subprocess
import sys

import pytest
from kerntape.capture.capture import capture
from kerntape.cli import view
from kerntape.cli.main import main
from kerntape.replay.replay import replay
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.timeline_file import write_timeline
from kerntape.schemas.trace_file import write_trace
from kerntape.topologies.loader import resolve_topology
from kerntape.viewer.model.frame import header_line
from kerntape.viewer.model.index import TimelineIndex

NO_TERMINAL = (
    "kerntape: view needs a terminal for its keys and its screen,"
    " and stdin, stdout and stderr are none;"
    " `kerntape replay` prints a summary anywhere\n"
)


@pytest.fixture(scope="module")
def trace():
    arguments = {"variant": "opt2", "s_kv": "128"}
    return capture("gqa_decode", resolve_topology("single_pe"), arguments, with_data=False).trace


@pytest.fixture
def files(tmp_path, trace):
    """The folder with small.ktrace and its timeline under the default model, small.ktimeline."""
    write_trace(tmp_path / "small.ktrace", trace)
    write_timeline(tmp_path / "small.ktimeline", replay(trace))
    return tmp_path


def parsed(*arguments):
    parser = argparse.ArgumentParser()
    view.add_arguments(parser)
    return parser.parse_args([str(argument) for argument in arguments])


def opened(path, *options):
    return view.open_timeline(path, parsed(path, *options))


def opened_with(shown):
    """Stands for the browser: notes what it is to show."""

    def browse(timeline, *, title, other=None, path=None, theme=None, reopen=None):
        shown.append((timeline, title, other))

    return browse


def test_without_a_terminal_one_line_says_so(files):
    done = subprocess.run(
        [sys.executable, "-c", "from kerntape.cli.main import run; run()", "view", "small.ktrace"],
        cwd=files,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", NO_TERMINAL)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("elsewhere", "told"),
    [
        (["stderr"], "stderr is none"),
        (["stdin", "stderr"], "stdin and stderr are none"),
        (["stdin", "stdout", "stderr"], "stdin, stdout and stderr are none"),
    ],
)
def test_what_is_no_terminal_is_named(elsewhere, told, monkeypatch):
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.StringIO() if name in elsewhere else Terminal())
    assert not view.on_terminal()
    assert view.no_terminal() == (
        f"view needs a terminal for its keys and its screen, and {told};"
        " `kerntape replay` prints a summary anywhere"
    )


def test_a_closed_stream_is_none(monkeypatch):
    for name, stream in (("stdin", Terminal()), ("stdout", None), ("stderr", Terminal())):
        monkeypatch.setattr(sys, name, stream)
    assert not view.on_terminal()
    assert "stdout is none;" in view.no_terminal()


@pytest.mark.parametrize("term", ["xterm", "vt100", "", None])
def test_three_terminals_are_enough(monkeypatch, term):
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, Terminal())
    monkeypatch.delenv("TERM", raising=False)
    if term is not None:
        monkeypatch.setenv("TERM", term)
    assert view.on_terminal()


@pytest.mark.parametrize("term", ["dumb", "unknown", "DUMB"])
def test_a_terminal_that_cannot_place_text_is_refused(monkeypatch, term):
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, Terminal())
    monkeypatch.setenv("TERM", term)
    assert not view.on_terminal()
    assert view.no_terminal() == (
        "view needs a terminal for its keys and its screen, and TERM says that this one is"
        f" {term}; `kerntape replay` prints a summary anywhere"
    )


def test_a_file_that_is_none_is_named_before_the_terminal_is_asked_for(capsys, files):
    small, missing = str(files / "small.ktrace"), str(files / "no.ktrace")
    for arguments in ([missing], [small, missing]):
        assert main(["view", *arguments]) == 1
        assert capsys.readouterr().err == (
            f"kerntape: {missing}: cannot be read: No such file or directory\n"
        )
    (files / "notes.txt").write_text("hello world")
    assert main(["view", str(files / "notes.txt")]) == 1
    assert "notes.txt: byte 0: must be a trace or a timeline" in capsys.readouterr().err


def test_a_file_is_not_replayed_where_there_is_no_terminal(capsys, files, monkeypatch):
    monkeypatch.setattr(view, "open_timeline", None)
    assert main(["view", str(files / "small.ktrace")]) == 1
    assert capsys.readouterr().err == NO_TERMINAL


def test_a_trace_is_replayed_under_the_default_model(files, trace):
    timeline = opened(files / "small.ktrace")
    assert timeline.makespan_ps == replay(trace).makespan_ps
    assert (timeline.calibration.name, timeline.policy.name) == ("default", "strict_fifo")


def test_a_trace_is_replayed_under_the_model_that_is_asked_for(files):
    options = ("--calibration", "dispatch_free", "--policy", "serial", "--set", "hbm.latency_ns=1")
    timeline = opened(files / "small.ktrace", *options)
    assert timeline.policy.name == "serial"
    assert timeline.calibration.pe_cpu.fixed_cycles == 0
    assert timeline.calibration.hbm.latency_ns == 1


def test_a_timeline_opens_as_it_is(files):
    timeline = opened(files / "small.ktimeline")
    assert timeline.makespan_ps == opened(files / "small.ktrace").makespan_ps


def test_a_timeline_is_replayed_where_another_model_is_asked_for(files):
    timeline = opened(files / "small.ktimeline", "--policy", "none")
    assert timeline.policy.name == "none"
    asked_of_trace = opened(files / "small.ktrace", "--policy", "none")
    assert timeline.makespan_ps == asked_of_trace.makespan_ps


def head(timeline):
    """What the browser's first line says of the model."""
    line = "".join(span.text for span in header_line(TimelineIndex(timeline, "x"), 200))
    return line.split("   ")[1].strip()


@pytest.fixture
def special(tmp_path, trace):
    """A timeline whose every choice differs from the defaults."""
    settings = ["hbm.bytes_per_ns=20", "topology.ipcq.depth=3"]
    write_timeline(
        tmp_path / "special.ktimeline",
        replay(trace, calibration="dispatch_free", settings=settings, policy="none"),
    )
    return tmp_path / "special.ktimeline"


def test_an_option_that_says_the_default_is_given_all_the_same(special):
    timeline = opened(special, "--hazards", "strict_fifo")
    assert timeline.policy.name == "strict_fifo"
    runner = opened(special, "--runner", "simpy")
    assert runner.policy.name == "none"
    assert runner.makespan_ps == opened(special).makespan_ps


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "single_pe + ipcq.depth=3 · dispatch_free + hbm.bytes_per_ns=20 · none"),
        (
            ("--hazards", "serial"),
            "single_pe + ipcq.depth=3 · dispatch_free + hbm.bytes_per_ns=20 · serial",
        ),
        (
            ("--set", "hbm.latency_ns=7"),
            "single_pe + ipcq.depth=3 · dispatch_free + hbm.bytes_per_ns=20 + hbm.latency_ns=7 · none",
        ),
        (("--calibration", "default"), "single_pe + ipcq.depth=3 · default · none"),
        (
            ("--topology", "single_pe"),
            "single_pe · dispatch_free + hbm.bytes_per_ns=20 · none",
        ),
        (
            ("--set", "topology.ipcq.depth=4"),
            "single_pe + ipcq.depth=3 + ipcq.depth=4 · dispatch_free + hbm.bytes_per_ns=20 · none",
        ),
    ],
)
def test_what_is_not_given_stays_as_the_timeline_has_it_and_the_head_says_what_that_is(
    special, options, said
):
    assert head(opened(special, *options)) == said


def test_the_numbers_that_stay_are_the_timeline_s(special):
    own = opened(special).calibration
    timeline = opened(special, "--set", "hbm.latency_ns=7")
    assert (timeline.calibration.hbm.bytes_per_ns, timeline.calibration.hbm.latency_ns) == (20, 7)
    assert timeline.calibration.pe_cpu == own.pe_cpu
    assert timeline.topology.ipcq.depth == 3


def test_a_wrong_setting_is_said_as_for_a_trace(special):
    with pytest.raises(ConfigError, match=r"^--set: unknown path 'hbm\.byte_per_ns'; did you mean"):
        opened(special, "--set", "hbm.byte_per_ns=3")


def test_the_browser_gets_the_timeline_under_the_file_s_name(files, monkeypatch, capsys):
    from kerntape.viewer import app

    shown = []
    monkeypatch.setattr(view, "on_terminal", lambda: True)
    monkeypatch.setattr(app, "browse", opened_with(shown))
    assert main(["view", str(files / "small.ktimeline")]) == 0
    ((timeline, title, other),) = shown
    assert title == "small.ktimeline"
    assert other is None
    assert len(timeline.start_ps) > 0
    # what was said while it opened is erased again
    assert capsys.readouterr().err == "opening small.ktimeline …\r\x1b[K"


def test_two_files_are_opened_under_the_same_model(files, monkeypatch):
    from kerntape.viewer import app

    shown = []
    monkeypatch.setattr(view, "on_terminal", lambda: True)
    monkeypatch.setattr(app, "browse", opened_with(shown))
    names = [str(files / name) for name in ("small.ktimeline", "small.ktrace")]
    assert main(["view", *names, "--policy", "serial"]) == 0
    ((timeline, title, (other, other_title)),) = shown
    assert (title, other_title) == ("small.ktimeline", "small.ktrace")
    assert timeline.policy.name == other.policy.name == "serial"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no.ktrace"),
        (b"not a trace at all", "no.ktrace"),
    ],
)
def test_a_file_that_is_neither_is_one_line(tmp_path, monkeypatch, capsys, content, said):
    monkeypatch.setattr(view, "on_terminal", lambda: True)
    (tmp_path / "no.ktrace").write_bytes(content)
    assert main(["view", str(tmp_path / "no.ktrace")]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert said in error
    assert "Traceback" not in error


def test_a_model_that_does_not_exist_is_one_line(files, monkeypatch, capsys):
    monkeypatch.setattr(view, "on_terminal", lambda: True)
    assert main(["view", str(files / "small.ktrace"), "--policy", "strict"]) == 1
    assert "did you mean 'strict_fifo'" in capsys.readouterr().err


def test_wrong_usage_is_2(capsys):
    assert main(["view"]) == 2
    assert main(["view", "a", "b", "c"]) == 2
