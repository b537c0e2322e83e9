"""Who owns this text? One verdict, and what it rests on.

In this order: a secret belongs nowhere; a text that repeats an example follows it; two facts of two
owners are left ambiguous; else the model's shares decide, and where no owner has SURE of it, or the
table's "Left ambiguous" has most, the verdict is AMBIGUOUS with the rows that compete.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import NamedTuple

from valor.routing.credentials import tells_secret
from valor.routing.features import describe
from valor.routing.model import Judgement, Model, compiled
from valor.routing.signals import SECRET
from valor.routing.table import AMBIGUOUS, NOWHERE, Row, Table
from valor.secrets import detect

SURE = 0.62  # the share from which a verdict is given
SAME = 0.95  # closeness from which a text counts as a repeated example
FULL = 0.8  # the share from which a part of a text counts as a fact of its own

_PARTS = r"(?<=[.;!?])\s+|\s+[—–]\s+|,\s+(?:and|but|also)\s+|\n+"
_ENDS = frozenset(".;!?—–,\n")  # without one of these there is one part
_MOST_PARTS = 12
_MOST = 24_000  # characters that are read; of a longer text, even samples from end to end
_SAMPLES = 12
_LEAST_WORDS = 3
_PERSON = ("O:person", "O:somebody")


class Candidate(NamedTuple):
    """An owner that competes: its best row (scope and line in the page), example and share (0..1)."""

    owner: str
    store: str
    row: str
    line: int
    example: str
    share: float


class Decision(NamedTuple):
    """``owner`` is an owner or AMBIGUOUS; ``store`` where it writes ("" for nowhere and ambiguous).

    ``row`` and ``line`` name the row that decided, ``example`` its closest example ("" where none is
    close), ``confidence`` is 0..1, ``reasons`` what spoke for the verdict, strongest first, and
    ``candidates`` the owners in the running, best first.
    """

    owner: str
    confidence: float
    store: str = ""
    row: str = ""
    line: int = 0
    example: str = ""
    reasons: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()

    @property
    def decided(self) -> bool:
        """Is there an owner?"""
        return self.owner != AMBIGUOUS

    def why(self) -> str:
        """The verdict's grounds in one line."""
        if not self.decided:
            rivals = " or ".join(f"{each.owner} ({each.row})" for each in self.candidates[:2])
            return "; ".join(part for part in (rivals, *self.reasons[:1]) if part)
        near = f", like “{self.example}”" if self.example else ""
        reasons = f"; {', '.join(self.reasons[:3])}" if self.reasons else ""
        return f"row “{self.row}”{near}{reasons}"


def decide(table: Table, text: str) -> Decision:
    """Who owns ``text``, by ``table``. Compiles a table once per process."""
    return verdict(compiled(table), text)


def verdict(model: Model, text: str) -> Decision:
    """Who owns ``text``, by a compiled table."""
    if tells_secret(text) or detect.find(text):
        return _secret(model)
    text = _sampled(text)
    judgement = model.judge(text)
    if not judgement.found:
        return Decision(owner=AMBIGUOUS, confidence=0.0, reasons=("the text has no words",))
    running = _candidates(model, judgement)
    same = {each.row.owner for each in judgement.nearest.values() if each.closeness >= SAME}
    if len(same) == 1:
        best = next(each for each in running if each.owner in same)
        return _decision(
            best, running, ("the table has this as an example",), confidence=max(SAME, best.share)
        )
    best, second = running[0], running[1] if len(running) > 1 else running[0]
    if len(same) > 1:
        return _open(running, "the table has it as an example of two owners")
    if _two_facts(model, text):
        return _open(running, "two facts of two owners: split them")
    if best.owner == AMBIGUOUS:
        return _open(
            [each for each in running if each is not best], f"{best.row.lower()}, like “{best.example}”"
        )
    if best.share < SURE:
        return _open(running, f"no owner is sure, {best.owner} comes closest with {best.share:.0%}")
    return _decision(best, running, _reasons(model, judgement, best.owner, second.owner))


def _sampled(text: str) -> str:
    if len(text) <= _MOST:
        return text
    size, last = _MOST // _SAMPLES, _SAMPLES - 1
    starts = [(len(text) - size) * at // last for at in range(_SAMPLES)]
    return "\n".join(text[start : start + size] for start in starts)


def _secret(model: Model) -> Decision:
    rows = [row for row in model.rows if row.owner == NOWHERE]
    row = next((row for row in rows if SECRET in row.signals), rows[0] if rows else None)
    return Decision(
        owner=NOWHERE,
        row=row.scope if row else "",
        line=row.line if row else 0,
        confidence=1.0,
        reasons=("the text tells a secret value",),
    )


def _candidates(model: Model, judgement: Judgement) -> list[Candidate]:
    ranked = sorted(judgement.shares.items(), key=lambda each: -each[1])
    return [_candidate(model, judgement, owner, share) for owner, share in ranked]


def _candidate(model: Model, judgement: Judgement, owner: str, share: float) -> Candidate:
    near = judgement.nearest.get(owner)
    row, example = (near.row, near.example) if near else (_likely_row(model, judgement, owner), "")
    return Candidate(owner=owner, store=row.store, row=row.scope, line=row.line, example=example, share=share)


def _likely_row(model: Model, judgement: Judgement, owner: str) -> Row:
    signalled = (row for _, row in judgement.matched if row.owner == owner)
    return next(signalled, None) or next(row for row in model.rows if row.owner == owner)


def _decision(
    best: Candidate, running: list[Candidate], reasons: tuple[str, ...], confidence: float | None = None
) -> Decision:
    return Decision(
        owner=best.owner,
        store=best.store,
        row=best.row,
        line=best.line,
        example=best.example,
        confidence=best.share if confidence is None else confidence,
        reasons=reasons,
        candidates=tuple(running),
    )


def _open(running: list[Candidate], reason: str) -> Decision:
    owners = tuple(each for each in running if each.owner != AMBIGUOUS)
    return Decision(
        owner=AMBIGUOUS,
        confidence=max((each.share for each in owners), default=0.0),
        reasons=(reason,),
        candidates=owners,
    )


def _reasons(model: Model, judgement: Judgement, owner: str, other: str) -> tuple[str, ...]:
    signals = [f"signal {signal.said}" for signal, row in judgement.matched if row.owner == owner]
    found = [
        describe(each) for weight, each in model.evidence(judgement.found, owner, other)[:5] if weight > 0
    ]
    return tuple(dict.fromkeys(signals[:2] + found))


def _two_facts(model: Model, text: str) -> bool:
    """Is one part about the person and another, just as sure of another owner, about something else?"""
    if _ENDS.isdisjoint(text.strip(".;!?\n")):
        return False
    parts = [part for part in re.split(_PARTS, text) if len(part.split()) >= _LEAST_WORDS]
    if len(parts) < 2:
        return False
    facts = []
    for part in parts[:: -(-len(parts) // _MOST_PARTS)]:
        judgement = model.judge(part, near=False)
        owner, share = max(judgement.shares.items(), key=lambda each: each[1])
        if share >= FULL and owner not in (AMBIGUOUS, NOWHERE):
            facts.append((owner, any(each in judgement.found for each in _PERSON)))
    return any(a[0] != b[0] and a[1] != b[1] for a, b in combinations(facts, 2))
