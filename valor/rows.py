"""From a line of the log to what the mirror keeps of it."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import NamedTuple

from valor import record, stub
from valor.beside import beside
from valor.confirm import digest
from valor.fold import View
from valor.keys import Row
from valor.leaks import holding_secrets, leaks, masked
from valor.log import Line
from valor.recall import Known, static_factor
from valor.recall_index import bulk_postings

_HEAD = struct.Struct("<ddQI8sHH")  # valor.keys says what these are
_DIGEST = slice(28, 36)
_LONGEST_TEXT = 400  # characters; no stub is longer
_LONGEST = 128  # characters of an id or a type; no stub with a longer id leaves


class Entry(NamedTuple):
    """A live observation as it goes into the mirror: its id, its row, and the texts it is found by
    (summary, details, tags)."""

    id: str
    row: bytes
    texts: tuple[str, str, list[str]]


class Indexed(NamedTuple):
    """Many entries, the postings of their terms, and each one's terms, as ``bulk_postings`` has them."""

    entries: list[Entry]
    postings: dict[str, bytes]
    terms: list[list[str]]


def indexed(view: View) -> Indexed:
    """The entries of the live lines that recall is to know, indexed, numbered from 0 on.

    A second process looks for secrets meanwhile. Where it finds one, which is rare, the line is masked and
    all are indexed again.
    """
    kept = list(view.live())
    hold = beside(lambda: bytes(holding_secrets(map(view.shown, kept))))
    made = _indexed(entry(line, view, holds_secret=False) for line in kept)
    flags = hold()
    if not any(flags):
        return made
    return _indexed(entry(line, view, bool(flag)) for line, flag in zip(kept, flags, strict=True))


def _indexed(entries: Iterable[Entry | None]) -> Indexed:
    found = [each for each in entries if each is not None]
    return Indexed(found, *bulk_postings(each.texts for each in found))


def entry(line: Line, view: View | None = None, holds_secret: bool | None = None) -> Entry | None:
    """The observation's entry, without its secrets; None where recall is not to know it: it is private, or
    there is nothing to say. Without ``view`` it inherits nothing; ``holds_secret`` says so where that is
    known."""
    data = view.shown(line) if view else line.record
    id_ = record.identifier(data)
    if record.is_private(data) or len(id_) > _LONGEST:
        return None
    found = leaks(data) if holds_secret is not False else []
    if found:
        if any(leak.field == "id" for leak in found):
            return None  # an id is told as it is
        data = masked(data)
    summary, details = record.text(data, "summary"), record.text(data, "details")
    text = (stub.plain(summary) or stub.plain(details))[:_LONGEST_TEXT]
    bracket = text.rfind("[")
    if found and bracket >= 0 and len(text) == _LONGEST_TEXT and "]" not in text[bracket:]:
        text = text[:bracket]  # the cut went through a redaction
    if not text or not stub.plain(id_):
        return None
    said = id_.encode(), stub.plain(record.kind(data))[:_LONGEST].encode(), text.encode()
    return Entry(id_, _row(line, *said), (summary, details, record.texts(data, "tags")))


def relocated(line: Line, packed: bytes) -> bytes:
    """The row of the same line at another place."""
    *_, long, kind = _HEAD.unpack_from(packed)
    end = _HEAD.size + long
    return _row(line, packed[_HEAD.size : end], packed[end : end + kind], packed[end + kind :])


def _row(line: Line, id_: bytes, type_: bytes, text: bytes) -> bytes:
    data, raw = line.record, line.raw
    made, weight = record.moment(data), record.importance(data)
    head = _HEAD.pack(made, weight, line.offset, len(raw), digest(raw), len(id_), len(type_))
    return head + id_ + type_ + text


def digest_in(packed: bytes) -> bytes:
    """The digest in a row: equal for equal lines, wherever they stand."""
    return packed[_DIGEST]


def standing(packed: bytes, now: float) -> tuple[float, float]:
    """What a line weighs unasked, for a brief: importance, decay and type; then how young it is."""
    found = Row(packed)
    known = Known(found.id, found.type, "", created=found.created, importance=found.importance)
    return found.importance * static_factor(known, now), found.created
