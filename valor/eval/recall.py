"""Measure recall on labelled windows: how often does it speak unasked, how often does it help?

The engine is handed in, so that the one that hooks run is the one that is measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from valor import record
from valor.errors import UsageError
from valor.gate import BAR
from valor.window import SPAN, Query, opens_window, window_query

LABELS = ("positive", "negative")
SCALES = (0.8, 0.9, 1.0, 1.15, 1.3)  # of the bar, for the curve


class Engine(Protocol):
    """What answers a query over some view: id and evidence of each line told, best first."""

    def __call__(
        self, query: Query, now: float, *, before: float | None, told: set[str], scale: float
    ) -> list[tuple[str, float]]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One window's result: the ids told in order, the best evidence among them (0 where none), and
    whether that is right: a relevant one told, or nothing to a negative window."""

    label: str
    told: tuple[str, ...]
    evidence: float
    relevant: tuple[str, ...]
    right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    """``queries`` are those of the calls that are looked at."""

    queries: list[Query]
    label: str
    before: float | None
    relevant: tuple[str, ...]


def evaluate(
    engine: Engine,
    items: Sequence[Mapping[str, object]],
    now: float,
    *,
    transcript: bool = False,
    scales: Sequence[float] = SCALES,
) -> tuple[dict[str, Any], list[Row]]:
    """The report and one row an item.

    An item is ``{"window": [hook events], "label": "positive"|"negative", "as_of": time, "relevant":
    [ids]}``; other keys are ignored, lines made at ``as_of`` or later do not count, and ``as_of`` stands
    for ``now`` (unix seconds) where there is one. Each window is a fresh session, played event by event,
    without a transcript unless ``transcript``; all it was told counts.

    The report, all but counts fractions of 1: ``n``, ``positives``, ``negatives``;
    ``false_injection_rate``: negative windows told anything; ``hit_rate``: positive windows told a
    relevant line; ``bar``; ``curve``: both rates at other bars, ascending. Raises UsageError, naming the
    item's number, for an item of another shape.
    """
    windows = [_parse(number, item, transcript) for number, item in enumerate(items, 1)]
    rows = [_play(engine, window, now, 1.0) for window in windows]
    curve = []
    for scale in scales:
        at = rows if scale == 1.0 else [_play(engine, window, now, scale) for window in windows]
        curve.append({"bar": round(scale * BAR, 3), **_rates(at)})
    report: dict[str, Any] = {"n": len(rows)}
    for label in LABELS:
        report[f"{label}s"] = sum(row.label == label for row in rows)
    return {**report, **_rates(rows), "bar": BAR, "curve": curve}, rows


def _play(engine: Engine, window: _Window, now: float, scale: float) -> Row:
    told: dict[str, float] = {}
    at = now if window.before is None else window.before
    for query in window.queries:
        told |= engine(query, at, before=window.before, told=set(told), scale=scale)
    right = not told if window.label == "negative" else any(id_ in told for id_ in window.relevant)
    return Row(
        label=window.label,
        told=tuple(told),
        evidence=round(max(told.values(), default=0.0), 3),
        relevant=window.relevant,
        right=right,
    )


def _rates(rows: list[Row]) -> dict[str, float]:
    negative = [bool(row.told) for row in rows if row.label == "negative"]
    positive = [row.right for row in rows if row.label == "positive"]
    return {"false_injection_rate": _share(negative), "hit_rate": _share(positive)}


def _share(values: list[bool]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


def _parse(number: int, item: Mapping[str, object], transcript: bool) -> _Window:
    events, label = item.get("window"), item.get("label")
    if not isinstance(events, list) or not events or not all(isinstance(each, dict) for each in events):
        raise UsageError(f"item {number} has no window", 'an item is {"window": [hook events], "label": …}')
    if label not in LABELS:
        raise UsageError(f"item {number} has the label {label!r}", "labels: " + ", ".join(LABELS))
    as_of = item.get("as_of")
    before = None if as_of is None else record.seconds(as_of)
    if as_of is not None and before is None:
        raise UsageError(f"item {number}: as_of {as_of!r} is no time", "write 2026-11-30T18:00:00Z")
    relevant = item.get("relevant") or []
    if not isinstance(relevant, list) or not all(isinstance(each, str) for each in relevant):
        raise UsageError(f"item {number}: relevant is not a list of ids", 'write "relevant": ["obs-…"]')
    queries = []
    for call in range(1, len(events) + 1):
        if opens_window(call, transcript):
            seen = events[max(0, call - SPAN) : call] if transcript else events[call - 1 : call]
            queries.append(window_query(seen))
    return _Window(queries=queries, label=str(label), before=before, relevant=tuple(relevant))
