"""A folder of Markdown memories, one a file, as harnesses and people keep them.

The head's ``description`` (before it its ``name``) becomes the summary, the body the details. Heads
are flat or keep ``type``, ``originSessionId`` and ``modified`` under ``metadata``. The folder's
``MEMORY.md`` is an index of the others and is passed over.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from valor import record
from valor.importers import frontmatter
from valor.importers.entry import Entry, Item, Skipped, Unusable, derived_id, label, observation

INDEX = "MEMORY.md"
_TYPES = {"feedback": "correction"}  # types of other stores that have one of ours
_TIMES = ("modified", "updated", "timestamp", "date", "created")
_NESTED = "metadata."
_MAPPED = ("name", "description", "type", "tags", "originSessionId", *_TIMES)


def read(path: Path) -> Iterator[Entry]:
    """The memories of the folder at ``path`` and below it, by name; or of that one file."""
    if path.is_file():
        yield _entry(path, path.name, path.resolve().parent.name)
        return
    files = (file for file in path.rglob("*") if file.suffix.lower() == ".md" and file.is_file())
    for file in sorted(files):
        yield _entry(file, file.relative_to(path).as_posix(), path.resolve().name)


def _entry(file: Path, name: str, folder: str) -> Entry:
    # A file name need not be UTF-8, a line must be.
    name, folder = (os.fsencode(part).decode("utf-8", "replace") for part in (name, folder))
    if file.name == INDEX:
        return Skipped(place=name, reason="the index of the others")
    try:
        text = file.read_bytes().decode("utf-8")
        modified = file.stat().st_mtime
    except UnicodeDecodeError:
        return Unusable(place=name, reason="not UTF-8")
    except OSError as error:
        return Unusable(place=name, reason=f"cannot be read: {error.strerror}")
    head, body = frontmatter.split(text)
    nested = {key.removeprefix(_NESTED): value for key, value in head.items() if key.startswith(_NESTED)}
    flat = nested | {key: value for key, value in head.items() if not key.startswith(_NESTED)}
    said, details = _said(flat, body.strip())
    if not said:
        return Skipped(place=name, reason="it is empty")
    return Item(place=name, record=_line(flat, said, details, f"{folder}/{name}", modified), derived=True)


def _said(head: frontmatter.Head, body: str) -> tuple[str, str]:
    """The summary and the details."""
    name, description = head.get("name", ""), head.get("description", "")
    if description:
        known = not name or name.casefold() in description.casefold()
        return description if known else f"{name}: {description}", body
    if name:
        return name, body
    first, _, rest = body.partition("\n")
    return first.lstrip("#").strip(), rest


def _line(head: frontmatter.Head, said: str, details: str, reference: str, modified: float) -> record.Record:
    times = (record.seconds(head[key]) for key in _TIMES if key in head)
    written = next((at for at in times if at is not None), None)
    theirs = head.get("type", "").casefold()
    type_ = theirs if theirs in record.TYPES else _TYPES.get(theirs, record.DEFAULT_TYPE)
    tags = [label(theirs)] if theirs and theirs != type_ else []
    tags += [label(tag) for tag in head.get("tags", "").strip("[]").split(",") if label(tag)]
    line = observation(
        said,
        details,
        id_=derived_id("markdown", reference, said, details, seconds=written or 0),
        seconds=modified if written is None else written,
        type_=type_,
        tags=list(dict.fromkeys(tags)),
        references=[reference],
        session_id=head.get("originSessionId", ""),
    )
    rest = {key: value for key, value in head.items() if key not in _MAPPED}
    return line | {"frontmatter": rest} if rest else line
