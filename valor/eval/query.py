"""Measure free-text search on labelled queries: which rank does the right line get?

The engine measured is ``valor.search.Corpus``, the one that ``memory-query`` asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from valor.errors import UsageError
from valor.search import Corpus

DEPTH = 100  # ranks that count; a right line further down counts as missed

Labelled = tuple[str, str, str, Sequence[str]]
"""Id, summary, details, tags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One query's result: ``rank`` of its first relevant line (1-based, 0 if missed) and the top ids."""

    query: str
    rank: int
    relevant: tuple[str, ...]
    top: tuple[str, ...]


def evaluate(
    documents: Iterable[Labelled], items: Sequence[Mapping[str, object]]
) -> tuple[dict[str, float | int], list[Row]]:
    """The report and one row an item.

    An item is ``{"query": str, "relevant": [ids], "maybe": [ids]}``; ``maybe`` may be absent, other
    keys are ignored. Lines labelled maybe are taken out of the ranking before ranks are counted. The
    report holds ``n``, ``mrr`` (mean of 1/rank of the first relevant line over the first 100, 0 if it
    is not there), ``hit@1``, ``hit@5`` and ``hit@10``, all but ``n`` fractions of 1, and
    ``relevant_absent``: relevant ids that no document has. Raises UsageError, naming the item's number,
    for an item of another shape.
    """
    known = list(documents)
    ids = [each[0] for each in known]
    corpus = Corpus((summary, details, tags) for _, summary, details, tags in known)
    rows = [_row(corpus, ids, *_parse(number, item)) for number, item in enumerate(items, 1)]
    absent = {each for row in rows for each in row.relevant}.difference(ids)
    count = len(rows)
    report: dict[str, float | int] = {"n": count, "mrr": _mean([1 / r.rank if r.rank else 0.0 for r in rows])}
    for depth in (1, 5, 10):
        report[f"hit@{depth}"] = _mean([float(0 < r.rank <= depth) for r in rows])
    report["relevant_absent"] = len(absent)
    return report, rows


def _row(corpus: Corpus, ids: list[str], query: str, relevant: list[str], maybe: list[str]) -> Row:
    found = [ids[hit.index] for hit in corpus.search(query, DEPTH + len(maybe))]
    ranked = [each for each in found if each not in maybe or each in relevant][:DEPTH]
    rank = next((place for place, each in enumerate(ranked, 1) if each in relevant), 0)
    return Row(query=query, rank=rank, relevant=tuple(relevant), top=tuple(ranked[:10]))


def _parse(number: int, item: Mapping[str, object]) -> tuple[str, list[str], list[str]]:
    query = item.get("query")
    if not isinstance(query, str) or not query.strip():
        raise UsageError(
            f"item {number} has no query", 'each line needs {"query": "…", "relevant": ["obs-…"]}'
        )
    return query, _ids(number, item, "relevant", needed=True), _ids(number, item, "maybe", needed=False)


def _ids(number: int, item: Mapping[str, object], key: str, *, needed: bool) -> list[str]:
    value = item.get(key) or []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise UsageError(f"item {number}: {key} is not a list of ids", f'write "{key}": ["obs-…"]')
    if needed and not value:
        raise UsageError(f"item {number} has no relevant id", 'each line needs "relevant": ["obs-…"]')
    return value


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
