"""What `kerntape demo` prints: a table that 80 columns have room for, and what it shows in words."""

from kerntape.cli.demo import Row, compare, finding, table


def row(variant, calibration, policy, makespan_ps, dispatch_ps, held=0, wrong=0):
    used = {"pe_gemm": 0.5, "pe_math": 0.0625, "hbm": 1.0}
    return Row(variant, calibration, policy, makespan_ps, dispatch_ps, used, held, wrong)


ROWS = [
    row("opt2", "default", "strict_fifo", 10_000_000, 100_000, held=12),
    row("opt3", "default", "strict_fifo", 15_004_999, 250_500),
    row("opt1", "default", "strict_fifo", 30_000_000, 1_000_000),
    row("opt2", "default", "rw_handles", 9_995_000, 100_000, held=7, wrong=2),
    row("opt3", "default", "rw_handles", 15_000_000, 250_500),
    row("opt2", "free", "strict_fifo", 9_000_000, 0),
    row("opt3", "free", "strict_fifo", 9_000_000, 0),
]


def test_a_row_stands_under_its_calibration_and_names_its_policy_once():
    assert table(ROWS).splitlines() == [
        "policy       variant  makespan  dispatch  opt3 ÷  GEMM  MATH    HBM         went",
        "                            µs   ns/tile    this     %     %      %  held  wrong",
        "",
        "under the calibration default",
        "strict_fifo  opt2        10.00   100.000    2.50  50.0   6.2  100.0    12      0",
        "             opt3        15.00   250.500    1.00  50.0   6.2  100.0     0      0",
        "             opt1        30.00  1000.000    0.25  50.0   6.2  100.0     0      0",
        "rw_handles   opt2         9.99   100.000    2.50  50.0   6.2  100.0     7      2",
        "             opt3        15.00   250.500    1.00  50.0   6.2  100.0     0      0",
        "",
        "under the calibration free",
        "strict_fifo  opt2         9.00     0.000       –  50.0   6.2  100.0     0      0",
        "             opt3         9.00     0.000       –  50.0   6.2  100.0     0      0",
    ]


def test_the_finding_is_of_the_table():
    assert finding(ROWS) == (
        "opt2 hands the softmax merge to the scheduler: 2.50× less dispatch a tile than opt3,"
        " and the kernel ends 1.50× sooner (3.00× sooner than opt1).\n"
        "It is safe because strict_fifo holds 12 pairs back; rw_handles holds 7 and lets 2 go wrong."
    )


def test_eighty_columns_have_room_for_what_is_printed():
    rows, _ = compare()
    assert max(map(len, table(rows).splitlines())) <= 80
