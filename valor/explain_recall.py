"""Why recall tells what it tells: each term, the gate, each candidate with its reason."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

from valor import gate, mirror, recall
from valor.address import parse
from valor.answer import View
from valor.bloom import Filter
from valor.confirm import confirmed
from valor.errors import Unavailable
from valor.keys import POSTING, Keys
from valor.propose import Proposal, propose
from valor.recall import LEAST_STRENGTH, NEAR_BEST, TYPE_WEIGHTS, decay
from valor.stub import MOST_STUBS
from valor.window import Query
from valor.wire import Connection

_SECONDS = 10.0  # for the server
_ASKED = 60  # candidates: the best by score, of which some have too little evidence
_SHOWN = 12
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
    bar = gate.BAR
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
            limit=_ASKED,
        )
        if found is None:
            raise Unavailable("there is no mirror of this checkout", "run `valor sync`")
        ids = [each.row.id for each in found]
        numbers = [int(number or -1) for number in mirror.numbers(connection, names, ids)]
        held = dict(zip(ids, map(frozenset, mirror.terms_of(connection, names, numbers)), strict=True))
    holding = {term: int(length) // POSTING for term, length in zip(asked, lengths, strict=True)}
    return Explanation(
        query={"terms": len(asked), "size": round(query.size, 3), "short": query.short},
        terms=[_term(term, query, holding[term], view.file.lines, term in filter_) for term in asked],
        gate={
            "filter": isinstance(filter_, Filter),
            "known": sum(term in filter_ for term in asked),
            "most": round(most, 3),
            "bar": 0.0 if query.short else bar,
            "passes": bool(weights),
        },
        candidates=_candidates(view, found, _sufficient(query, holding, held, view), bool(weights), now),
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


def _sufficient(
    query: Query, holding: dict[str, int], held: dict[str, frozenset[str]], view: View
) -> set[str]:
    """The ids of the lines that hold a word which is enough by itself."""
    share, least = recall.enough_alone(query)
    alone = {term for term, count in holding.items() if 0 < count <= max(least, share * view.file.lines)}
    return {id_ for id_, terms in held.items() if not alone.isdisjoint(terms)}


def _candidates(
    view: View, found: list[Proposal], sufficient: set[str], passes: bool, now: float
) -> list[dict[str, Any]]:
    held = {row.id for row in _held(view, found)}
    enough = [each for each in found if each.evidence >= gate.BAR or each.row.id in sufficient]
    best = max((each.evidence for each in enough), default=0.0)
    told = 0
    rows = []
    for each in found:
        row = each.row
        age = decay((now - row.created) / _DAY, row.importance)
        weight = TYPE_WEIGHTS.get(row.type, 1.0)
        strength = each.score / (each.evidence * age * weight) if each.evidence else 0.0
        if not passes:
            reason = "the gate ended it"
        elif each not in enough:
            reason = "evidence below the bar"
        elif each.evidence < NEAR_BEST * best:
            reason = f"evidence below {NEAR_BEST} of the best"
        elif strength < LEAST_STRENGTH:
            reason = f"graded below {LEAST_STRENGTH}: no longer offered"
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
                "strength": round(strength, 3),
                "decay": round(age, 3),
                "type_weight": weight,
                "score": round(each.score, 3),
                "reason": reason,
            }
        )
    return [row for place, row in enumerate(rows) if place < _SHOWN or row["reason"] == "told"]


def _held(view: View, found: list[Proposal]) -> list[Any]:
    rows = [each.row for each in found]
    try:
        return confirmed(view.file, rows, len(rows))
    except OSError as error:
        raise Unavailable(
            f"{view.file.log} cannot be read: {os.strerror(error.errno or 0)}", "bring it back with git"
        ) from None
