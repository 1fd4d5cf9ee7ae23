"""Stages as a CSV file."""

import numpy as np
import pytest
from kerntape.schemas.errors import FileError
from kerntape.viewer.csv_file import write_csv
from kerntape.viewer.model.index import TimelineIndex
from timeline_builder import two_commands


@pytest.fixture(scope="module")
def index():
    return TimelineIndex(two_commands().build(), "x")


def test_a_line_a_stage_in_the_order_of_time(index, tmp_path):
    path = tmp_path / "loop.csv"
    write_csv(path, index, np.array([7, 4, 1]))
    assert path.read_text("utf-8") == (
        "stage,rank,engine,kind,command,op,tile,ready_ps,start_ps,end_ps,cause,why,line\n"
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
