"""Is one word a misspelling of the other?

Two real words are often a letter apart (shared and sharded, reused and refused, retires and retries):
of a common English word list more than a thousand pairs are. Of long words, told apart by a doubled
letter or two swapped ones alone, hardly any are, and those are listed.
"""

from __future__ import annotations

from valor.consolidate.lexicon import CONFUSABLE
from valor.tokens import stem

_SHORTEST = 8  # letters


def is_typo(one: str, other: str) -> bool:
    """Whether one plain word is the other with a letter doubled, or with two neighbours swapped."""
    a, b = sorted((one.casefold(), other.casefold()), key=len)
    if len(a) < _SHORTEST or not (f"{a}{b}".isascii() and f"{a}{b}".isalpha()) or a == b:
        return False
    if frozenset((stem(a), stem(b))) in CONFUSABLE:
        return False
    if len(a) == len(b):
        odd = [i for i in range(len(a)) if a[i] != b[i]]
        return len(odd) == 2 and odd[1] == odd[0] + 1 and a[odd[0]] == b[odd[1]] and a[odd[1]] == b[odd[0]]
    if len(b) != len(a) + 1:
        return False
    at = next((i for i in range(len(a)) if a[i] != b[i]), len(a))
    return b[:at] + b[at + 1 :] == a and b[at] == b[at - 1]
