"""Which observations a command is about: its filters, all of which hold together."""

from __future__ import annotations

from typing import NamedTuple

from valor import record
from valor.errors import UsageError
from valor.record import Record

_DAY = 86_400.0


class Selection(NamedTuple):
    """Filters over records; an empty one lets everything but private lines through.

    ``tags``: any of them. ``since`` and ``until`` are unix seconds, both included. ``session`` is a
    whole session id. ``also``: selections that must let the record through as well.
    """

    type: str = ""
    tags: tuple[str, ...] = ()
    since: float | None = None
    until: float | None = None
    session: str = ""
    also: tuple[Selection, ...] = ()

    def accepts(self, data: Record) -> bool:
        """Whether the record passes every filter. Private ones never do."""
        # The plain comparison first: this runs once a line.
        if self.type and data.get("type") != self.type and record.kind(data) != self.type:
            return False
        if "private" in data and record.is_private(data):
            return False
        if self.session and record.text(data, "session_id") != self.session:
            return False
        if self.tags:
            own = {tag.casefold() for tag in record.texts(data, "tags")}
            if not own.intersection(self.tags):
                return False
        if self.since is not None or self.until is not None:
            at = record.moment(data)
            if (self.since is not None and at < self.since) or (self.until is not None and at > self.until):
                return False
        return all(one.accepts(data) for one in self.also) if self.also else True

    def narrowed(self, by: Selection) -> Selection:
        """What passes both."""
        return by._replace(also=(*by.also, self)) if self != Selection() else by


def select(
    *, type_: str = "", tags: str = "", since: str = "", until: str = "", session: str = ""
) -> Selection:
    """Filters as typed: tags separated by commas, times as ``instant`` reads them."""
    return Selection(
        type=type_,
        tags=tuple(tag.strip().casefold() for tag in tags.split(",") if tag.strip()),
        since=instant(since, "--since") if since else None,
        until=instant(until, "--until", end_of_day=True) if until else None,
        session=session,
    )


def instant(typed: str, option: str, *, end_of_day: bool = False) -> float:
    """A time as typed (date or ISO 8601, UTC unless it says otherwise), as unix seconds.

    A date alone means its first second, or its last with ``end_of_day``. Raises UsageError.
    """
    at = record.seconds(typed)
    if at is None:
        raise UsageError(f"{option} {typed!r} is no time", "write 2026-11-30 or 2026-11-30T18:00:00Z")
    is_date = len(typed.strip()) <= len("2026-11-30")
    return at + _DAY - 0.001 if end_of_day and is_date else at
