"""What a survivor takes over from the observations that it superseded: their tags and references.

A supersession may carry ``"inherits":{"tags":[…],"references":[…]}``: what its targets have and ``by``
lacks. The lines stay as they are; the view shows the survivor with these values behind its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from valor import record
from valor.log import Line
from valor.record import SUPERSESSION, Record

FIELD = "inherits"

Inheritance = tuple[tuple[str, ...], tuple[str, ...]]
"""Tags and references, without those that the heir has itself."""


def inherited(
    marks: Iterable[Record], heir: Callable[[str], str | None], observations: Mapping[str, Line]
) -> dict[str, Inheritance]:
    """What each live observation takes over from these marks, none of which is void. ``heir`` says to which
    live id an id leads: itself, its survivor, or None.

    A mark that hides nothing hands on nothing; nor does one that is private or that hides a private line:
    what such a line holds shows nowhere else. Values come in the order of their marks (time, then id); a tag
    comes once, however it is spelled.
    """
    left: dict[str, list[object]] = {}
    for mark in sorted(marks, key=lambda one: (record.moment(one), record.identifier(one))):
        to = heir(record.text(mark, "by"))
        if to is not None and _bequeaths(mark, observations):
            left.setdefault(to, []).append(mark[FIELD])
    found: dict[str, Inheritance] = {}
    for id_, wills in left.items():
        own = observations[id_].record
        taken = (_new(wills, own, "tags", str.casefold), _new(wills, own, "references", str))
        if any(taken):
            found[id_] = taken
    return found


def extended(data: Record, taken: Inheritance) -> Record:
    """A copy of the record, with what it takes over behind its own."""
    more = zip(("tags", "references"), taken, strict=True)
    return data | {key: [*record.texts(data, key), *values] for key, values in more if values}


def _bequeaths(mark: Record, observations: Mapping[str, Line]) -> bool:
    if mark.get("type") != SUPERSESSION or record.is_private(mark):
        return False
    ids = [id_ for id_ in record.texts(mark, "supersedes") if id_ != record.text(mark, "by")]
    hidden = [observations[id_].record for id_ in ids if id_ in observations]
    return bool(hidden) and not any(map(record.is_private, hidden))


def _new(wills: Iterable[object], own: Record, key: str, same: Callable[[str], str]) -> tuple[str, ...]:
    """The values under ``key`` that the record lacks; ``same`` maps those that count as one to one text."""
    known = set(map(same, record.texts(own, key)))
    found = []
    for will in wills:
        for value in _texts(will, key):
            if same(value) not in known:
                known.add(same(value))
                found.append(value)
    return tuple(found)


def _texts(will: object, key: str) -> list[str]:
    """The texts in the list under ``key``. A mark may be anybody's: what else is there is passed over."""
    values = will.get(key) if isinstance(will, Mapping) else None
    return [one for one in values if type(one) is str and one.strip()] if isinstance(values, list) else []
