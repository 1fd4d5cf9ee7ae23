"""What turning a number does, and what the panel says of it."""

from decimal import Decimal
from fractions import Fraction

import pytest
from kerntape.replay.policy import resolve_policy
from kerntape.replay.what_if import Effect
from kerntape.schemas.calibration import Calibration
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.stages import Block
from kerntape.viewer.model.calibrate_lines import (
    Calibrating,
    calibrate_lines,
    changes_line,
    row_words,
)
from kerntape.viewer.model.calibrating import (
    POLICY,
    TurnError,
    reset,
    turn_complaint,
    turned,
    typed,
    unchanged,
)
from kerntape.viewer.model.changes import signed_percent
from painted_text import line_text
from timeline_builder import CALIBRATION

HBM, FIXED, PLAN = "hbm.bytes_per_ns", "pe_cpu.fixed_cycles", "pe_scheduler.plan_cycles_per_op"


@pytest.fixture
def base():
    return unchanged(Calibration.model_validate(CALIBRATION), resolve_policy("strict_fifo"))


def test_a_turn_is_ten_percent_at_four_digits_and_back_again(base):
    up = turned(base, HBM, 1)  # 102.4 · 1.1 = 112.64
    assert up.value(HBM) == Decimal("112.6")
    assert turned(up, HBM, 1).value(HBM) == Decimal("123.9")  # 123.86
    assert turned(up, HBM, -1).value(HBM) == Decimal("102.4")  # 102.36
    assert turned(up, HBM, -1).is_base
    assert up.calibration.name == "default + hbm.bytes_per_ns=112.6"


def test_zero_has_no_tenth(base):
    with pytest.raises(TurnError, match="plan_cycles_per_op is 0, which has no tenth; Enter types"):
        turned(base, PLAN, 1)


def test_what_is_typed_holds_exactly(base):
    assert typed(base, FIXED, " 20.125 ").value(FIXED) == Decimal("20.125")
    assert typed(base, FIXED, "40").is_base
    with pytest.raises(ConfigError, match="must be above 0"):
        typed(base, HBM, "0")
    with pytest.raises(ConfigError, match="must be a number, not 'soon'"):
        typed(base, HBM, "soon")


def test_the_policy_goes_round(base):
    policies = [resolve_policy(name) for name in ("none", "strict_fifo")]
    after = turned(base, POLICY, 1, policies)
    assert after.policy.name == "none"
    assert after.is_changed(POLICY)
    assert turned(after, POLICY, 1, policies).is_base
    assert turned(base, POLICY, 1, policies[:1]).policy.name == "none"  # its own is always one


def test_a_row_is_reset_alone(base):
    two = turned(turned(base, HBM, 1), FIXED, 1)
    assert set(reset(two, HBM).changes) == {FIXED}
    assert reset(reset(two, HBM), FIXED).is_base


@pytest.mark.parametrize(
    ("change", "words"),
    [(0, "·"), (705, "+7.05 %"), (-31, "−0.31 %"), (-10_000, "−100.00 %")],
)
def test_a_change_is_told_in_hundredths_of_a_percent(change, words):
    assert signed_percent(change, 10_000) == words
    assert signed_percent(-1, 10**9) == "−<0.01 %"
    assert signed_percent(5, 0) == "·"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (99_999, "+999.99 %"),
        (100_000, "×11"),
        (104_990, "×11.5"),  # 11.499
        (989_900, "×100"),  # 99.99
        (12_340_000, "×1,235"),
        (-9_999, "−99.99 %"),
        (40_254_000_000, "×4.03 M"),  # 4,025,401
        (39_999_990_000, "×4 M"),
        (10**16, "×1 T"),
    ],
)
def test_from_a_thousand_percent_on_a_change_is_told_as_a_factor_of_about_three_digits(
    change, words
):
    assert signed_percent(change, 10_000) == words


@pytest.fixture
def shown(base):
    return Calibrating(
        settings=turned(base, FIXED, 1),
        parameters=(FIXED, HBM, PLAN),
        effects={FIXED: Effect(1_000, -500), HBM: Effect(0, None)},
        blocks=(Block.PE_MATH, Block.PE_TCM),
        factors=(Fraction(5, 4), Fraction(4)),
        sped_up_ps={
            (Block.PE_MATH, Fraction(5, 4)): 90_000,
            (Block.PE_TCM, Fraction(5, 4)): 100_200,
        },
        makespan_ps=100_000,
    )


def test_the_panel_has_a_line_for_every_number_and_every_engine(shown):
    lines, places = calibrate_lines(shown, 1, 80)
    assert [line_text(line) for line in lines] == [
        "   hazard policy                   strict_fifo",
        "   number                          value      was          10 % more  10 % less",
        " ›*pe_cpu.fixed_cycles             44         40             +1.00 %    −0.50 %",
        "   hbm.bytes_per_ns                102.4                           ·not allowed",
        "   pe_scheduler.plan_cycles_per_op 0                               …          …",
        "",
        "   engine, if it were as fast as         1.25×         4×",
        "   MATH                               −10.00 %          …",
        "   TCM                                 +0.20 %          …",
    ]
    assert places == (0, -1, 1, 2, 3, -1, -1, 4, 5)


def test_what_differs_is_told_in_whole_entries_as_many_as_fit(base):
    def told(settings, width):
        return line_text(changes_line(settings, width))

    assert told(base, 80) == "   as it was opened: default, strict_fifo"
    policies = [resolve_policy(name) for name in ("none", "strict_fifo")]
    three = turned(turned(turned(base, FIXED, 1), HBM, 1), POLICY, 1, policies)
    policy, fixed = "hazard policy strict_fifo → none", "pe_cpu.fixed_cycles 40 → 44"
    whole = f"  *3 changed: {policy} · {fixed} · hbm.bytes_per_ns 102.4 → 112.6"
    assert len(whole) == 109
    assert told(three, 109) == whole
    assert told(three, 108) == f"  *3 changed: {policy} · {fixed} · 1 more"
    assert told(three, 60) == f"  *3 changed: {policy} · 2 more"


def test_a_number_that_is_longer_than_any_is_said_to_be(base):
    with pytest.raises(TurnError) as caught:
        typed(base, FIXED, "9" * 5000)
    assert turn_complaint(FIXED, caught.value) == (
        "fixed_cycles must be of at most 40 characters, not 5,000"
    )
    assert typed(base, FIXED, "0" * 39 + "7").value(FIXED) == 7


def test_a_complaint_names_the_number_by_its_last_name():
    error = ConfigError("change: hbm.bytes_per_ns: must be above 0, not 0")
    assert turn_complaint(HBM, error) == "bytes_per_ns: must be above 0, not 0"


def test_the_chosen_row_is_told_in_a_sentence(shown):
    assert row_words(shown, FIXED) == (
        "10 % more makes the run 1 ns longer; 10 % less makes the run 500 ps shorter"
    )
    assert row_words(shown, HBM) == "10 % more changes nothing; 10 % less is not allowed"
    assert row_words(shown, PLAN) == "measuring what this number is worth …"
    assert row_words(shown, POLICY) == resolve_policy("strict_fifo").summary
    assert row_words(shown, Block.PE_MATH) == "MATH 1.25× as fast makes the run 10 ns shorter"


def test_an_engine_that_makes_the_run_longer_is_called_an_anomaly(shown):
    assert row_words(shown, Block.PE_TCM) == (
        "TCM 1.25× as fast makes the run 200 ps longer: a scheduling anomaly; the faster stages"
        " reach other queues earlier and are served in another order"
    )
