"""Scores: BM25 over terms, and trigram containment to settle the order at the top.

Part of the hot ring. BM25 as in Robertson and Zaragoza, "The Probabilistic Relevance Framework:
BM25 and Beyond" (2009), with fields weighted inside the term frequency (their BM25F, one length for
all fields) and, as in Lucene, 1 added inside the logarithm so that no term counts against a document:

    score(q, d) = sum over t in q of  idf(t) * tf / (tf + K1 * (1 - B + B * length / average))
    idf(t)      = ln(1 + (N - n + 0.5) / (n + 0.5))

``tf`` is the weighted count of t in d, ``length`` the weighted length of d (any unit), N the number
of documents and n those that hold t. A term gives at most its idf.
"""

from __future__ import annotations

from math import log

from valor.tokens import KEEP_RUNS, normalise

K1 = 1.2  # how slowly repeats of a term saturate
B = 0.75  # how much length counts against a document

SUMMARY_WEIGHT = 2.0
DETAILS_WEIGHT = 1.0
TAGS_WEIGHT = 1.0

RERANK_DEPTH = 50  # documents whose order trigrams may change
SUMMARY_BONUS = 2.0
TEXT_BONUS = 1.0
TEXT_REACH = 2_000  # characters looked at: a long text holds most trigrams whatever it says


def idf(documents: int, holding: int) -> float:
    """The weight, in nats, of a term that ``holding`` of ``documents`` hold."""
    return log(1.0 + (documents - holding + 0.5) / (holding + 0.5))


def length_norm(length: float, average: float) -> float:
    """What ``saturation`` sets a term frequency against: K1 for a document of average length."""
    return K1 * (1.0 - B + B * (length / average if average else 1.0))


def saturation(tf: float, norm: float) -> float:
    """The share, in [0, 1), of a term's idf that a document earns."""
    return tf / (tf + norm)


def squeeze(text: str) -> str:
    """Folded text as letters and digits with single spaces, one at each end; trigrams are cut from it."""
    text = normalise(text).casefold().translate(KEEP_RUNS)
    if not text.isascii():
        text = "".join([c if c.isalnum() else " " for c in text])
    return f" {' '.join(text.split())} "


def trigrams(squeezed: str) -> frozenset[str]:
    """The distinct runs of three characters of a squeezed text."""
    return frozenset(squeezed[i : i + 3] for i in range(len(squeezed) - 2))


def containment(asked: frozenset[str], squeezed: str) -> float:
    """The share, in [0, 1], of the trigrams asked for that a squeezed text holds."""
    if not asked:
        return 0.0
    return sum(gram in squeezed for gram in asked) / len(asked)


def rerank_factor(in_summary: float, in_text: float) -> float:
    """What a document's BM25 score is multiplied by, from two containments; at least 1."""
    return 1.0 + SUMMARY_BONUS * in_summary + TEXT_BONUS * in_text
