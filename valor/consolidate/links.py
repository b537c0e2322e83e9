"""Which lines name one another outright: by id, by commit, by a quoted summary.

Such pairs need not read alike, so they are looked up, not searched for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from valor.consolidate.claim import Claim
from valor.consolidate.reverting import reverted_titles
from valor.consolidate.statement import Statement

_ID = re.compile(r"[\w.]+(?:-[\w.]+)+")  # ids have a hyphen, or stand among the references
_HASH = re.compile(r"\b[0-9a-f]{7,40}\b")
_PREFIX = 7  # digits of a commit by which it is looked up
_FIRST_WORDS = 5  # of a quoted summary, by which it is looked up


def linked(claims: Sequence[Claim]) -> Iterator[tuple[int, int]]:
    """The pairs (earlier, later), as places in ``claims`` (oldest first), of which the later names the
    earlier; each once."""
    seen: set[tuple[int, int]] = set()
    ids = {claim.id: place for place, claim in enumerate(claims)}
    commits: dict[str, list[int]] = {}
    titles: dict[tuple[str, ...], list[int]] = {}
    quoting: list[int] = []
    for place, claim in enumerate(claims):
        for commit in claim.commits:
            commits.setdefault(commit[:_PREFIX], []).append(place)
        if _may_revert(claim):
            quoting.append(place)
    wanted = _wanted(claims, quoting)
    for place, claim in enumerate(claims):
        words = claim.statement.content[:_FIRST_WORDS] if wanted else ()
        if words in wanted:
            titles.setdefault(words, []).append(place)
    for later, claim in enumerate(claims):
        for earlier in _named(claim, ids, commits):
            if earlier < later and (earlier, later) not in seen:
                seen.add((earlier, later))
                yield earlier, later
    for later in quoting:
        for words in wanted_by(claims[later]):
            for earlier in titles.get(words, ()):
                if earlier < later and (earlier, later) not in seen:
                    seen.add((earlier, later))
                    yield earlier, later


def wanted_by(claim: Claim) -> Iterator[tuple[str, ...]]:
    """The first words of each summary that the claim says it reverts."""
    for title, _ in reverted_titles(claim.statement):
        yield Statement(title, "").content[:_FIRST_WORDS]


def _wanted(claims: Sequence[Claim], quoting: list[int]) -> set[tuple[str, ...]]:
    return {words for place in quoting for words in wanted_by(claims[place]) if words}


def _may_revert(claim: Claim) -> bool:
    return any(word in text for word in ("evert", "ommit") for text in _texts(claim))


def _texts(claim: Claim) -> tuple[str, str]:
    return claim.statement.summary, claim.statement.details


def _named(claim: Claim, ids: dict[str, int], commits: dict[str, list[int]]) -> Iterator[int]:
    """The places of the lines whose id or commit the claim names."""
    texts = (*_texts(claim), *claim.references)
    for text in texts:
        for found in _ID.findall(text):
            if found in ids:
                yield ids[found]
        if text in ids:
            yield ids[text]
    if _may_revert(claim):
        for text in texts[:2]:
            for found in _HASH.findall(text.lower()):
                yield from commits.get(found[:_PREFIX], ())
