"""All pairs of lines that may have to do with one another, each judged once."""

from __future__ import annotations

from collections.abc import Callable
from math import log

from valor import record
from valor.consolidate.candidates import candidates
from valor.consolidate.claim import NO_TEXT, Claim, claim
from valor.consolidate.groups import variants
from valor.consolidate.judgement import Judgement, Relation, Tier, judge
from valor.consolidate.links import linked
from valor.consolidate.marks import refused
from valor.fold import View
from valor.record import Record

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and of how much."""


class Compared:
    """The judgements of one view. ``claims`` are its live observations by id, oldest first, without
    the private ones; ``pairs`` counts what was compared, ``told_apart`` the pairs of them that
    were told apart before."""

    def __init__(self, view: View, progress: Progress) -> None:
        self._view = view
        self._progress = progress
        self.claims = {each.id: each for each in _claims(view)}
        self.refused = refused(view)
        self.pairs = 0
        self.told_apart = sum(self.claims.keys() >= pair for pair in self.refused)
        self._found: dict[tuple[str, str], Judgement] = {}
        self._variants = variants(self.claims.values(), self.refused)
        self._members = {each.id: variant.members for variant in self._variants for each in variant.members}
        self._frequency: dict[str, int] = {}
        self._weights: dict[str, float] = {}
        self._judge_all()

    def of(self, relation: Relation, tier: Tier) -> list[tuple[Claim, Claim, Judgement]]:
        """The pairs so judged: earlier, later, judgement; in the order of the later."""
        chosen = [
            (self.claims[one], self.claims[other], found)
            for (one, other), found in self._found.items()
            if found.relation is relation and found.tier is tier
        ]
        return sorted(chosen, key=lambda each: (each[1].age, each[0].age))

    def members(self, of: Claim) -> list[Claim]:
        """The claims of the same text and scope, oldest first."""
        return self._members[of.id]

    def between(self, one: Claim, other: Claim) -> Judgement | None:
        """What the later is to the earlier."""
        return self._found.get((one.id, other.id)) or judge(one, other, self.weight)

    def same(self, one: Claim, other: Claim) -> bool:
        """Whether both are the same beyond doubt."""
        known = self.between(one, other)
        return known is not None and known.tier is Tier.AUTO and known.relation is Relation.DUPLICATE

    def was_refused(self, one: Claim, other: Claim) -> bool:
        """Whether the two were marked once and then told apart."""
        return frozenset((one.id, other.id)) in self.refused

    def record(self, of: Claim) -> Record:
        """The claim's record."""
        return self._view.observations[of.id].record

    def weight(self, term: str) -> float:
        """The inverse document frequency of a term, with Robertson and Spärck Jones' half added."""
        known = self._weights.get(term)
        if known is None:
            known = log(1 + len(self._variants) / (self._frequency.get(term, 0) + 0.5))
            self._weights[term] = known
        return known

    def _judge_all(self) -> None:
        heads = [each.claim for each in self._variants]
        total = len(heads)
        near = candidates(
            map(self._counted, heads), progress=lambda done: self._progress("comparing", done, total)
        )
        for one, other in near:  # the first comes when all terms are counted
            self._judge(heads[one], heads[other])
        everyone = list(self.claims.values())
        for one, other in linked(everyone):
            self._judge(everyone[one], everyone[other])

    def _counted(self, each: Claim) -> tuple[list[str], list[str]]:
        """The claim's terms; how many have each is known once all were asked."""
        for term in each.statement.vocabulary:
            self._frequency[term] = self._frequency.get(term, 0) + 1
        return each.statement.terms

    def _judge(self, one: Claim, other: Claim) -> None:
        self._judge_in_order(one, other)
        last = self._members[one.id][-1]
        if last.age > other.age:  # said once more, after the other
            self._judge_in_order(other, last)

    def _judge_in_order(self, earlier: Claim, later: Claim) -> None:
        self.pairs += 1
        if self.was_refused(earlier, later):
            return
        found = judge(earlier, later, self.weight)
        if found is not None:
            self._found[earlier.id, later.id] = found


def _claims(view: View) -> list[Claim]:
    made = (claim(line.record, line.number) for line in view.live() if not record.is_private(line.record))
    return sorted((each for each in made if each.digest != NO_TEXT), key=lambda each: each.age)
