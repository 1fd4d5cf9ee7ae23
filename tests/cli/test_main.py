"""The command finds its subcommand and turns what can go wrong into one line and an exit code."""

import argparse
import errno
import os
import resource
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from kerntape.cli import main as command
from kerntape.schemas.errors import ConfigError, KernelRaisedError, UsageError

KERNTAPE = Path(sysconfig.get_path("scripts")) / "kerntape"

Answer = tuple[int, str, str]


@pytest.fixture
def kerntape(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run a command line in this process: exit code, stdout, stderr."""

    def run(*arguments: str) -> Answer:
        code = command.main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def subcommand(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], int]], None]:
    """Make `demo` a subcommand that does the given work and takes --times N."""

    def install(work: Callable[[], int]) -> None:
        def add_arguments(parser: argparse.ArgumentParser) -> None:
            parser.add_argument("--times", type=int)

        def run(arguments: argparse.Namespace) -> int:
            return work()

        module = SimpleNamespace(SUMMARY="a test", add_arguments=add_arguments, run=run)
        monkeypatch.setattr(command, "_subcommand", lambda name: module)

    return install


def raising(error: BaseException) -> Callable[[], int]:
    def work() -> int:
        raise error

    return work


def process(arguments: Sequence[str], **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload, no-any-return]  # options pass through
        [str(KERNTAPE), *arguments], text=True, timeout=60, check=False, **options
    )


def test_help_lists_every_subcommand_with_its_summary(kerntape: Callable[..., Answer]) -> None:
    code, out, err = kerntape("--help")
    assert (code, err) == (0, "")
    listed = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    assert listed == list(command.SUBCOMMANDS)
    assert max(map(len, out.splitlines())) <= 80


def test_without_a_subcommand_the_help_goes_to_stderr_and_the_usage_is_wrong(
    kerntape: Callable[..., Answer],
) -> None:
    code, out, err = kerntape()
    assert (code, out) == (2, "")
    assert err.startswith("usage: kerntape SUBCOMMAND")


def test_the_version_is_the_installed_one(kerntape: Callable[..., Answer]) -> None:
    from importlib.metadata import version

    assert kerntape("--version") == (0, f"kerntape {version('kerntape')}\n", "")


def test_an_unknown_subcommand_says_what_was_probably_meant(
    kerntape: Callable[..., Answer],
) -> None:
    line = "kerntape: unknown subcommand 'topologys'; did you mean 'topologies'?\n"
    assert kerntape("topologys") == (2, "", line)


def test_an_unknown_option_before_the_subcommand_is_wrong_usage(
    kerntape: Callable[..., Answer],
) -> None:
    code, out, err = kerntape("--jsn")
    assert (code, out) == (2, "")
    assert err.startswith("kerntape: unknown option '--jsn'")


def test_a_subcommands_exit_code_is_the_commands(
    kerntape: Callable[..., Answer], subcommand: Callable[[Callable[[], int]], None]
) -> None:
    subcommand(lambda: 3)
    assert kerntape("demo") == (3, "", "")


def test_wrong_options_are_wrong_usage(
    kerntape: Callable[..., Answer], subcommand: Callable[[Callable[[], int]], None]
) -> None:
    subcommand(lambda: 0)
    code, out, err = kerntape("demo", "--times", "x")
    assert (code, out) == (2, "")
    assert err.endswith("kerntape demo: error: argument --times: invalid int value: 'x'\n")


def test_options_are_not_abbreviated_so_that_new_ones_break_no_script(
    kerntape: Callable[..., Answer], subcommand: Callable[[Callable[[], int]], None]
) -> None:
    subcommand(lambda: 0)
    code, _, err = kerntape("demo", "--tim", "3")
    assert code == 2
    assert "unrecognized arguments: --tim 3" in err


def test_a_subcommands_help_is_done_and_shows_its_summary(
    kerntape: Callable[..., Answer], subcommand: Callable[[Callable[[], int]], None]
) -> None:
    subcommand(lambda: 0)
    code, out, err = kerntape("demo", "--help")
    assert (code, err) == (0, "")
    assert out.startswith("usage: kerntape demo")
    assert "a test" in out


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ConfigError("x.yaml: the key 'a' is missing"), 1, "x.yaml: the key 'a' is missing"),
        (ConfigError("a\nb.yaml: no\x1b[2J"), 1, "a\\nb.yaml: no\\x1b[2J"),
        (UsageError("--policy must be one policy here"), 2, "--policy must be one policy here"),
        (KeyboardInterrupt(), 1, "interrupted"),
        (MemoryError(), 1, "out of memory"),
        (OSError(errno.ENOSPC, "No space left on device"), 1, "No space left on device"),
        (
            PermissionError(errno.EACCES, "Permission denied", "out.ktrace"),
            1,
            "out.ktrace: Permission denied",
        ),
        (OSError("weird"), 1, "weird"),
    ],
)
def test_what_the_user_can_mend_is_one_line_without_a_traceback(
    kerntape: Callable[..., Answer],
    subcommand: Callable[[Callable[[], int]], None],
    error: BaseException,
    code: int,
    line: str,
) -> None:
    subcommand(raising(error))
    assert kerntape("demo") == (code, "", f"kerntape: {line}\n")


def test_a_kernels_own_traceback_is_shown_before_the_line(
    kerntape: Callable[..., Answer], subcommand: Callable[[Callable[[], int]], None]
) -> None:
    subcommand(raising(KernelRaisedError("the kernel raised ZeroDivisionError", "Traceback…\n")))
    expected = "Traceback…\nkerntape: the kernel raised ZeroDivisionError\n"
    assert kerntape("demo") == (1, "", expected)


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (("a\nb",), 2, "kerntape: unknown subcommand 'a\\nb'; known: "),
        (("inspect", "a\nb.ktrace"), 1, "kerntape: a\\nb.ktrace: "),
        (("policies", "x", "a\nb"), 2, "kerntape policies: error: unrecognized arguments: a\\nb"),
    ],
)
def test_a_name_of_two_lines_is_said_on_one(
    kerntape: Callable[..., Answer], words: tuple[str, ...], code: int, line: str
) -> None:
    found, out, err = kerntape(*words)
    assert (found, out) == (code, "")
    assert err.splitlines()[-1].startswith(line)


def test_a_reader_that_went_away_is_not_an_error_message(
    kerntape: Callable[..., Answer], subcommand: Callable[[Callable[[], int]], None]
) -> None:
    subcommand(raising(BrokenPipeError(errno.EPIPE, "Broken pipe")))
    assert kerntape("demo") == (141, "", "")


def test_a_bug_is_not_hidden(
    kerntape: Callable[..., Answer], subcommand: Callable[[Callable[[], int]], None]
) -> None:
    subcommand(raising(ZeroDivisionError("oh")))
    with pytest.raises(ZeroDivisionError):
        kerntape("demo")


def test_a_bugs_traceback_ends_with_a_request_to_report_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    try:
        raise ZeroDivisionError("oh")
    except ZeroDivisionError as error:
        command.report_bug(type(error), error, error.__traceback__)
    err = capsys.readouterr().err
    assert err.startswith("Traceback (most recent call last):")
    assert err.endswith(
        "ZeroDivisionError: oh\n"
        "kerntape: this is a bug in kerntape; please report it with the lines above\n"
    )


def test_a_full_disk_behind_stdout_is_one_line() -> None:
    with open("/dev/full", "w") as full:
        answer = process(["topologies"], stdout=full, stderr=subprocess.PIPE)
    assert answer.returncode == 1
    assert answer.stderr == "kerntape: No space left on device\n"


def test_a_closed_pipe_behind_stdout_is_quiet() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    answer = process(["topologies", "llama70b_4sip"], stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (answer.returncode, answer.stderr) == (141, "")


@pytest.mark.parametrize("listing", ["kernels", "topologies", "calibrations", "policies"])
def test_a_closed_stdout_is_quiet(listing: str) -> None:
    answer = subprocess.run(
        ["sh", "-c", f'exec "$0" {listing} >&-', KERNTAPE],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (answer.returncode, answer.stderr) == (0, "")


def test_a_terminal_that_knows_only_ascii_gets_escapes_and_no_traceback() -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    answer = process(["topologies"], capture_output=True, env=environment)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "4\\xd74 CUBEs" in answer.stdout


def test_a_file_name_that_is_no_text_is_shown_all_the_same() -> None:
    answer = subprocess.run(
        [KERNTAPE, "topologies", b"\xff.yaml"], capture_output=True, text=True, check=False
    )
    assert (answer.returncode, answer.stderr) == (1, "kerntape: \\udcff.yaml: no such file\n")


def test_help_takes_less_than_a_fifth_of_a_second_of_cpu() -> None:
    def cpu_seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process(["--help"], stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(cpu_seconds() for _ in range(3)) < 0.2


def test_sigterm_in_the_middle_of_a_file_leaves_nothing_of_it(tmp_path: Path) -> None:
    script = f"""
import os, signal
from pathlib import Path
from kerntape.cli import main as command
from kerntape.schemas.atomic_file import write_whole

def half_a_file(arguments):
    with write_whole(Path({str(tmp_path / "x.ktrace")!r})) as file:
        file.write(b"half")
        os.kill(os.getpid(), signal.SIGTERM)

command._dispatch = half_a_file
command.run()
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (143, "", "")
    assert list(tmp_path.iterdir()) == []
