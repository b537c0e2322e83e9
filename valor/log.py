"""The log file: read line by line, appended under a lock, never rewritten.

The file is the truth. A reader sees every whole line and names every bad one; a writer adds whole
lines at the end and nothing else.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from orjson import JSONDecodeError, loads

from valor import lock
from valor.errors import Unavailable
from valor.record import BOM, BadLine, Record, parse

_CHUNK = 1 << 14
_GAP = 0.1  # seconds; git needs well under one of the hundred milliseconds


class Line:
    """A readable line: its number (1-based), the byte it starts at, its bytes and its record.

    ``record`` is parsed anew at each use once ``held`` was set to None: a log of 100,000 lines fits
    in memory as bytes, not as dictionaries.
    """

    __slots__ = ("_bytes", "held", "number", "offset")

    def __init__(self, bytes_: bytes, number: int, offset: int, record: Record | None) -> None:
        self._bytes = bytes_
        self.number = number
        self.offset = offset
        self.held = record

    @property
    def record(self) -> Record:
        """The line's record; equal at each use, not always the same object."""
        known = self.held
        return parse(self.raw) if known is None else known

    @property
    def raw(self) -> bytes:
        """The line's bytes without its end."""
        return self._bytes.rstrip(b"\r\n")


class Bad:
    """A line that is no record: its number (1-based) and why."""

    __slots__ = ("number", "reason")

    def __init__(self, number: int, reason: str) -> None:
        self.number = number
        self.reason = reason


def lines(path: Path) -> Iterator[Line | Bad]:
    """Every line of the file, blank ones passed over; none where there is no file.

    Raises Unavailable where the file cannot be read.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Unavailable(f"{path} is no plain file", "move away what is there")
        with path.open("rb", buffering=1 << 20) as file:
            yield from split(file)
    except FileNotFoundError:
        return
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be read: {error.strerror}", "check the file's kind and mode"
        ) from None


def split(chunks: Iterable[bytes], number: int = 1, offset: int = 0) -> Iterator[Line | Bad]:
    """The lines in ``chunks`` (each one line with its newline), the first of which has this number
    and starts at this byte."""
    for raw in chunks:
        try:
            record = loads(raw)
        except JSONDecodeError:
            record = None
        if type(record) is dict:
            yield Line(raw, number, offset, record)
        else:
            yield from _mend(raw, number, offset)
        offset += len(raw)
        number += 1


def _mend(raw: bytes, number: int, offset: int) -> Iterator[Line | Bad]:
    """What is left to try for a line that is not plainly a record: blank, or behind a BOM."""
    bare = raw.strip().removeprefix(BOM)
    if bare:
        try:
            yield Line(raw, number, offset, parse(bare))
        except BadLine as error:
            yield Bad(number, error.reason)


class Appender:
    """The open, locked end of the file at ``path``; ``fd`` is the file that is there now."""

    def __init__(self, path: Path, timeout: float, stack: ExitStack) -> None:
        self.path = path
        self._timeout = timeout
        self._stack = stack
        self.fd = self._take()

    def _take(self) -> int:
        """Open and lock the file at the path, made with its folders where there is none."""
        while True:
            with ExitStack() as attempt:
                fd = _open(self.path)
                attempt.callback(os.close, fd)
                attempt.enter_context(lock.held(fd, str(self.path), self._timeout))
                # A pull or checkout may have put another file here while we waited: follow it.
                if _same_file(fd, self.path):
                    self._stack.push(attempt.pop_all())
                    return fd

    def write(self, encoded: Sequence[bytes]) -> int:
        """Append whole lines (each with its ``\n``) in one write and make them durable.

        A missing newline at the file's end is healed in the same write. Where git replaced the file
        in the meantime, the lines are written to the new one as well: the old one is gone with
        them. Returns the offset of the first new line. If the disk refuses, what was written of
        them is taken back.
        """
        offset = self._write(encoded)
        while not _same_file(self.fd, self.path):
            self.fd = self._take()
            offset = self._write(encoded)
        return offset

    def _write(self, encoded: Sequence[bytes]) -> int:
        size = os.fstat(self.fd).st_size
        heal = b"\n" if size and os.pread(self.fd, 1, size - 1) != b"\n" else b""
        payload = heal + b"".join(encoded)
        written = 0
        try:
            while written < len(payload):
                written += os.write(self.fd, payload[written:])
            os.fsync(self.fd)
        except OSError as error:
            # Only our own bytes, and only while nobody who ignores the lock wrote behind them.
            if written and os.fstat(self.fd).st_size == size + written:
                os.ftruncate(self.fd, size)
            raise Unavailable(
                f"{self.path} could not be written: {error.strerror}",
                "nothing was added; make room or check the disk, then run the command again",
            ) from None
        return size + len(heal)

    def line_at(self, offset: int) -> Record | None:
        """The record that starts at this byte; None where no record does."""
        raw = b""
        while b"\n" not in raw:
            chunk = os.pread(self.fd, _CHUNK, offset + len(raw))
            if not chunk:
                break
            raw += chunk
        try:
            return parse(raw.partition(b"\n")[0])
        except BadLine:
            return None


@contextmanager
def appending(path: Path, timeout: float) -> Iterator[Appender]:
    """The locked end of the file at ``path``; LockBusy after ``timeout`` seconds."""
    with ExitStack() as stack:
        yield Appender(path, timeout, stack)


def append(path: Path, encoded: Sequence[bytes], timeout: float) -> int:
    """Append whole lines to the file at ``path``; see ``Appender.write``."""
    with appending(path, timeout) as end:
        return end.write(encoded)


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
    try:
        fresh = not path.parent.is_dir()
        if fresh:
            path.parent.mkdir(parents=True, exist_ok=True)
        elif not path.exists():
            # git replaces a file by removing it first; a file of ours in that gap would stop its
            # checkout half-way. So a missing file is given a moment to come back.
            _wait_for(path)
        fd = os.open(path, flags | os.O_CREAT, 0o666)
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be opened for writing: {error.strerror}",
            "check that it is a plain file and that you may write it",
        ) from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise Unavailable(f"{path} is no plain file", "move away what is there")
    return fd


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + _GAP
    while time.monotonic() < deadline and not path.exists():
        time.sleep(_GAP / 20)


def _same_file(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False
