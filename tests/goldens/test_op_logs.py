"""The op_log of every shipped kernel is what it was. A change needs a line in CHANGELOG.md."""

import json

import pytest
from golden_cases import CASES, GOLDENS, op_log_hashes
from kerntape.capture.kernel_catalogue import shipped_kernels

PINNED = json.loads(GOLDENS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_op_log_is_the_pinned_one(case):
    assert op_log_hashes(case) == PINNED[str(case)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_readable_runner_writes_the_same_op_log(case):
    assert op_log_hashes(case, runner="simpy") == PINNED[str(case)]


def test_every_golden_has_its_case():
    assert sorted(PINNED) == sorted(map(str, CASES))


def test_every_shipped_kernel_is_pinned():
    assert {kernel.name for kernel in shipped_kernels()} == {case.kernel for case in CASES}
