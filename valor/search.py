"""Ranked free-text search over observations: any word may match, the best line comes first.

A one-shot command asks one query of ten thousand documents, so nothing is indexed ahead. The texts
are joined into a few long strings; a term is looked up by substring scan (every term is a substring
of the folded text, see ``valor.tokens``), each hit is widened to its word, and the word's real terms
decide. Answers are remembered, so a long-lived ``Corpus`` grows its index as it is asked; it gives
the same results as a fresh one.

Score = BM25 (``valor.rank``), and for the best fifty times ``1 + 2 * (share of the query's trigrams
in the summary) + 1 * (share in the whole text)``. Ties go to the later document.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import accumulate
from typing import TypeVar

from valor import rank
from valor.tokens import KEEP_RUNS, STOP_WORDS, normalise, query_terms, stem, word_terms

MOST_TERMS = 128  # of one query; a pasted page asks by its first hundred words
NEAREST = 0.8  # least similarity at which an unknown word stands for a known one
SHORTEST_UNKNOWN = 5  # letters; shorter words are too near to too many others
LOOSELY_NEAR = 0.6  # least similarity of a did-you-mean

_WEIGHTS = (rank.SUMMARY_WEIGHT, rank.DETAILS_WEIGHT, rank.TAGS_WEIGHT)
_FIELDS = len(_WEIGHTS)

_K = TypeVar("_K")
_V = TypeVar("_V")

Document = tuple[str, str, Sequence[str]]
"""Summary, details, tags."""

_Fields = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TermScore:
    """What one term gave a hit: ``contribution`` = similarity * idf * saturation(tf).

    ``asked`` is the query's term; ``term`` differs from it where the asked one is unknown and its
    nearest known term stood in, with ``similarity`` below 1. ``tf`` counts with field weights.
    """

    term: str
    asked: str
    similarity: float
    tf: float
    idf: float
    contribution: float

    @property
    def mapped(self) -> bool:
        """Whether another term stood in for the one asked."""
        return self.term != self.asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A document that answers: its index in the corpus, its score and where the score comes from.

    ``score`` = sum of the terms' contributions * ``rank.rerank_factor(in_summary, in_text)``; the two
    trigram shares are 0 beyond the depth that is re-ranked. ``terms`` holds the matching ones only.
    """

    index: int
    score: float
    terms: tuple[TermScore, ...]
    in_summary: float
    in_text: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    term: str
    asked: str
    similarity: float
    idf: float
    postings: dict[int, float]


class _Remembered(dict[_K, _V]):
    """A function's answers, each worked out when first asked for."""

    def __init__(self, answer: Callable[[_K], _V]) -> None:
        self._answer = answer

    def __missing__(self, key: _K) -> _V:
        value = self[key] = self._answer(key)
        return value


class _Block:
    """Many documents as one string, a space after each field; ``raw`` and ``folded`` share offsets."""

    def __init__(self, indexes: list[int], texts: list[_Fields]) -> None:
        fields = [field for index in indexes for field in texts[index]]
        self._indexes = indexes
        self._starts = list(accumulate((len(field) + 1 for field in fields), initial=0))
        joined = " ".join([*fields, ""])
        self._raw = joined.replace("\n", " ").replace("\t", " ").replace("\r", " ")
        self.folded = self._raw.casefold()

    def count(self, term: str, terms_of: dict[str, tuple[str, ...]], counts: dict[int, float]) -> None:
        """Add the term's weighted count in each document to ``counts``."""
        raw, folded, starts = self._raw, self.folded, self._starts
        at = folded.find(term)
        letter = "a" <= term[0] <= "z"
        start = end = index = 0
        weight = 0.0
        while at >= 0:
            if at >= end:
                field = bisect_right(starts, at) - 1
                start, end = starts[field], starts[field + 1]
                index, weight = self._indexes[field // _FIELDS], _WEIGHTS[field % _FIELDS]
            if letter and raw[at].islower() and folded[at - 1 : at].isalpha() and raw[at - 1].isascii():
                at = folded.find(term, at + 1)  # mid-word: no term starts between two such letters
                continue
            left = folded.rfind(" ", start, at) + 1 or start
            right = folded.find(" ", at)
            times = terms_of[raw[left:right]].count(term)
            if times:
                counts[index] = counts.get(index, 0.0) + weight * times
            at = folded.find(term, right)


def _blocks(texts: list[_Fields]) -> list[_Block]:
    """ASCII documents apart from the rest: one letter beyond ASCII makes a whole string scan slower."""
    plain: list[int] = []
    other: list[int] = []
    for index, (summary, details, tags) in enumerate(texts):
        ascii_only = summary.isascii() and details.isascii() and tags.isascii()
        (plain if ascii_only else other).append(index)
    return [_Block(indexes, texts) for indexes in (plain, other) if indexes]


class Corpus:
    """Documents to search; an index here is the place in the sequence given."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._texts: list[_Fields] = []
        lengths: list[float] = []
        for summary, details, tags in documents:
            fields = normalise(summary), normalise(details), normalise(" ".join(tags))
            self._texts.append(fields)
            lengths.append(
                rank.SUMMARY_WEIGHT * len(fields[0])
                + rank.DETAILS_WEIGHT * len(fields[1])
                + rank.TAGS_WEIGHT * len(fields[2])
            )
        average = sum(lengths) / len(lengths) if lengths else 0.0
        self._norms = [rank.length_norm(length, average) for length in lengths]
        self._blocks = _blocks(self._texts)
        self._word_terms = _Remembered(word_terms)
        self._postings = _Remembered(self._scan)
        self._squeezed = _Remembered(self._squeeze)
        self._nearest = _Remembered(self._find_nearest)
        self._words: list[str] | None = None
        self._stems: list[str] | None = None

    def __len__(self) -> int:
        return len(self._texts)

    def search(self, query: str, limit: int = 10) -> list[Hit]:
        """The at most ``limit`` best documents that hold a term of the query, best first."""
        if limit < 1:
            return []
        asked = self._ask(query)
        scores: dict[int, float] = {}
        for each in asked:
            gain = each.similarity * each.idf
            for index, tf in each.postings.items():
                scores[index] = scores.get(index, 0.0) + gain * (tf / (tf + self._norms[index]))
        best = nlargest(max(limit, rank.RERANK_DEPTH), scores, key=lambda index: (scores[index], index))
        shares = self._rerank(query, best[: rank.RERANK_DEPTH], scores)
        best.sort(key=lambda index: (scores[index], index), reverse=True)
        return [self._hit(index, scores[index], asked, shares) for index in best[:limit]]

    def suggest(self, query: str, limit: int = 5) -> list[str]:
        """Words of the corpus that look like the query's unknown words, likest first."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        likeness: dict[str, float] = {}
        for unknown in rank.squeeze(query).split()[:MOST_TERMS]:
            if self._postings[stem(unknown)]:
                continue
            near = process.extract(
                unknown,
                self._vocabulary(),
                scorer=OSA.normalized_similarity,
                score_cutoff=LOOSELY_NEAR,
                limit=limit,
            )
            for word, similarity, _ in near:
                likeness[word] = max(similarity, likeness.get(word, 0.0))
        return sorted(likeness, key=lambda word: (-likeness[word], word))[:limit]

    def _ask(self, query: str) -> list[_Asked]:
        """The query's terms that some document holds, unknown ones replaced by their nearest."""
        found: dict[str, _Asked] = {}
        for asked in query_terms(query)[:MOST_TERMS]:
            term, similarity = (asked, 1.0) if self._postings[asked] else self._nearest[asked]
            if term and (term not in found or found[term].similarity < similarity):
                postings = self._postings[term]
                weight = rank.idf(len(self._texts), len(postings))
                found[term] = _Asked(
                    term=term, asked=asked, similarity=similarity, idf=weight, postings=postings
                )
        return list(found.values())

    def _rerank(
        self, query: str, indexes: list[int], scores: dict[int, float]
    ) -> dict[int, tuple[float, float]]:
        """Multiply the scores of ``indexes`` in place; return each one's two trigram shares."""
        grams = rank.trigrams(rank.squeeze(query[: rank.TEXT_REACH]))
        shares: dict[int, tuple[float, float]] = {}
        for index in indexes:
            summary, text = self._squeezed[index]
            shares[index] = rank.containment(grams, summary), rank.containment(grams, text)
            scores[index] *= rank.rerank_factor(*shares[index])
        return shares

    def _hit(
        self, index: int, score: float, asked: list[_Asked], shares: dict[int, tuple[float, float]]
    ) -> Hit:
        matched = []
        for each in asked:
            tf = each.postings.get(index)
            if tf is None:
                continue
            gain = each.similarity * each.idf * rank.saturation(tf, self._norms[index])
            matched.append(
                TermScore(
                    term=each.term,
                    asked=each.asked,
                    similarity=each.similarity,
                    tf=tf,
                    idf=each.idf,
                    contribution=gain,
                )
            )
        in_summary, in_text = shares.get(index, (0.0, 0.0))
        return Hit(index=index, score=score, terms=tuple(matched), in_summary=in_summary, in_text=in_text)

    def _scan(self, term: str) -> dict[int, float]:
        """Weighted count of the term by document, zero counts left out."""
        counts: dict[int, float] = {}
        for block in self._blocks:
            block.count(term, self._word_terms, counts)
        return counts

    def _squeeze(self, index: int) -> tuple[str, str]:
        summary, details, _ = self._texts[index]
        squeezed = rank.squeeze(summary)
        return squeezed, squeezed + rank.squeeze(details[: rank.TEXT_REACH])

    def _vocabulary(self) -> list[str]:
        """The words of the corpus that are all letters, sorted, stop words left out."""
        if self._words is None:
            words: set[str] = set()
            for block in self._blocks:
                words.update(" ".join(set(block.folded.split())).translate(KEEP_RUNS).split())
            self._words = sorted(w for w in words if len(w) > 2 and w.isalpha() and w not in STOP_WORDS)
        return self._words

    def _find_nearest(self, term: str) -> tuple[str, float]:
        """The known term that an unknown one most likely means, and how like it is; else ("", 0).

        Only for plain words, and only within the same first letter: typing rarely errs there, while
        real words often differ in just that (winter, linter). The commoner of two equals wins.
        """
        if len(term) < SHORTEST_UNKNOWN or not term.isalpha():
            return "", 0.0
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        if self._stems is None:
            self._stems = sorted({stem(word) for word in self._vocabulary()})
        choices = [known for known in self._stems if known[0] == term[0]]
        near = process.extract(term, choices, scorer=OSA.normalized_similarity, score_cutoff=NEAREST, limit=5)
        ranked = [(similarity, len(self._postings[known]), known) for known, similarity, _ in near]
        similarity, _, known = max((each for each in ranked if each[1]), default=(0.0, 0, ""))
        return known, similarity
