"""What a kernel's author is told about messages that go wrong: the whole report, for each mistake.

The kernels are tests/support/message_kernels.py, one small function a mistake. Those that only a replay
shows are in tests/replay/test_message_mistakes.py.
"""

import pytest
from kerntape.capture.messages import UnreceivedMessageError
from kerntape.schemas.errors import CaptureDeadlockError, KernelError
from message_kernels import captured, line_of


def report(name: str, error: type[KernelError] = KernelError, **arguments: object) -> str:
    """What capture says of the kernel, which it refuses with this very class of error."""
    with pytest.raises(error) as refused:
        captured(name, **arguments)
    assert type(refused.value) is error
    return str(refused.value)


@pytest.mark.parametrize("with_data", [True, False])
def test_a_send_that_nobody_receives(with_data: bool):
    assert report("nobody_receives", UnreceivedMessageError, with_data=with_data) == (
        "2 messages were sent and never received; the first: [8] f32 from PE 0 at"
        f" {line_of('unheard')}, which PE 1 must receive from 'W'"
    )


def test_messages_received_in_the_wrong_order():
    sent, received = line_of("eight first"), line_of("four first")
    assert report("received_in_the_wrong_order") == (
        f"the message from 'W' is [8] f32, sent by PE 0 at {sent}, and must be received as such,"
        f" not as [4] f32 (PE 1, {received})"
    )


def test_messages_that_only_their_values_tell_apart_make_the_output_wrong():
    # [[1, 2], [3, 4]] with its rows exchanged: every value is 2 off
    output = captured("swapped").outputs["y"]
    assert output.max_abs_err == 2.0
    assert not output.is_right


def test_two_pes_that_both_receive_first_and_a_third_that_waits_on_them():
    first, tail = line_of("receive first"), line_of("tail")
    assert report("both_receive_first", CaptureDeadlockError) == (
        "capture deadlock: 3 of 3 PEs wait and none can go on;"
        f" cycle: PE 0 at {first} waits for message 1 from 'E' (PE 1)"
        f" → PE 1 at {first} waits for message 1 from 'W' (PE 0);"
        f" waiting on it: PE 2 at {tail} waits for message 1 from 'W' (PE 1)"
    )


def test_a_direction_that_the_machine_does_not_have():
    assert report("no_such_direction") == (
        f"no direction 'cube_E'; known: N, S, E, W (PE 0, {line_of('no direction')})"
    )


def test_a_direction_that_leads_off_the_machine():
    assert report("off_the_machine") == (
        "direction 'N' leads off the machine from pe 0 of cube 0 of sip 0"
        f" (PE 0, {line_of('no neighbour')})"
    )


@pytest.mark.parametrize(
    ("receive", "text", "where"),
    [
        (0, "tl.empty: every extent must be at least 1, not [4, 0]", "empty send"),
        (1, "tl.recv: every extent must be at least 1, not [0]", "empty receive"),
    ],
)
def test_a_message_of_no_elements_is_refused_at_either_end(receive: int, text: str, where: str):
    assert report("nothing_to_send", receive=receive) == f"{text} (PE 0, {line_of(where)})"


def test_two_receives_outstanding_on_one_queue_get_their_messages_in_the_order_of_asking():
    assert captured("two_receives_outstanding").outputs["y"].max_abs_err == 0.0


def test_a_reduction_over_a_row_and_then_one_over_all_do_not_mix():
    outputs = captured("subgroup_then_all").outputs
    assert {name: output.max_abs_err for name, output in outputs.items()} == {"row": 0, "total": 0}
