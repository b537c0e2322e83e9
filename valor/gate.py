"""Could anything answer? Decided from the filter, before any socket opens.

Part of the hot ring, and apart from ``valor.recall`` so that a window which ends here loads no more.
"""

from __future__ import annotations

from valor.bloom import Gate
from valor.rank import idf
from valor.window import Query

BAR = 7.0  # least evidence, in nats
POWER = 0.4
LEAST_LINES = 1_000  # a smaller log says too little about which words are rare: idf as in one of these


def information(holding: int, lines: int) -> float:
    """A term's idf in nats, as in a log of at least ``LEAST_LINES``."""
    return idf(max(lines, LEAST_LINES), holding)


def bar(query: Query, scale: float = 1.0) -> float:
    """The least sum of ``weight * idf * share`` with which a line is told, ``scale`` times the usual."""
    return scale * BAR * float(max(query.size, 1.0) ** POWER)


def known_terms(query: Query, gate: Gate, scale: float = 1.0) -> dict[str, float]:
    """The query's terms that the gate lets through, with their weights; {} where no line can answer.

    Exact where the gate errs only towards yes: no line gets more than all these terms' full idf. For a
    short prompt one known term is reason enough to ask.
    """
    weights = {term: weight for term, weight in query.weights.items() if term in gate}
    if not query.short and sum(weights.values()) * information(1, gate.lines) < bar(query, scale):
        return {}
    return weights
