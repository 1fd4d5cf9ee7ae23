"""`kerntape capture`: runs a kernel once and writes its trace."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from math import inf
from typing import TYPE_CHECKING

from .model_options import add_topology_option
from .usage import add_once, number_from

if TYPE_CHECKING:
    from pathlib import Path

    from ..capture.outputs import OutputReport
    from ..schemas.trace import Trace

SUMMARY = "run a kernel once and write its commands to a trace"

DEFAULT_TOPOLOGY = "single_pe"

DONE = 0
WRONG_RESULT = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options. Names are resolved when the command runs."""
    parser.add_argument(
        "kernel",
        metavar="KERNEL",
        help="a shipped kernel (see `kerntape kernels`) or your own: my_kernel.py:launch",
    )
    add_topology_option(parser, f"a shipped machine or a YAML file (default: {DEFAULT_TOPOLOGY})")
    add_once(
        parser,
        "--device",
        metavar="SIPS",
        help="the SIPs that the launch may use, as 1 or 0,2 or 1-3 (default: all); a kernel's"
        " program_id(2) counts these from 0",
    )
    parser.add_argument(
        "--arg",
        dest="kernel_arguments",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an argument of the kernel, for example --arg s_kv=4096; may be repeated",
    )
    parser.add_argument(
        "--no-data",
        action="store_true",
        help="record the same trace without computing values: faster, nothing is checked",
    )
    parser.add_argument(
        "--keep-inputs", action="store_true", help="keep the tensors' first values in the trace"
    )
    parser.add_argument(
        "--seed",
        type=number_from(0),
        default=0,
        metavar="N",
        help="for random inputs (default: 0); the commands do not depend on it",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "-o", "--output", required=True, metavar="X.ktrace", help="the trace to write"
    )


def run(arguments: argparse.Namespace) -> int:
    """Captures, writes, reports. 3 where an output is not what its reference says."""
    from pathlib import Path

    from ..capture.capture import capture
    from ..capture.device import named_sips
    from ..schemas.errors import wrong_usage
    from ..schemas.trace_file import write_trace
    from ..topologies.loader import resolve_topology
    from .output_files import check_output_files
    from .printing import print_json
    from .working import working

    given = given_arguments(arguments.kernel_arguments)
    if arguments.device is not None:
        with wrong_usage():
            named_sips(arguments.device)
    file = arguments.kernel.rpartition(":")[0] or arguments.kernel
    check_output_files(
        [("--output", arguments.output)],
        [("the kernel's file", file), ("--topology", arguments.topology)],
    )
    topology = resolve_topology(arguments.topology or DEFAULT_TOPOLOGY)
    with working("capturing"):
        captured = capture(
            arguments.kernel,
            topology,
            given,
            with_data=not arguments.no_data,
            keep_inputs=arguments.keep_inputs,
            seed=arguments.seed,
            device=arguments.device,
        )
    path = Path(arguments.output)
    content_sha256 = write_trace(path, captured.trace)
    if arguments.json:
        print_json(figures(captured.trace, captured.outputs, path, content_sha256))
    else:
        machine = machine_text(captured.trace, arguments.device)
        print(summary_text(captured.trace, captured.outputs, path, content_sha256, given, machine))
    wrong = wrong_outputs(captured.outputs)
    for line in wrong:
        print(f"kerntape: {line}", file=sys.stderr)
    return WRONG_RESULT if wrong else DONE


def given_arguments(texts: Sequence[str]) -> dict[str, str]:
    """`name=value` texts as a mapping. Raises UsageError for one that is not, or a name twice."""
    from ..schemas.errors import UsageError

    given: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--arg must be NAME=VALUE, not '{text}'")
        if name.strip() in given:
            raise UsageError(f"--arg {name.strip()} must be given once, not twice")
        given[name.strip()] = value.strip()
    return given


def figures(
    trace: "Trace", outputs: dict[str, "OutputReport"], path: "Path", content_sha256: str
) -> dict[str, object]:
    """What --json prints; its keys stay. `bytes` is the file's size.

    `max_abs_err` is null without a reference, without data, and where it is no finite number.
    """
    return {
        "trace": path.name,
        "pes": len(trace.pes),
        "commands": trace.command_count,
        "bytes": path.stat().st_size,
        "content_sha256": content_sha256,
        "distinct_streams": len(trace.streams),
        "outputs": {
            name: {
                "shape": list(output.shape),
                "dtype": output.dtype,
                "max_abs_err": output.finite_error,
                "tolerance": output.tolerance,
            }
            for name, output in outputs.items()
        },
    }


def summary_text(
    trace: "Trace",
    outputs: dict[str, "OutputReport"],
    path: "Path",
    content_sha256: str,
    given: Iterable[str],
    machine: str,
) -> str:
    """The same for a person. Of the kernel's arguments it shows the given ones."""
    from .printing import aligned

    header = trace.header
    arguments = ", ".join(f"{name} {header.arguments[name]}" for name in given)
    streams = len(trace.streams)
    rows = [
        ["kernel", f"{header.kernel} ({arguments})" if arguments else header.kernel],
        ["PEs", f"{len(trace.pes):,} on {machine}"],
        ["commands", f"{trace.command_count:,} in {streams:,} distinct stream{_s(streams)}"],
        ["size", f"{path.stat().st_size:,} bytes"],
        ["content", content_sha256],
        *([f"output {name}", _output_text(output)] for name, output in outputs.items()),
    ]
    return f"{path.name}\n{aligned(rows)}"


def machine_text(trace: "Trace", device: str | None) -> str:
    """The topology, with the SIPs that the launch may use where `--device` names them."""
    name = str(trace.header.topology["name"])
    return name if device is None else f"{name} (device {device})"


def wrong_outputs(outputs: dict[str, "OutputReport"]) -> list[str]:
    """A line for each output that is not what its reference says."""
    return [
        f"output '{name}' is wrong: its largest error is {_error_text(output)}"
        for name, output in outputs.items()
        if not output.is_right
    ]


def _error_text(output: "OutputReport") -> str:
    if output.finite_error is None:
        infinite = output.max_abs_err == inf
        what = "infinite; an infinity" if infinite else "not a number; NaN"
        return f"{what} is in the result or in the reference"
    return f"{output.finite_error:.3g}, its tolerance {output.tolerance:.3g}"


def _output_text(output: "OutputReport") -> str:
    what = f"{list(output.shape)} {output.dtype}"
    if output.max_abs_err is None:
        return f"{what}, not compared"
    verdict = "right" if output.is_right else "WRONG"
    return f"{what}, {verdict}: largest error {_error_text(output)}"


def _s(count: int) -> str:
    return "" if count == 1 else "s"
