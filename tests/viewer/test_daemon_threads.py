"""Work in threads that nobody has to wait for."""

import threading

import pytest
from kerntape.viewer.daemon_threads import DaemonThreads


def test_the_result_or_the_error_is_the_future_s():
    threads = DaemonThreads()
    assert threads.submit(lambda a, b: a + b, 2, b=3).result(timeout=10) == 5
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 // 0).result(timeout=10)


def test_pieces_of_work_run_at_the_same_time_and_ending_waits_for_none():
    threads, meeting, never = DaemonThreads(), threading.Barrier(3), threading.Event()
    for _ in range(2):
        threads.submit(meeting.wait, 10)
    meeting.wait(10)
    at_work = threads.submit(never.wait)
    threads.shutdown(wait=True)
    assert not at_work.done()
    never.set()
    assert at_work.result(timeout=10)


def test_the_threads_end_with_the_program():
    found = DaemonThreads().submit(lambda: threading.current_thread().daemon)
    assert found.result(timeout=10)
