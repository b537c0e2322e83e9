"""Find secrets in a text, and take them out.

What could as well be an identifier, a hash, a placeholder or prose is let pass: a detector
that cries wolf gets switched off. Cheap searches for literal pieces come first; a text
that has none of them hardly meets a regular expression.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import namedtuple
from collections.abc import Callable, Iterator

from valor.secrets.kinds import Row, Span, anchored, issued
from valor.secrets.lazy import pattern
from valor.secrets.names import ANCHORS, HINTS


class Finding(namedtuple("Finding", ["kind", "start", "end"])):
    """A secret of ``kind`` at ``text[start:end]``. The value is not in it, so printing it tells nothing."""

    __slots__ = ()

    kind: str
    start: int
    end: int


_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}  # full-width forms of ASCII
# Zero-width characters, colours, line continuations: they show nothing and may cut a word in two.
_UNSEEN = (
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]+"
    r"|\x1b\[[0-9;]*m|\\\r?\n"
)
# Where a token that was wrapped at the end of a line goes on in the next: no word is so long or has digits.
_WRAP = r"(?<=[\w.-]{16})=?\r?\n[ \t]*(?=[A-Za-z_.-]*\d)"

_ROUNDS = 8  # what a replacement brings to light is replaced in the next round; one nearly always does


def find(text: str) -> list[Finding]:
    """The secrets in ``text``, in order and without overlap; offsets count its characters.

    A record is searched value by value: in the JSON line that stores it, escapes hide a few kinds.
    """
    plain = text.isascii()
    if not plain and pattern("[\uff01-\uff5e]").search(text):
        text = text.translate(_WIDE)
    rows = anchored(text)
    found = list(_spans(text, rows))
    if (not plain or "\x1b" in text or "\\" in text) and pattern(_UNSEEN).search(text):
        found += _without(_UNSEEN, text, _all_spans)
    if "\n" in text and (rows or "eyJ" in text):
        # Only where nothing else was found: a whole token is not to grow by the word below it.
        found += [span for span in _without(_WRAP, text, _tokens) if not _touches(span, found)]
    return _merged(found)


def redact(text: str) -> str:
    """``text`` with ``[redacted:<kind>]`` for each secret; :func:`find` finds nothing in the result."""
    for _ in range(_ROUNDS):
        found = find(text)
        if not found:
            break
        pieces, done = [], 0
        for kind, start, end in found:
            pieces += [text[done:start], f"[redacted:{kind}]"]
            done = end
        text = "".join(pieces) + text[done:]
    return text


def _spans(text: str, rows: list[Row]) -> Iterator[Span]:
    """Every kind of secret in ``text``, the surest kinds first."""
    lower = text.lower()
    tokens = list(issued(text, rows))
    if not tokens and text.isascii() and not any(hint in lower for hint in HINTS):
        return
    # Imported here, as most texts end above and the expressions in these modules take time to compile.
    from valor.secrets.assignments import assigned
    from valor.secrets.carriers import aws_secret_keys, carried
    from valor.secrets.keyblocks import key_blocks
    from valor.secrets.prose import stated, told_by_phrase, told_in_other_scripts

    yield from key_blocks(text)
    yield from tokens
    if any(kind == "aws-access-key" for kind, _, _ in tokens):
        yield from aws_secret_keys(text)
    yield from carried(text, lower)
    if any(anchor in lower for anchor in ANCHORS):
        yield from assigned(text)
        yield from stated(text)
    yield from told_by_phrase(text, lower)
    if not text.isascii():
        yield from told_in_other_scripts(text, lower)


def _all_spans(text: str) -> Iterator[Span]:
    yield from _spans(text, anchored(text))


def _tokens(text: str) -> Iterator[Span]:
    from valor.secrets.carriers import jwts

    yield from issued(text, anchored(text))
    yield from jwts(text)


def _without(unseen: str, text: str, search: Callable[[str], Iterator[Span]]) -> Iterator[Span]:
    """What ``search`` finds once the matches of ``unseen`` are taken out, at its place in ``text``."""
    pieces, starts, offsets, done, length = [], [0], [0], 0, 0
    for gap in pattern(unseen).finditer(text):
        pieces.append(text[done : gap.start()])
        length += gap.start() - done
        done = gap.end()
        starts.append(length)
        offsets.append(done - length)
    pieces.append(text[done:])
    for kind, start, end in search("".join(pieces)):
        yield (
            kind,
            start + offsets[bisect_right(starts, start) - 1],
            end + offsets[bisect_left(starts, end) - 1],
        )


def _touches(span: Span, found: list[Span]) -> bool:
    return any(start < span[2] and span[1] < end for _, start, end in found)


def _merged(found: list[Span]) -> list[Finding]:
    """One finding, of the surest kind, for each run of overlapping spans; ``found`` has the surest first."""
    merged: list[tuple[int, Finding]] = []
    for best, (kind, start, end) in sorted(enumerate(found), key=lambda numbered: numbered[1][1]):
        if merged and start < merged[-1][1].end:
            other, last = merged.pop()
            best, kind = min((best, kind), (other, last.kind))
            start, end = last.start, max(end, last.end)
        merged.append((best, Finding(kind, start, end)))
    return [finding for _, finding in merged]
