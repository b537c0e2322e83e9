"""Which observations say the same, all of them: groups of which one member stays.

Members of a group are pairwise the same: likeness that is passed along (A like B, B like C) would
merge what nobody compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from valor.consolidate.claim import Claim
from valor.consolidate.guards import scope

Same = Callable[[Claim, Claim], bool]
"""Whether two claims, the earlier first, are the same beyond doubt."""

Refused = Set[frozenset[str]]
"""Pairs of ids that were marked once and then reinstated: whoever did that need not do it again."""

_MOST_TRIED = 50  # groups of one text; more differ in their tags, and comparing all would take for ever


class Variant:
    """Claims of one text and one scope, oldest first: they are compared once."""

    __slots__ = ("claim", "members")

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.members = [claim]


class Group:
    """Variants that all say the same, oldest first."""

    __slots__ = ("variants",)

    def __init__(self, variant: Variant) -> None:
        self.variants = [variant]

    def members(self) -> list[Claim]:
        """Everything in it, oldest first."""
        return sorted((each for variant in self.variants for each in variant.members), key=lambda c: c.age)


def variants(claims: Iterable[Claim], refused: Refused = frozenset()) -> list[Variant]:
    """The claims (oldest first) by text and scope, in the order of their oldest."""
    found: dict[object, list[Variant]] = {}
    made: list[Variant] = []
    for claim in claims:
        known = found.setdefault((claim.digest, claim.tags, claim.places), [])
        variant = next((each for each in known if not refused or _may_join(claim, each, refused)), None)
        if variant is None:
            known.append(variant := Variant(claim))
            made.append(variant)
        else:
            variant.members.append(claim)
    return made


def _may_join(claim: Claim, variant: Variant, refused: Refused) -> bool:
    return all(frozenset((claim.id, other.id)) not in refused for other in variant.members)


def groups(
    found: Iterable[Variant], partners: dict[str, list[str]], same: Same, refused: Refused
) -> list[Group]:
    """The groups of two and more members.

    ``partners`` names, by the id of a variant's oldest claim, the earlier ones that may be the same;
    variants of one text are compared without.
    """
    of: dict[str, Group] = {}
    by_text: dict[bytes, list[Group]] = {}
    made: list[Group] = []
    for variant in found:
        known = by_text.setdefault(variant.claim.digest, [])
        tried = dict.fromkeys(
            [*known[:_MOST_TRIED], *(of[id_] for id_ in partners.get(variant.claim.id, ()) if id_ in of)]
        )
        group = next((group for group in tried if _admits(group, variant, same, refused)), None)
        if group is None:
            made.append(group := Group(variant))
        else:
            group.variants.append(variant)
        if group not in known:
            known.append(group)
        of[variant.claim.id] = group
    return [group for group in made if len(group.variants) > 1 or len(group.variants[0].members) > 1]


def _admits(group: Group, variant: Variant, same: Same, refused: Refused) -> bool:
    for other in group.variants:
        one, two = sorted((other.claim, variant.claim), key=lambda claim: claim.age)
        if one.digest == two.digest:
            if scope(one, two) is not None:
                return False
        elif not same(one, two):
            return False
        if refused and not all(_may_join(each, other, refused) for each in variant.members):
            return False
    return True
