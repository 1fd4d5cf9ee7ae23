"""`kerntape kernels` lists the kernels that ship, and explains one."""

import json

import pytest
from kerntape.cli.main import main


def test_kernels_lists_each_with_its_sentence_and_its_defaults(
    capsys: pytest.CaptureFixture[str],
):
    assert main(["kernels"]) == 0
    name, defaults = capsys.readouterr().out.splitlines()[:2]
    assert name == (
        "gqa_decode  One decode step of grouped-query attention;"
        " a KV head's cache is split over c·p PEs."
    )
    assert defaults == (
        "  variant=opt2 g=8 d=128 s_kv=4096 tile=64 dtype=bf16 slots=2 scale=1/√d c=1 p=1 heads=1"
        " placement=contiguous max_context=0 counter=0 start_cube=0 start_pe=0 requests=1"
        " reduce_pe=tree reduce_cube=centre"
    )


def test_a_terminal_shows_whole_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("kerntape.cli.kernels.terminal_columns", lambda: 40)
    assert main(["kernels"]) == 0
    assert capsys.readouterr().out.splitlines()[:5] == [
        "gqa_decode  One decode step of",
        "    grouped-query attention; a KV head's",
        "    cache is split over c·p PEs.",
        "  variant=opt2 g=8 d=128 s_kv=4096",
        "    tile=64 dtype=bf16 slots=2",
    ]


def test_kernels_with_a_name_explains_its_arguments(capsys: pytest.CaptureFixture[str]):
    assert main(["kernels", "gqa_decode"]) == 0
    printed = capsys.readouterr().out
    assert "slots        scratch regions that tiles take in rotation" in printed
    assert "argument     default\nvariant      opt2\n" in printed


def test_kernels_as_json(capsys: pytest.CaptureFixture[str]):
    assert main(["kernels", "gqa_decode", "--json"]) == 0
    kernel = json.loads(capsys.readouterr().out)
    assert list(kernel) == ["name", "summary", "arguments"]
    assert kernel["arguments"]["s_kv"] == 4096
    assert kernel["arguments"]["scale"] is None


def test_an_unknown_kernel_is_named_with_what_was_meant(capsys: pytest.CaptureFixture[str]):
    assert main(["kernels", "gqa_decod"]) == 1
    assert "no kernel 'gqa_decod'; did you mean 'gqa_decode'?" in capsys.readouterr().err
