"""Random streams on overlapping bytes: what the hazard policies promise holds for the values too."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kerntape.replay.policy import resolve_policy
from kerntape.schemas.commands import CommandKind, OpForm
from kerntape.schemas.handles import Space
from kerntape.schemas.hazards import Outcome

SOUND = ("byte_range", "rw_aware", "serial")
UNSOUND = ("none", "rw_handles", "strict_fifo")
ROWS = (8, 4)
PLACES = {"a": 0, "a_and_b": 32, "b": 64, "c": 128, "d": 192}
"""[8, 4] f16 handles of 64 bytes; a_and_b is the second half of a and the first of b."""

steady = settings(
    max_examples=40,
    # the fixtures are types and frozen records: nothing of one example is left for the next
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@dataclass
class Writer:
    """Draws commands onto a builder."""

    draw: Any
    build: Any

    def write(self) -> None:
        self.tcm = {name: self.build.handle(ROWS, at=at, label=name) for name, at in PLACES.items()}
        self.square = self.build.handle((4, 4), at=256, label="square")
        self._load_everything()
        first = len(self.build.rows)
        for index in range(first, first + self.draw(st.integers(1, 9))):
            kind = self.draw(
                st.sampled_from(
                    [self.load, self.store, self.math, self.composite, self.gemm, self.gemm]
                )
            )
            earlier = [i for i in range(index) if not self.build.rows[i][0].kind.blocks]
            waits = self.draw(st.lists(st.sampled_from(earlier), max_size=1)) if earlier else []
            kind(waits)

    def _load_everything(self) -> None:
        """Numbers for everybody: NaN would hide what is wrong."""
        for target, shape in ((self.square, (4, 4)), *((each, ROWS) for each in self.tcm.values())):
            source = self.build.handle(shape, space=Space.HBM, at=64 * target, label="x")
            self.build.load(source, target)
        self.build.wait(*range(len(self.build.rows)))

    def place(self) -> int:
        return self.tcm[self.draw(st.sampled_from(list(PLACES)))]

    def hbm(self) -> int:
        at = self.draw(st.integers(0, 6)) * 32
        return self.build.handle(ROWS, space=Space.HBM, at=at, label="x")

    def load(self, waits: list[int]) -> None:
        op = OpForm("load", ("src",), True)
        self.build.command(CommandKind.LOAD, (op,), [self.hbm(), self.place()], waits=waits)

    def store(self, waits: list[int]) -> None:
        self.build.store(self.place(), self.hbm(), waits=waits)

    def op(self) -> tuple[OpForm, list[int]]:
        kind, names = self.draw(
            st.sampled_from([("neg", ("src",)), ("copy", ("src",)), ("add", ("src", "other"))])
        )
        return OpForm(kind, names, True), [self.place() for _ in (*names, "out")]

    def math(self, waits: list[int]) -> None:
        op, handles = self.op()
        self.build.command(CommandKind.MATH, (op,), handles, waits=waits)

    def composite(self, waits: list[int]) -> None:
        ops = [self.op() for _ in range(self.draw(st.integers(1, 3)))]
        handles = [handle for _, of_op in ops for handle in of_op]
        self.build.command(CommandKind.COMPOSITE, tuple(op for op, _ in ops), handles, waits=waits)

    def gemm(self, waits: list[int]) -> None:
        """One place × square into another, of those that do not overlap: two tiles of rows."""
        a, out = self.draw(st.permutations(["b", "c", "d"]))[:2]
        product = OpForm("gemm", ("a", "b"), True, (("m", 8), ("k", 4), ("n", 4)))
        self.build.command(
            self.draw(st.sampled_from([CommandKind.COMPOSITE, CommandKind.DOT])),
            (product,),
            [self.tcm[a], self.square, self.tcm[out]],
            waits=waits,
        )


@st.composite
def drawn(draw, builder, calibration):
    """A stream and a calibration."""
    build = builder()
    Writer(draw, build).write()
    rates = st.sampled_from([Decimal("0.5"), Decimal(1), Decimal(16)])
    costs = {
        "pe_cpu": {"fixed_cycles": Decimal(draw(st.sampled_from([0, 5, 50])))},
        "pe_math": {"vector_width": draw(rates)},
        "pe_gemm": {"macs_per_cycle": draw(rates)},
        "hbm": {"latency_ns": Decimal(draw(st.sampled_from([0, 7, 200])))},
        "pe_tcm": {"bytes_per_ns": draw(rates)},
    }
    parts = {
        name: getattr(calibration, name).model_copy(update=values) for name, values in costs.items()
    }
    return build, calibration.model_copy(update=parts)


@pytest.fixture
def check(timed):
    def run(case, policy):
        build, calibration = case
        x = np.random.default_rng(0).standard_normal(256)
        made = timed(build, calibration=calibration, policy=resolve_policy(policy), x=x)
        return made.timeline, made.check()

    return run


@steady
@given(data=st.data())
def test_under_a_sound_policy_every_value_is_as_in_program_order(data, build, calibration, check):
    case = data.draw(drawn(type(build), calibration))
    for policy in SOUND:
        _, result = check(case, policy)
        assert result.right, policy
        assert result.first_wrong is None, policy


@steady
@given(data=st.data())
def test_a_wrong_value_has_a_hazard_that_the_timeline_lists_as_violated(
    data, build, calibration, check
):
    case = data.draw(drawn(type(build), calibration))
    for policy in UNSOUND:
        timeline, result = check(case, policy)
        if result.first_wrong is None:
            assert result.right
            continue
        assert timeline.hazards.count(Outcome.VIOLATED) > 0
        assert result.first_wrong.because.hazard is not None
