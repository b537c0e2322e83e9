"""The Signals column: cues that a person sets by hand, in a language of four signs.

    in his voice         the words, in this order, anywhere in the text
    annoy*               any word that starts so
    @person + @wants     every part, in any order; @name is a word class of ``valor.routing.lexicon``
    ^@order + tone       a sentence opens with the part (within its first three words, for a class)
    @secret              the text tells the value of a secret

Signals are separated by ``;``. Quotes around words are allowed and mean nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from valor.routing.classes import has_cjk
from valor.routing.lexicon import CLASSES

SECRET = "@secret"


class Signal(NamedTuple):
    """One signal of a row as it was ``said``, the features a text must have and the words it must hold."""

    said: str
    classes: Sequence[str]
    words: Sequence[str]

    def matches(self, words: str, found: set[str]) -> bool:
        """Does it match a text with these words (``features.Reading.words``) and features?"""
        return found.issuperset(self.classes) and all(part in words for part in self.words)


def read(said: str) -> Signal:
    """The signal that a cell of the page says."""
    classes: list[str] = []
    words: list[str] = []
    for part in said.split(" + "):
        opens, bare = part.strip().startswith("^"), part.strip().lstrip("^")
        if bare.startswith("@"):
            classes.append(("O:" if opens else "C:") + bare[1:])
        else:
            words.append(_needle(bare.strip("\"'`“”").lower(), opens))
    return Signal(said, classes, words)


def unknown_class(said: str) -> str | None:
    """The first ``@name`` in a signal that no class has, if there is one."""
    bare = [part.strip().lstrip("^") for part in said.split(" + ")]
    names = [part[1:] for part in bare if part.startswith("@") and part != SECRET]
    return next((name for name in names if name not in CLASSES), None)


def _needle(words: str, opens: bool) -> str:
    if has_cjk(words):
        return words
    start = " ^ " if opens else " "
    return start + (words[:-1] if words.endswith("*") else words + " ")
