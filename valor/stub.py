"""What leaves: one observation as one line that cannot be mistaken for markup or for a command.

Part of the hot ring.
"""

from __future__ import annotations

MOST_STUBS = 3
MOST_CHARACTERS = 1_200  # of all stubs together, line ends included

_LONGEST_ID = 128
_LONGEST_TYPE = 24
_STUB_LIMIT = (MOST_CHARACTERS - (MOST_STUBS - 1)) // MOST_STUBS
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


def stub(id: str, type: str, summary: str, stale: bool = False) -> str:
    """``<thought id="…">[type] summary</thought>`` on one line of at most 399 characters, with ``(stale?)``
    behind the summary of what is to be doubted; "" where the id is too long to be of use or nothing
    printable is left to say."""
    id_ = escape(id, _LONGEST_ID + 1)
    text = plain(summary)
    if not id_ or len(id_) > _LONGEST_ID or not text:
        return ""
    head = f'<thought id="{id_}">[{escape(type, _LONGEST_TYPE)}] '
    tail = " (stale?)</thought>" if stale else "</thought>"
    return head + escape(text, _STUB_LIMIT - len(head) - len(tail)) + tail


def plain(text: str) -> str:
    """One line without control, format or ANSI characters, white space squeezed."""
    text = _without_ansi(text[:8_000])
    if not text.isascii() or not text.isprintable():
        text = "".join([c if c.isprintable() else " " for c in text])
    return " ".join(text.split())


def escape(text: str, limit: int) -> str:
    """``text`` made plain, markup written as entities, cut to ``limit`` characters with an ellipsis."""
    parts = []
    left = limit
    text = plain(text)
    for place, c in enumerate(text):
        part = _ENTITIES.get(c, c)
        last = place == len(text) - 1
        if len(part) + (not last) > left:
            parts.append("…" if left > 0 else "")
            break
        parts.append(part)
        left -= len(part)
    return "".join(parts)


def _without_ansi(text: str) -> str:
    """``text`` without terminal sequences (ECMA-48: CSI up to its final byte, OSC up to its end)."""
    text = text.replace("\x9b", "\x1b[").replace("\x9d", "\x1b]")
    if "\x1b" not in text:
        return text
    first, *rest = text.split("\x1b")
    kept = [first]
    for part in rest:
        if part.startswith("["):
            end = next((i for i, c in enumerate(part) if i and "@" <= c <= "~"), len(part))
        elif part.startswith("]"):
            end = part.find("\x07") if "\x07" in part else len(part)
        else:
            end = 0
        kept.append(part[end + 1 :])
    return " ".join(kept)
