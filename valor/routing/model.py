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
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from valor.routing.features import Reading
from valor.routing.learn import SIMILAR, learn, rarity, shelf, unpack
from valor.routing.signals import Signal
from valor.routing.table import Row, Table

ALPHA = 0.3
SIGNAL = 2.0
NEAR = 30.0
NEAR_FROM = 0.25  # closeness below this is chance: two sentences share their small words
TEMPERATURE = 3.0
LONG = 30


class Near(NamedTuple):
    """An example and how close the text comes to it (0..1, 1 for the same words)."""

    row: Row
    example: str
    closeness: float


class Judgement(NamedTuple):
    """``shares`` of 1 by owner, the closest example of each, the signals that matched, the features."""

    shares: dict[str, float]
    nearest: dict[str, Near]
    matched: tuple[tuple[Signal, Row], ...]
    found: set[str]


class Model:
    """A compiled table. ``rows`` are its rows without their examples."""

    def __init__(self, learnt: Mapping[str, Any]) -> None:
        """Made of what ``learn`` returned. Raises KeyError, TypeError or ValueError for anything else."""
        self.rows = tuple(
            Row(scope=scope, owner=owner, store=store, signals=tuple(signals), examples=(), line=line)
            for scope, owner, store, signals, line in learnt["rows"]
        )
        self._examples: list[str] = learnt["examples"].split("\n")
        self._shelves: list[str] = learnt["shelves"]
        self._unpacked: dict[str, str] = {}
        self._open: set[int] = set()  # the shelves whose features are in ``_unpacked``
        self._having: dict[str, list[int]] = {}
        self._owners: list[str] = [owner for owner, _, _ in learnt["owners"]]
        self._ends: list[int] = list(accumulate(count for _, count, _ in learnt["owners"]))
        smooth = ALPHA * max(1, learnt["features"])
        self._floors: list[float] = [total + smooth for _, _, total in learnt["owners"]]
        self._signals = [(Signal(*parts), self.rows[at]) for at, *parts in learnt["signals"]]

    def judge(self, text: str, *, near: bool = True) -> Judgement:
        """How the owners share the text. Without ``near`` the closest examples are not asked."""
        reading = Reading(text)
        found = reading.features()
        known = self._known(found)
        scores = self._likelihoods(known)
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
        one, two = self._owners.index(owner), self._owners.index(other)
        weighed = []
        for each in self._known(found):
            logs = self._logs(each)
            weighed.append((logs[one] - logs[two], each))
        return sorted(weighed, reverse=True)

    def _known(self, found: set[str]) -> list[str]:
        """Those of the features that an example has, in order; ``_having`` says which examples."""
        for number in set(map(shelf, found)) - self._open:
            self._unpacked.update(unpack(self._shelves[number]))
            self._open.add(number)
        known = sorted(self._unpacked.keys() & found)
        for each in known:
            if each not in self._having:
                self._having[each] = list(map(int, self._unpacked[each].split(",")))
        return known

    def _logs(self, feature: str) -> list[float]:
        """log P(feature | owner), in the order of the owners."""
        logs, before = [], 0
        for end, floor in zip(self._ends, self._floors, strict=True):
            upto = bisect_left(self._having[feature], end)
            logs.append(math.log((upto - before + ALPHA) / floor))
            before = upto
        return logs

    def _likelihoods(self, known: list[str]) -> dict[str, float]:
        logs = [self._logs(each) for each in known]
        return {owner: sum(each[at] for each in logs) for at, owner in enumerate(self._owners)}

    def _nearest(self, found: set[str]) -> dict[str, Near]:
        """The closest example of each owner, by the overlap of words and word pairs, rare ones heavier."""
        overlaps: dict[int, float] = {}
        whole = 0.0
        for each in sorted(found):
            if each.startswith(SIMILAR):
                numbers = self._having.get(each, [])
                rare = rarity(len(numbers), len(self._examples))
                whole += rare
                for number in numbers:
                    overlaps[number] = overlaps.get(number, 0.0) + rare
        hits: dict[str, list[tuple[float, int]]] = {}
        for number, overlap in overlaps.items():
            hits.setdefault(self._owners[bisect_right(self._ends, number)], []).append((overlap, number))
        return {owner: self._closest(heapq.nlargest(6, ours), whole) for owner, ours in hits.items()}

    def _closest(self, hits: list[tuple[float, int]], whole: float) -> Near:
        best = Near(row=self.rows[0], example="", closeness=-1.0)
        for overlap, number in hits:
            at, rare, example = self._examples[number].split(" ", 2)
            closeness = overlap / (whole + float(rare) - overlap)
            if closeness > best.closeness:
                best = Near(row=self.rows[int(at)], example=example, closeness=closeness)
        return best


@lru_cache(maxsize=4)
def compiled(table: Table) -> Model:
    """The model of ``table``; compiled once in a process."""
    return Model(learn(table))


def _softmax(scores: Mapping[str, float], temperature: float) -> dict[str, float]:
    top = max(scores.values())
    raised = {owner: math.exp((score - top) / temperature) for owner, score in scores.items()}
    whole = sum(raised.values())
    return {owner: value / whole for owner, value in raised.items()}
