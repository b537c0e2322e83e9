"""What a routing table teaches: naive Bayes over its examples, nudged by signals and near examples.

Each example votes for its row's owner with every feature it has (``valor.routing.features``):

    score(owner) = sum over the text's features of log P(feature | owner)

with Lidstone smoothing (Manning, Raghavan, Schütze, *Introduction to Information Retrieval*, 13.2;
ALPHA below) and no prior: how many examples a row has says how hard it is to tell, not how often it
comes. Two terms come on top: SIGNAL for each signal of an owner's rows that matches, two at most, and
up to NEAR for how close the text comes to an owner's closest example, so that a new example is felt
at once. Scores become shares of 1 by a softmax at TEMPERATURE, which undoes the overconfidence of
counting dependent features as independent; a text of more than LONG features weighs no more than one
of LONG, wherever in it they stand.

The numbers were set on sentences that are in no table. Nothing here knows an owner by name, reads a
file or learns from anything but the table.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from dataclasses import dataclass

from valor.routing.features import Reading
from valor.routing.signals import SECRET, Signal
from valor.routing.table import Row, Table

ALPHA = 0.3
SIGNAL = 2.0
NEAR = 30.0
NEAR_FROM = 0.25  # closeness below this is chance: two sentences share their small words
TEMPERATURE = 3.0
LONG = 40

_SIMILAR = ("W:", "B:", "J:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """An example and how close the text comes to it (0..1, 1 for the same words)."""

    row: Row
    example: str
    closeness: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """``shares`` of 1 by owner, the closest example of each, the signals that matched, the features."""

    shares: dict[str, float]
    nearest: dict[str, Near]
    matched: tuple[tuple[Signal, Row], ...]
    found: set[str]


class Model:
    """A compiled table. Compiling reads each example once; judging costs no more than a few of them."""

    def __init__(self, table: Table) -> None:
        self._examples: list[tuple[set[str], Row, str]] = []
        self._counts: dict[str, Counter[str]] = {}
        totals: Counter[str] = Counter()
        for row in table.rows:
            counts = self._counts.setdefault(row.owner, Counter())
            for example in row.examples:
                found = Reading(example).features()
                self._examples.append((found, row, example))
                counts.update(found)
                totals[row.owner] += len(found)
        self._signals = [(Signal(said), row) for row in table.rows for said in row.signals if said != SECRET]
        smooth = ALPHA * max(1, len(set().union(*self._counts.values())))
        self._floor = {owner: totals[owner] + smooth for owner in self._counts}

    def judge(self, text: str, *, near: bool = True) -> Judgement:
        """How the owners share the text. Without ``near`` the closest examples are not asked."""
        reading = Reading(text)
        found = reading.features()
        known = [each for each in found if self._seen(each)]
        scores = {owner: self._likelihood(owner, known) for owner in self._counts}
        words = reading.words()
        matched = tuple((signal, row) for signal, row in self._signals if signal.matches(words, found))
        for owner in scores:
            scores[owner] += SIGNAL * min(2, sum(row.owner == owner for _, row in matched))
        nearest = self._nearest(found) if near else {}
        for owner, each in nearest.items():
            scores[owner] += NEAR * max(0.0, each.closeness - NEAR_FROM) / (1 - NEAR_FROM)
        shares = _softmax(scores, TEMPERATURE * max(1.0, len(known) / LONG))
        return Judgement(shares=shares, nearest=nearest, matched=matched, found=found)

    def evidence(self, found: set[str], owner: str, other: str) -> list[tuple[float, str]]:
        """How much each known feature speaks for ``owner`` against ``other`` (log odds), strongest first."""
        known = [each for each in found if self._seen(each)]
        return sorted(
            ((self._log(owner, each) - self._log(other, each), each) for each in known), reverse=True
        )

    def _seen(self, feature: str) -> int:
        """How many examples have it."""
        return sum(counts.get(feature, 0) for counts in self._counts.values())

    def _log(self, owner: str, feature: str) -> float:
        return math.log((self._counts[owner].get(feature, 0) + ALPHA) / self._floor[owner])

    def _likelihood(self, owner: str, known: list[str]) -> float:
        counts, floor = self._counts[owner], self._floor[owner]
        return sum(math.log((counts.get(each, 0) + ALPHA) / floor) for each in known)

    def _nearest(self, found: set[str]) -> dict[str, Near]:
        """The closest example of each owner, by the overlap of words and word pairs, rare ones heavier."""
        rarity = {each: self._rarity(each) for each in found if each.startswith(_SIMILAR)}
        wanted = set(rarity)
        overlaps: dict[str, list[tuple[float, int]]] = {}
        for at, (theirs, row, _) in enumerate(self._examples):
            shared = wanted & theirs
            if shared:
                overlaps.setdefault(row.owner, []).append((sum(map(rarity.__getitem__, shared)), at))
        whole = sum(rarity.values())
        nearest = {}
        for owner, hits in overlaps.items():
            closeness, at = max((self._closeness(hit, whole, at), at) for hit, at in heapq.nlargest(6, hits))
            _, row, example = self._examples[at]
            nearest[owner] = Near(row=row, example=example, closeness=closeness)
        return nearest

    def _closeness(self, overlap: float, whole: float, at: int) -> float:
        theirs = sum(self._rarity(each) for each in self._examples[at][0] if each.startswith(_SIMILAR))
        return overlap / (whole + theirs - overlap)

    def _rarity(self, feature: str) -> float:
        return math.log((len(self._examples) + 1) / (self._seen(feature) + 0.5))


def _softmax(scores: dict[str, float], temperature: float) -> dict[str, float]:
    top = max(scores.values())
    raised = {owner: math.exp((score - top) / temperature) for owner, score in scores.items()}
    whole = sum(raised.values())
    return {owner: value / whole for owner, value in raised.items()}
