"""`kerntape sweep`: results as a file, and what they say as text or JSON."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from result_rows import rows

PLANNING = "pe_scheduler.plan_cycles_per_op"


def test_the_answer_says_which_way_points_took_and_where_the_ranking_flips(sweep):
    # a merge of 8 ops planned in one composite costs opt2 more than opt3, whose ops are dispatched
    vary = f"{PLANNING}=20,30,40,50"
    code, out, err = sweep(
        "opt2.ktrace", "opt3.ktrace", "--vary", vary, "--jobs", "1", "-o", "r.csv"
    )
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "r.csv: 8 points",
        "0 followed along a recorded order, 8 replayed in full",
        "",
        "opt2.ktrace against opt3.ktrace, strict_fifo: faster at 2, slower at 2, equal at 0",
        f"  flips between {PLANNING} 30 and 40: opt2.ktrace below, opt3.ktrace above",
    ]


def test_one_point_is_counted_as_one(sweep):
    code, out, _ = sweep("opt2.ktrace", "--jobs", "1", "-o", "r.csv")
    assert (code, out.splitlines()[0]) == (0, "r.csv: 1 point")


def test_a_few_pairs_without_a_flip_are_told_with_their_counts_and_no_air_between(sweep):
    # three policies make three pairs
    policies = "strict_fifo,serial,none"
    code, out, _ = sweep("opt2.ktrace", "--hazards", policies, "--jobs", "1", "-o", "r.csv")
    assert code == 0
    assert [line.partition(":")[0] for line in out.splitlines()[2:]] == [
        "",
        "strict_fifo against serial, opt2.ktrace",
        "strict_fifo against none, opt2.ktrace",
        "serial against none, opt2.ktrace",
    ]


def test_many_pairs_without_a_flip_are_a_table_below_those_with_one(sweep):
    # two traces under three policies make 3 pairs of traces and 6 of policies, of which one flips
    vary = f"{PLANNING}=30,40"
    options = ("--hazards", "strict_fifo,serial,none", "--jobs", "1", "-o", "r.csv")
    code, out, _ = sweep("opt2.ktrace", "opt3.ktrace", "--vary", vary, *options)
    assert code == 0
    assert out.splitlines()[2:] == [
        "",
        "opt2.ktrace against opt3.ktrace, strict_fifo: faster at 1, slower at 1, equal at 0",
        f"  flips between {PLANNING} 30 and 40: opt2.ktrace below, opt3.ktrace above",
        "",
        "8 pairs without a flip                   faster  slower  equal",
        "opt2.ktrace against opt3.ktrace, serial       2       0      0",
        "opt2.ktrace against opt3.ktrace, none         2       0      0",
        "strict_fifo against serial, opt2.ktrace       2       0      0",
        "strict_fifo against none, opt2.ktrace         0       2      0",
        "serial against none, opt2.ktrace              0       2      0",
        "strict_fifo against serial, opt3.ktrace       2       0      0",
        "strict_fifo against none, opt3.ktrace         0       0      2",
        "serial against none, opt3.ktrace              0       2      0",
    ]


def test_of_very_many_pairs_ten_are_told_and_the_rest_counted(sweep):
    # samples of two parameters share no line, so that nothing flips. Two traces under six policies
    # make 6 pairs of traces and twice 15 of policies
    sampled = ["--vary", "hbm.latency_ns=50..150", "--vary", "clock_ghz=1..2"]
    sampled += ["--samples", "2", "--latin-hypercube", "--hazards", "all"]
    _, out, _ = sweep("opt2.ktrace", "opt3.ktrace", *sampled, "--jobs", "1", "-o", "r.csv")
    lines = out.splitlines()[3:]
    assert lines[0].split() == ["36", "pairs", "without", "a", "flip", "faster", "slower", "equal"]
    assert len(lines) == 12
    for line in lines[1:11]:
        assert sum(map(int, line.split()[-3:])) == 2
    assert lines[11] == "26 more pairs (--json has all)"


def test_every_row_is_what_replay_says_of_the_point(sweep, replayed):
    vary = "pe_cpu.fixed_cycles=" + ",".join(f"{40 + step / 4:g}" for step in range(40))
    policies = "strict_fifo,none"
    code, out, _ = sweep(
        "opt2.ktrace", "--vary", vary, "--hazards", policies, "--jobs", "1", "-o", "r.csv", "--json"
    )
    assert code == 0
    assert json.loads(out)["followed"] > 40
    for row in rows()[:80:9]:
        setting = f"pe_cpu.fixed_cycles={row['pe_cpu.fixed_cycles']}"
        figures = replayed("opt2.ktrace", "--set", setting, "--hazards", row["policy"])
        assert int(row["makespan_ps"]) == figures["makespan_ps"]
        assert int(row["dispatch_ps"]) == figures["dispatch_ps"]
        assert int(row["hazards.held_ps"]) == figures["hazards"]["held_ps"]
        assert int(row["hazards.violations"]) == figures["hazards"]["violations"]
        for remote in ("reads", "read_bytes", "writes", "write_bytes"):
            assert int(row[f"remote_{remote}"]) == figures[f"remote_{remote}"]
        for block, use in figures["engines"].items():
            assert int(row[f"engines.{block}.busy_ps"]) == use["busy_ps"]
            assert float(row[f"engines.{block}.utilisation"]) == use["utilisation"]


def test_structure_is_varied_and_lowered_anew(sweep, replayed):
    sweep("opt2.ktrace", "--vary", "topology.pe.tile_buffers=1,2", "--jobs", "1", "-o", "r.csv")
    one, two = (int(row["makespan_ps"]) for row in rows())
    assert one > two
    assert two == replayed("opt2.ktrace")["makespan_ps"]


def test_json_has_stable_keys_and_every_flip(sweep):
    vary = ["--vary", f"{PLANNING}=30,40", "--vary", "hbm.latency_ns=100,101"]
    code, out, _ = sweep(
        "opt2.ktrace", "opt3.ktrace", *vary, "--jobs", "1", "-o", "r.csv", "--json"
    )
    assert code == 0
    answer = json.loads(out)
    assert answer == {
        "results": "r.csv",
        "points": 8,
        "kept": 0,
        "followed": 0,
        "replayed": 8,
        "deadlocked": 0,
        "impossible": 0,
        "replaced": False,
        "rankings": [
            {
                "first": "opt2.ktrace",
                "second": "opt3.ktrace",
                "under": "strict_fifo",
                "first_faster": 2,
                "second_faster": 2,
                "equal": 0,
                "flips": [
                    {
                        "path": PLANNING,
                        "low": 30,
                        "high": 40,
                        "faster_below": "opt2.ktrace",
                        "faster_above": "opt3.ktrace",
                        "at": {"hbm.latency_ns": latency},
                    }
                    for latency in (100, 101)
                ],
            }
        ],
    }


def test_parquet_has_the_cells_of_csv(sweep):
    parquet = pytest.importorskip("pyarrow.parquet")
    vary = ["--vary", "clock_ghz=1,0.000000000001,2.5", "--vary", "topology.pe.tile_buffers=1,2"]
    point = ("opt2.ktrace", "opt3.ktrace", *vary, "--set", "pe_cpu.fixed_cycles=5000")
    for results in ("r.csv", "r.parquet"):
        assert sweep(*point, "--jobs", "1", "-o", results)[0] == 0
    found = parquet.read_table("r.parquet").to_pylist()
    assert len(found) == len(rows()) == 12
    for read, written in zip(found, rows(), strict=True):
        assert list(read) == list(written)
        for column, text in written.items():
            cell = read[column]
            if cell is None or isinstance(cell, str):
                assert (cell or "") == text
            else:
                assert Decimal(text) == Decimal(str(cell))


def test_many_flips_are_counted_and_not_all_printed(sweep):
    latencies = ",".join(str(latency) for latency in range(100, 112))
    vary = ["--vary", f"{PLANNING}=30,40", "--vary", f"hbm.latency_ns={latencies}"]
    vary += ["--vary", "topology.ipcq.depth=8"]
    _, out, _ = sweep("opt2.ktrace", "opt3.ktrace", *vary, "--jobs", "1", "-o", "r.csv")
    lines = out.splitlines()
    assert lines[4].endswith("opt3.ktrace above, hbm.latency_ns 100, topology.ipcq.depth 8")
    assert lines[-1] == "  … and 2 more flips (--json has them all)"


def test_samples_come_from_the_seed(sweep):
    sampled = ["--vary", "hbm.latency_ns=50..150", "--samples", "5", "--latin-hypercube"]
    drawn = {}
    for seed in ("0", "0", "1"):
        sweep("opt2.ktrace", *sampled, "--seed", seed, "--jobs", "1", "-o", "r.csv")
        drawn.setdefault(seed, set()).add(tuple(row["hbm.latency_ns"] for row in rows()))
    assert len(drawn["0"]) == 1
    assert drawn["0"] != drawn["1"]


def test_a_grid_file_and_vary_are_combined_over_the_base(sweep):
    Path("grid.yaml").write_text("hbm.latency_ns: [50, 150]\n")
    options = ["--grid", "grid.yaml", "--vary", "clock_ghz=1,2", "--set", "pe_cpu.fixed_cycles=1"]
    sweep("opt2.ktrace", *options, "--jobs", "1", "-o", "r.csv")
    assert [(row["clock_ghz"], row["hbm.latency_ns"]) for row in rows()] == [
        ("1", "50"),
        ("1", "150"),
        ("2", "50"),
        ("2", "150"),
    ]
    assert {row["calibration"] for row in rows()} == {"default + pe_cpu.fixed_cycles=1"}


def test_all_policies_are_the_shipped_ones(sweep):
    sweep("opt2.ktrace", "--hazards", "all", "--jobs", "1", "-o", "r.csv")
    assert [row["policy"] for row in rows()] == [
        "byte_range",
        "none",
        "rw_aware",
        "rw_handles",
        "serial",
        "strict_fifo",
    ]


def test_op_logs_are_hashed_only_if_asked_for(sweep, replayed):
    sweep("opt2.ktrace", "--jobs", "1", "-o", "r.csv")
    assert rows()[0]["op_log_sha256"] == ""
    sweep("opt2.ktrace", "--op-log-sha256", "--jobs", "1", "-o", "r.csv")
    digest = replayed("opt2.ktrace", "--op-log", "x.oplog")["op_log_sha256"]
    assert rows()[0]["op_log_sha256"] == digest
