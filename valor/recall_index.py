"""A view in memory, as recall asks it: the reference that every other engine must agree with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from valor import rank, recall
from valor.bloom import Gate
from valor.recall import Known
from valor.tokens import terms

LONGEST_FIELD = 20_000  # characters of a field that are indexed


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A line to index: what recall keeps of it, and its texts."""

    known: Known
    summary: str
    details: str = ""
    tags: tuple[str, ...] = field(default=())


def term_shares(document: Document) -> dict[str, float]:
    """The document's terms, each with its share (``recall.share``); a function of the line alone."""
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
    return {term: recall.share(tf, length) for term, tf in counts.items()}


class MemoryIndex(recall.Index):
    """Documents indexed in memory, numbered in the order given."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._known: list[Known] = []
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for number, document in enumerate(documents):
            self._known.append(document.known)
            for term, part in term_shares(document).items():
                self._postings.setdefault(term, []).append((number, part))
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


def bulk_postings(texts, first=0):
    from struct import pack

    out = {}
    fw = []
    for n, (s, d, t) in enumerate(texts, first):
        sh = term_shares(Document(known=None, summary=s, details=d, tags=tuple(t)))
        fw.append(list(sh))
        for term, part in sh.items():
            out[term] = out.get(term, b"") + pack("<I", n << 12 | max(1, round(part * 4095)))
    return out, fw
