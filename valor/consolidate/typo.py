"""Is one word a misspelling of the other?"""

from __future__ import annotations

from rapidfuzz.distance import Levenshtein

from valor.consolidate.lexicon import CONFUSABLE

_SHORTEST = 6  # letters; shorter words have too many neighbours that mean something else


def is_typo(one: str, other: str) -> bool:
    """Whether one plain word is the other with a letter too many or too few, or two letters swapped:
    not at its ends, and never another known word."""
    a, b = sorted((one.casefold(), other.casefold()), key=len)
    if len(a) < _SHORTEST or not (f"{a}{b}".isascii() and f"{a}{b}".isalpha()) or a[0] != b[0]:
        return False
    if frozenset((a, b)) in CONFUSABLE:
        return False
    if len(a) == len(b):
        odd = [i for i in range(len(a)) if a[i] != b[i]]
        return len(odd) == 2 and odd[1] == odd[0] + 1 and a[odd[0]] == b[odd[1]] and a[odd[1]] == b[odd[0]]
    return len(b) == len(a) + 1 and b[:-1] != a and Levenshtein.distance(a, b, score_cutoff=1) == 1
