"""Time limits for what has none of its own, and clean-ups that nothing interrupts.

For the main thread of a command: both work by signals.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

_ENDINGS = (signal.SIGTERM, signal.SIGHUP)
_AGAIN = 1.0  # seconds; the first alarm may be taken for a server's silence


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the block once it has run for so long."""

    def ring(*_: object) -> NoReturn:
        raise TimeoutError(f"no end after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def ending_by_exception() -> Iterator[None]:
    """Let a signal that ends the process unwind the block first, as Ctrl-C does."""

    def end(number: int, _: object) -> NoReturn:
        raise SystemExit(128 + number)

    # One that is ignored (nohup) stays so.
    before = {number: signal.getsignal(number) for number in _ENDINGS}
    heard = [number for number in _ENDINGS if before[number] is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keep alarms, Ctrl-C and the signals that end a process waiting until the block is through."""
    held = {signal.SIGALRM, signal.SIGINT, *_ENDINGS}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
