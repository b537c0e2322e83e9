"""A view in memory, as recall asks it: the reference that every other engine must agree with."""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from valor import rank, recall
from valor.bloom import Gate
from valor.keys import POSTING, SHARE_BITS, SHARE_STEPS
from valor.recall import Known
from valor.tokens import Words, pieces, terms

LONGEST_FIELD = 20_000  # characters of a field that are indexed
_LONGEST_LENGTH = int(recall.ORDINARY_LENGTH * recall.LONGEST)  # beyond it lengths count alike
_WORDS = 500_000  # whose terms are kept at hand while many documents are read


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A line to index: what recall keeps of it, and its texts."""

    known: Known
    summary: str
    details: str = ""
    tags: tuple[str, ...] = field(default=())


def term_shares(document: Document) -> dict[str, int]:
    """The document's terms, each with its share (``recall.share``) in steps of 1 / SHARE_STEPS, at least
    one; a function of the line alone."""
    counts: dict[str, float] = {}
    length = 0.0
    for text, weight in (
        (document.summary, rank.SUMMARY_WEIGHT),
        (document.details, rank.DETAILS_WEIGHT),
        (" ".join(document.tags), rank.TAGS_WEIGHT),
    ):
        found = terms(text[:LONGEST_FIELD])
        length += weight * len(found)
        for term in found:
            counts[term] = counts.get(term, 0.0) + weight
    return {term: share_steps(tf, length) for term, tf in counts.items()}


def share_steps(tf: float, length: float) -> int:
    """``recall.share`` as a whole number from 1 to SHARE_STEPS."""
    return max(1, round(recall.share(tf, length) * SHARE_STEPS))


class _Steps(dict[int, int]):
    """``share_steps`` for each term frequency in lines of one length."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __missing__(self, tf: int) -> int:
        steps = self[tf] = share_steps(tf, self.length)
        return steps


def bulk_postings(
    texts: Iterable[tuple[str, str, Sequence[str]]], first: int = 0
) -> tuple[dict[str, bytes], list[list[str]]]:
    """The postings of many documents at once, and each document's terms; as ``term_shares`` has them.

    ``texts`` are summary, details and tags, numbered from ``first`` on. A term's postings are
    little-endian words of 32 bits, ``number << SHARE_BITS | share``, ascending. Raises OverflowError
    at number 2**20, for which a word has no room.
    """
    terms_of = Words(_WORDS).__getitem__
    every_term = chain.from_iterable
    steps: dict[int, _Steps] = {}
    lone: dict[str, int] = {}  # the first posting of each term: most terms have no other
    held: dict[str, list[int]] = {}
    terms_by_document: list[list[str]] = []
    number = first << SHARE_BITS
    # Weights are whole numbers here, so that a weighted count is the count of a list with repeats.
    for summary, details, tags in texts:
        found = list(every_term(map(terms_of, pieces(summary[:LONGEST_FIELD]))))
        found *= int(rank.SUMMARY_WEIGHT)
        found += every_term(map(terms_of, pieces(details[:LONGEST_FIELD])))
        found += every_term(map(terms_of, pieces(" ".join(tags)[:LONGEST_FIELD])))
        counts = Counter(found)
        length = min(len(found), _LONGEST_LENGTH)
        known = steps.get(length)
        if known is None:
            known = steps[length] = _Steps(length)
        for term, tf in counts.items():
            posting = number | known[tf]
            if term in held:
                held[term].append(posting)
            elif term in lone:
                held[term] = [lone[term], posting]
            else:
                lone[term] = posting
        terms_by_document.append(list(counts))
        number += 1 << SHARE_BITS
    postings = {term: alone.to_bytes(POSTING, "little") for term, alone in lone.items()}
    for term, many in held.items():
        words = array("I", many)
        if sys.byteorder == "big":
            words.byteswap()
        postings[term] = words.tobytes()
    return postings, terms_by_document


class MemoryIndex(recall.Index):
    """Documents indexed in memory, numbered in the order given."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._known: list[Known] = []
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for number, document in enumerate(documents):
            self._known.append(document.known)
            for term, part in term_shares(document).items():
                self._postings.setdefault(term, []).append((number, part / SHARE_STEPS))
        self.lines = len(self._known)

    def postings(self, term: str) -> list[tuple[int, float]]:
        return self._postings.get(term, [])

    def known(self, number: int) -> Known:
        return self._known[number]

    def gate_terms(self) -> list[str]:
        """The terms that carry weight, for the gate's filter, sorted."""
        weighty = (t for t, held in self._postings.items() if not recall.is_common(len(held), self.lines))
        return sorted(weighty)

    def gate(self) -> ExactGate:
        """The gate that never errs."""
        return ExactGate(self.gate_terms(), self.lines)


class ExactGate(Gate):
    """The terms themselves, for what needs no file."""

    __slots__ = ("_terms",)

    def __init__(self, terms: Iterable[str], lines: int) -> None:
        super().__init__(lines)
        self._terms = frozenset(terms)

    def __contains__(self, term: str) -> bool:
        return term in self._terms
