"""The tokens of a text: plain words, names and numbers, told by their form.

A token is a plain word (by its stem), a *name* (identifier, path, flag, code, acronym, sign) or a
*number* (with its unit, version, comparison; a date is a number that says when). Names and numbers are
what a fact is about: two statements that differ in one are two facts, however alike they read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from sys import intern
from unicodedata import category

from valor import tokens
from valor.consolidate.lexicon import FILLERS, NEGATIONS, NUMBER_WORDS


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
_BULLET = re.compile(r"^[ \t]*[-*+•][ \t]+", re.MULTILINE)
_CONTRACTED = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall"}
_UNIT_CASE = str.maketrans("KGTPHSDNUWXV", "kgtphsdnuwxv")
_UNIT_NAMES = """
s second seconds sec secs
min minute minutes mins
h hour hours hr hrs
d day days
w week weeks
ms millisecond milliseconds
% percent
"""
_UNIT_WORDS = {
    **{word: row.split()[0] for row in _UNIT_NAMES.strip().splitlines() for word in row.split()},
    **{unit: unit for unit in ("us", "ns", "µs", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "tib", "hz")},
    **{unit: unit for unit in ("khz", "mhz", "ghz")},
}
_EMPHASIS = re.compile(r"\*{1,2}([^*]+)\*{1,2}\W*")
_DOUBLED = re.compile(r"([bdgmnprt])\1(?:ing|ed|er|ers)$", re.IGNORECASE)
_JOINERS = re.compile(r"['’]s\b|[-–—/]+")
_QUOTES = "\"'“”‘’«»"
_OPENING = f"{_QUOTES}([{{「『（【"
_CLOSING = f"{_QUOTES})]}},;:.!?…。、！？；：」』）】"


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
    emphasis = _EMPHASIS.fullmatch(bare)
    bare = emphasis[1] if emphasis else bare
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
    doubled = _DOUBLED.search(word)  # hopping is no hoping, though they share a stem
    return Token(key, Kind.WORD, word, intern(f"{key}{doubled[1].lower()}") if doubled else key)


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
    word = chunk.rstrip(_CLOSING)
    unit = _UNIT_WORDS.get(word.casefold())
    if unit is None or not found or found[-1].kind is not Kind.NUMBER or not found[-1].key[-1].isdigit():
        return False
    number = found[-1].key + (word.translate(_UNIT_CASE) if unit.endswith("b") else unit)
    found[-1] = Token(number, Kind.NUMBER, f"{found[-1].text} {word}", number)
    return True
