"""Why recall tells what it tells: each term, the gate, each candidate with its reason."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

from valor import gate, recall
from valor.address import parse
from valor.answer import View
from valor.bloom import Filter
from valor.confirm import confirmed
from valor.errors import Unavailable
from valor.keys import POSTING, Keys
from valor.propose import Proposal, propose
from valor.recall import NEAR_BEST, TYPE_WEIGHTS, decay
from valor.stub import MOST_STUBS
from valor.window import Query
from valor.wire import Connection

_SECONDS = 10.0  # for the server
_MOST_CANDIDATES = 12
_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """``query``, ``gate`` and ``terms`` say what was asked, ``candidates`` what nearly answers; each row as
    docs/explanation/recall.md names its parts."""

    query: dict[str, Any]
    terms: list[dict[str, Any]]
    gate: dict[str, Any]
    candidates: list[dict[str, Any]]

    def rows(self) -> list[dict[str, Any]]:
        """All of it, one row after the other; ``of`` says what a row is about."""
        rows = [{"of": "query", **self.query}]
        rows += [{"of": "term", **each} for each in self.terms]
        rows.append({"of": "gate", **self.gate})
        return rows + [{"of": "candidate", **each} for each in self.candidates]


def explain(view: View, query: Query, now: float, before: float | None = None) -> Explanation:
    """What recall makes of the query at ``now`` (unix seconds), with the reason of each decision. Raises
    Unavailable where the mirror cannot be asked."""
    filter_ = view.gate()
    weights = gate.known_terms(query, filter_)
    bar = gate.bar(query) / max(query.size, 1.0) ** gate.POWER
    most = sum(w for term, w in query.weights.items() if term in filter_)
    most *= gate.information(1, filter_.lines) / max(query.size, 1.0) ** gate.POWER
    names = Keys(view.file.project, view.file.view)
    with Connection(parse(view.file.url), time.monotonic() + _SECONDS) as connection:
        asked = list(query.weights)
        lengths = connection.pipeline([("HSTRLEN", names.terms, term) for term in asked])
        found = propose(
            connection,
            names,
            query,
            query.weights,
            now,
            before=before,
            all_near=True,
            limit=_MOST_CANDIDATES,
        )
    if found is None:
        raise Unavailable("there is no mirror of this checkout", "run `valor sync`")
    holding = {term: int(length) // POSTING for term, length in zip(asked, lengths, strict=True)}
    return Explanation(
        query={"terms": len(asked), "size": round(query.size, 3), "short": query.short},
        terms=[_term(term, query, holding[term], view.file.lines, term in filter_) for term in asked],
        gate={
            "filter": isinstance(filter_, Filter),
            "known": sum(term in filter_ for term in asked),
            "most": round(most, 3),
            "bar": round(bar, 3),
            "passes": bool(weights),
        },
        candidates=_candidates(view, found, bar, bool(weights), now),
    )


def _term(term: str, query: Query, holding: int, lines: int, known: bool) -> dict[str, Any]:
    if not holding:
        role = "unknown"
    elif recall.is_common(holding, lines):
        role = "too common"
    else:
        role = "rare" if recall.is_rare(holding, lines) else "adds"
    return {
        "term": term,
        "weight": round(query.weights[term], 3),
        "lines": holding,
        "idf": round(gate.information(holding, lines), 3) if holding else None,
        "role": role,
        "in_gate": known,
    }


def _candidates(
    view: View, found: list[Proposal], bar: float, passes: bool, now: float
) -> list[dict[str, Any]]:
    held = {row.id for row in _held(view, found)}
    best = max((each.evidence for each in found), default=0.0)
    told = 0
    rows = []
    for each in found:
        row = each.row
        if not passes:
            reason = "the gate ended it"
        elif each.evidence < bar:
            reason = "evidence below the bar"
        elif each.evidence < NEAR_BEST * best:
            reason = f"evidence below {NEAR_BEST} of the best"
        elif row.id not in held:
            reason = "not in the file as mirrored: run `valor sync`"
        elif told == MOST_STUBS:
            reason = f"{MOST_STUBS} are told already"
        else:
            reason = "told"
            told += 1
        rows.append(
            {
                "id": row.id,
                "type": row.type,
                "summary": row.text,
                "evidence": round(each.evidence, 3),
                "decay": round(decay((now - row.created) / _DAY, row.importance), 3),
                "type_weight": TYPE_WEIGHTS.get(row.type, 1.0),
                "score": round(each.score, 3),
                "reason": reason,
            }
        )
    return rows


def _held(view: View, found: list[Proposal]) -> list[Any]:
    rows = [each.row for each in found]
    try:
        return confirmed(view.file, rows, len(rows))
    except OSError as error:
        raise Unavailable(
            f"{view.file.log} cannot be read: {os.strerror(error.errno or 0)}", "bring it back with git"
        ) from None
