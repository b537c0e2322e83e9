"""Lines out of the log, and lines of elsewhere into it.

``bring`` copies: ids, times and fields that valor does not know stay as they are; there is no
routing and no junk gate. What may not land (a secret, a line too long, an id that has other content
here) is reported, and the rest lands, in one append.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from valor import fold, log, record
from valor.digests import digest
from valor.errors import DONE, FOUND_NOTHING, REFUSED
from valor.fold import View
from valor.importers.entry import Entry, Item, Place, Skipped, Unusable
from valor.leaks import leaks, masked
from valor.log import Bad, Line, appending
from valor.private import strip_deep
from valor.record import Record
from valor.selection import Selection
from valor.workspace import Workspace

Row = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Receipt:
    """What became of everything read: ``read`` = ``written`` + ``already`` + the lengths of
    ``refused_secret``, ``bad`` and ``conflicts``. ``skipped`` held nothing to remember.

    The rows name their ``line`` (or ``file``), and a ``kind``, ``reason`` or ``id``.
    """

    read: int = 0
    written: int = 0
    already: int = 0
    refused_secret: list[Row] = field(default_factory=list)
    bad: list[Row] = field(default_factory=list)
    conflicts: list[Row] = field(default_factory=list)
    skipped: list[Row] = field(default_factory=list)
    dry_run: bool = False

    @property
    def exit_code(self) -> int:
        """The gravest: 4 a secret was refused, 1 something else did not land, 0 all is there."""
        if self.refused_secret:
            return REFUSED
        return FOUND_NOTHING if self.bad or self.conflicts else DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """A record that may land unless it is there already; ``text`` is the digest that another line of
    the same content would share, where content decides."""

    place: Place
    id: str
    derived: bool
    text: bytes | None
    encoded: bytes


def bring(workspace: Workspace, entries: Iterable[Entry], *, dry_run: bool = False) -> Receipt:
    """Append what the log has not; say what became of each entry. ``dry_run`` writes nothing and
    counts as written what would be.

    Raises Unavailable where the log cannot be read or written.
    """
    receipt = Receipt(dry_run=dry_run)
    ready = [one for entry in entries if (one := _admit(entry, receipt))]
    if dry_run:
        _missing(ready, log.lines(workspace.log), receipt)
    elif ready:
        with appending(workspace.log, workspace.config.lock_timeout) as end:
            fresh = _missing(ready, log.lines(end.path), receipt)
            if fresh:
                end.write(fresh)
    return receipt


def _admit(entry: Entry, receipt: Receipt) -> _Ready | None:
    """The entry as a line; None, and a row in the receipt, where it may not be one."""
    if isinstance(entry, Skipped):
        receipt.skipped.append(_row(entry.place, reason=entry.reason))
        return None
    receipt.read += 1
    if isinstance(entry, Unusable):
        receipt.bad.append(_row(entry.place, reason=entry.reason))
        return None
    try:
        data = strip_deep(entry.record)
        encoded = record.encode(data | {"id": record.identifier(data)})
        found = leaks(data) if len(encoded) <= record.MAX_LINE_BYTES else []
    except RecursionError:
        receipt.bad.append(_row(entry.place, reason="nested too deep"))
        return None
    if reason := _why_not(data, entry, len(encoded)):
        receipt.bad.append(_row(entry.place, reason=reason))
        return None
    if found:
        kinds = ", ".join(dict.fromkeys(leak.kind for leak in found))
        where = ", ".join(dict.fromkeys(leak.field for leak in found))
        receipt.refused_secret.append(_row(entry.place, kind=kinds, field=where))
        return None
    derived = entry.derived or data.get("id") in (None, "")
    alone = record.kind(data) in record.MARKS or "supersedes" in data
    return _Ready(
        place=entry.place,
        id=record.identifier(data),
        derived=derived,
        text=digest(data) if derived and not alone else None,
        encoded=encoded if derived else record.encode(data),
    )


def _why_not(data: Record, entry: Item, size: int) -> str:
    """Why the record cannot be a line of ours; "" where it can."""
    if _is_blank(data) and not _is_blank(entry.record):
        return "nothing of it is outside <private>"
    if size > record.MAX_LINE_BYTES:
        return f"{size:,} bytes, a line has at most {record.MAX_LINE_BYTES:,}"
    return ""


def _missing(ready: list[_Ready], standing: Iterable[Line | Bad], receipt: Receipt) -> list[bytes]:
    """The lines that the log has not, in order.

    An id decides; where the source gave none, an observation of the same text, still live, is the
    same as well.
    """
    view = fold.fold(standing, lambda _: False)
    landed: dict[str, bytes] = {}
    texts: set[bytes] | None = None
    for one in ready:
        known = view.observations.get(one.id) or view.marks.get(one.id)
        raw = landed.get(one.id) or (known.raw if known else None)
        if raw is not None:
            if one.derived or _is_same(raw, one.encoded):
                receipt.already += 1
            else:
                receipt.conflicts.append(_row(one.place, id=one.id))
            continue
        if one.text is not None:
            texts = {digest(line.record) for line in view.live()} if texts is None else texts
            if one.text in texts:
                receipt.already += 1
                continue
            texts.add(one.text)
        landed[one.id] = one.encoded
    receipt.written = len(landed)
    return list(landed.values())


def _is_same(raw: bytes, other: bytes) -> bool:
    """Whether two lines hold the same, however they are spelled."""
    ids = {"id": ""}  # equal already, but for 7 and "7"
    return record.parse_exact(raw) | ids == record.parse_exact(other) | ids


def _is_blank(data: Record) -> bool:
    return not record.text(data, "summary").strip() and record.kind(data) not in record.MARKS


def _row(place: Place, **facts: str) -> Row:
    return {"line" if isinstance(place, int) else "file": place, **facts}


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Lines to hand out, each with its newline, and the numbers of those whose secrets were masked."""

    lines: list[bytes]
    masked: list[int]
    view: View


def export(workspace: Workspace, selection: Selection, *, hidden: bool = False) -> Export:
    """The lines that pass the selection, in the order of the log and byte for byte, but for secrets
    an older tool wrote: they are masked.

    Superseded lines only with ``hidden``, which brings the marks about what is exported as well.
    Private lines never. Raises Unavailable where the log cannot be read.
    """
    view = workspace.view(lambda _: False)
    chosen = [
        line
        for line in (view.observations.values() if hidden else view.live())
        if selection.accepts(line.record)
    ]
    if hidden:
        chosen += _marks_about({record.identifier(line.record) for line in chosen}, view, selection)
        chosen.sort(key=lambda line: line.number)
    lines: list[bytes] = []
    hurt: list[int] = []
    for line in chosen:
        if leaks(line.record):
            hurt.append(line.number)
            lines.append(record.encode(masked(record.parse_exact(line.raw))))
        else:
            lines.append(line.raw.removeprefix(record.BOM) + b"\n")
    return Export(lines=lines, masked=hurt, view=view)


def _marks_about(ids: set[str], view: View, selection: Selection) -> list[Line]:
    """The marks that touch these observations, and the reinstatements of those; all of them where
    nothing was selected."""
    marks = [line for line in view.marks.values() if not record.is_private(line.record)]
    if selection == Selection():
        return marks
    chosen = [
        line
        for line in marks
        if ids.intersection([*record.texts(line.record, "supersedes"), record.text(line.record, "by")])
    ]
    about = ids | {record.identifier(line.record) for line in chosen}
    return chosen + [line for line in marks if record.text(line.record, "of") in about]
