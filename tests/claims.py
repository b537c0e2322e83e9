"""Two observations as consolidation compares them, made from a few words."""

from __future__ import annotations

from typing import Any

from valor.consolidate.claim import Claim, claim
from valor.consolidate.judgement import judge

EARLIER = "obs-1790000000-00000000aaaa"
LATER = "obs-1790003600-00000000bbbb"


def earlier(summary: str, details: str = "", **fields: Any) -> Claim:
    """A claim of one moment."""
    return claim({"id": EARLIER, "timestamp": "2026-09-21T14:13:20Z", **_text(summary, details), **fields})


def later(summary: str, details: str = "", **fields: Any) -> Claim:
    """A claim made an hour after ``earlier``."""
    return claim({"id": LATER, "timestamp": "2026-09-21T15:13:20Z", **_text(summary, details), **fields})


def verdict(one: Claim, other: Claim) -> str:
    """``tier:relation`` where all words weigh the same; ``none`` for two facts."""
    found = judge(one, other, lambda term: 1.0)
    return f"{found.tier}:{found.relation}" if found else "none"


def between(one: str, other: str) -> str:
    """The verdict on two summaries."""
    return verdict(earlier(one), later(other))


def _text(summary: str, details: str) -> dict[str, str]:
    return {"summary": summary, "details": details}
