"""Measure routing on labelled texts: how often is it right, how often does it say, what does it mix up?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from valor.errors import UsageError
from valor.routing.credentials import tells_secret
from valor.routing.match import decide
from valor.routing.table import AMBIGUOUS, NOWHERE, OWNERS, Table
from valor.secrets import detect

LABELS = (*OWNERS, AMBIGUOUS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One text's result: its label, the verdict, how sure (0..1), the row of the table, and why."""

    text: str
    label: str
    verdict: str
    confidence: float
    row: str
    why: str
    right: bool


def evaluate(table: Table, items: Sequence[Mapping[str, object]]) -> tuple[dict[str, Any], list[Item]]:
    """The report and one row an item.

    An item is ``{"text": str, "label": an owner or "ambiguous"}`` and may have ``note``; other keys are
    ignored. The report, all but counts fractions of 1 (0 where there is nothing to divide by):

    - ``n``: items; ``accuracy_decided``: right / decided, ``coverage``: decided / all, both among the
      items not labelled ambiguous;
    - ``ambiguous_left``: items labelled ambiguous that were left so / all of them;
    - ``secrets_routed``: items labelled nowhere that tell a secret (the text does by one of the two
      detectors, or the note says "secret value") and got another verdict all the same; must be 0;
    - ``confusion``: label -> verdict -> count.

    Raises UsageError, naming the item's number, for an item of another shape.
    """
    rows: list[Item] = []
    leaked = 0
    for number, item in enumerate(items, 1):
        text, label = _parse(number, item)
        decision = decide(table, text)
        verdict = decision.owner
        if label == NOWHERE and verdict != NOWHERE and _holds_secret(text, item.get("note")):
            leaked += 1
        rows.append(
            Item(
                text=text,
                label=label,
                verdict=verdict,
                confidence=round(decision.confidence, 3),
                row=decision.row,
                why=decision.why(),
                right=verdict == label,
            )
        )
    return _report(rows, leaked), rows


def _report(rows: list[Item], leaked: int) -> dict[str, Any]:
    owned = [row for row in rows if row.label != AMBIGUOUS]
    decided = [row for row in owned if row.verdict != AMBIGUOUS]
    unowned = [row for row in rows if row.label == AMBIGUOUS]
    confusion = {label: dict.fromkeys(LABELS, 0) for label in LABELS}
    for row in rows:
        confusion[row.label][row.verdict] += 1
    return {
        "n": len(rows),
        "accuracy_decided": _share(sum(row.right for row in decided), len(decided)),
        "coverage": _share(len(decided), len(owned)),
        "ambiguous_left": _share(sum(row.right for row in unowned), len(unowned)),
        "secrets_routed": leaked,
        "confusion": confusion,
    }


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def _holds_secret(text: str, note: object) -> bool:
    return tells_secret(text) or bool(detect.find(text)) or "secret value" in str(note or "").lower()


def _parse(number: int, item: Mapping[str, object]) -> tuple[str, str]:
    text, label = item.get("text"), item.get("label")
    if not isinstance(text, str):
        raise UsageError(f"item {number} has no text", 'an item is {"text": …, "label": …}')
    if label not in LABELS:
        raise UsageError(f"item {number} has the label {label!r}", "labels: " + ", ".join(LABELS))
    return text, str(label)
