"""What an observation states: its words in order, and which of them may not differ.

A token is a plain word (by its stem), a *name* (identifier, path, flag, code, acronym: told by its
form) or a *number* (with its unit, version, comparison; a date is a number that says when). Names
and numbers are what a fact is about: two statements that differ in one are two facts, however alike
they read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, lru_cache
from sys import intern

from valor import tokens
from valor.consolidate.lexicon import FILLERS, LABELS, NEGATIONS, NUMBER_WORDS


class Kind(IntEnum):
    """What a token is."""

    WORD = 0
    NAME = 1
    NUMBER = 2
    DATE = 3


@dataclass(frozen=True, slots=True)
class Token:
    """``key`` is what is compared: stem, case-folded name, or number; ``text`` is as written."""

    key: str
    kind: Kind
    text: str

    @property
    def is_path(self) -> bool:
        """Whether it is a name with a folder or a file extension."""
        return self.kind is Kind.NAME and bool(_PATH.search(self.key))


_PATH = re.compile(r"\w/\w|^[./~]+\w|\w\.[a-z]{1,4}$")
_DATE = re.compile(r"\d{4}-\d\d(-\d\d)?(T[\d:.+Z-]+)?|\d{1,2}:\d\d(:\d\d)?|\d{1,2}/\d{1,2}/\d{2,4}")
_COMPARISON = "<>=~^≤≥≈"
_UNITS = (
    "s ms us ns µs μs m h d w y min sec hr b k g t kb mb gb tb kib mib gib tib x px pt em rem hz khz"
    " mhz ghz bit st nd rd th rps qps k/s mb/s kb/s gb/s % °"
)
_NUMBER = re.compile(
    rf"[{_COMPARISON}]*[-+±$€£]?v?\d(?:[\d.,_:-]*[\dx])?\+?(?:{'|'.join(map(re.escape, _UNITS.split()))})?",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"(?<=\d)[,_](?=\d{3}(?!\d))")
_INSIDE_NAME = re.compile(r"\w[_/:.@\\=#+]+\w|[a-z][A-Z]|[A-Z]{2}|[A-Za-z]\d|\d[A-Za-z]")
_ENDS_OF_NAME = re.compile(r"^(?:--?\w|[._@$%~/\\]\w)|\w(?:\+\+|#|\(\)|_|/|\*)$")
_OPERATOR = re.compile(r"[<>=!&|%^~]{1,3}")
_JOINERS = re.compile(r"['’]s\b|[-–—/]+")
_LABEL = re.compile(
    r"\s*(?:\\?\[(?P<tag>[^\]]{1,60})\]"
    r"|(?P<word>[\w./,+-]+(?:, ?[\w./+-]+)*(?:\([^)]{1,40}\))?)(?=:)):?(?=\s)"
)
_NEGATING = re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, NEGATIONS)))})\b", re.IGNORECASE)
_REVERTING = re.compile(r"revert", re.IGNORECASE)
_REPLACING = re.compile(
    r"revert|no longer|any ?more|stopped|ceased|instead|replac|switch|migrat|mov|rather than|in place of",
    re.IGNORECASE,
)
_QUOTES = "\"'“”‘’«»"
_OPENING = f"{_QUOTES}([{{*"
_CLOSING = f"{_QUOTES})]}},;:.!?*…"


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
        rest = self.summary[found.end() :] if found else ""
        if not found or not rest.strip():
            return frozenset(), tokenize(self.summary)
        words = tokens.terms(re.sub(r"^(\w+)\(", r"\1 (", found["tag"] or found["word"]))
        return frozenset(words) - LABELS, tokenize(rest)

    @property
    def body(self) -> tuple[Token, ...]:
        """The details."""
        return _tokenized(self.details)

    @cached_property
    def content(self) -> tuple[str, ...]:
        """The keys of the summary in order, fillers left out."""
        return keys(self.tokens)

    @property
    def body_content(self) -> tuple[str, ...]:
        """The keys of the details in order, fillers left out."""
        return keys(self.body)

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
        return not NEGATIONS.isdisjoint(self.content) or bool(_NEGATING.search(self.details))

    @property
    def vocabulary(self) -> frozenset[str]:
        """All terms of summary and details: whole names, their parts, stems. Made at each use: a log
        of 100,000 lines does not fit in memory as sets."""
        return frozenset(self._vocabulary)

    @cached_property
    def _vocabulary(self) -> tuple[str, ...]:
        summary, details = self.terms
        return tuple(map(intern, {*summary, *details, *self.content, *self.label}))


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
    return tuple(token.key for token in found if token.kind is not Kind.WORD or token.key not in FILLERS)


@lru_cache(maxsize=2048)
def _tokenized(text: str) -> tuple[Token, ...]:
    """As ``tokenize``, remembered: details are compared with those of many lines, one after another."""
    return tokenize(text)


def tokenize(text: str) -> tuple[Token, ...]:
    """The tokens of a text in its order."""
    found: list[Token] = []
    inside = False  # of a run of code that blanks cut
    for chunk in tokens.normalise(text).replace("\\[", "[").replace("\\]", "]").split():
        ticks = chunk.count("`")
        found += _tokens(chunk.replace("`", ""), code=inside or ticks > 0)
        inside ^= bool(ticks % 2)
    return tuple(found)


def _tokens(chunk: str, *, code: bool) -> list[Token]:
    if _OPERATOR.fullmatch(chunk) and chunk != "=>":
        return [Token(chunk, Kind.NAME, chunk)]
    bare = _strip(chunk)
    folded = bare.casefold()
    if not bare:
        return []
    if _DATE.fullmatch(bare):
        return [Token(bare, Kind.DATE, bare)]
    if _NUMBER.fullmatch(bare):
        return [Token(_number(folded), Kind.NUMBER, bare)]
    if folded in NUMBER_WORDS:
        return [Token(NUMBER_WORDS[folded], Kind.NUMBER, bare)]
    if folded.replace("’", "'") in NEGATIONS:
        return [Token(folded.replace("’", "'"), Kind.WORD, bare)]
    if code or _is_negated_name(folded) or _INSIDE_NAME.search(bare) or _ENDS_OF_NAME.search(bare):
        return [Token(intern(folded.removesuffix("()")), Kind.NAME, bare)]
    return [
        Token(intern(tokens.stem(part.casefold())), Kind.WORD, part) for part in _JOINERS.split(bare) if part
    ]


def _is_negated_name(folded: str) -> bool:
    """Whether it is one word with a negation in it, as rules are called (no-eval) that deny nothing."""
    return "-" in folded and not NEGATIONS.isdisjoint(folded.split("-"))


def _strip(chunk: str) -> str:
    """The chunk without the punctuation around it; "" where nothing else is in it."""
    bare = chunk.lstrip(_OPENING)
    if not bare.endswith("()"):
        bare = bare.rstrip(_CLOSING)
    return bare if any(c.isalnum() for c in bare) else ""


def _number(folded: str) -> str:
    """One spelling a number: ``v1.2`` is 1.2, ``1,000`` and ``1_000`` are 1000."""
    number = _THOUSANDS.sub("", folded)
    comparison = number[: len(number) - len(number.lstrip(_COMPARISON))]
    return comparison + number[len(comparison) :].removeprefix("v")
