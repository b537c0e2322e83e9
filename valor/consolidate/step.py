"""One step of a plan, as it is shown and applied."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from valor.consolidate.judgement import Relation, Tier
from valor.secrets.detect import redact

APPLY, PROPOSE, DECIDE = "apply", "propose", "decide"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One mark of the plan, or one question.

    ``action`` is apply; propose, where a person has to say so (a suggestion, or a line that a person
    wrote); or decide, where two lines may contradict. ``by`` stays, ``supersedes`` are hidden;
    ``summary`` and ``other`` are the texts of ``by`` and of the first of them, ``dates`` their times.
    ``protected`` where a person wrote what would be hidden: that is always a question. ``differs``
    names what is not equal, ``guards`` what each guard found. ``digests`` are the fingerprints of the
    lines that were compared: one that changed meanwhile is not marked.
    """

    tier: Tier
    action: str
    relation: Relation
    by: str
    supersedes: tuple[str, ...]
    rule: str
    reason: str
    score: float
    summary: str
    other: str
    dates: tuple[str, str]
    differs: tuple[str, ...] = ()
    guards: tuple[tuple[str, str], ...] = ()
    protected: bool = False
    digests: tuple[bytes, ...] = field(default=(), repr=False)

    def row(self, *, explain: bool = False) -> dict[str, Any]:
        """The step as data."""
        row: dict[str, Any] = {
            "tier": self.tier.value,
            "action": self.action,
            "relation": self.relation.value,
            "by": self.by,
            "supersedes": list(self.supersedes),
            "rule": self.rule,
            "reason": redact(self.reason),
            "score": self.score,
            "summary": redact(self.summary),
            "other": redact(self.other),
            "dates": list(self.dates),
            "differs": [redact(each) for each in self.differs],
        }
        if explain:
            row["guards"] = {name: redact(found) for name, found in self.guards}
        return row
