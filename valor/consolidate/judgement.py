"""What two observations are to each other: the same, one in place of the other, or a contradiction.

No similarity is safe (`port 8080` and `port 8081` are nearly equal by every measure), so likeness only
ever proposes; what is applied rests on equality or on an explicit word.

* *auto*: the same words in the same order but for fillers and plain typos, nothing different in
  numbers, names, polarity or scope; or a later line that says what it replaces.
* *suggest*: nothing exchanged that a guard knows, and most of what one says is in the other.
* *conflict*: the same but for a number or a word of polarity: perhaps only one of them holds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from valor.consolidate.claim import Claim
from valor.consolidate.clauses import is_hedged
from valor.consolidate.guards import Difference, differences, in_common
from valor.consolidate.lexicon import RETRACTING
from valor.consolidate.likeness import (
    DETAILS_IN_COMMON,
    LEAST_COVERED,
    MOST_COVERED,
    Weight,
    covered,
    details_alike,
    details_in_common,
    goes_on,
    likeness,
)
from valor.consolidate.replacing import ground
from valor.consolidate.sameness import same_explanation, same_text
from valor.consolidate.statement import Statement, keys
from valor.consolidate.tokenizing import tokenize
from valor.tokens import STOP_WORDS


class Tier(StrEnum):
    """How sure a judgement is, and so what becomes of it."""

    AUTO = "auto"
    SUGGEST = "suggest"
    CONFLICT = "conflict"


class Relation(StrEnum):
    """What the later observation is to the earlier."""

    DUPLICATE = "duplicate"
    SUPERSEDES = "supersedes"
    CONFLICT = "conflict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """``rule`` names what decided, ``why`` says it in words; ``score`` is a likeness from 0 to 1;
    ``differs`` is what the guards saw."""

    tier: Tier
    relation: Relation
    rule: str
    why: str
    score: float
    differs: tuple[Difference, ...] = ()


_REVISING = re.compile(
    r"\b(?:no longer|any ?more|deprecated|renamed|rolled back|superseded|obsolete|outdated|was wrong"
    r"|not (?:needed|necessary)|nicht mehr|ne .{1,40} plus|ya no)\b|^correction\b|不再",
    re.IGNORECASE,
)
_NEARLY = 0.4  # share of words in common below which two lines are not the same but for a number
_DECIDING = ("numbers", "polarity")


def judge(earlier: Claim, later: Claim, weight: Weight) -> Judgement | None:
    """What the later claim is to the earlier; None where they are two facts."""
    found = ground(earlier, later)
    if found is not None:
        tier = Tier.AUTO if found.explicit else Tier.SUGGEST
        return Judgement(tier=tier, relation=Relation.SUPERSEDES, rule=found.rule, why=found.why, score=1.0)
    one, other = earlier.statement, later.statement
    likely = _likely(one, other, weight)
    if likely is not None and _revises(earlier, later):
        if is_hedged(other.openings[0]):
            return None
        likely = replace(
            likely,
            relation=Relation.SUPERSEDES,
            rule="revises",
            why=f"it revises something, and {likely.why}",
        )
    if likely is None and in_common(one, other) < _NEARLY and one.exact != other.exact:
        return None  # the guards cost far more than this, and most pairs end here
    differs = differences(earlier, later)
    if not differs:
        why = same_text(one, other)
        if why:
            return _duplicate(Tier.AUTO, "same_text", why, likeness(one, other))
        if one.exact == other.exact and one.details and other.details:
            details = [
                replace(each, statement=Statement(each.statement.details, "")) for each in (earlier, later)
            ]
            one, other, differs = details[0].statement, details[1].statement, differences(*details)
    conflict = contradiction(one, other, differs)
    if conflict is not None:
        return conflict
    if any(each.is_exchange for each in differs):
        return None
    one, other = earlier.statement, later.statement
    if same_explanation(one, other):
        why = "the same details word for word, and the summaries say the same"
        return replace(_duplicate(Tier.AUTO, "same_details", why, likeness(one, other)), differs=differs)
    return replace(likely, differs=differs) if likely else None


def _revises(earlier: Claim, later: Claim) -> bool:
    """Whether only the later one says that something is no longer so: whatever it is, it is not said
    twice."""
    if not RETRACTING.isdisjoint(later.statement.label) and RETRACTING.isdisjoint(earlier.statement.label):
        return True
    return bool(_REVISING.search(later.statement.openings[0])) and not _REVISING.search(
        earlier.statement.openings[0]
    )


def contradiction(one: Statement, other: Statement, differs: tuple[Difference, ...]) -> Judgement | None:
    """Whether they are the same but for a number or a word of polarity."""
    deciding = [each for each in differs if each.guard in _DECIDING and each.is_exchange]
    odd = {key for each in deciding for word in (*each.one, *each.other) for key in keys(tokenize(word))}
    if not deciding or one.label != other.label or not all(_is_about(each, odd) for each in differs):
        return None
    left, right = (_without(each, odd) for each in (one, other))
    if len(left) < 2 or left != right:
        return None
    return Judgement(
        tier=Tier.CONFLICT,
        relation=Relation.CONFLICT,
        rule="contradiction",
        why="these two may contradict; which holds?",
        score=likeness(one, other),
        differs=differs,
    )


def _is_about(difference: Difference, odd: set[str]) -> bool:
    """Whether it is one of a number or of polarity, or only sees the same words once more."""
    if difference.guard in _DECIDING:
        return True
    words = (*difference.one, *difference.other)
    return difference.guard == "wording" and odd.issuperset(
        key for word in words for key in keys(tokenize(word))
    )


def _likely(one: Statement, other: Statement, weight: Weight) -> Judgement | None:
    """Whether most of what one says is in the other. Two explanations of one thing share words: where
    both have details that do not, they explain two things under like headlines."""
    both = one.said & other.said
    here, there = covered(one, other, both, weight), covered(other, one, both, weight)
    most, least = max(here, there), min(here, there)
    if (
        most >= MOST_COVERED
        and least >= LEAST_COVERED
        and not goes_on(one, other)
        and not goes_on(other, one)
    ):
        shared = details_in_common(one, other, weight)
        if shared is None or shared >= DETAILS_IN_COMMON:
            why = f"{here:.0%} of the earlier is in the later, {there:.0%} of the later in the earlier"
            return _duplicate(Tier.SUGGEST, "covered", why, (here + there) / 2)
    if most >= LEAST_COVERED:
        same = details_alike(one, other)
        if same:
            return _duplicate(Tier.SUGGEST, "like_details", f"{same:.0%} of the details are the same", same)
    return None


def _duplicate(tier: Tier, rule: str, why: str, score: float) -> Judgement:
    return Judgement(tier=tier, relation=Relation.DUPLICATE, rule=rule, why=why, score=round(score, 3))


def _without(statement: Statement, odd: set[str]) -> list[str]:
    return [key for key in statement.content if key not in odd and key not in STOP_WORDS]
