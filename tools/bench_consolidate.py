"""What a plan costs: the one measure in seconds, since the promise is a night's run that ends."""

from __future__ import annotations

import re
import statistics

from measure import LOG, VALOR, Bench, Cost, interleave, log_of, run

_LONG_WORD = re.compile(rb"[a-z]{8,}")
_EACH = 10_000  # lines before the texts repeat


def consolidate(bench: Bench) -> None:
    """consolidate --dry-run at 10,000 and 100,000 lines, every one of another text."""
    small, large = bench.repo("consolidate10000", 0), bench.repo("consolidate100000", 0)
    (small / LOG).write_bytes(varied(_EACH))
    (large / LOG).write_bytes(varied(10 * _EACH))
    command = [str(VALOR), "consolidate", "--dry-run"]
    runs = max(1, bench.runs // 15)
    at_small, at_large = interleave(
        runs, lambda: run(command, small, bench.env), lambda: run(command, large, bench.env)
    )
    for lines, costs, bar in ((_EACH, at_small, 10), (10 * _EACH, at_large, 180)):
        value = _median(costs, "wall")
        bench.row(f"consolidate --dry-run, {lines:,} lines: seconds", value, f"<= {bar}", value <= bar)
    bench.row("  the same at 100,000 lines: peak memory in MiB", _median(at_large, "memory") / 1024, "", None)


def varied(count: int) -> bytes:
    """``count`` lines, repeated with other long words in each round: none says what another says."""
    out = []
    for number, line in enumerate(log_of(count).splitlines()):
        round_ = b"%d" % (number // _EACH)
        head, key, rest = line.partition(b'"summary"')
        out.append(head + key + _LONG_WORD.sub(lambda word: word[0] + round_, rest, count=12))  # noqa: B023
    return b"\n".join(out) + b"\n"


def _median(costs: list[Cost], of: str) -> float:
    return statistics.median(getattr(cost, of) for cost in costs)
