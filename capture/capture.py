"""Captures a kernel: runs its launch function, then the kernel on every PE, and returns the trace.

The trace depends on the kernel's files, its arguments and the topology, and on nothing else: not on
the seed, nor on whether values are computed, nor on where or when it runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from ..schemas.errors import ConfigError, UsageError
from ..schemas.topology import Topology
from ..schemas.trace import KeptInputs, PeEntry, TensorInfo, Trace, TraceHeader
from .data import DataStore
from .device import chosen_device, whole_machine
from .hbm_layout import Images, PeTensors, images, lay_out
from .kernel_arguments import seen_by_pe
from .kernel_files import LoadedKernel, loaded_kernel
from .launch_arguments import LaunchArgument, bind_arguments
from .outputs import OutputReport, report
from .runner import Launch, Program, Recording, run_kernel
from .runtime import LaunchRequest, Runtime, Tensor


@dataclass(frozen=True, slots=True)
class CaptureResult:
    """The trace, and each output by name: how far it is from its reference."""

    trace: Trace
    outputs: dict[str, OutputReport]


def capture(
    kernel: str,
    topology: Topology,
    arguments: Mapping[str, str],
    *,
    with_data: bool = True,
    keep_inputs: bool = False,
    seed: int = 0,
    device: str | None = None,
) -> CaptureResult:
    """The trace of a shipped kernel's name or a user's `file.py:function`, its `--arg` texts given.

    `device` names the SIPs that the launch may use, as `--device` does; all unless given.
    Raises UsageError for inputs to keep without data; ConfigError for a kernel, a device, an argument
    or a tensor that cannot be; KernelError and KernelRaisedError as capture.runner does. Outputs that
    are wrong are reported, not raised.
    """
    if keep_inputs and not with_data:
        raise UsageError("--keep-inputs keeps values, and --no-data makes none; leave one out")
    used = whole_machine(topology) if device is None else chosen_device(topology, device)
    with loaded_kernel(kernel) as loaded:
        bound = bind_arguments(loaded.launch, arguments, loaded.name)
        rt = Runtime(used, with_data=with_data, seed=seed)
        with loaded.running(loaded.name):
            loaded.launch(rt, **bound)
        return _run(loaded, bound, rt, with_data, keep_inputs)


def _run(
    loaded: LoadedKernel,
    bound: Mapping[str, LaunchArgument],
    rt: Runtime,
    with_data: bool,
    keep_inputs: bool,
) -> CaptureResult:
    if rt.launched is None:
        raise ConfigError(f"{loaded.name} must call rt.launch(kernel, grid, …), and did not")
    pes = lay_out(rt.tensors, rt.launched.grid, rt.device)
    seen = None
    if with_data:
        with loaded.running(f"{loaded.name}, making values,"):
            seen = images(rt.tensors, pes)
    inputs = _kept(rt.tensors, pes, seen) if seen is not None and keep_inputs else None
    recording = run_kernel(_launch(rt, rt.launched, pes), None if seen is None else DataStore(seen))
    with loaded.running(f"{loaded.name}, in a reference,"):
        outputs = {str(each.tensor.name): report(each, pes, seen) for each in rt.outputs}
    header = _header(loaded, bound, rt, rt.launched, recording)
    return CaptureResult(_trace(header, recording, pes, inputs), outputs)


def _launch(rt: Runtime, request: LaunchRequest, pes: tuple[PeTensors, ...]) -> Launch:
    """The request with each PE's own part of every tensor among the kernel's arguments."""
    arguments = [seen_by_pe(argument) for argument in request.arguments]
    keywords = {name: seen_by_pe(argument) for name, argument in request.keywords.items()}
    programs = [
        Program(
            pe.rank,
            (place.pe, place.cube, place.sip),
            tuple(seen(pe) for seen in arguments),
            {name: seen(pe) for name, seen in keywords.items()},
            pe,
        )
        for pe, place in zip(pes, request.grid.places(), strict=True)
    ]
    return Launch(request.kernel, request.grid.extents, rt.topology, tuple(programs))


def _kept(tensors: list[Tensor], pes: tuple[PeTensors, ...], seen: Images) -> KeptInputs:
    """The images by the rank whose HBM holds them."""
    return KeptInputs(
        {
            (pe.owners[tensor.number], tensor.number): seen[pe.rank, tensor.number].tobytes()
            for pe in pes
            for tensor in tensors
        }
    )


def _header(
    loaded: LoadedKernel,
    bound: Mapping[str, LaunchArgument],
    rt: Runtime,
    request: LaunchRequest,
    recording: Recording,
) -> TraceHeader:
    output_numbers = {output.tensor.number for output in rt.outputs}
    return TraceHeader(
        kernel=loaded.name,
        arguments=dict(bound) | rt.resolved,
        topology=rt.topology.model_dump(mode="json"),
        grid=request.grid.extents,
        tool_version=version("kerntape"),
        sources=loaded.source_hashes(line.file for line in recording.lines),
        tensors=tuple(
            TensorInfo(
                name=str(tensor.name),
                shape=tensor.shape,
                dtype=tensor.dtype.value,
                placement=str(tensor.placement.on_machine(rt.device)),
                is_output=tensor.number in output_numbers,
            )
            for tensor in rt.tensors
        ),
    )


def _trace(
    header: TraceHeader,
    recording: Recording,
    pes: tuple[PeTensors, ...],
    inputs: KeptInputs | None,
) -> Trace:
    entries = [
        PeEntry(
            pe.rank,
            stream,
            (*pe.owners, *(part.owner for part in far)),
            (*pe.bases, *(part.base for part in far)),
        )
        for pe, stream, far in zip(pes, recording.stream_numbers, recording.far_parts, strict=True)
    ]
    return Trace(
        header=header,
        strings=recording.strings,
        geometries=recording.geometries,
        forms=recording.forms,
        lines=recording.lines,
        streams=recording.streams,
        pes=tuple(entries),
        inputs=inputs,
    )
