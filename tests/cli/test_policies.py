"""`kerntape policies` lists the hazard policies and prints one as a file to start from."""

import json

import pytest
from kerntape.cli.main import main


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["policies", *arguments]) == 0
    return capsys.readouterr().out


def test_the_list_has_a_sentence_a_policy(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys).splitlines() == [
        "byte_range   holds any command for earlier accesses to the same bytes; nobody passes",
        "none         holds nothing back; every hazard happens",
        "rw_aware     as byte_range, but independent composites pass a held one",
        "rw_handles   holds a composite for earlier ones that share a read-write handle;"
        " nobody passes",
        "serial       holds every command until the one before it has finished",
        "strict_fifo  the default; holds a composite for earlier ones that write, by handle,"
        " what it reads or writes; nobody passes",
    ]


def test_a_terminal_shows_whole_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kerntape.cli.listing.terminal_columns", lambda: 40)
    assert output(capsys).splitlines()[:5] == [
        "byte_range   holds any command for",
        "             earlier accesses to the",
        "             same bytes; nobody passes",
        "none         holds nothing back; every",
        "             hazard happens",
    ]


def test_one_is_printed_as_yaml(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "rw_aware") == (
        "name: rw_aware\n"
        "summary: as byte_range, but independent composites pass a held one\n"
        "compares: bytes\n"
        "kinds: [RAW, WAR, WAW]\n"
        "holds: commands\n"
        "passing: true\n"
    )


def test_json_has_the_files_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(output(capsys, "strict_fifo", "--json"))["kinds"] == ["RAW", "WAW"]
    assert "serial" in json.loads(output(capsys, "--json"))["policies"]


def test_an_unknown_policy_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policies", "strictfifo"]) == 1
    expected = "kerntape: no policy 'strictfifo'; did you mean 'strict_fifo'?\n"
    assert capsys.readouterr().err == expected
