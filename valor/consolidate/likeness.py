"""How much of what one statement says is in another: enough to propose, never to merge."""

from __future__ import annotations

from collections.abc import Callable, Set
from math import fsum

from rapidfuzz.distance import Indel

from valor.consolidate.lexicon import FURTHER
from valor.consolidate.sameness import EXPLAINED
from valor.consolidate.statement import Statement
from valor.tokens import STOP_WORDS

Weight = Callable[[str], float]
"""How much a term says: its inverse document frequency."""

MOST_COVERED, LEAST_COVERED = 0.55, 0.3  # weighted shares of what either says that the other says too
DETAILS_IN_COMMON = 0.65  # least weighted share of the shorter details in the longer
_IN_DETAILS = 0.6  # worth of a word of the summary that stands in the other's details alone
_LONGER = 0.4  # how much less may be shared of the longer details
_SAME_DETAILS = 0.75


def likeness(one: Statement, other: Statement) -> float:
    """The share of words that both summaries have in the same order (normalised indel similarity)."""
    return round(float(Indel.normalized_similarity(one.content, other.content)), 3)


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


def details_alike(one: Statement, other: Statement) -> float:
    """How alike two long details are, word by word; 0 where they are short or not nearly the same."""
    shorter, longer = sorted((len(one.details), len(other.details)))
    if shorter < _SAME_DETAILS / 2 * longer or not shorter:
        return 0.0
    if 2 * len(one.vocabulary & other.vocabulary) < _SAME_DETAILS * len(one.vocabulary):
        return 0.0  # what is nearly the same has nearly the same words
    left, right = one.details.casefold().split(), other.details.casefold().split()
    if min(len(left), len(right)) < EXPLAINED:
        return 0.0
    return float(Indel.normalized_similarity(left, right, score_cutoff=_SAME_DETAILS))


def goes_on(one: Statement, other: Statement) -> bool:
    """Whether a summary says all that the other says, and limits it or goes on from it."""
    more = FURTHER.intersection(one.content)
    return bool(more) and more.isdisjoint(other.vocabulary) and other.said <= one.said | FURTHER
