"""Queues between PEs: fragments, cut-through, credits, send depth, order.

Slots of 64 bytes and two of them; every copy and link 1 byte a ns, a hop 1 ns, a credit 10 ns.
A message of 8 f16 elements is 16 bytes, one of 96 elements three fragments of 64 bytes.
"""

from decimal import Decimal

from kerntape.replay.components.pe_ipcq import fragments
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.stages import StageKind, Why

SEND, RECV, RECV_ASYNC = CommandKind.SEND, CommandKind.RECV, CommandKind.RECV_ASYNC


def a_message(build, elements: int):
    """Sender and receiver of one message from PE 0 to PE 1."""
    there = type(build)()
    build.message(SEND, "E", build.handle((elements,)))
    there.message(RECV, "W", there.handle((elements,)))
    return build, there


def test_a_message_is_copied_out_crosses_the_link_and_is_copied_in(build, run_trace, pair):
    # out 10–26; the link from its first bytes on, 1 ps behind; arrived a hop of 1 ns later; in 16 ns
    assert run_trace(*a_message(build, 8), machine=pair).rows() == [
        ("dispatch", 0, 10),
        ("accept", 10, 10),
        ("send", 10, 26),
        ("link", 10.001, 26.001),
        ("dispatch", 0, 10),
        ("recv", 27.001, 43.001),
    ]


def test_the_receiver_is_blocked_until_the_message_is_in(build, run_trace, pair):
    here, there = a_message(build, 8)
    there.overhead(1)
    here.overhead(1)
    dispatches = run_trace(here, there, machine=pair).rows(StageKind.DISPATCH)
    assert dispatches == [
        ("dispatch", 0, 10),
        ("dispatch", 10, 11),
        ("dispatch", 0, 10),
        ("dispatch", 43.001, 44.001),
    ]


def test_the_third_fragment_waits_for_the_credit_of_the_first(build, run_trace, pair):
    replayed = run_trace(*a_message(build, 96), machine=pair)
    # fragment 0: out 10–74, arrived 75.001, in until 139.001; its credit is back at 149.001
    assert replayed.rows(StageKind.SEND) == [
        ("send", 10, 74),
        ("send", 74, 138),
        ("send", 149.001, 213.001),
    ]
    assert replayed.causes(StageKind.SEND)[2][1] is Why.CREDIT


def test_a_deeper_queue_needs_no_credit(build, run_trace, pair):
    deeper = pair.model_copy(update={"ipcq": pair.ipcq.model_copy(update={"depth": 3})})
    replayed = run_trace(*a_message(build, 96), machine=deeper)
    assert replayed.rows(StageKind.SEND)[2] == ("send", 138, 202)


def test_a_send_is_accepted_when_the_send_two_before_it_has_departed(build, run_trace, pair):
    there = type(build)()
    for _ in range(3):
        build.message(SEND, "E", build.handle((32,)))
        there.message(RECV, "W", there.handle((32,)))
    replayed = run_trace(build, there, machine=pair)
    # 64 bytes each: the first departs at 74, the third is dispatched at 30 and accepted at 74
    assert replayed.rows(StageKind.ACCEPT) == [
        ("accept", 10, 10),
        ("accept", 20, 20),
        ("accept", 74, 74),
    ]
    assert replayed.causes(StageKind.ACCEPT)[2][1] is Why.SEND_DEPTH


def test_two_outstanding_recv_async_on_one_queue_receive_in_order(build, run_trace, pair):
    there = type(build)()
    for elements in (8, 16):
        build.message(SEND, "E", build.handle((elements,)))
        there.message(RECV_ASYNC, "W", there.handle((elements,)))
    replayed = run_trace(build, there, machine=pair)
    # 16 bytes then 32: out 10–26 and 26–58, in 27.001–43.001 and 59.001–91.001
    assert replayed.rows(StageKind.RECV) == [("recv", 27.001, 43.001), ("recv", 59.001, 91.001)]


def test_a_late_receiver_delays_the_copy_and_not_the_departure(build, run_trace, pair):
    here, there = build, type(build)()
    there.overhead(500)
    here, there_message = a_message(here, 8)
    there.rows += there_message.rows
    there.placed += there_message.placed
    replayed = run_trace(here, there, machine=pair)
    assert replayed.rows(StageKind.SEND) == [("send", 10, 26)]
    assert replayed.rows(StageKind.RECV) == [("recv", 510, 526)]


def test_a_slow_link_is_the_narrowest_hop_of_the_message(build, run_trace, pair, calibration):
    noc = calibration.noc.model_copy(update={"pe_link_bytes_per_ns": Decimal("0.5")})
    slow = calibration.model_copy(update={"noc": noc})
    replayed = run_trace(*a_message(build, 8), machine=pair, calibration=slow)
    assert replayed.rows(StageKind.LINK) == [("link", 10.001, 42.001)]


def test_an_empty_message_is_one_fragment_and_takes_a_picosecond_a_copy(build, run_trace, pair):
    replayed = run_trace(*a_message(build, 0), machine=pair)
    assert replayed.rows(StageKind.SEND) == [("send", 10, 10.001)]
    assert len(replayed.rows(StageKind.RECV)) == 1


def test_a_message_is_cut_into_full_slots_and_a_rest(pair):
    assert list(fragments(150, pair.ipcq)) == [64, 64, 22]
    assert list(fragments(128, pair.ipcq)) == [64, 64]
    assert list(fragments(0, pair.ipcq)) == [0]
