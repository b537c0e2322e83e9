"""What an observation states: its words in order, the scope in front of them, its vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from sys import intern

from valor import tokens
from valor.consolidate.lexicon import LABELS, NEGATIONS
from valor.consolidate.tokenizing import Kind, Token, tokenize

_LABEL = re.compile(
    r"\s*(?:\\?\[(?P<tag>[^\]]{1,60})\]"
    r"|(?P<word>[\w./,+-]+(?:, ?[\w./+-]+)*(?:\([^)]{1,40}\))?)(?=:)):?(?=\s)"
)
_NEGATING = re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, NEGATIONS)))})\b", re.IGNORECASE)
_CONSIDERED = 2_000  # characters
_REVERTING = re.compile(r"revert|undo|roll(?:s|ed)? back|back(?:s|ed)? out|commit", re.IGNORECASE)
_REPLACING = re.compile(
    r"revert|undo|rolled|backed|commit|no longer|any ?more|stopped|instead|replac|supersed|renam|switch"
    r"|migrat|mov|rais|lower|chang|bump|increas|reduc|decreas|rather than|in place of|correction|wrong"
    r"|contrary|turn|, (?:and )?not |deprecat|obsolete|outdated|gone|needed|necessary|required|mehr"
    r"|statt|plus|au lieu|en lugar|en vez|ya no|不再|もう",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Statement:
    """One observation as it is compared."""

    summary: str
    details: str

    @cached_property
    def label(self) -> frozenset[str]:
        """The scope in front of the summary (``unix: …``, ``[api] …``), as keys; a label that only
        says what kind of statement it is (``fix:``) is none."""
        return self._cut[0]

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The summary without its label."""
        return self._cut[1]

    @cached_property
    def _cut(self) -> tuple[frozenset[str], tuple[Token, ...]]:
        found = _LABEL.match(self.summary)
        rest = self.summary_without_label
        if found is None or rest is self.summary:
            return frozenset(), tokenize(self.summary)
        words = tokens.terms(re.sub(r"^(\w+)\(", r"\1 (", found["tag"] or found["word"]))
        return frozenset(words) - LABELS, tokenize(rest)

    @property
    def body(self) -> tuple[Token, ...]:
        """The details."""
        return _tokenized(self.details)

    @cached_property
    def label_text(self) -> str:
        """The label as it is written, case and white space aside; "" where there is none."""
        cut = len(self.summary) - len(self.summary_without_label)
        return " ".join(self.summary[:cut].casefold().split()).rstrip(": ")

    @property
    def openings(self) -> tuple[str, str]:
        """The first characters of summary and details: what replaces something says so early, and no text
        of 64 KiB makes the search for it slow."""
        return self.summary[:_CONSIDERED], self.details[:_CONSIDERED]

    @property
    def summary_without_label(self) -> str:
        """The text of the summary behind its label."""
        found = _LABEL.match(self.summary)
        rest = self.summary[found.end() :] if found else ""
        return rest if rest.strip() else self.summary

    @cached_property
    def content(self) -> tuple[str, ...]:
        """The keys of the summary in order, fillers left out."""
        return keys(self.tokens)

    @property
    def body_content(self) -> tuple[str, ...]:
        """The keys of the details in order, fillers left out."""
        return keys(self.body)

    @cached_property
    def exact(self) -> tuple[str, ...]:
        """What has to be equal of the summary, in order."""
        return exactly(self.tokens)

    @property
    def body_exact(self) -> tuple[str, ...]:
        """What has to be equal of the details, in order."""
        return exactly(self.body)

    @cached_property
    def said(self) -> frozenset[str]:
        """The keys of the summary that carry meaning, its label included."""
        return (frozenset(self.content) | self.label) - tokens.STOP_WORDS

    @cached_property
    def may_replace(self) -> bool:
        """Whether it has a word by which it could say that it replaces something; most have none."""
        return bool(_REPLACING.search(self.summary) or _REVERTING.search(self.details))

    @property
    def terms(self) -> tuple[list[str], list[str]]:
        """The terms of the summary and those of the details, in their order."""
        return tokens.terms(self.summary), tokens.terms(self.details)

    @property
    def explained(self) -> frozenset[str]:
        """The terms of the details."""
        return frozenset(tokens.terms(self.details))

    @cached_property
    def negates(self) -> bool:
        """Whether a negation stands anywhere in it."""
        words = (*self.content, *self.label)
        return not NEGATIONS.isdisjoint(words) or bool(_NEGATING.search(self.details))

    @property
    def vocabulary(self) -> frozenset[str]:
        """All terms of summary and details: whole names, their parts, stems. Kept for a while only: a
        log of 100,000 lines does not fit in memory as sets."""
        return _as_set(self._vocabulary)

    @cached_property
    def _vocabulary(self) -> tuple[str, ...]:
        summary, details = self.terms
        return tuple(map(intern, {*summary, *details, *self.content, *self.label}))


@lru_cache(maxsize=1024)
def _as_set(terms: tuple[str, ...]) -> frozenset[str]:
    return frozenset(terms)


def speaks_of(vocabulary: frozenset[str], token: Token) -> bool:
    """Whether the token stands among these terms; of a name, its last part will do
    (``task::JoinError`` and JoinError, ``src/app.py`` and app)."""
    if token.key in vocabulary:
        return True
    parts = [part for part in re.split(r"\W+", token.key) if part]
    if token.kind is not Kind.NAME or not parts:
        return False
    if len(parts) > 1 and token.is_path and "." in token.key:
        parts.pop()  # the extension: every file of a language has it
    return parts[-1] in vocabulary or tokens.stem(parts[-1]) in vocabulary


def keys(found: Iterable[Token]) -> tuple[str, ...]:
    """The keys in order, fillers left out."""
    return tuple(token.key for token in found if not token.is_filler)


def exactly(found: Iterable[Token]) -> tuple[str, ...]:
    """What has to be equal of each, in order, fillers left out."""
    return tuple(token.exact for token in found if not token.is_filler)


@lru_cache(maxsize=2048)
def _tokenized(text: str) -> tuple[Token, ...]:
    """As ``tokenize``, remembered: details are compared with those of many lines, one after another."""
    return tokenize(text)
