"""Whole processes measured side by side, and logs to measure them on."""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("VALOR_SHARED") or ROOT.parent / "shared")
CORPUS = SHARED / "corpus" / "commits.jsonl"
VALOR = Path(sys.executable).with_name("valor")
LOG = "grimoires/loa/memory/observations.jsonl"


@dataclass(frozen=True)
class Cost:
    """One finished process: wall and CPU seconds, peak memory in KiB."""

    wall: float
    cpu: float
    memory: int


def run(command: Sequence[str], cwd: Path, env: dict[str, str], stdin: bytes = b"") -> Cost:
    """What the process and its children cost. ``stdin`` has to fit in a pipe."""
    reading, writing = os.pipe()
    os.write(writing, stdin)
    os.close(writing)
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdin=reading, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(reading)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} exited {process.returncode}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)


def interleave(runs: int, *sides: Callable[[], Cost]) -> list[list[Cost]]:
    """Each side once to warm up, then all of them in turn, so that drift hits them alike."""
    for side in sides:
        side()
    costs: list[list[Cost]] = [[] for _ in sides]
    for _ in range(runs):
        for number, side in enumerate(sides):
            costs[number].append(side())
    return costs


def ratio(one: list[Cost], other: list[Cost], of: str) -> float:
    """The median of the pairwise ratios."""
    return statistics.median(getattr(a, of) / getattr(b, of) for a, b in zip(one, other, strict=True))


def log_of(count: int) -> bytes:
    """``count`` lines: the shared corpus, repeated with new ids, or made up where there is none."""
    if CORPUS.is_file():
        lines = CORPUS.read_bytes().splitlines()
    else:
        words = [f"{a}{b}" for a in ("cache", "socket", "merge", "token", "queue") for b in range(400)]
        chance = random.Random(1)
        lines = [
            json.dumps({
                "id": f"obs-{1700000000 + n}-{n:08x}",
                "timestamp": "2026-01-01T00:00:00Z",
                "session_id": f"session-{n // 3}",
                "type": chance.choice(["error", "decision", "learning"]),
                "summary": " ".join(chance.choices(words, k=7)),
                "tool": "Edit",
                "private": False,
                "details": " ".join(chance.choices(words, k=45)),
                "tags": chance.choices(words, k=2),
                "references": [f"{chance.randrange(16**9):09x}"],
            }).encode()
            for n in range(10_000)
        ]  # fmt: skip
    out = []
    for number in range(count):
        line = lines[number % len(lines)]
        round_ = number // len(lines)
        out.append(line.replace(b"obs-", b"obs-%d" % round_, 1) if round_ else line)
    return b"\n".join(out) + b"\n"


class Bench:
    """Scratch repositories with a state folder, and the rows as they are measured."""

    def __init__(self, scratch: Path, runs: int) -> None:
        self.scratch = scratch
        self.runs = runs
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(scratch),
            "XDG_STATE_HOME": str(scratch / "state"),
            "VALOR_RUNTIME_DIR": str(scratch / "run"),
            "PYTHONDONTWRITEBYTECODE": "",
        }

    def repo(self, name: str, lines: int) -> Path:
        root = self.scratch / name
        root.mkdir()
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        (root / LOG).parent.mkdir(parents=True)
        (root / LOG).write_bytes(log_of(lines) if lines else b"")
        return root

    def row(self, what: str, value: float, bar: str, held: bool | None) -> None:
        mark = "" if held is None else "  held" if held else "  NOT HELD"
        print(f"{what:<66}{value:>9.3f}  {bar:<10}{mark}", flush=True)
