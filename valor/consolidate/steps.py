"""From judgements to steps: who stays, who is hidden by whom, what a person is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from valor import record
from valor.consolidate.claim import Age, Claim, fingerprint
from valor.consolidate.compared import Compared
from valor.consolidate.groups import Group, groups, variants
from valor.consolidate.guards import GUARDS
from valor.consolidate.judgement import Judgement, Relation, Tier
from valor.consolidate.step import APPLY, DECIDE, PROPOSE, Step

IDENTICAL = "identical text"
_FIELDS = ("type", "tags", "references", "session_id", "source", "importance")


def replaced(compared: Compared, include_protected: bool) -> list[Step]:
    """Steps for what a later line says it replaces. Each line is marked in favour of the first that
    replaces it: what that one's fate is, the fold follows."""
    chosen: dict[str, tuple[Claim, Judgement]] = {}
    for earlier, later, found in compared.of(Relation.SUPERSEDES, Tier.AUTO):
        for target in compared.members(earlier):
            by = next((each for each in compared.members(later) if each.age > target.age), None)
            if by is None or compared.was_refused(target, by):
                continue
            known = chosen.get(target.id)
            if known is None or by.age < known[0].age:
                chosen[target.id] = by, found
    grouped: dict[tuple[str, str], list[str]] = {}
    for id_, (by, found) in chosen.items():
        grouped.setdefault((by.id, found.why), []).append(id_)
    return [
        step
        for (by_id, _), ids in grouped.items()
        for step in _split(compared, compared.claims[by_id], ids, chosen[ids[0]][1], include_protected)
    ]


def merged(compared: Compared, hidden: set[str], include_protected: bool) -> list[Step]:
    """Steps for what is said twice, among the lines that are not ``hidden``.

    A group is only proposed where something contradicts it in between: said, taken back and said
    again is no repetition.
    """
    live = [claim for claim in compared.claims.values() if claim.id not in hidden]
    found = variants(live, compared.refused)
    head = {each.id: variant.claim.id for variant in found for each in variant.members}
    partners: dict[str, list[str]] = {}
    for one, other, _ in compared.of(Relation.DUPLICATE, Tier.AUTO):
        for here, there in ((one, other), (other, one)):
            if here.id in head and there.id in head:
                partners.setdefault(head[here.id], []).append(head[there.id])
    between = _contradictions(compared)
    steps: list[Step] = []
    for group in groups(found, partners, compared.same, compared.refused):
        steps += _merge(compared, group, between, include_protected)
    return steps


def questions(compared: Compared, hidden: set[str]) -> list[Step]:
    """What only a person or a judge can say: likely repetitions and replacements, contradictions. Each
    line is asked about once as the one to hide, and once as the later of a contradiction."""
    open_ = sorted(
        (
            each
            for relation in (Relation.DUPLICATE, Relation.SUPERSEDES)
            for each in compared.of(relation, Tier.SUGGEST)
        ),
        key=lambda each: (-each[2].score, each[1].age, each[0].age),
    )
    steps: list[Step] = []
    taken: set[str] = set()
    staying: set[str] = set()
    for earlier, later, found in open_:
        by, target = later, earlier
        if found.relation is Relation.DUPLICATE:
            by = survivor([earlier, later])
            target = earlier if by is later else later
        free = taken.isdisjoint((target.id, by.id)) and target.id not in staying
        if free and hidden.isdisjoint((by.id, target.id)):
            taken.add(target.id)
            staying.add(by.id)
            steps.append(_step(compared, by, [target], found, PROPOSE))
    asked: set[tuple[str, str]] = set()
    near = sorted(compared.of(Relation.CONFLICT, Tier.CONFLICT), key=lambda each: each[1].at - each[0].at)
    for earlier, later, found in near:
        ends = {("earlier", earlier.id), ("later", later.id)}
        if hidden.isdisjoint((earlier.id, later.id)) and not asked & ends:
            asked |= ends
            steps.append(_step(compared, later, [earlier], found, DECIDE))
    return steps


def survivor(members: list[Claim]) -> Claim:
    """Who stays: the richest in details, of equals the oldest, so that two clones that consolidate on
    their own agree."""
    return min(members, key=lambda each: (-len(each.statement.details.split()), each.age))


def _merge(
    compared: Compared, group: Group, between: dict[str, list[Age]], include_protected: bool
) -> Iterator[Step]:
    members = group.members()
    stays = survivor(members)
    first, last = members[0].age, members[-1].age
    interrupted = any(first < age < last for each in members for age in between.get(each.id, ()))
    by_reason: dict[str, tuple[Judgement, list[str]]] = {}
    for each in members:
        if each is not stays:
            found = _why_same(compared, stays, each)
            by_reason.setdefault(found.why, (found, []))[1].append(each.id)
    for found, ids in by_reason.values():
        if interrupted:
            why = f"{found.why}, but something in between contradicts it"
            yield _step(
                compared, stays, [compared.claims[id_] for id_ in ids], found, PROPOSE, why, Tier.SUGGEST
            )
        else:
            yield from _split(compared, stays, ids, found, include_protected)


def _why_same(compared: Compared, stays: Claim, other: Claim) -> Judgement:
    one, two = sorted((stays, other), key=lambda claim: claim.age)
    known = compared.between(one, two) if one.digest != two.digest else None
    if known is not None:
        return known
    return Judgement(
        tier=Tier.AUTO, relation=Relation.DUPLICATE, rule="identical_text", why=IDENTICAL, score=1.0
    )


def _contradictions(compared: Compared) -> dict[str, list[Age]]:
    """By the id of each line, when something was said that replaces or contradicts it."""
    found: dict[str, list[Age]] = {}
    for relation, tier in (
        (Relation.SUPERSEDES, Tier.AUTO),
        (Relation.SUPERSEDES, Tier.SUGGEST),
        (Relation.CONFLICT, Tier.CONFLICT),
    ):
        for one, other, _ in compared.of(relation, tier):
            for here, there in ((one, other), (other, one)):
                ages = [each.age for each in compared.members(there)]
                for each in compared.members(here):
                    found.setdefault(each.id, []).extend(ages)
    return found


def _split(
    compared: Compared, by: Claim, ids: Iterable[str], found: Judgement, include_protected: bool
) -> Iterator[Step]:
    """One step for what is applied, one for the lines that a person wrote."""
    targets = sorted((compared.claims[id_] for id_ in ids), key=lambda each: each.age)
    protected = [each for each in targets if each.human and not include_protected]
    free = [each for each in targets if not each.human or include_protected]
    if free:
        yield _step(compared, by, free, found, APPLY)
    if protected:
        step = _step(compared, by, protected, found, PROPOSE, f"{found.why}; a person wrote it", Tier.SUGGEST)
        yield replace(step, protected=True)


def _step(
    compared: Compared,
    by: Claim,
    targets: list[Claim],
    found: Judgement,
    action: str,
    reason: str = "",
    tier: Tier | None = None,
) -> Step:
    everyone = [compared.record(each) for each in (by, *targets)]
    fields = [key for key in _FIELDS if any(data.get(key) != everyone[0].get(key) for data in everyone[1:])]
    return Step(
        tier=tier or found.tier,
        action=action,
        relation=found.relation,
        by=by.id,
        supersedes=tuple(each.id for each in targets),
        rule=found.rule,
        reason=reason or found.why,
        score=found.score,
        summary=by.statement.summary,
        other=targets[0].statement.summary,
        dates=(_date(by), _date(targets[0])),
        differs=(*map(str, found.differs), *fields),
        guards=tuple(_guarded(by, targets[0])),
        digests=tuple(map(fingerprint, everyone)),
    )


def _guarded(one: Claim, other: Claim) -> Iterator[tuple[str, str]]:
    earlier, later = sorted((one, other), key=lambda claim: claim.age)
    for guard in GUARDS:
        found = guard(earlier, later)
        yield guard.__name__, "agree" if found is None else str(found).partition(": ")[2]


def _date(claim: Claim) -> str:
    return record.stamp(claim.at) if claim.at else ""
