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
from unicodedata import category

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
    """``key`` is what is looked up: stem, case-folded name, or number; ``exact`` what has to be equal:
    of a name, as it is written; ``text`` is the word in the text."""

    key: str
    kind: Kind
    text: str
    exact: str

    @property
    def is_filler(self) -> bool:
        """Whether it may come and go without changing what is said."""
        return self.kind is Kind.WORD and self.text.casefold() in FILLERS

    @property
    def is_path(self) -> bool:
        """Whether it is a name with a folder or a file extension."""
        return self.kind is Kind.NAME and bool(_PATH.search(self.key))


_PATH = re.compile(r"\w/\w|^[./~]*/\w|\w\.[a-z]{1,4}$")
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
_INSIDE_NAME = re.compile(r"\w[_/:.@\\=#+]+\w|[a-z][A-Z]|[A-Z]{2}|[A-Za-z]-?\d|\d[A-Za-z]")
_ENDS_OF_NAME = re.compile(r"^(?:--?\w|[._@$%~/\\]\w|[.~]{1,2}/)|\w(?:\+\+|#|\(\)|_|/|\*)$")
_OPERATOR = re.compile(r"(?!-+$)[-<>=!&|%^~+*/→←↔]{1,3}")
_SYMBOLS = ("So", "Sm")  # Unicode's other and mathematical symbols: ✅ and ❌ are not the same
_OPENING_SIGNS = "\"'“”‘’«»()[]{},;:."
_BULLET = re.compile(r"^\s*[-*+•]\s+", re.MULTILINE)
_CONTRACTED = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall"}
_UNIT_CASE = str.maketrans("KGTPHSDNUWXV", "kgtphsdnuwxv")
_UNIT_WORDS = {
    **dict.fromkeys("s sec secs second seconds".split(), "s"),  # noqa: SIM905
    **dict.fromkeys("min mins minute minutes".split(), "min"),  # noqa: SIM905
    **dict.fromkeys("h hr hrs hour hours".split(), "h"),  # noqa: SIM905
    **dict.fromkeys("d day days".split(), "d"),  # noqa: SIM905
    **dict.fromkeys("% percent".split(), "%"),  # noqa: SIM905
    **{unit: unit for unit in "ms us ns µs kb mb gb tb kib mib gib tib hz khz mhz ghz".split()},  # noqa: SIM905
    **dict.fromkeys("millisecond milliseconds".split(), "ms"),  # noqa: SIM905
    **dict.fromkeys("week weeks".split(), "w"),  # noqa: SIM905
}
_JOINERS = re.compile(r"['’]s\b|[-–—/]+")
_LABEL = re.compile(
    r"\s*(?:\\?\[(?P<tag>[^\]]{1,60})\]"
    r"|(?P<word>[\w./,+-]+(?:, ?[\w./+-]+)*(?:\([^)]{1,40}\))?)(?=:)):?(?=\s)"
)
_NEGATING = re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, NEGATIONS)))})\b", re.IGNORECASE)
_REVERTING = re.compile(r"revert|undo|roll(?:s|ed)? back|back(?:s|ed)? out|commit", re.IGNORECASE)
_REPLACING = re.compile(
    r"revert|undo|rolled|backed|commit|no longer|any ?more|stopped|instead|replac|supersed|renam|switch"
    r"|migrat|mov|rais|lower|chang|bump|increas|reduc|decreas|rather than|in place of|correction|wrong"
    r"|contrary|turn|, (?:and )?not |deprecat|obsolete|outdated|gone|needed|necessary|required|mehr"
    r"|statt|plus|au lieu|en lugar|en vez|ya no|不再|もう",
    re.IGNORECASE,
)
_QUOTES = "\"'“”‘’«»"
_OPENING = f"{_QUOTES}([{{*「『（【"
_CLOSING = f"{_QUOTES})]}},;:.!?*…。、！？；：」』）】"


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


def tokenize(text: str) -> tuple[Token, ...]:
    """The tokens of a text in its order."""
    found: list[Token] = []
    inside = False  # of a run of code that blanks cut
    text = tokens.normalise(text).replace("\\[", "[").replace("\\]", "]").replace("’", "'")
    text = _BULLET.sub("", text)
    for chunk in text.split():
        if inside or "`" in chunk:
            found += _code(chunk, inside)
            inside ^= bool(chunk.count("`") % 2)
        elif not _is_unit_of(chunk, found):
            found += _tokens(chunk, bool(found))
    return tuple(found)


def _code(chunk: str, inside: bool) -> list[Token]:
    """A piece of code is a name as it is written; the sentence's punctuation stands outside of it."""
    if not inside:
        chunk = chunk.lstrip(_OPENING)
    if chunk.count("`") % 2 == inside:
        chunk = chunk.rstrip(_CLOSING)
    bare = chunk.replace("`", "").removesuffix("()")
    if not bare:
        return []
    if _NUMBER.fullmatch(bare):
        return [_number(bare)]
    return [Token(intern(bare.casefold()), Kind.NAME, bare, intern(bare))]


def _tokens(chunk: str, behind_another: bool) -> list[Token]:
    if not any(c.isalnum() for c in chunk):
        sign = chunk.strip(_OPENING_SIGNS)
        is_sign = sign not in ("", "!") and (
            _OPERATOR.fullmatch(sign) or any(category(c) in _SYMBOLS for c in sign)
        )
        return [Token(sign, Kind.NAME, sign, sign)] if is_sign else []
    bare = chunk.lstrip(_OPENING)
    bare = bare if bare.endswith("()") else bare.rstrip(_CLOSING)
    folded = bare.casefold()
    if not any(c.isalnum() for c in bare):
        return []
    if _DATE.fullmatch(bare):
        return [Token(bare, Kind.DATE, bare, bare)]
    if _NUMBER.fullmatch(bare):
        return [_number(bare)]
    if folded in NUMBER_WORDS:
        return [Token(NUMBER_WORDS[folded], Kind.NUMBER, bare, NUMBER_WORDS[folded])]
    if folded.endswith("n't") or folded == "cannot":
        verb = _CONTRACTED.get(folded, folded[:-3])
        return [_word(verb), Token("not", Kind.WORD, bare, "not")]
    if _is_negated_name(folded) or _INSIDE_NAME.search(bare) or _ENDS_OF_NAME.search(bare):
        return [Token(intern(folded.removesuffix("()")), Kind.NAME, bare, intern(bare.removesuffix("()")))]
    if bare == "A" and behind_another:
        return [Token("a", Kind.NAME, bare, bare)]  # plan A, not the article
    return [_word(part) for part in _JOINERS.split(bare) if part]


def _word(word: str) -> Token:
    key = intern(tokens.stem(word.casefold()))
    return Token(key, Kind.WORD, word, key)


def _is_negated_name(folded: str) -> bool:
    """Whether it is one word with a negation in it, as rules are called (no-eval) that deny nothing."""
    return "-" in folded and not NEGATIONS.isdisjoint(folded.split("-"))


def _number(bare: str) -> Token:
    """One spelling a number: ``v1.2`` is 1.2, ``1,000`` and ``1_000`` are 1000. The case of a unit counts
    where it makes another: m and M, b and B."""
    number = _THOUSANDS.sub("", bare)
    comparison = number[: len(number) - len(number.lstrip(_COMPARISON))]
    rest = number[len(comparison) :]
    rest = rest.lstrip("vV") if "." in rest else rest.replace("V", "v")  # v3 is no 3
    number = comparison + rest.translate(_UNIT_CASE)
    return Token(number, Kind.NUMBER, bare, number)


def _is_unit_of(chunk: str, found: list[Token]) -> bool:
    """Whether the word is the unit of the number before it; then it is taken into that."""
    unit = _UNIT_WORDS.get(chunk.rstrip(_CLOSING).casefold())
    if unit is None or not found or found[-1].kind is not Kind.NUMBER or not found[-1].key[-1].isdigit():
        return False
    number = found[-1].key + unit
    found[-1] = Token(number, Kind.NUMBER, f"{found[-1].text} {chunk.rstrip(_CLOSING)}", number)
    return True
