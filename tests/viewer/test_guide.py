"""docs/browser.md shows what the browser shows. `KERNTAPE_WRITE_SNAPSHOTS=1` makes its pictures anew."""

import os
import re
from functools import cache
from pathlib import Path

import pytest
from kerntape.capture.capture import capture
from kerntape.replay.replay import replay
from kerntape.topologies.loader import resolve_topology
from kerntape.viewer.app import export_svg
from kerntape.viewer.model import times
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.idleness import Idle
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.summary import engine_uses_of, path_summary_of
from kerntape.viewer.model.summary_lines import Added, summary_lines
from message_kernels import captured

DOCS = Path(__file__).parents[2] / "docs"
PICTURES = DOCS / "pictures"

IN_THE_LOOP = ("enter", "colon", *"7.4us", "enter", *("down",) * 4, *("W",) * 6)

SHOWN = {
    "browser-summary": ((100, 30), ()),
    "browser-first": ((100, 30), ("enter",)),
    "browser-causes": ((100, 30), (*IN_THE_LOOP, "full_stop", *("left_square_bracket",) * 2)),
    "browser-hazards": ((100, 30), (*IN_THE_LOOP, "tab", "down")),
    "browser-path": ((100, 32), (*IN_THE_LOOP, "p", "i")),
    "browser-idle": ((100, 30), ("enter", "i")),
    "browser-area": ((100, 36), (*IN_THE_LOOP, "v", *("full_stop",) * 8, "v")),
    "browser-bytes": ((100, 34), ("tab", "a", "o")),
    "browser-calibrate": ((100, 36), ("c", *("down",) * 11, "right", "right")),
    "browser-faster": ((100, 36), ("c", "end", *("up",) * 2)),
    "browser-compare": ((100, 32), ("n",)),
    "browser-machine": ((100, 22), ("g", *("right",) * 6)),
    "browser-cube": ((100, 22), ("g", *("right",) * 6, "w")),
}

BESIDE = {"browser-compare": {"variant": "opt3"}}
"""The pictures of two timelines: what the second is."""

RECYCLED = {"s_kv": "1024", "slots": "1"}
MANY = {"p": "8", "c": "8", "heads": "8", "s_kv": "8192"}

LIGHT = {"browser-idle"}
"""The pictures in the colours for light screens."""

OTHERWISE = {
    "browser-idle": ("one_cube", {"p": "8"}),
    "browser-bytes": ("single_pe", RECYCLED),
    "browser-machine": ("llama70b_4sip", MANY),
    "browser-cube": ("llama70b_4sip", MANY),
}
"""The pictures of another run than decode opt2 on one PE."""


@cache
def decoded(topology, arguments):
    chosen = {"variant": "opt2"} | dict(arguments)
    trace = capture("gqa_decode", resolve_topology(topology), chosen, with_data=False).trace
    return replay(trace)


def timeline_of(name):
    topology, arguments = OTHERWISE.get(name, ("single_pe", {}))
    return decoded(topology, tuple(arguments.items()))


def beside(name):
    if name not in BESIDE:
        return None
    return decoded("single_pe", tuple(BESIDE[name].items())), "opt3.ktrace"


@pytest.mark.parametrize("name", SHOWN)
def test_the_pictures_are_what_the_browser_shows(name, tmp_path):
    size, keys = SHOWN[name]
    made = tmp_path / f"{name}.svg"
    timeline, other = timeline_of(name), beside(name)
    theme = "light" if name in LIGHT else "dark"
    export_svg(timeline, made, title="opt2.ktrace", size=size, keys=keys, other=other, theme=theme)
    if os.environ.get("KERNTAPE_WRITE_SNAPSHOTS"):
        (PICTURES / made.name).write_bytes(made.read_bytes())
    assert without_kernel_lines(made) == without_kernel_lines(PICTURES / made.name)


def test_the_finding_is_what_the_summaries_say():
    finding = (DOCS / "browser.md").read_text("utf-8").split("## What it found")[1]
    for variant, path_on_cpu in (("opt2", "0.33 µs"), ("opt3", "14.27 µs")):
        index = TimelineIndex(decoded("single_pe", (("variant", variant),)), variant)
        uses = {use.title: use for use in engine_uses_of(index)}
        cpu, hbm, makespan = uses["CPU"], uses["HBM"], index.timeline.makespan_ps
        said = [times.short(makespan), share(hbm.busy_ps, makespan)]
        if variant == "opt2":
            said += [share(hbm.idle_ps[Idle.HAZARD], makespan)]
            said += [share(cpu.idle_ps[Idle.QUEUE], makespan)]
        else:
            said += [share(cpu.busy_ps, makespan), share(hbm.idle_ps[Idle.DISPATCH], makespan)]
            said += [share(hbm.idle_ps[Idle.BLOCKED], makespan)]
        said += [f"{uses['GEMM'].busy_ps / 10**6:.2f} µs"]
        path = {part.title: part.time_ps for part in path_summary_of(index).shares}
        assert f"{path['CPU'] / 10**6:.2f} µs" == path_on_cpu
        assert [words for words in (*said, path_on_cpu) if words not in finding] == []


def test_the_deadlock_of_the_guide_is_what_the_summary_says():
    stopped = replay(captured("all_send_first", with_data=False, messages=13).trace)
    index = TimelineIndex(stopped, "x")
    lines = summary_lines(index, HazardIndex(index), Added(), 80, 60)[:5]
    told = "\n".join("".join(span.text for span in one.line).rstrip() for one in lines)
    guide = (DOCS / "browser.md").read_text("utf-8")
    assert "\n".join(f"    {line}" for line in told.splitlines()) in guide


def share(part, whole):
    return f"{100 * part / whole:.1f} %"


def without_kernel_lines(picture):
    """A kernel's source may be edited without a new picture of the browser."""
    shapes = picture.read_text(encoding="utf-8").splitlines()
    heights = {found[1] for shape in shapes if (found := re.search(r' y="(\S+)".*\.py:\d', shape))}
    return [shape for shape in shapes if not any(f' y="{y}"' in shape for y in heights)]


def test_every_picture_of_the_guide_is_there_and_used():
    linked = re.findall(r"\]\(pictures/([^)]+)\)", (DOCS / "browser.md").read_text("utf-8"))
    assert sorted(linked) == sorted(f"{name}.svg" for name in SHOWN)
    assert all((PICTURES / name).is_file() for name in linked)
