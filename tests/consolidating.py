"""Logs to consolidate, a person at a terminal, and a judge who takes as long as the test wants."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import servers
from conftest import VALOR, Repo, Result

from valor import fold, log, record

SAME = "the page cache must be warmed after each deploy"
SAME_AGAIN = "Page cache must really be warmed after each deploy."
LIKELY = "after every deploy the page cache has to be warmed"
PORT = "the metrics server listens on port {}"
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

# Takes the terminal that it was started with as its own, so that Ctrl-C typed there is a signal.
_ON_A_TERMINAL = (
    "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    " os.execv(sys.argv[1], sys.argv[1:])"
)


def line(name: str, day: int = 1, summary: str = SAME, **facts: Any) -> dict[str, Any]:
    return {
        "id": name,
        "timestamp": f"2026-09-{day:02}T10:00:00Z",
        "type": "learning",
        "summary": summary,
    } | facts


def view_of(*records: dict[str, Any]) -> fold.View:
    """The view of a log with these lines."""
    return fold.fold(log.split(json.dumps(one).encode() + b"\n" for one in records))


def sure() -> list[dict[str, Any]]:
    """A line that is said twice."""
    return [line("a"), line("b", 2, SAME_AGAIN)]


def unsure() -> list[dict[str, Any]]:
    """A line that is likely said twice."""
    return [line("p", 3, "the nightly backup skips the files that are open"), line("q", 4, LIKELY_BACKUP)]


LIKELY_BACKUP = "the nightly backup skips files which are open at that time"


def torn() -> list[dict[str, Any]]:
    """Two lines that may contradict."""
    return [line("x", 5, PORT.format(8080)), line("y", 6, PORT.format(8081))]


def add(repo: Repo, *lines: dict[str, Any]) -> None:
    with repo.log.open("ab") as file:
        file.write(b"".join(json.dumps(one).encode() + b"\n" for one in lines))


def live(repo: Repo) -> set[str]:
    view = fold.fold(log.lines(repo.log))
    return {record.identifier(one.record) for one in view.live()}


def marks(repo: Repo) -> list[dict[str, Any]]:
    return [one for one in repo.lines() if one["type"] in record.MARKS]


def said(result: Result, what: str) -> str:
    """The one line of talk that holds ``what``."""
    (found,) = [row for row in result.err.splitlines() if what in row]
    return found


def picture(*folders: Path) -> dict[str, tuple[Any, ...]]:
    """Every file and folder: what it is, what is in it, when it was last changed."""
    found: dict[str, tuple[Any, ...]] = {}
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            facts = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(facts.st_mode) else b""
            found[str(path)] = (facts.st_mode, facts.st_ino, facts.st_mtime_ns, facts.st_ctime_ns, content)
    return found


class Person:
    """Somebody at a terminal where the command runs."""

    def __init__(self, repo: Repo, *arguments: str, **env: str) -> None:
        self._main, child = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", _ON_A_TERMINAL, str(VALOR), *arguments],
            cwd=repo.root,
            env=repo.env | {"TERM": "xterm", "COLUMNS": "200"} | env,
            stdin=child,
            stdout=child,
            stderr=child,
        )
        os.close(child)
        self.seen = ""

    def read_until(self, text: str) -> None:
        deadline = time.monotonic() + 60
        while text not in self.seen:
            assert time.monotonic() < deadline, self.seen
            assert self._read(), self.seen

    def type(self, text: str) -> None:
        os.write(self._main, text.encode())

    def leave(self) -> int:
        """The exit code, once all is read."""
        while self._read():
            pass
        os.close(self._main)
        return self.process.wait(timeout=60)

    def _read(self) -> bool:
        if not select.select([self._main], [], [], 60)[0]:
            return False
        try:
            piece = os.read(self._main, 65536)
        except OSError:  # how Linux says that the other end is closed
            return False
        self.seen += piece.decode(errors="replace")
        return bool(piece)


class Judge:
    """A judge made of a few lines of Python: ``rows`` are its questions, ``say`` answers one, ``wait`` waits
    until the test lets it go on."""

    _START = """\
import json, os, sys, time
rows = [json.loads(row) for row in sys.stdin]
def say(row, verdict, reason=""):
    print(json.dumps({{"id": row["id"], "verdict": verdict, "reason": reason}}), flush=True)
def wait():
    open({asked!r}, "w").close()
    while not os.path.exists({go!r}):
        time.sleep(0.005)
open({heard!r}, "w").write(json.dumps(rows))
"""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.asked, self.go, self.heard = (folder / name for name in ("asked", "go", "heard"))

    def command(self, source: str) -> str:
        script = self.folder / "judge.py"
        names = {"asked": str(self.asked), "go": str(self.go), "heard": str(self.heard)}
        script.write_text(self._START.format(**names) + source)
        return shlex.join([sys.executable, "-I", "-S", str(script)])

    def questions(self) -> list[dict[str, Any]]:
        """What it was asked."""
        found: list[dict[str, Any]] = json.loads(self.heard.read_text())
        return found


@contextmanager
def running(repo: Repo, *arguments: str, **env: str) -> Iterator[Callable[[], Result]]:
    """The command in the background; calling what this gives waits for its end."""
    process = subprocess.Popen(
        [VALOR, *arguments],
        cwd=repo.root,
        env=repo.env | env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )

    def end() -> Result:
        out, err = process.communicate(timeout=120)
        return Result(process.returncode, out.decode(), err.decode())

    try:
        yield end
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.communicate()


@contextmanager
def undecided(
    repo: Repo, judge: Judge, *flags: str, source: str = "wait()"
) -> Iterator[Callable[[], Result]]:
    """A run that has made its plan and waits for the judge; calling what this gives lets it go on."""
    with running(repo, "consolidate", *flags, "--judge", judge.command(source)) as end:
        servers.wait_for(judge.asked.exists, 60)

        def go_on() -> Result:
            judge.go.touch()
            return end()

        yield go_on
