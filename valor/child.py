"""Run a command that is fed lines and heard out, and bound everything it may do.

Nothing that the command does can hold its caller: not to read, not to write, to write without end, to
hang, to ignore signals, to leave processes behind. It runs in a session of its own, so that all that
it started can be ended with it; what leaves that session (setsid) is out of reach. It has no terminal.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import IO, Any

GRACE = 2.0  # seconds: to end after a SIGTERM, and to end where its output has, or the other way round

_TICK = 0.05  # seconds between two looks whether the command has ended while its output is still open
_CHUNK = 65_536
_TAIL = 16_384  # bytes of standard error that are kept
_LAST_STEPS = 64  # reads after the end, more than a pipe holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How it went: ``cause`` is "" for exit status 0 and all heard, else what the command did, such as
    "ran into the time-out of 60 s". ``error`` is the end of its standard error, from the start of a line.
    """

    cause: str
    error: bytes = b""


def run(
    words: Sequence[str],
    lines: Iterable[bytes],
    hear: Callable[[bytes], None],
    *,
    seconds: float,
    most: int,
    cwd: Path,
    environment: Mapping[str, str],
) -> Ending:
    """Run the command, no shell between, with ``lines`` as its standard input.

    ``hear`` gets its standard output piece by piece. After ``seconds``, or once it has written more than
    ``most`` bytes, it is ended: SIGTERM, then SIGKILL after ``GRACE``. However this returns, also by an
    exception, all of the command's session is gone.
    """
    try:
        process = subprocess.Popen(
            words,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=dict(environment),
            start_new_session=True,
        )
    except OSError as error:
        return Ending(cause=f"could not be started: {error.filename or words[0]}: {error.strerror}")
    except ValueError as error:  # a NUL byte in a word
        return Ending(cause=f"could not be started: {error}")
    talk = _Talk(process, lines, hear, most)
    try:
        cause = _converse(process, talk, seconds)
    finally:
        _end(process, talk)
    return Ending(cause=cause, error=talk.error())


class _Talk:
    """The three pipes of a command, served as each is ready, so that none waits for another."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        lines: Iterable[bytes],
        hear: Callable[[bytes], None],
        most: int,
    ) -> None:
        assert process.stdin and process.stdout and process.stderr
        self.most = most
        self._heard = 0
        self._lines = iter(lines)
        self._unsent = memoryview(b"")
        self._hear = hear
        self._tail = b""
        self._stdin, self._stdout = process.stdin, process.stdout
        self._selector = selectors.DefaultSelector()
        for pipe, event, serve in (
            (process.stdin, selectors.EVENT_WRITE, self._write),
            (process.stdout, selectors.EVENT_READ, self._read),
            (process.stderr, selectors.EVENT_READ, self._note),
        ):
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, event, serve)

    @property
    def listening(self) -> bool:
        """Whether more may come."""
        return not self._stdout.closed

    @property
    def flooded(self) -> bool:
        """Whether too much came."""
        return self._heard > self.most

    def step(self, seconds: float) -> bool:
        """Serve the pipes that are ready, after waiting for one at most so long; False where none was."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            key.data(key.fileobj)
        return bool(ready)

    def hush(self) -> None:
        """Say no more."""
        self._close(self._stdin)

    def close(self) -> None:
        """Take what is in the pipes already, and close them."""
        self.hush()
        for _ in range(_LAST_STEPS):  # who escaped may be writing still
            if not self.step(0):
                break
        for key in list(self._selector.get_map().values()):
            self._close(key.fileobj)
        self._selector.close()

    def error(self) -> bytes:
        """The end of standard error; a line that was cut is left out, for it may start within a secret."""
        return self._tail.partition(b"\n")[2] if len(self._tail) > _TAIL else self._tail

    def _write(self, pipe: IO[bytes]) -> None:
        self._unsent = self._unsent or memoryview(next(self._lines, b""))
        if not self._unsent:
            self._close(pipe)
            return
        try:
            self._unsent = self._unsent[os.write(pipe.fileno(), self._unsent) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:  # it need not hear us out
            self._close(pipe)

    def _read(self, pipe: IO[bytes]) -> None:
        chunk = self._chunk(pipe)
        self._heard += len(chunk)
        if chunk and not self.flooded:
            self._hear(chunk)

    def _note(self, pipe: IO[bytes]) -> None:
        self._tail = (self._tail + self._chunk(pipe))[-_TAIL - 1 :]

    def _chunk(self, pipe: IO[bytes]) -> bytes:
        try:
            chunk = os.read(pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return b""
        if not chunk:
            self._close(pipe)
        return chunk

    def _close(self, pipe: Any) -> None:
        if not pipe.closed:
            self._selector.unregister(pipe)
            pipe.close()


def _converse(process: subprocess.Popen[bytes], talk: _Talk, seconds: float) -> str:
    """Talk until the command has ended and its output with it; else what kept that from coming."""
    deadline = monotonic() + seconds
    late, half_over = f"ran into the time-out of {seconds:g} s", False
    while (code := process.poll()) is None or talk.listening:
        if talk.flooded:
            return f"printed more than {talk.most:,} bytes"
        if not half_over and (code is not None or not talk.listening):
            half_over = True
            if monotonic() + GRACE < deadline:
                deadline = monotonic() + GRACE
                late = "closed its output and went on" if code is None else _status(code)
                late = late or "ended, and left a process that kept its output open"
        left = deadline - monotonic()
        if left <= 0:
            return late
        talk.step(min(left, _TICK))
    return _status(code)


def _status(code: int) -> str:
    """What an exit status tells; "" for 0."""
    if code >= 0:
        return f"ended with exit status {code}" if code else ""
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _end(process: subprocess.Popen[bytes], talk: _Talk) -> None:
    """End the command and all that it started, gently first; what it says meanwhile is heard."""
    try:
        talk.hush()
        deadline = monotonic() + GRACE
        alive = _signal(process, signal.SIGTERM)
        while alive and monotonic() < deadline:
            talk.step(_TICK)
            process.poll()  # one that ended counts as a member until it is waited for
            alive = _signal(process, 0)
    finally:
        _signal(process, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):  # stuck in the kernel: nothing more can be done
            process.wait(GRACE)
        talk.close()


def _signal(process: subprocess.Popen[bytes], number: int) -> bool:
    """Send a signal to the command's group; False where that has no member that could get one.

    A group keeps its number from being given away while it has members, also after its leader.
    """
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):  # the latter is macOS's word for: all have ended
        return False
    return True
