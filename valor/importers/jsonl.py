"""Lines of another log, or of ``valor export``: copied as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from valor import record
from valor.importers.entry import Entry, Item, Unusable
from valor.record import BadLine, Record


def read(lines: Iterable[bytes]) -> Iterator[Entry]:
    """Each line's record, blank lines passed over; a line that is none says why."""
    for number, raw in enumerate(lines, 1):
        bare = raw.strip()
        if bare.removeprefix(record.BOM):
            yield _entry(number, bare)


def _entry(number: int, bare: bytes) -> Entry:
    try:
        data = record.parse_exact(bare)
    except BadLine as error:
        return Unusable(place=number, reason=error.reason)
    except RecursionError:  # json nests less deep than orjson
        return Unusable(place=number, reason="nested too deep")
    reason = why_none(data)
    return Unusable(place=number, reason=reason) if reason else Item(place=number, record=data)


def why_none(data: Record) -> str:
    """Why the object is neither an observation nor a mark; "" where it is one.

    A type that valor does not know passes if the line has an id: a later version may know it.
    """
    if data.get("id") is not None and type(data["id"]) not in (str, int):
        return "its id is neither text nor a number"
    type_ = record.kind(data)
    if type_ == record.SUPERSESSION:
        return "" if record.texts(data, "supersedes") else "a supersession of nothing"
    if type_ == record.REINSTATEMENT:
        return "" if record.text(data, "of") else "a reinstatement of nothing"
    if record.text(data, "summary").strip() or (type_ not in record.TYPES and record.text(data, "id")):
        return ""
    return "it has no summary"
