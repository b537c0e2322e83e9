"""Look a word up in the lexicon: which classes is it of?"""

from __future__ import annotations

from functools import cache

from valor.routing.lexicon import CLASSES

NONE: frozenset[str] = frozenset()
_Classes = tuple[
    dict[str, frozenset[str]],  # words
    dict[str, list[tuple[str, str]]],  # beginnings, by their first three letters
    dict[str, list[tuple[list[str], str]]],  # phrases, by their first word
    list[tuple[str, str]],  # substrings, for scripts without spaces
]


def classes_of(word: str) -> frozenset[str]:
    """The classes of a word in lower case."""
    exact, beginnings, _, _ = _classes()
    found = exact.get(word, NONE)
    for beginning, name in beginnings.get(word[:3], ()):
        if word.startswith(beginning):
            found = found | {name}
    return found


def phrases() -> dict[str, list[tuple[list[str], str]]]:
    """The words of each phrase and its class, by the first word."""
    return _classes()[2]


def unspaced() -> list[tuple[str, str]]:
    """What is looked up as a substring, and its class."""
    return _classes()[3]


def has_cjk(text: str) -> bool:
    """Does it hold a character of a script that is written without spaces, or of Hangul?"""
    return not text.isascii() and max(text) >= "\u3040" and any(map(is_cjk, text))


def is_cjk(char: str) -> bool:
    """Is it such a character?"""
    return "\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af"


@cache
def _classes() -> _Classes:
    """The lexicon by how it is looked up; made when a text is first read."""
    exact: dict[str, frozenset[str]] = {}
    beginnings: dict[str, list[tuple[str, str]]] = {}
    phrases: dict[str, list[tuple[list[str], str]]] = {}
    unspaced: list[tuple[str, str]] = []
    for name, words in CLASSES.items():
        own = frozenset((name,))
        for word in " ".join(words.split()).split(", "):
            if has_cjk(word):
                unspaced.append((word.replace(" ", ""), name))
            elif " " in word:
                parts = word.split()
                phrases.setdefault(parts[0], []).append((parts, name))
            elif word.endswith("*"):
                beginnings.setdefault(word[:3], []).append((word[:-1], name))
            else:
                known = exact.get(word)
                exact[word] = own if known is None else known | own
    return exact, beginnings, phrases, unspaced
