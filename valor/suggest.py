"""Did you mean …?"""

from __future__ import annotations

from collections.abc import Iterable

from valor.errors import UsageError


def did_you_mean(typed: str, known: Iterable[str]) -> str:
    """A question naming up to three near spellings; "" where none is near."""
    import difflib

    words = list(known)
    near = difflib.get_close_matches(typed, words, n=3, cutoff=0.6)
    near = near or [word for word in words if len(typed) > 2 and typed in word][:3]
    return f"did you mean {' or '.join(near)}?" if near else ""


def one_of(typed: str, known: Iterable[str], what: str) -> str:
    """``typed`` where it is a known word. Raises UsageError with the nearest and the whole list."""
    words = list(known)
    if typed in words:
        return typed
    question = did_you_mean(typed.lower(), words)
    listed = f"{what}{'es' if what.endswith('s') else 's'}: {', '.join(words)}"
    raise UsageError(f"unknown {what} {typed!r}", f"{question} {listed}" if question else listed)
