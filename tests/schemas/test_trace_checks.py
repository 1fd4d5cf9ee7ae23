"""Everything that a trace may not say, each with its place and its words."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from kerntape.schemas.commands import CommandForm, CommandKind, OpForm, Scope
from kerntape.schemas.dtypes import DType
from kerntape.schemas.errors import FileError
from kerntape.schemas.form_checks import check_form
from kerntape.schemas.handles import Geometry, Space
from kerntape.schemas.trace import STREAM_COLUMNS, KeptInputs, PeEntry, Stream, Trace
from kerntape.schemas.trace_checks import check_trace
from kerntape.schemas.trace_file import parse_trace, trace_bytes
from small_traces import (
    PAIR,
    RECV,
    SCALE,
    SEND,
    SQUARE,
    StreamBuilder,
    Tables,
    gemm,
    programmed,
    receiver,
    sender,
    single,
    tile_loop,
    two_pes,
    with_inputs,
)


def poke(stream: int, column: str, row: int, value: int) -> Trace:
    """two_pes with one entry of one stream's column changed."""
    trace = two_pes()
    changed = getattr(trace.streams[stream], column).copy()
    changed[row] = value
    streams = list(trace.streams)
    streams[stream] = replace(streams[stream], **{column: changed})
    return replace(trace, streams=tuple(streams))


def with_form(number: int, form: CommandForm) -> Trace:
    trace = two_pes()
    forms = list(trace.forms)
    forms[number] = form
    return replace(trace, forms=tuple(forms))


def with_topology(**changes: Any) -> Trace:
    trace = two_pes()
    return replace(trace, header=replace(trace.header, topology=PAIR | changes))


def with_grid(*grid: int) -> Trace:
    trace = two_pes()
    return replace(trace, header=replace(trace.header, grid=grid))


def with_pe(number: int, **changes: Any) -> Trace:
    trace = two_pes()
    pes = list(trace.pes)
    fields = {"rank": 0, "stream": 0, "owners": (), "bases": ()}
    kept = {name: getattr(pes[number], name) for name in fields}
    pes[number] = PeEntry(**(kept | changes))
    return replace(trace, pes=tuple(pes))


def two_pes_but(change: Callable[[Any, Any], None]) -> Trace:
    """two_pes, after `change` has added commands to the receiver's and the sender's stream."""
    tables = Tables()
    builders = (receiver(tables), sender(tables))
    change(*builders)
    streams = tuple(build.stream() for build in builders)
    return replace(two_pes(), **tables.trace_fields(), streams=streams)


def a_send_more(_: Any, sending: Any) -> None:
    sending.command(30, single(CommandKind.SEND, SEND, "W"), [7])


def a_receive_more(receiving: Any, _: Any) -> None:
    receiving.command(30, single(CommandKind.RECV, RECV, "E"), [8])


def a_send_off_the_edge(receiving: Any, _: Any) -> None:
    receiving.command(30, single(CommandKind.SEND, SEND, "W"), [8])


def refused(trace: Trace) -> str:
    """What check_trace says of the trace; the file says the same, its name before and a remedy behind."""
    with pytest.raises(FileError) as caught:
        check_trace(trace)
    message = str(caught.value)
    assert "\n" not in message
    with pytest.raises(FileError) as from_file:
        parse_trace(trace_bytes(trace), "x.ktrace")
    assert str(from_file.value) == f"x.ktrace: {message}; capture it again"
    return message


@pytest.mark.parametrize("trace", [two_pes(), with_inputs(two_pes()), tile_loop(3, pes=4)])
def test_a_sound_trace_passes(trace: Trace) -> None:
    check_trace(trace)


def test_a_launch_in_which_nothing_happens_is_sound() -> None:
    trace = tile_loop(1)
    columns = {name: getattr(trace.streams[0], name) for name in STREAM_COLUMNS}
    idle = Stream(**{name: column[:0] for name, column in columns.items()})
    for nothing in (
        replace(trace, streams=(idle,)),
        replace(trace, strings=(), geometries=(), forms=(), lines=(), streams=(idle,)),
    ):
        check_trace(nothing)
        assert parse_trace(trace_bytes(nothing), "x").trace.streams == (idle,)


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (
            poke(0, "lines", 3, 99),
            "PE 0, command 3: its source line must be from 0 to 12 (there are 13), not 99",
        ),
        (
            poke(1, "lines", 0, -1),
            "PE 1, command 0: its source line must be from 0 to 12 (there are 13), not -1",
        ),
        (
            poke(0, "geometries", 5, 12),
            "PE 0, handle 5: its geometry must be from 0 to 11 (there are 12), not 12",
        ),
        (
            poke(1, "labels", 2, 11),
            "PE 1, handle 2: its label must be from 0 to 10 (there are 11), not 11",
        ),
        # slot 7 is the third slot of command 2, whose slots begin behind the 2 + 5 of 0 and 1
        (poke(0, "slots", 9, 11), "PE 0, command 2: handle 11 must be one of the PE's 11"),
        (poke(0, "slots", 0, -1), "PE 0, command 0: handle -1 must be one of the PE's 11"),
        (
            poke(0, "waits", 0, 1),
            "PE 0, command 1: a wait must be for an earlier command, not for command 1",
        ),
        (
            poke(0, "waits", 1, 7),
            "PE 0, command 3: a wait must be for an earlier command, not for command 7",
        ),
        (
            poke(1, "waits", 2, -1),
            "PE 1, command 7: a wait must be for an earlier command, not for command -1",
        ),
    ],
)
def test_every_id_exists_and_every_wait_looks_back(trace: Trace, message: str) -> None:
    assert refused(trace) == message


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        # handle 7 is [8, 16] f32: 512 bytes
        (
            poke(0, "addresses", 7, 8192 - 511),
            "PE 0, handle 7: must end within the TCM's 8192 bytes, not at 8193",
        ),
        (
            poke(0, "addresses", 7, -4),
            "PE 0, handle 7: its address must be from 0 to 1125899906842624, not -4",
        ),
        (
            poke(0, "tensors", 7, 0),
            "PE 0, handle 7: the tensor of a handle in TCM must be -1, not 0",
        ),
        (poke(0, "tensors", 0, 4), "PE 0, handle 0: tensor 4 must be one of the PE's 4"),
        (poke(0, "tensors", 0, -1), "PE 0, handle 0: tensor -1 must be one of the PE's 4"),
        # k is [16, 32] f16 in steps of 128: its hull is 15 · 128 + 31 · 2 + 2 = 1984 bytes
        (
            poke(0, "addresses", 2, (1 << 20) - 4096 - 1983),
            "PE 0, tensor 1: its handles must end within the owner's 1048576 bytes of HBM,"
            " not at 1048577",
        ),
        # handle 10 is [8, 16] f32 in tensor 3, whose base is the greatest
        (
            poke(0, "addresses", 10, (1 << 20) - 16384 - 511),
            "PE 0, tensor 3: its handles must end within the owner's 1048576 bytes of HBM,"
            " not at 1048577",
        ),
        (
            with_pe(1, bases=(0, 4096, 8192, (1 << 20) + 1)),
            "PE 1, tensor 3: its base must be from 0 to 1048576 (the HBM's size), not 1048577",
        ),
        (
            with_pe(1, owners=(0, 1, 2, 0)),
            "PE 1, tensor 2: its owner must be from 0 to 1 (there are 2), not 2",
        ),
    ],
)
def test_all_memory_fits(trace: Trace, message: str) -> None:
    assert refused(trace) == message


def test_a_handle_may_reach_far_into_a_tensor_that_lies_low_beside_one_that_lies_high() -> None:
    # tensor 1's handle ends at 4096 + 512 Ki + 1984; tensor 3, based at 768 Ki, has one of 512 bytes
    trace = poke(0, "addresses", 2, 1 << 19)
    pes = [pe._replace(bases=(0, 4096, 8192, 3 << 18)) for pe in trace.pes]
    check_trace(replace(trace, pes=tuple(pes)))


def test_a_pe_may_see_more_tensors_than_another_and_use_them() -> None:
    trace = poke(1, "tensors", 0, 4)
    pes = (trace.pes[0], PeEntry(1, 1, (0, 1, 1, 0, 1), (0, 4096, 8192, 16384, 0)))
    check_trace(replace(trace, pes=pes))
    message = "PE 0, handle 0: tensor 4 must be one of the PE's 4"
    assert refused(replace(poke(0, "tensors", 0, 4), pes=pes)) == message


def test_commands_that_name_handles_need_some() -> None:
    trace = two_pes()
    none = np.zeros(0, np.int32)
    without = {"geometries": none, "addresses": none.astype(np.int64), "tensors": none}
    streams = tuple(replace(stream, **without, labels=none) for stream in trace.streams)
    assert refused(replace(trace, streams=streams)) == (
        "the file must hold handles, as its commands have 52 slots, not none"
    )


def test_a_handle_may_end_where_its_memory_ends() -> None:
    check_trace(poke(0, "addresses", 7, 8192 - 512))
    check_trace(poke(0, "addresses", 2, (1 << 20) - 4096 - 1984))
    check_trace(poke(0, "addresses", 10, (1 << 20) - 16384 - 512))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        # handle 7 has 512 bytes, handle 9 has 4
        (8192 - 512, "PE 0, handle 9: must end within the TCM's 8192 bytes, not at 8196"),
        (8192 - 511, "PE 0, handle 7: must end within the TCM's 8192 bytes, not at 8193"),
    ],
)
def test_the_first_handle_that_ends_behind_its_memory_is_named(address: int, message: str) -> None:
    trace = poke(0, "addresses", 9, 8192)
    addresses = trace.streams[0].addresses.copy()
    addresses[7] = address
    streams = (replace(trace.streams[0], addresses=addresses), trace.streams[1])
    assert refused(replace(trace, streams=streams)) == message


def test_an_empty_handle_covers_nothing_but_must_begin_inside() -> None:
    trace = poke(0, "addresses", 9, 8192)
    geometries = list(trace.geometries)
    geometries[8] = Geometry((0,), (4,), DType.I32, Space.TCM)
    trace = replace(trace, geometries=tuple(geometries))
    check_trace(trace)


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (with_grid(2, 2, 1), "header.grid[1] must be at most 1 CUBEs, not 2"),
        (with_grid(3, 1, 1), "header.grid[0] must be at most 2 PEs, not 3"),
        (with_grid(1, 1, 1), "a grid of [1, 1, 1] must have 1 PEs, not 2"),
        (with_pe(1, rank=2), "PE entry 1: its rank must be from 0 to 1 (there are 2), not 2"),
        (with_pe(1, rank=0), "PE entry 1: its rank must be above 0, the one before, not 0"),
        (with_pe(1, stream=2), "PE entry 1: its stream must be from 0 to 1 (there are 2), not 2"),
        (with_pe(1, stream=0), "stream 1 must be run by a PE, and none does"),
        (
            with_topology(sips=0),
            "the header's topology: sips: must be at least 1, not 0",
        ),
    ],
)
def test_the_launch_fits_the_machine(trace: Trace, message: str) -> None:
    assert refused(trace) == message


LOAD_KIND, STORE_KIND, COMPOSITE = CommandKind.LOAD, CommandKind.STORE, CommandKind.COMPOSITE


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (
            with_form(6, single(CommandKind.SEND, SEND, "N\nE")),
            "forms[6]: the direction must be one of E, W, not 'N\\nE'",
        ),
        (
            with_form(0, single(LOAD_KIND, OpForm("load", ("src",), True), "E")),
            "forms[0]: a load must have no direction, not 'E'",
        ),
        (
            with_form(0, single(LOAD_KIND, OpForm("load", ("from",), True))),
            "forms[0]: a load must have operands ['src'] and an output, not ['from'] and an output",
        ),
        (
            with_form(8, single(STORE_KIND, OpForm("store", ("src", "to"), False))),
            "forms[8]: a store must have operands ['src'] and an output,"
            " not ['src', 'to'] and no output",
        ),
        (
            with_form(3, CommandForm(CommandKind.WAIT, ())),
            "forms[3]: a wait must have one op, not 0",
        ),
        (
            with_form(7, CommandForm(CommandKind.OVERHEAD, (OpForm("overhead", (), False),))),
            "forms[7]: overhead's cycles must be an integer from 0, not missing",
        ),
        (
            with_form(
                7,
                single(CommandKind.OVERHEAD, OpForm("overhead", (), False, (("cycles", 1.5),))),
            ),
            "forms[7]: overhead's cycles must be an integer from 0, not 1.5",
        ),
        (
            with_form(
                1, CommandForm(COMPOSITE, (gemm(8, 16, 32), replace(gemm(1, 1, 1), has_out=False)))
            ),
            "forms[1]: a composite must have at most one gemm, not 2",
        ),
        (
            with_form(1, CommandForm(COMPOSITE, (SCALE, gemm(8, 16, 32)))),
            "forms[1].ops[0]: the scope must be KERNEL, not OUTPUT_TILE:"
            " only an op behind the gemm runs per tile",
        ),
        (
            with_form(1, CommandForm(COMPOSITE, (gemm(8, 0, 32), SCALE))),
            "forms[1].ops[0]: gemm's k must be an integer from 1, not 0",
        ),
        (
            with_form(11, single(CommandKind.DOT, OpForm("matmul", ("a", "b"), True))),
            "forms[11]: a gemm must be a dot's or a composite's op, and a dot's op is one",
        ),
        (
            with_form(5, single(CommandKind.MATH, replace(SCALE, operands=("a", "b")))),
            "forms[5]: a math's scope must be KERNEL, not OUTPUT_TILE",
        ),
        (
            with_form(5, CommandForm(CommandKind.MATH, (OpForm("exp", ("src",), True),), 1)),
            "forms[5]: a math must have no read-write handles, not 1",
        ),
        (
            with_form(1, CommandForm(COMPOSITE, (gemm(8, 16, 31), SCALE))),
            "PE 0, command 1: the GEMM's b must have 496 elements, as its m, k and n say, not 512",
        ),
    ],
)
def test_every_form_is_one_that_its_kind_can_have(trace: Trace, message: str) -> None:
    assert refused(trace) == message


@pytest.mark.parametrize(
    ("ops", "message"),
    [
        (
            (gemm(8, 16, 32), replace(SCALE, has_out=False)),
            "forms[1].ops[1]: an op of a composite must have an output",
        ),
        (
            (gemm(8, 16, 32), replace(SCALE, scope=Scope.KERNEL), SCALE),
            "forms[1]: the ops that run per tile must come right behind the gemm, before any other",
        ),
    ],
)
def test_every_op_of_a_composite_has_an_output_and_its_phase(
    ops: tuple[OpForm, ...], message: str
) -> None:
    with pytest.raises(FileError) as caught:
        check_form(CommandForm(COMPOSITE, ops), "forms[1]", ())
    assert str(caught.value) == message


def test_a_load_reads_hbm_and_writes_as_much_tcm() -> None:
    target = int(two_pes().streams[0].slots[1])
    within_tcm = poke(0, "slots", 0, target)
    assert refused(within_tcm) == "PE 0, command 0: handle 0 of a load must be in HBM"


def test_a_load_writes_as_many_bytes_as_it_reads_and_not_all_loads_write_as_many() -> None:
    # q is [8, 16] f16, 256 bytes; handle 4 is m, [8] f32, 32 bytes
    assert refused(poke(0, "slots", 1, 4)) == (
        "PE 0, command 0: a load must write as many bytes as it reads"
    )

    def load_m(receiving: StreamBuilder, _: StreamBuilder) -> None:
        m = receiving.handle("m", (8,), DType.F32, 0, tensor=0)
        receiving.command(30, single(LOAD_KIND, OpForm("load", ("src",), True)), [m, 4])

    check_trace(two_pes_but(load_m))


def tile_op(op: OpForm, handles: Callable[[int], list[int]]) -> Trace:
    """two_pes, where PE 0 also has q·k and a tile op; `handles` gives the op's, told one in HBM."""

    def add(receiving: StreamBuilder, _: StreamBuilder) -> None:
        in_hbm = receiving.handle("s", (8, 32), DType.F32, 0, tensor=3)
        receiving.command(
            30, CommandForm(COMPOSITE, (gemm(8, 16, 32), op)), [1, 2, 3, *handles(in_hbm)]
        )

    return two_pes_but(add)


def test_a_tile_op_may_read_its_tile_and_write_it_in_hbm_but_reads_all_else_in_tcm() -> None:
    add = OpForm("add", ("src", "other"), True, scope=Scope.OUTPUT_TILE)
    check_trace(tile_op(add, lambda in_hbm: [3, 3, in_hbm]))
    check_trace(tile_op(add, lambda in_hbm: [in_hbm, 3, 3]))
    assert refused(tile_op(add, lambda in_hbm: [3, in_hbm, 3])) == (
        "PE 0, command 9: handle 4 of a composite must be in TCM"
    )
    kernel = replace(add, scope=Scope.KERNEL)
    assert refused(tile_op(kernel, lambda in_hbm: [3, 3, in_hbm])) == (
        "PE 0, command 9: handle 5 of a composite must be in TCM"
    )


def test_a_gemm_writes_m_times_n_elements() -> None:
    # command 1 is [8, 16]·[16, 32]; its slots begin behind the 2 of command 0; handle 4 is m, [8]
    assert refused(poke(0, "slots", 4, 4)) == (
        "PE 0, command 1: the GEMM's output must have 256 elements, as its m, k and n say, not 8"
    )


def test_a_composite_has_an_op() -> None:
    slotless = with_form(3, CommandForm(COMPOSITE, ()))
    assert refused(slotless) == "forms[3]: a composite must have an op, not none"


def test_scope_names_are_those_of_the_design() -> None:
    assert [scope.name for scope in Scope] == ["KERNEL", "K_TILE", "OUTPUT_TILE"]


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        (
            two_pes_but(a_send_more),
            "PE 1, command 8: sends to W for the 2nd time, and PE 0 receives there once",
        ),
        (
            two_pes_but(a_receive_more),
            "PE 0, command 9: receives from E for the 2nd time, and PE 1 sends there once",
        ),
        (
            two_pes_but(a_send_off_the_edge),
            "PE 0, command 9: direction W must lead to a PE of the launch, not where no PE is",
        ),
        # PE 1's send is [8, 16] f32, 512 bytes; handle 4 is m, [8] f32
        (
            poke(1, "slots", 21, 4),
            "PE 1, command 5: must send the 512 bytes that PE 0, command 4, receives, not 32",
        ),
    ],
)
def test_every_message_has_two_ends_of_one_size(trace: Trace, message: str) -> None:
    assert refused(trace) == message


def test_a_message_needs_a_launched_peer() -> None:
    alone = replace(two_pes(), pes=two_pes().pes[:1], streams=two_pes().streams[:1])
    alone = replace(alone, header=replace(alone.header, grid=(1, 1, 1)))
    assert refused(alone) == (
        "PE 0, command 4: direction E must lead to a PE of the launch,"
        " not to PE 1, which is not launched"
    )


def test_pes_that_run_one_stream_are_checked_against_each_stream_that_their_peers_run() -> None:
    # PE 0 and 2 send 32 bytes to the right, with one stream; PE 1 takes them, PE 3 expects 64
    sends = single(CommandKind.SEND, SEND, "E")
    receives = single(CommandKind.RECV, RECV, "W")
    trace = programmed(SQUARE, [[(sends, 8)], [(receives, 8)], [(sends, 8)], [(receives, 16)]])
    assert [pe.stream for pe in trace.pes] == [0, 1, 0, 2]
    assert refused(trace) == (
        "PE 2, command 0: must send the 64 bytes that PE 3, command 0, receives, not 32"
    )


def test_kept_inputs_belong_to_a_rank_and_a_tensor() -> None:
    trace = replace(two_pes(), inputs=KeptInputs({(0, 4): b""}))
    assert refused(trace) == (
        "the kept input of rank 0, tensor 4 must belong to one of 2 ranks and 4 tensors"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"slots": np.zeros(26, np.int32)},
            "the file must hold 52 slots, as its commands' forms say, not 51",
        ),
        (
            {"waits": np.zeros(3, np.int32)},
            "the file must hold 5 waits, as its counts say, not 6",
        ),
        (
            {"wait_counts": np.array([0, 1, 0, 1, 0, 0, 0, -1, 0], np.int32)},
            "PE 0, command 7: the number of waits must be from 0 to 5, not -1",
        ),
        ({"lines": np.zeros(8, np.int32)}, "column lines must be as long as forms, 17, not 16"),
        (
            {"tensors": np.zeros(12, np.int32)},
            "column tensors must be as long as geometries, 22, not 23",
        ),
    ],
)
def test_columns_fit_each_other(changes: dict[str, Any], message: str) -> None:
    trace = two_pes()
    first = replace(trace.streams[0], **changes)
    with pytest.raises(FileError) as caught:
        check_trace(replace(trace, streams=(first, trace.streams[1])))
    assert str(caught.value) == message


def test_slots_missing_in_one_stream_are_not_made_up_by_another() -> None:
    trace = two_pes()
    slots = np.concatenate([stream.slots for stream in trace.streams])
    streams: tuple[Stream, ...] = (
        replace(trace.streams[0], slots=slots[:26]),
        replace(trace.streams[1], slots=slots[26:]),
    )
    with pytest.raises(FileError) as caught:
        check_trace(replace(trace, streams=streams))
    assert str(caught.value) == (
        "stream 0 must have 27 slots and 2 waits, as its commands say, not 26 and 2"
    )


def test_a_form_that_does_not_exist_is_named_before_anything_is_looked_up_by_it() -> None:
    with pytest.raises(FileError) as caught:
        check_trace(poke(1, "forms", 3, 12))
    assert str(caught.value) == (
        "PE 1, command 3: its form must be from 0 to 11 (there are 12), not 12"
    )


def test_a_stream_that_several_pes_run_is_named_by_the_first() -> None:
    trace = tile_loop(2, pes=3)
    lines = trace.streams[0].lines.copy()
    lines[4] = 77
    broken = replace(trace, streams=(replace(trace.streams[0], lines=lines),))
    assert refused(broken) == (
        "PE 0, command 4: its source line must be from 0 to 2 (there are 3), not 77"
    )


def test_a_handle_needs_a_tensor_in_every_pe_that_runs_its_stream() -> None:
    trace = tile_loop(2, pes=3)
    pes = list(trace.pes)
    pes[2] = PeEntry(2, 0, (2, 2), (0, 4096))
    assert refused(replace(trace, pes=tuple(pes))) == (
        "PE 0, handle 7: tensor 2 must be one of the PE's 2"
    )
