"""Say that one observation is replaced by another, or by nothing.

A mark is a line of its own, appended under the log's lock once it is certain that it still makes
sense there. What it hides stays in the file, and ``valor consolidate --undo`` voids the mark.
"""

from __future__ import annotations

from valor import fold, log, record
from valor.errors import RefusedContent, SecretRefused, UsageError
from valor.fold import View
from valor.leaks import leaks
from valor.log import appending
from valor.private import strip_private
from valor.query import find
from valor.record import MARKS, Record
from valor.workspace import Workspace


def supersede(
    workspace: Workspace, target: str, by: str | None, *, reason: str = "", tool: str = "supersede"
) -> Record:
    """Mark ``target`` as superseded by ``by`` (ids or prefixes of them; None retracts it).

    Returns the mark; where the log says the same already, the line that says it, and nothing is
    written. Raises UsageError for ids that nobody has, for a ``target`` that something else
    superseded and for a ``by`` that is not live; SecretRefused and RefusedContent for a ``reason``
    that may not be stored.
    """
    _settle(workspace.view(lambda _: False), target, by)  # a wrong id must not make a log
    mark = {
        "id": record.new_id("sup"),
        "timestamp": record.stamp(),
        "session_id": workspace.config.session_id,
        "type": record.SUPERSESSION,
        "tool": tool,
        "supersedes": [target],
        "by": by,
    }
    if clean := strip_private(reason).strip():
        mark["reason"] = clean
    _refuse_unfit(mark)
    with appending(workspace.log, workspace.config.lock_timeout) as end:
        view = fold.fold(log.lines(end.path), lambda _: False)
        old, new = _settle(view, target, by)
        known = _said(view, old, new)
        if known is not None:
            return known
        _refuse_hidden(view, old)
        mark |= {"supersedes": [old], "by": new}
        end.write([record.encode(mark)])
    return mark


def _settle(view: View, target: str, by: str | None) -> tuple[str, str | None]:
    """Both as whole ids. Raises UsageError where they cannot be a mark."""
    old = record.identifier(find(view, target).record)
    if by is None:
        return old, None
    new = record.identifier(find(view, by).record)
    if new == old:
        raise UsageError(f"{old} cannot supersede itself", "pass by=None to retract it")
    if not view.is_live(new):
        survivor = view.survivor(new)
        raise UsageError(
            f"{new} is {f'superseded by {survivor}' if survivor else 'retracted'}",
            f"name {survivor}" if survivor else "name an observation that is live",
        )
    return old, new


def _said(view: View, old: str, new: str | None) -> Record | None:
    """The line that already says so; None where none does."""
    for id_ in view.marked_by.get(old, ()) if old in view.superseded else ():
        line = view.marks.get(id_) or view.observations.get(id_)
        if line is not None:
            data = line.record
            if (data.get("by") if data.get("type") in MARKS else id_) == new:
                return data
    return None


def _refuse_hidden(view: View, old: str) -> None:
    if old in view.superseded:
        survivor = view.survivor(old)
        marks = " and ".join(view.marked_by.get(old, ()))
        raise UsageError(
            f"{old} is {f'superseded by {survivor}' if survivor else 'retracted'} already",
            f"to say otherwise, void that first: valor consolidate --undo {marks}",
        )


def _refuse_unfit(mark: Record) -> None:
    found = leaks({"reason": mark.get("reason", "")})
    if found:
        raise SecretRefused(
            f"the reason holds a secret ({'; '.join(map(str, found))}); nothing was written",
            "say it without the value; if it was real, revoke it",
        )
    try:
        size = len(record.encode(mark))
    except ValueError:
        raise UsageError("the reason is not valid Unicode", "pass whole characters, no half ones") from None
    if size > record.MAX_LINE_BYTES:
        raise RefusedContent("the reason is too long to store", "say it in a sentence")
