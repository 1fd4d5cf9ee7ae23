"""Stages as a CSV file, and what the columns of every table are called."""

import re
from pathlib import Path

import numpy as np
import pytest
from kerntape.schemas.errors import FileError
from kerntape.viewer.csv_file import COLUMNS, write_csv
from kerntape.viewer.model.comparing_lines import DIFFERENCE_COLUMNS
from kerntape.viewer.model.deadlock_lines import BLOCKED_COLUMNS
from kerntape.viewer.model.engine_table import ENGINE_COLUMNS
from kerntape.viewer.model.hazard_list import HAZARD_TABLE
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.machine import LOAD_COLUMNS
from kerntape.viewer.model.path_list import PATH_COLUMNS
from timeline_builder import two_commands


@pytest.fixture(scope="module")
def index():
    return TimelineIndex(two_commands().build(), "x")


def test_a_line_a_stage_in_the_order_of_time(index, tmp_path):
    path = tmp_path / "loop.csv"
    write_csv(path, index, np.array([7, 4, 1]))
    assert path.read_text("utf-8") == (
        "stage,pe,engine,kind,command,op,tile,ready_ps,start_ps,end_ps,cause,why,line\n"
        "1,0,pe_tcm,fetch,0,0,0,10000,10000,30000,0,dispatch,decode.py:7\n"
        "4,0,pe_gemm,GEMM,0,0,1,50000,54000,78000,3,engine,decode.py:7\n"
        "7,0,pe_math,MATH exp,1,0,-1,88000,88000,96000,6,dispatch,decode.py:8\n"
    )


def test_no_stage_is_a_head_alone(index, tmp_path):
    write_csv(tmp_path / "none.csv", index, np.zeros(0, np.int64))
    assert (tmp_path / "none.csv").read_text("utf-8").count("\n") == 1


def test_a_file_that_is_there_is_never_overwritten(index, tmp_path):
    path = tmp_path / "loop.csv"
    path.write_text("mine")
    with pytest.raises(FileError, match=r"^loop\.csv: exists already; choose another name$"):
        write_csv(path, index, np.array([0]))
    assert path.read_text() == "mine"


TABLES = {
    "timeline": COLUMNS,
    "critical path": PATH_COLUMNS,
    "hazards": HAZARD_TABLE,
    "deadlock": BLOCKED_COLUMNS,
    "summary": ENGINE_COLUMNS,
    "machine": LOAD_COLUMNS,
    "compare": DIFFERENCE_COLUMNS,
}


@pytest.mark.parametrize("table", TABLES)
def test_every_tables_columns_are_words_joined_by_underscores_and_a_rank_is_pe(table):
    columns = TABLES[table]
    assert [name for name in columns if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name)] == []
    assert len(set(columns)) == len(columns)
    assert not {"rank", "for_rank", "block", "share"} & set(columns)


def test_the_guide_lists_every_tables_columns():
    guide = (Path(__file__).parents[2] / "docs" / "browser.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([a-z ]+) \| ([a-z_, ]+) \|$", guide, re.MULTILINE))
    assert {table: rows[table].split(", ") for table in TABLES} == {
        table: list(columns) for table, columns in TABLES.items()
    }
