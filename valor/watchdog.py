"""Starts the private server, watches it, stops it when nobody asks any more, and cleans up.

A process of its own, started by ``valor.server`` as a file, so that it costs little:

    python -I -S watchdog.py LIFE WATCH READY IDLE STEM PROGRAM [ARGUMENT ...]

LIFE and WATCH are descriptors of two locked files. The server inherits the first: it stays locked
until watchdog and server are both gone, so nobody can start a second server on the socket. READY is
a pipe: "ok" goes there once the server answers, or what it said when it would not start. IDLE is in
seconds. STEM is the socket's path without ``.sock``.
"""

from __future__ import annotations

import _signal
import posix
import select
import sys
from time import monotonic, sleep

sys.path.append(__file__.rpartition("/")[0].rpartition("/")[0])

from valor.address import Address
from valor.errors import WireError
from valor.wire import Connection

_START = 10.0  # seconds that a server may take to answer at first
_GRACE = 2.0  # seconds between asking the server to end and ending it; and to answer a check
_MISSES = 3  # checks in a row without an answer: it hangs
_LONGEST_SLEEP = 30.0
_TO_END = (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP)


def main(arguments: list[str]) -> None:
    """Run until the server is gone."""
    life, watch, ready = map(int, arguments[:3])
    idle, stem, command = float(arguments[3]), arguments[4], arguments[5:]
    if posix.fork():  # nobody's child, so nobody has to wait for us
        posix._exit(0)
    posix.umask(0o077)
    posix.set_inheritable(watch, False)
    posix.set_inheritable(ready, False)
    wakes = _signals()
    child = _spawn(command, f"{stem}.log")
    try:
        _note(f"{stem}.pid", f"{posix.getpid()} {child}\n")
        fault = _until_it_answers(child, f"{stem}.sock")
        posix.write(ready, (f"{fault}\n{_said(f'{stem}.log')}" if fault else "ok").encode())
        posix.close(ready)
        if not fault:
            _watch(child, f"{stem}.sock", idle, wakes)
    finally:
        _end(child)
        if _same(life, f"{stem}.lock"):  # else somebody removed it, and a later server may be there
            for suffix in ("sock", "pid", "log", "watch", "lock"):  # the lock last
                _unlink(f"{stem}.{suffix}")


def _signals() -> int:
    """The end of a pipe that gets the number of each signal: to end, or that the server has changed."""
    reading, writing = posix.pipe()
    posix.set_blocking(writing, False)
    for number in (*_TO_END, _signal.SIGCHLD):
        _signal.signal(number, lambda *_: None)
    _signal.set_wakeup_fd(writing)
    return reading


def _spawn(command: list[str], log: str) -> int:
    """The server's process id. Its environment is empty: it inherits no secret and no setting."""
    actions = [(posix.POSIX_SPAWN_OPEN, 1, log, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC, 0o600)]
    try:
        return posix.posix_spawn(
            command[0], command, {}, file_actions=[*actions, (posix.POSIX_SPAWN_DUP2, 1, 2)]
        )
    except OSError:
        return 0


def _until_it_answers(child: int, socket: str) -> str:
    """Wait for the first answer; "" for one, else what went wrong."""
    deadline = monotonic() + _START
    while monotonic() < deadline:
        if _gone(child):
            return "it ended at once"
        if _commands(socket) is not None:
            return ""
        sleep(0.002)
    return f"it did not answer within {_START:g} s"


def _watch(child: int, socket: str, idle: float, wakes: int) -> None:
    """Return when the server is gone, idle for ``idle`` seconds, hung or out of reach, or when told to."""
    pause = min(_LONGEST_SLEEP, idle / 8)
    place = posix.stat(socket).st_ino
    count, since, misses = _commands(socket), monotonic(), 0
    while misses < _MISSES:
        if select.select([wakes], [], [], pause)[0]:
            told = posix.read(wakes, 512)
            if _gone(child) or any(number in _TO_END for number in told):
                return
            continue  # it was merely stopped or continued
        try:
            if posix.stat(socket).st_ino != place:
                return
        except OSError:
            return
        now = _commands(socket)
        misses = misses + 1 if now is None else 0
        # Our own question is the one command that an idle server has run since the last check.
        if count is None or now is None or now != count + 1:
            since = monotonic()
        elif monotonic() - since >= idle:
            return
        count = now


def _commands(socket: str) -> int | None:
    """How many commands the server has run, this one not counted; None where it does not answer."""
    try:
        with Connection(Address(socket), monotonic() + _GRACE) as connection:
            lines = connection.call("INFO", "stats").split(b"\r\n")
    except WireError:
        return None
    return int(dict(line.split(b":", 1) for line in lines if b":" in line)[b"total_commands_processed"])


def _end(child: int) -> None:
    """End the server, gently first. It is our child: its number is nobody else's until we waited."""
    if _gone(child):
        return
    posix.kill(child, _signal.SIGTERM)
    deadline = monotonic() + _GRACE
    while monotonic() < deadline:
        if _gone(child):
            return
        sleep(0.005)
    posix.kill(child, _signal.SIGKILL)
    posix.waitpid(child, 0)


def _gone(child: int) -> bool:
    try:
        return child == 0 or posix.waitpid(child, posix.WNOHANG)[0] == child
    except ChildProcessError:
        return True


def _note(path: str, text: str) -> None:
    with open(path, "w") as file:  # noqa: PTH123 (pathlib would double this process's start)
        file.write(text)


def _said(path: str) -> str:
    """The last lines of the server's own log."""
    try:
        with open(path, errors="replace") as file:  # noqa: PTH123
            return "".join(file.readlines()[-3:])
    except OSError:
        return ""


def _same(descriptor: int, path: str) -> bool:
    try:
        return posix.fstat(descriptor).st_ino == posix.stat(path).st_ino
    except OSError:
        return False


def _unlink(path: str) -> None:
    try:  # noqa: SIM105 (contextlib would double this process's start)
        posix.unlink(path)
    except OSError:
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
