"""What valor costs and how well it finds: ratios measured side by side, printed as a table.

Every figure is a median of interleaved runs of whole processes on this machine; times are only
given as ratios to something anyone can run. Quality is measured on the labelled sets in the shared
folder beside the checkout where there is one, and left out where there is none.
"""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import bench_consolidate
import bench_hooks
from measure import CORPUS, LOG, ROOT, SHARED, VALOR, Bench, Cost, interleave, ratio, run

EMPTY_APP = """
import typer
app = typer.Typer()
@app.command()
def one(name: str = "x"): pass
@app.command()
def two(name: str = "y"): pass
app()
"""


def starts(bench: Bench) -> None:
    """CPU of each command's start against an empty two-command Typer application's."""
    app = bench.scratch / "empty.py"
    app.write_text(EMPTY_APP)
    root = bench.repo("starts", 0)
    subprocess.run([str(VALOR), "observe", "the bench writes a line", "--owner", "observations"],
                   cwd=root, env=bench.env, check=True, stdout=subprocess.DEVNULL)  # fmt: skip
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
            bench.runs,
            lambda arguments=arguments: run(
                [str(VALOR), *(one.format(n=next(count)) for one in arguments)], root, bench.env
            ),
            lambda: run([sys.executable, str(app), "one"], root, bench.env),
        )
        value = ratio(ours, empty, "cpu")
        bench.row(f"start of {name}: CPU / an empty Typer app's", value, "<= 1.4", value <= 1.4)


def queries(bench: Bench) -> None:
    """memory-query against jq doing the same filter on the same file."""
    jq = shutil.which("jq")
    if jq is None:
        print("memory-query against jq: left out, there is no jq on this machine")
        return
    program = '[.[] | select(.private != true) | select(.type == "error")] | .[-5:] | reverse | .[]'
    for lines, bar in ((10_018, 1.0), (100_000, 0.5)):
        root = bench.repo(f"query{lines}", lines)
        ours, theirs = interleave(
            max(5, bench.runs // (1 if lines < 50_000 else 2)),
            lambda root=root: run(
                [str(VALOR), "memory-query", "--type", "error", "--limit", "5"], root, bench.env
            ),
            lambda root=root: run([jq, "-s", program, str(root / LOG)], root, bench.env),
        )
        value = ratio(ours, theirs, "wall")
        bench.row(
            f"memory-query --type error, {lines:,} lines: wall / jq -s", value, f"<= {bar}", value <= bar
        )
    value = ratio(ours, theirs, "memory")
    bench.row("memory-query, 100,000 lines: peak memory / jq -s", value, "<= 1.0", value <= 1.0)


def searches(bench: Bench) -> None:
    root = bench.scratch / "query10018"
    if not root.exists():
        root = bench.repo("query10018", 10_018)
    words = ["memory-query", "connection pool timeout after fork"]
    ours, listing = interleave(
        max(5, bench.runs // 2),
        lambda: run([str(VALOR), *words], root, bench.env),
        lambda: run([str(VALOR), "memory-query"], root, bench.env),
    )
    bench.row(
        "free-text memory-query / a plain list, 10,018 lines: wall",
        ratio(ours, listing, "wall"),
        "",
        None,
    )


def observes(bench: Bench) -> None:
    """observe at 100,000 lines against 100: the log's length must not be felt."""
    small, large = bench.repo("observe100", 100), bench.repo("observe100000", 100_000)
    count = iter(range(10**6))

    def write(root: Path) -> Cost:
        text = f"the socket closes before reply {next(count)} was read"
        return run([str(VALOR), "observe", text, "--owner", "observations"], root, bench.env)

    at_large, at_small = interleave(bench.runs, lambda: write(large), lambda: write(small))
    value = ratio(at_large, at_small, "wall")
    bench.row("observe at 100,000 lines: wall / at 100 lines", value, "<= 1.3", value <= 1.3)

    def replaced(root: Path) -> Cost:
        # As after a pull: same content, another file.
        fresh = root / "fresh"
        shutil.copyfile(root / LOG, fresh)
        fresh.replace(root / LOG)
        return write(root)

    at_large, at_small = interleave(bench.runs, lambda: replaced(large), lambda: replaced(small))
    value = ratio(at_large, at_small, "wall")
    bench.row("  the same, the file replaced before each: wall / at 100 lines", value, "", None)

    def cold(root: Path) -> Cost:
        shutil.rmtree(bench.scratch / "state" / "valor" / "digests", ignore_errors=True)
        return write(root)

    at_large, at_small = interleave(3, lambda: cold(large), lambda: cold(small))
    value = ratio(at_large, at_small, "wall")
    bench.row("  the same, the digest index gone: wall / at 100 lines", value, "", None)


def quality(bench: Bench) -> None:
    """The labelled sets, where they are."""
    if not CORPUS.is_file():
        print("quality: left out, the shared corpus is not beside this checkout")
        return
    query = report(bench, "eval", "query", str(SHARED / "corpus" / "queries.jsonl"), "--log", str(CORPUS))
    bench.row("eval query: mrr", query["mrr"], ">= 0.79", query["mrr"] >= 0.79)
    bench.row("eval query: hit@5", query["hit@5"], ">= 0.90", query["hit@5"] >= 0.90)
    route = report(bench, "eval", "route", str(SHARED / "routing" / "dev.jsonl"))
    accuracy, coverage = route["accuracy_decided"], route["coverage"]
    bench.row("eval route: accuracy over decided", accuracy, ">= 0.85", accuracy >= 0.85)
    bench.row("eval route: coverage", coverage, ">= 0.70", coverage >= 0.70)
    bench.row(
        "eval route: ambiguous left ambiguous",
        route["ambiguous_left"],
        "> 0.5",
        route["ambiguous_left"] > 0.5,
    )
    bench.row(
        "eval route: secrets routed to a store",
        route["secrets_routed"],
        "0",
        route["secrets_routed"] == 0,
    )
    pairs = report(bench, "eval", "pairs", str(SHARED / "corpus" / "pairs.jsonl"))
    for key, bar, at_most in (
        ("false_merge_rate", 0.006, True),
        ("suggest_false_rate", 0.10, True),
        ("duplicates_auto", 0.25, False),
        ("duplicates_found", 0.60, False),
        ("supersedes_found", 0.60, False),
    ):
        held = pairs[key] <= bar if at_most else pairs[key] >= bar
        bench.row(f"eval pairs: {key}", pairs[key], f"{'<=' if at_most else '>='} {bar}", held)
    root = bench.repo("import", 0)
    done = subprocess.run([str(VALOR), "import", str(CORPUS)], cwd=root, env=bench.env, capture_output=True)
    alarms = len(json.loads(done.stdout)["refused_secret"])
    bench.row("secret detector: false alarms in 10,018 records", alarms, "<= 5", alarms <= 5)


def report(bench: Bench, *arguments: str) -> dict[str, float]:
    done = subprocess.run([str(VALOR), *arguments], cwd=ROOT, env=bench.env, capture_output=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15, help="interleaved runs of each pair")
    parser.add_argument("--only", help="one of: " + ", ".join(PARTS))
    chosen = parser.parse_args()
    # In /tmp, since the path of a server's socket has to be short.
    with tempfile.TemporaryDirectory(prefix="valor-", dir="/tmp") as folder:
        bench = Bench(Path(folder), chosen.runs)
        try:
            for name, part in PARTS.items():
                if chosen.only in (None, name):
                    part(bench)
        finally:
            subprocess.run([VALOR, "server", "stop"], cwd=folder, env=bench.env, stderr=subprocess.DEVNULL)


PARTS: dict[str, Callable[[Bench], None]] = {
    "starts": starts,
    "queries": queries,
    "searches": searches,
    "observes": observes,
    "hooks": bench_hooks.hooks,
    "mirror": bench_hooks.mirror,
    "consolidate": bench_consolidate.consolidate,
    "quality": quality,
}

if __name__ == "__main__":
    main()
