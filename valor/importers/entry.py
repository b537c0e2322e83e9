"""What an importer yields for each thing it finds in a source."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from valor import record
from valor.record import Record

Place = int | str  # a line's number (1-based), or a file's name below the folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A record on its way in, and where it stood. ``derived`` says that the source gave it no id of
    its own: the one it has, if any, follows from its content."""

    place: Place
    record: Record
    derived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """Something that should have been a record and is none."""

    place: Place
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Something that holds nothing to remember; passed over, and named."""

    place: Place
    reason: str


Entry = Item | Unusable | Skipped


def derived_id(*content: str, seconds: float = 0) -> str:
    """An id that the same content always gets, ``obs-<seconds>-<12 hex>``: importing a source twice
    must find the first import's lines again."""
    digest = hashlib.sha256("\0".join(content).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"obs-{max(0, int(seconds))}-{digest}"


def observation(
    text: str,
    details: str,
    *,
    id_: str,
    seconds: float,
    type_: str = record.DEFAULT_TYPE,
    tags: list[str],
    references: list[str],
    session_id: str = "",
) -> Record:
    """A line for ``text``, whose first line becomes the summary; ``seconds`` is when it was known."""
    head, _, rest = text.strip().partition("\n")
    body = "\n".join(part for part in (rest.strip(), details.strip()) if part)
    return {
        "id": id_,
        "timestamp": record.stamp(seconds),
        "session_id": session_id,
        "type": type_,
        "summary": head.strip(),
        "details": body,
        "tags": tags,
        "references": references,
        "tool": "import",
        "private": False,
        "source": record.DEFAULT_SOURCE,
        "importance": record.default_importance(record.DEFAULT_SOURCE, type_),
    }


def label(text: str) -> str:
    """``text`` as a tag: lower case, runs of anything but letters and digits as one hyphen."""
    spaced = "".join(char if char.isalnum() else " " for char in text.casefold())
    return "-".join(spaced.split())
