"""What valor costs and how well it finds: ratios measured side by side, printed as a table.

Every figure is a median of interleaved runs of whole processes on this machine; times are only
given as ratios to something anyone can run. Quality is measured on the labelled sets in the shared
folder beside the checkout where there is one, and left out where there is none.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("VALOR_SHARED") or ROOT.parent / "shared")
CORPUS = SHARED / "corpus" / "commits.jsonl"
VALOR = Path(sys.executable).with_name("valor")
LOG = "grimoires/loa/memory/observations.jsonl"
EMPTY_APP = """
import typer
app = typer.Typer()
@app.command()
def one(name: str = "x"): pass
@app.command()
def two(name: str = "y"): pass
app()
"""


@dataclass(frozen=True)
class Cost:
    """One finished process: wall and CPU seconds, peak memory in KiB."""

    wall: float
    cpu: float
    memory: int


def run(command: Sequence[str], cwd: Path, env: dict[str, str]) -> Cost:
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
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
    """A scratch repository a log size, and the rows measured so far."""

    def __init__(self, scratch: Path, runs: int) -> None:
        self.scratch = scratch
        self.runs = runs
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(scratch),
            "XDG_STATE_HOME": str(scratch / "state"),
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

    def starts(self) -> None:
        """CPU of each command's start against an empty two-command Typer application's."""
        app = self.scratch / "empty.py"
        app.write_text(EMPTY_APP)
        root = self.repo("starts", 0)
        subprocess.run([str(VALOR), "observe", "the bench writes a line", "--owner", "observations"],
                       cwd=root, env=self.env, check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        count = itertools.count()
        commands = {
            "memory-query": ["memory-query"],
            "observe": ["observe", "the socket closes before the reply {n} is read, so the worker retries"],
            "route": ["route", "the socket closes before the reply is read"],
            "consolidate": ["consolidate", "--dry-run"],
            "verify": ["verify"],
            "export": ["export"],
            "init": ["init", "--dry-run"],
        }
        for name, arguments in commands.items():
            ours, empty = interleave(
                self.runs,
                lambda arguments=arguments: run(
                    [str(VALOR), *(one.format(n=next(count)) for one in arguments)], root, self.env
                ),
                lambda: run([sys.executable, str(app), "one"], root, self.env),
            )
            value = ratio(ours, empty, "cpu")
            self.row(f"start of {name}: CPU / an empty Typer app's", value, "<= 1.4", value <= 1.4)

    def queries(self) -> None:
        """memory-query against jq doing the same filter on the same file."""
        jq = shutil.which("jq")
        if jq is None:
            print("memory-query against jq: left out, there is no jq on this machine")
            return
        program = '[.[] | select(.private != true) | select(.type == "error")] | .[-5:] | reverse | .[]'
        for lines, bar in ((10_018, 1.0), (100_000, 0.5)):
            root = self.repo(f"query{lines}", lines)
            ours, theirs = interleave(
                max(5, self.runs // (1 if lines < 50_000 else 2)),
                lambda root=root: run(
                    [str(VALOR), "memory-query", "--type", "error", "--limit", "5"], root, self.env
                ),
                lambda root=root: run([jq, "-s", program, str(root / LOG)], root, self.env),
            )
            value = ratio(ours, theirs, "wall")
            self.row(
                f"memory-query --type error, {lines:,} lines: wall / jq -s", value, f"<= {bar}", value <= bar
            )
        value = ratio(ours, theirs, "memory")
        self.row("memory-query, 100,000 lines: peak memory / jq -s", value, "<= 1.0", value <= 1.0)

    def searches(self) -> None:
        root = self.scratch / "query10018"
        if not root.exists():
            root = self.repo("query10018", 10_018)
        words = ["memory-query", "connection pool timeout after fork"]
        ours, listing = interleave(
            max(5, self.runs // 2),
            lambda: run([str(VALOR), *words], root, self.env),
            lambda: run([str(VALOR), "memory-query"], root, self.env),
        )
        self.row(
            "free-text memory-query / a plain list, 10,018 lines: wall",
            ratio(ours, listing, "wall"),
            "",
            None,
        )

    def observes(self) -> None:
        """observe at 100,000 lines against 100: the log's length must not be felt."""
        small, large = self.repo("observe100", 100), self.repo("observe100000", 100_000)
        count = iter(range(10**6))

        def write(root: Path) -> Cost:
            text = f"the socket closes before reply {next(count)} was read"
            return run([str(VALOR), "observe", text, "--owner", "observations"], root, self.env)

        at_large, at_small = interleave(self.runs, lambda: write(large), lambda: write(small))
        value = ratio(at_large, at_small, "wall")
        self.row("observe at 100,000 lines: wall / at 100 lines", value, "<= 1.3", value <= 1.3)

        def replaced(root: Path) -> Cost:
            # As after a pull: same content, another file.
            fresh = root / "fresh"
            shutil.copyfile(root / LOG, fresh)
            fresh.replace(root / LOG)
            return write(root)

        at_large, at_small = interleave(self.runs, lambda: replaced(large), lambda: replaced(small))
        value = ratio(at_large, at_small, "wall")
        self.row("  the same, the file replaced before each: wall / at 100 lines", value, "", None)

        def cold(root: Path) -> Cost:
            shutil.rmtree(self.scratch / "state" / "valor" / "digests", ignore_errors=True)
            return write(root)

        at_large, at_small = interleave(3, lambda: cold(large), lambda: cold(small))
        value = ratio(at_large, at_small, "wall")
        self.row("  the same, the digest index gone: wall / at 100 lines", value, "", None)

    def quality(self) -> None:
        """The labelled sets, where they are."""
        if not CORPUS.is_file():
            print("quality: left out, the shared corpus is not beside this checkout")
            return
        query = self._report("eval", "query", str(SHARED / "corpus" / "queries.jsonl"), "--log", str(CORPUS))
        self.row("eval query: mrr", query["mrr"], ">= 0.79", query["mrr"] >= 0.79)
        self.row("eval query: hit@5", query["hit@5"], ">= 0.90", query["hit@5"] >= 0.90)
        route = self._report("eval", "route", str(SHARED / "routing" / "dev.jsonl"))
        accuracy, coverage = route["accuracy_decided"], route["coverage"]
        self.row("eval route: accuracy over decided", accuracy, ">= 0.85", accuracy >= 0.85)
        self.row("eval route: coverage", coverage, ">= 0.70", coverage >= 0.70)
        self.row(
            "eval route: ambiguous left ambiguous",
            route["ambiguous_left"],
            "> 0.5",
            route["ambiguous_left"] > 0.5,
        )
        self.row(
            "eval route: secrets routed to a store",
            route["secrets_routed"],
            "0",
            route["secrets_routed"] == 0,
        )
        root = self.repo("import", 0)
        done = subprocess.run(
            [str(VALOR), "import", str(CORPUS)], cwd=root, env=self.env, capture_output=True
        )
        alarms = len(json.loads(done.stdout)["refused_secret"])
        self.row("secret detector: false alarms in 10,018 records", alarms, "<= 5", alarms <= 5)

    def _report(self, *arguments: str) -> dict[str, float]:
        done = subprocess.run(
            [str(VALOR), *arguments], cwd=ROOT, env=self.env, capture_output=True, check=True
        )
        report: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15, help="interleaved runs of each pair")
    parser.add_argument("--only", help="one of: " + ", ".join(PARTS))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="valor-bench-") as folder:
        bench = Bench(Path(folder), chosen.runs)
        for name, part in PARTS.items():
            if chosen.only in (None, name):
                part(bench)


PARTS: dict[str, Callable[[Bench], None]] = {
    "starts": Bench.starts,
    "queries": Bench.queries,
    "searches": Bench.searches,
    "observes": Bench.observes,
    "quality": Bench.quality,
}

if __name__ == "__main__":
    main()
