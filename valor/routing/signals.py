"""The Signals column: cues that a person sets by hand, in a language of four signs.

    in his voice         the words, in this order, anywhere in the text
    annoy*               any word that starts so
    @person + @wants     every part, in any order; @name is a word class of ``valor.routing.lexicon``
    ^@order + tone       a sentence opens with the part (within its first three words, for a class)
    @secret              the text tells the value of a secret

Signals are separated by ``;``. Quotes around words are allowed and mean nothing.
"""

from __future__ import annotations

from valor.routing.features import has_cjk
from valor.routing.lexicon import CLASSES

SECRET = "@secret"


class Signal:
    """One signal of one row, ready to be asked of a text."""

    __slots__ = ("_classes", "_words", "said")

    def __init__(self, said: str) -> None:
        self.said = said
        self._classes: list[str] = []
        self._words: list[str] = []
        for part in said.split(" + "):
            opens, bare = part.strip().startswith("^"), part.strip().lstrip("^")
            if bare.startswith("@"):
                self._classes.append(("O:" if opens else "C:") + bare[1:])
            else:
                self._words.append(_needle(bare.strip("\"'`“”").lower(), opens))

    def matches(self, words: str, found: set[str]) -> bool:
        """Does it match a text with these words (``features.Reading.words``) and features?"""
        return all(feature in found for feature in self._classes) and all(
            part in words for part in self._words
        )


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
