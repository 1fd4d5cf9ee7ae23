"""The browser's benchmarks run; what they measure is no test's business."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from kerntape.schemas.timeline_file import write_timeline

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def printed(program, *arguments):
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / program), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("overlays", [(), ("--overlays",)])
def test_a_frame_is_measured(overlays):
    told = printed("frame.py", "--lanes", "16", "--stages", "2000", "--frames", "5", *overlays)
    assert told.startswith("frame 200x50, 16 lanes, 2000 stages\n")
    assert len(re.findall(r"min \d+\.\d ms  median \d+\.\d ms  max \d+\.\d ms", told)) == 2


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="it reads /proc")
def test_the_opening_of_a_file_is_measured(tmp_path, opt2):
    write_timeline(tmp_path / "opt2.ktimeline", opt2)
    told = printed("opening.py", str(tmp_path / "opt2.ktimeline"), "--calm", "0.3")
    moments = ("the summary is", "all is added up", "the timeline is", "after some walking")
    for moment in (*moments, "idle times are", "critical path and slack"):
        assert re.search(
            rf"{moment}.* s elapsed .* s processor +\d+ MB +\d+\.\d\d × the file", told
        ), told
