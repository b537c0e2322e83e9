"""Work done in a second process meanwhile, where there is a core for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable


def beside(work: Callable[[], bytes]) -> Callable[[], bytes]:
    """Start ``work`` in a forked child; the function returned waits for what it gives.

    Where a child cannot be had (one core, threads running, no process left) or came to grief, ``work`` is
    done here, when it is waited for: the result and the errors are those of calling ``work``. It must
    have no other effect than its result.
    """
    if not _is_worthwhile():
        return work
    reading, writing = os.pipe()
    try:
        child = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        return work
    if not child:
        _do(work, reading, writing)
    os.close(writing)

    def wait() -> bytes:
        with open(reading, "rb") as pipe:  # noqa: PTH123  (a descriptor, no path)
            given = pipe.read()
        _, status = os.waitpid(child, 0)
        return work() if status else given

    return wait


def _is_worthwhile() -> bool:
    threads = sys.modules.get("threading")
    alone = threads is None or threads.active_count() == 1  # a fork copies no thread but holds their locks
    return alone and len(os.sched_getaffinity(0)) > 1 if hasattr(os, "sched_getaffinity") else False


def _do(work: Callable[[], bytes], reading: int, writing: int) -> None:
    """The child's whole life. It leaves without the parent's farewells: buffers, exit handlers, locks."""
    status = 1
    try:
        os.close(reading)
        given = work()
        while given:
            given = given[os.write(writing, given) :]
        status = 0
    finally:
        os._exit(status)
