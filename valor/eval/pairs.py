"""Measure consolidation on labelled pairs: what is merged that should not be, and what is found?

The engine measured is ``valor.consolidate.judgement.judge``, the one that ``consolidate`` asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from valor import record
from valor.consolidate.claim import Claim, claim
from valor.consolidate.judgement import Judgement, Relation, Tier, judge
from valor.consolidate.likeness import Weight
from valor.errors import UsageError
from valor.record import Record

DISTINCT = "distinct"
LABELS = (DISTINCT, Relation.DUPLICATE.value, Relation.SUPERSEDES.value)
NOTHING = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One pair's result: its label and subtype, the verdict (``tier:relation``, or none), the rule that
    decided and why, and whether that is right: what the label or ``accept`` says, a conflict or no
    verdict for a distinct pair."""

    a: str
    b: str
    label: str
    subtype: str
    verdict: str
    rule: str
    why: str
    right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    earlier: Claim
    later: Claim
    label: str
    subtype: str
    accept: tuple[str, ...]


def evaluate(
    items: Sequence[Mapping[str, Any]], documents: Iterable[Record] = ()
) -> tuple[dict[str, Any], list[Row]]:
    """The report and one row an item.

    An item is ``{"a": record, "b": record, "label": "distinct"|"duplicate"|"supersedes", "accept":
    [labels]}``; ``b`` is the later one unless both have timestamps that say otherwise; ``accept`` and
    ``subtype`` may be absent. How much a word says is taken from ``documents`` (a log), else from the
    pairs themselves.

    The report, fractions of 1 but for counts: ``n``; ``false_merge_rate``: distinct pairs judged auto
    duplicate or auto supersedes (unless accepted) of all distinct ones; ``suggest_false_rate``: the same
    with suggestions; ``duplicates_auto`` and ``duplicates_found`` (auto or suggest) of the duplicates;
    ``supersedes_found`` (auto) and ``supersedes_suggested`` (auto or suggest) of the superseding;
    ``matrix``: by ``label:subtype`` how often each verdict was given. Raises UsageError, naming the
    item's number, for an item of another shape.
    """
    pairs = [_parse(number, item) for number, item in enumerate(items, 1)]
    weight = _weight([claim(each) for each in documents] or [each for pair in pairs for each in _ends(pair)])
    rows = [_row(pair, judge(pair.earlier, pair.later, weight)) for pair in pairs]
    return _report(pairs, rows), rows


def _report(pairs: list[_Pair], rows: list[Row]) -> dict[str, Any]:
    auto, suggest = Tier.AUTO.value, Tier.SUGGEST.value
    duplicate, supersedes = Relation.DUPLICATE.value, Relation.SUPERSEDES.value

    def share(label: str, verdicts: set[str], *, wrong: bool = False) -> float:
        among = [row for row in rows if row.label == label]
        hits = sum(row.verdict in verdicts and not (wrong and row.right) for row in among)
        return round(hits / len(among), 4) if among else 0.0

    sure = {f"{auto}:{duplicate}", f"{auto}:{supersedes}"}
    likely = sure | {f"{suggest}:{duplicate}", f"{suggest}:{supersedes}"}
    matrix: dict[str, Counter[str]] = {}
    for row in rows:
        kind = f"{row.label}:{row.subtype}" if row.subtype else row.label
        matrix.setdefault(kind, Counter())[row.verdict] += 1
    return {
        "n": len(pairs),
        "false_merge_rate": share(DISTINCT, sure, wrong=True),
        "suggest_false_rate": share(DISTINCT, likely, wrong=True),
        "duplicates_auto": share(duplicate, {f"{auto}:{duplicate}"}),
        "duplicates_found": share(duplicate, {f"{auto}:{duplicate}", f"{suggest}:{duplicate}"}),
        "supersedes_found": share(supersedes, {f"{auto}:{supersedes}"}),
        "supersedes_suggested": share(supersedes, {f"{auto}:{supersedes}", f"{suggest}:{supersedes}"}),
        "matrix": {kind: dict(sorted(matrix[kind].items())) for kind in sorted(matrix)},
    }


def _row(pair: _Pair, found: Judgement | None) -> Row:
    verdict = f"{found.tier.value}:{found.relation.value}" if found else NOTHING
    said = found.relation.value if found and found.relation is not Relation.CONFLICT else DISTINCT
    return Row(
        a=pair.earlier.id,
        b=pair.later.id,
        label=pair.label,
        subtype=pair.subtype,
        verdict=verdict,
        rule=found.rule if found else "",
        why=found.why if found else "",
        right=said == pair.label or said in pair.accept,
    )


def _weight(claims: list[Claim]) -> Weight:
    texts = {each.digest: each for each in claims}
    frequency = Counter(term for each in texts.values() for term in each.statement.vocabulary)
    return lambda term: log(1 + len(texts) / (frequency[term] + 0.5))


def _ends(pair: _Pair) -> tuple[Claim, Claim]:
    return pair.earlier, pair.later


def _parse(number: int, item: Mapping[str, Any]) -> _Pair:
    a, b, label = item.get("a"), item.get("b"), item.get("label")
    accept = item.get("accept") or []
    if not isinstance(a, dict) or not isinstance(b, dict):
        raise UsageError(
            f"item {number} has no two records", 'each line needs {"a": {…}, "b": {…}, "label": "…"}'
        )
    if label not in LABELS:
        raise UsageError(f"item {number}: {label!r} is no label", f"labels: {', '.join(LABELS)}")
    if not isinstance(accept, list) or not all(isinstance(each, str) for each in accept):
        raise UsageError(f"item {number}: accept is not a list of labels", f"labels: {', '.join(LABELS)}")
    earlier, later = claim(a), claim(b)
    times = [record.seconds(each.get("timestamp")) for each in (a, b)]
    if times[0] is not None and times[1] is not None and times[0] > times[1]:
        earlier, later = later, earlier
    subtype = item.get("subtype")
    return _Pair(
        earlier=earlier,
        later=later,
        label=label,
        subtype=subtype if isinstance(subtype, str) else "",
        accept=tuple(accept),
    )
