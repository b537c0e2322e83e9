"""Work in a second process: the same result, and no trace of the child."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from valor import beside as module
from valor.beside import beside


@pytest.fixture(autouse=True)
def _a_core_to_spare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_is_worthwhile", lambda: True)


def here() -> bytes:
    return str(os.getpid()).encode()


def test_the_work_is_done_in_another_process_that_is_gone_afterwards() -> None:
    child = int(beside(here)())
    assert child != os.getpid()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_result_larger_than_a_pipe_comes_whole() -> None:
    assert beside(lambda: b"x" * 1_000_000)() == b"x" * 1_000_000
    assert beside(lambda: b"")() == b""


def test_a_child_that_is_killed_costs_time_alone() -> None:
    parent = os.getpid()

    def work() -> bytes:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return b"done here"

    assert beside(work)() == b"done here"


def test_an_error_is_raised_where_the_result_is_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> bytes:
        raise LookupError("no such line")

    wait = beside(work)
    with pytest.raises(LookupError, match="no such line"):
        wait()
    assert capfd.readouterr() == ("", "")


def test_without_a_child_to_be_had_the_work_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError

    next_free = os.dup(0)
    os.close(next_free)
    monkeypatch.setattr(os, "fork", refuse)
    assert beside(here)() == here()
    assert os.dup(0) == next_free  # no descriptor is left open
    os.close(next_free)


def test_threads_or_a_single_core_keep_the_work_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert beside(here)() == here()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    done = threading.Event()
    waiting = threading.Thread(target=done.wait)
    waiting.start()
    try:
        assert beside(here)() == here()
    finally:
        done.set()
        waiting.join()
