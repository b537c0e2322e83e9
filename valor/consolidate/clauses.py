"""Clauses of a text, and whether what one says is meant as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|(?<=[。！？；])")
_CLAUSE = re.compile(
    r",\s+|:\s+|\s+[—–-]\s+|\s+(?:but|because|since|while|although|though|so that|and|that|as)\s+",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\?|\b(?:if|whether|maybe|perhaps|possibly|probably|might|may|once|will|would|should|could)\b"
    r"|\b(?:said|says|claims?|untrue|not true|suppose[ds]?|assum\w+|unlike|unrelated)\b"
    r"|\b(?:todo|fixme|wip|proposal|idea|hypothesis|doubt\w*|we think|i think|seems?|apparently|presumably)\b"
    r"|\b(?:nobody|someone|somebody|in case|quotes?|expects?|prints?)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:not|never|without|nor|no need to|instead of)|n't)\W+(?:\w+\W+){0,2}$", re.IGNORECASE
)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text; a line is at least one."""
    return (part for part in _SENTENCE.split(text) if part.strip())


def clauses(text: str) -> Iterator[str]:
    """The clauses of a text."""
    return (part for sentence in sentences(text) for part in _CLAUSE.split(sentence) if part.strip())


def is_hedged(text: str) -> bool:
    """Whether it is a question, a condition, a plan, or what somebody else says."""
    return bool(_HEDGED.search(text))


def is_denied(before: str) -> bool:
    """Whether what follows this beginning of a sentence is denied by it."""
    return bool(_DENIED.search(before))
