"""Results as CSV and Parquet: exact numbers, whole files."""

import os
from decimal import Decimal

import pytest
from kerntape.replay.sweep import results_file
from kerntape.replay.sweep.figures import COLUMNS as FIGURES
from kerntape.replay.sweep.results_file import check_results_path, write_results
from kerntape.schemas.errors import KerntapeError

COLUMNS = (
    "pe_cpu.fixed_cycles",
    "trace",
    "makespan_ps",
    "engines.hbm.utilisation",
    "op_log_sha256",
)
ROWS = [
    (Decimal("2E+1"), "a, b.ktrace", 10**15, 0.333333, None),
    (Decimal("0.0625"), "c.ktrace", None, None, None),
]


def test_csv_has_a_line_a_point_and_writes_decimals_out(tmp_path):
    write_results(tmp_path / "r.csv", COLUMNS, ROWS)
    assert (tmp_path / "r.csv").read_bytes() == (
        b"pe_cpu.fixed_cycles,trace,makespan_ps,engines.hbm.utilisation,op_log_sha256\n"
        b'20,"a, b.ktrace",1000000000000000,0.333333,\n'
        b"0.0625,c.ktrace,,,\n"
    )


def test_parquet_keeps_whole_numbers_and_decimals_exact(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_results(tmp_path / "r.parquet", COLUMNS, ROWS)
    table = parquet.read_table(tmp_path / "r.parquet").to_pydict()
    assert table["pe_cpu.fixed_cycles"] == [Decimal(20), Decimal("0.0625")]
    assert table["makespan_ps"] == [10**15, None]
    assert table["trace"] == ["a, b.ktrace", "c.ktrace"]


def test_a_figure_has_its_type_in_parquet_also_where_no_point_has_it(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    impossible = ("impossible", *([None] * (len(FIGURES) - 1)))
    write_results(tmp_path / "r.parquet", FIGURES, [impossible])
    types = {field.name: str(field.type) for field in parquet.read_schema(tmp_path / "r.parquet")}
    assert types["makespan_ps"] == types["hazards.held"] == types["engines.noc.busy_ps"] == "int64"
    assert types["engines.noc.utilisation"] == "double"
    assert types["status"] == types["op_log_sha256"] == "string"
    assert set(types.values()) == {"int64", "double", "string"}


def test_a_sum_beyond_64_bits_is_exact_in_parquet_too(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    write_results(tmp_path / "r.parquet", ["hazards.held_ps"], [(None,), (1 << 65,), (7,)])
    table = parquet.read_table(tmp_path / "r.parquet").to_pydict()
    assert table == {"hazards.held_ps": [None, 1 << 65, 7]}


def refusal(path):
    with pytest.raises(KerntapeError) as error:
        check_results_path(path)
    return str(error.value)


def test_the_form_is_known_by_the_ending(tmp_path):
    assert refusal(tmp_path / "r.txt") == (
        f"{tmp_path}/r.txt: results must be a file ending in .csv or .parquet, not '.txt'"
    )


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(results_file, "import_module", missing)
    assert refusal(tmp_path / "r.parquet") == (
        "Parquet needs pyarrow: pip install -e '.[sweep]' in kerntape's clone, or name results"
        " ending in .csv"
    )


def test_a_missing_folder_and_a_folder_in_its_place_are_told(tmp_path):
    assert refusal(tmp_path / "none" / "r.csv") == (
        f"{tmp_path}/none/r.csv: cannot be written: there is no folder {tmp_path}/none;"
        " create the folder first"
    )
    (tmp_path / "r.csv").mkdir()
    assert refusal(tmp_path / "r.csv") == (
        f"{tmp_path}/r.csv: must be a file to write, not a folder; name a file inside it"
    )


def test_what_is_there_and_would_not_be_replaced_is_told_before_a_sweep_begins(tmp_path):
    os.mkfifo(tmp_path / "r.csv")
    assert refusal(tmp_path / "r.csv") == (
        f"{tmp_path}/r.csv: must be a plain file to write, not a device or a pipe"
    )
