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
from collections import Counter
from collections.abc import Callable, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from math import fsum

from rapidfuzz.distance import Indel

from valor.consolidate.claim import Claim
from valor.consolidate.clauses import is_hedged, sentences
from valor.consolidate.guards import Difference, differences, in_common
from valor.consolidate.lexicon import DENIALS, FURTHER, GENERIC, LIMITS, NEGATIONS, PLATFORMS
from valor.consolidate.replacing import ground
from valor.consolidate.statement import Kind, Statement, Token, keys, tokenize
from valor.consolidate.typo import is_typo
from valor.digests import normalise
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


Weight = Callable[[str], float]
"""How much a term says: its inverse document frequency."""

MOST_COVERED, LEAST_COVERED = 0.55, 0.3  # weighted shares of what either says that the other says too
_IN_DETAILS = 0.6  # worth of a word of the summary that stands in the other's details alone
_LONGER = 0.4  # how much less may be shared of the longer details
_DETAILS_IN_COMMON = 0.65  # least weighted share of the shorter details in the longer
_REVISING = re.compile(
    r"\b(?:no longer|any ?more|deprecated|renamed|rolled back|superseded|obsolete|outdated|was wrong"
    r"|not (?:needed|necessary)|nicht mehr|ne .{1,40} plus|ya no)\b|^correction\b|不再",
    re.IGNORECASE,
)
_LONG = 6  # content words from which a text is known by its words alone
_SAME_DETAILS = 0.75
_NEARLY = 0.4  # share of words in common below which two lines are not the same but for a number
_EXPLAINED = 10  # content words of details that nobody writes twice by chance
_NEARLY_AS_LONG = 0.8  # of texts that can still be the same word for word: white space differs
_SAID_AGAIN, _SAID_IN_PART = 0.9, 0.5  # shares of the headlines' words
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
        if is_hedged(other.summary):
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
    if _same_explanation(one, other):
        why = "the same details word for word, and the summaries say the same"
        return replace(_duplicate(Tier.AUTO, "same_details", why, likeness(one, other)), differs=differs)
    return replace(likely, differs=differs) if likely else None


def _revises(earlier: Claim, later: Claim) -> bool:
    """Whether only the later one says that something is no longer so: whatever it is, it is not said
    twice."""
    return bool(_REVISING.search(later.statement.summary)) and not _REVISING.search(earlier.statement.summary)


def same_text(one: Statement, other: Statement) -> str:
    """Why both say the same in the same words; "" where they do not."""
    if not one.content or not other.content:
        return ""
    if _equal(one.tokens, other.tokens):
        left, right = one.body_exact, other.body_exact
        if one.label != other.label and one.label and other.label:
            return ""
        if left == right:
            return "the same words" if one.exact == other.exact else "the same words but for a typo"
        if _adds_a_condition(left, right) or _goes_on_with_a_limit(one.details, other.details):
            return ""
        if not left or not right:
            return "the same summary, one without details" if _is_telling(one) else ""
        if _within(left, right):
            return "the same summary, the details of one within those of the other"
        return ""
    for short, long in ((one, other), (other, one)):
        alike = not short.details and len(short.exact) >= _LONG and len(long.details) < 2 * len(short.summary)
        if alike and short.exact == long.body_exact:
            return "the summary of one is the details of the other" if _heads(long, short) else ""
    return ""


def _heads(statement: Statement, details: Statement) -> bool:
    """Whether its summary is a headline of these details, and does not deny them."""
    words = frozenset(statement.content)
    return (DENIALS | NEGATIONS | LIMITS).isdisjoint(words - frozenset(details.content))


def _adds_a_condition(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether what the longer details have in addition takes the statement back, or is a short condition
    or denial (`only on staging`): then they are two facts. A paragraph more is an explanation."""
    more = Counter(one)
    more.subtract(other)
    added = [word for word, count in more.items() if count]
    if not DENIALS.isdisjoint(added):
        return True
    return len(added) < _EXPLAINED and not (LIMITS | NEGATIONS | PLATFORMS).isdisjoint(added)


def _goes_on_with_a_limit(one: str, other: str) -> bool:
    """Whether a sentence that only one of the details has begins with a word that limits: `But …`."""
    told = [{normalise(each).strip(): each for each in sentences(details)} for details in (one, other)]
    alone = [each for text, each in (told[0] | told[1]).items() if not (text in told[0] and text in told[1])]
    return any(token.key in LIMITS for each in alone for token in tokenize(each)[:1])


def _is_telling(statement: Statement) -> bool:
    """Whether the summary alone says what it is about: three words that are no mere `fix` or `update`,
    or a name or number and one word more."""
    specific = any(token.kind is not Kind.WORD for token in statement.tokens)
    return len(statement.said - GENERIC) >= (2 if specific else 3)


def _same_explanation(one: Statement, other: Statement) -> bool:
    """Whether a long explanation stands in both word for word, under headlines of which one has
    nearly nothing that the other observation lacks, and neither a condition."""
    shorter, longer = sorted((len(one.details), len(other.details)))
    if shorter < _NEARLY_AS_LONG * longer:
        return False
    details = one.body_exact
    if len(details) < _EXPLAINED or details != other.body_exact:
        return False
    if not (LIMITS | DENIALS | NEGATIONS | PLATFORMS).isdisjoint(one.said ^ other.said):
        return False
    said = [len(a.said & b.vocabulary) / max(len(a.said), 1) for a, b in ((one, other), (other, one))]
    return max(said) >= _SAID_AGAIN and min(said) >= _SAID_IN_PART


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


def likeness(one: Statement, other: Statement) -> float:
    """The share of words that both summaries have in the same order (normalised indel similarity)."""
    return round(float(Indel.normalized_similarity(one.content, other.content)), 3)


def _likely(one: Statement, other: Statement, weight: Weight) -> Judgement | None:
    """Whether most of what one says is in the other. Two explanations of one thing share words: where
    both have details that do not, they explain two things under like headlines."""
    both = one.said & other.said
    here, there = covered(one, other, both, weight), covered(other, one, both, weight)
    most, least = max(here, there), min(here, there)
    if (
        most >= MOST_COVERED
        and least >= LEAST_COVERED
        and not _goes_on(one, other)
        and not _goes_on(other, one)
    ):
        shared = details_in_common(one, other, weight)
        if shared is None or shared >= _DETAILS_IN_COMMON:
            why = f"{most:.0%} of what one says is in the other, {least:.0%} the other way round"
            return _duplicate(Tier.SUGGEST, "covered", why, (here + there) / 2)
    if most >= LEAST_COVERED:
        same = _details_alike(one, other)
        if same:
            return _duplicate(Tier.SUGGEST, "like_details", f"{same:.0%} of the details are the same", same)
    return None


def _goes_on(one: Statement, other: Statement) -> bool:
    """Whether a summary says all that the other says, and limits it or goes on from it."""
    more = FURTHER.intersection(one.content)
    return bool(more) and more.isdisjoint(other.vocabulary) and other.said <= one.said | FURTHER


def _details_alike(one: Statement, other: Statement) -> float:
    """How alike two long details are, word by word; 0 where they are short or not nearly the same."""
    shorter, longer = sorted((len(one.details), len(other.details)))
    if shorter < _SAME_DETAILS / 2 * longer or not shorter:
        return 0.0
    if 2 * len(one.vocabulary & other.vocabulary) < _SAME_DETAILS * len(one.vocabulary):
        return 0.0  # what is nearly the same has nearly the same words
    left, right = one.details.casefold().split(), other.details.casefold().split()
    if min(len(left), len(right)) < _EXPLAINED:
        return 0.0
    return float(Indel.normalized_similarity(left, right, score_cutoff=_SAME_DETAILS))


def covered(one: Statement, other: Statement, both: Set[str], weight: Weight) -> float:
    """The weighted share of the words of one summary that stand in the other observation; ``both`` are
    those of the two summaries. Exact sums: a set has another order in each process."""
    found = fsum(map(weight, both))
    rest = one.said - both
    total = found + fsum(map(weight, rest))
    if rest:
        found += _IN_DETAILS * fsum(map(weight, rest & other.vocabulary))
    return found / total if total else 0.0


def details_in_common(one: Statement, other: Statement, weight: Weight) -> float | None:
    """The weighted share of the lighter details' words that the other's have too; None where one has
    too few to tell. Words of the summaries are left out: details often begin by repeating them."""
    known = STOP_WORDS | one.said | other.said
    left, right = (each.explained - known for each in (one, other))
    if not left or not right:
        return None
    common = fsum(map(weight, left & right))
    lighter, heavier = sorted((fsum(map(weight, left)), fsum(map(weight, right))))
    return min(common / lighter, common / heavier / _LONGER) if lighter else None


def _duplicate(tier: Tier, rule: str, why: str, score: float) -> Judgement:
    return Judgement(tier=tier, relation=Relation.DUPLICATE, rule=rule, why=why, score=round(score, 3))


def _equal(one: tuple[Token, ...], other: tuple[Token, ...]) -> bool:
    """Whether both are the same words in the same order, but for fillers and at most one typo."""
    left, right = ([token for token in each if not token.is_filler] for each in (one, other))
    if len(left) != len(right):
        return False
    pairs = list(zip(left, right, strict=True))
    if any(_in_another_tense(a, b) for a, b in pairs):
        return False
    odd = [(a, b) for a, b in pairs if a.exact != b.exact]
    return not odd or (len(odd) == 1 and len(left) >= _LONG - 1 and _is_misspelt(*odd[0]))


def _in_another_tense(one: Token, other: Token) -> bool:
    """Whether one is being done and the other is done: locking, locked."""
    ends = {one.text[-3:].lower(), other.text[-3:].lower()}
    return one.kind is Kind.WORD and "ing" in ends and any(end.endswith("ed") for end in ends)


def _is_misspelt(one: Token, other: Token) -> bool:
    return one.kind is other.kind is Kind.WORD and is_typo(one.text, other.text)


def _within(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether the words of the shorter stand in the longer in their order."""
    short, long = sorted((one, other), key=len)
    return len(short) >= _LONG and Indel.distance(short, long) == len(long) - len(short)


def _without(statement: Statement, odd: set[str]) -> list[str]:
    return [key for key in statement.content if key not in odd and key not in STOP_WORDS]
