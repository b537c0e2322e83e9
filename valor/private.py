"""Take out what its writer marked as private: ``<private> … </private>``.

When in doubt more is taken out, never less: a block that is not closed runs to the end of
the text, and only the outermost closing tag of nested blocks ends one.
"""

from __future__ import annotations

import re
from typing import Any

_TAG = re.compile(r"<\s*+(/?)\s*+private(?=[\s/>])([^<>]*+)>", re.IGNORECASE)
# What may stand in an opening tag: nothing, or name="value" pairs.
_ATTRIBUTES = re.compile(r"(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'/]+))*\s*")


def strip_private(text: str) -> str:
    """``text`` without its private blocks; itself, unchanged, where it has none.

    Tags are found in any case, with blanks or attributes inside. A stray closing tag is
    dropped. The result is "" (or blank) when everything was private.
    """
    tags = list(_TAG.finditer(text)) if "private" in text.lower() else []
    last_closing = max((tag.start() for tag in tags if tag[1]), default=-1)
    kept: list[str] = []
    depth = done = 0
    for tag in tags:
        if not tag[1] and not _opens(tag, last_closing):
            continue
        if depth == 0:
            kept.append(text[done : tag.start()])
        if tag[1]:
            depth = max(0, depth - 1)
        elif not tag[2].endswith("/"):
            depth += 1
        done = tag.end()
    if not kept:
        return text
    if depth == 0:
        kept.append(text[done:])
    return _joined(kept)


def strip_deep(value: Any) -> Any:
    """``value`` with the private blocks out of every text in it, names of fields included."""
    if isinstance(value, str):
        return strip_private(value) if "<" in value else value
    if isinstance(value, list):
        return [strip_deep(item) for item in value]
    if isinstance(value, dict):
        return {strip_deep(key): strip_deep(item) for key, item in value.items()}
    return value


def _opens(tag: re.Match[str], last_closing: int) -> bool:
    """Whether ``tag`` is one: ``<private key>`` is a placeholder, unless a closing tag says otherwise."""
    return bool(_ATTRIBUTES.fullmatch(tag[2].removesuffix("/"))) or tag.start() < last_closing


def _joined(pieces: list[str]) -> str:
    """The pieces put together, without the second of two blanks that a block stood between."""
    text = pieces[0]
    for piece in pieces[1:]:
        blank = not text or text[-1].isspace()
        text += piece.lstrip(" \t") if blank else piece
    return text.strip()
