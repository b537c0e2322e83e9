"""Ids as people type them: whole, or a prefix that only one has."""

from __future__ import annotations

from collections.abc import Iterable

from valor.errors import UnknownId, UsageError
from valor.suggest import did_you_mean

_SHOWN = 8


def resolve(typed: str, ids: Iterable[str], what: str = "observation") -> str:
    """The one id that is ``typed`` or starts with it.

    Raises UsageError for a prefix that several share, naming them; UnknownId for one that nobody has,
    with the nearest.
    """
    known = list(ids)
    if typed in set(known):
        return typed
    matching = [id_ for id_ in known if typed and id_.startswith(typed)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        shown = "\n  ".join(matching[:_SHOWN])
        more = f"\n  … and {len(matching) - _SHOWN} more" if len(matching) > _SHOWN else ""
        raise UsageError(f"{typed!r} begins {len(matching)} ids:\n  {shown}{more}", "type more of the id")
    raise UnknownId(
        f"no {what} has the id {typed!r}",
        did_you_mean(typed, known) or "list the ids with `valor memory-query --index`",
    )
