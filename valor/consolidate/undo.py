"""Take marks back, or say beforehand that two lines are two facts: append the lines that say so."""

from __future__ import annotations

from collections.abc import Iterable

from valor import record
from valor.consolidate.apply import standing
from valor.consolidate.claim import age
from valor.consolidate.marks import data, last_run, refused, voided, voiding
from valor.errors import UsageError
from valor.fold import View
from valor.log import appending
from valor.lookup import resolve
from valor.query import find
from valor.record import Record
from valor.secrets.detect import redact
from valor.workspace import Workspace


def undo(workspace: Workspace, typed: str, *, dry_run: bool = False) -> tuple[Record, bool]:
    """Void the mark whose id is ``typed`` or begins with it: the reinstatement, and whether it is new.

    Raises UsageError for an id that no supersession has.
    """
    view = workspace.view(lambda _: False)
    supersessions = [id_ for id_, mark in data(view) if mark.get("type") == record.SUPERSESSION]
    if not supersessions:
        raise UsageError(
            "the log holds no mark to undo",
            "`valor consolidate` writes them; while one hides a line, `valor memory-query --all` names it",
        )
    if typed in view.observations:
        raise UsageError(
            f"{typed} is an observation", f"`valor memory-query --full {typed} --lineage` names its marks"
        )
    target = resolve(typed, supersessions, "mark")
    if dry_run:
        return voiding(view, target) or _reinstatement(workspace, target), target not in voided(view)
    with appending(workspace.log, workspace.config.lock_timeout) as end:
        known = voiding(standing(end), target)
        if known:
            return known, False
        line = _reinstatement(workspace, target)
        end.write([record.encode(line)])
    return line, True


def undo_last(workspace: Workspace, *, dry_run: bool = False) -> list[Record]:
    """Void the marks of the last run that has any left; the reinstatements.

    Raises UsageError where no run has.
    """
    if dry_run:
        return _all(workspace, last_run(workspace.view(lambda _: False)))
    if not workspace.log.exists():  # asking must not make a log
        return _all(workspace, [])
    with appending(workspace.log, workspace.config.lock_timeout) as end:
        lines = _all(workspace, last_run(standing(end)))
        end.write([record.encode(line) for line in lines])
    return lines


def tell_apart(workspace: Workspace, one: str, other: str) -> tuple[list[Record], bool]:
    """Say that two observations (ids or prefixes of them) are two facts, so that no plan has the pair
    again: a mark and the line that voids it. Those lines, and whether they are new.

    Raises UsageError for ids that nobody has, and for one id twice.
    """
    _settled(workspace.view(lambda _: False), one, other)  # a wrong id must not make a log
    with appending(workspace.log, workspace.config.lock_timeout) as end:
        view = standing(end)
        earlier, later = _settled(view, one, other)
        if frozenset((earlier, later)) in refused(view):
            return [], False
        mark = record.new_id("sup")
        void = _reinstatement(workspace, mark)
        told = {
            **void,
            "id": mark,
            "type": record.SUPERSESSION,
            "supersedes": [earlier],
            "by": later,
            "reason": "told apart",
        }
        del told["of"]
        # The line that voids comes first: a write that is cut short hides nothing.
        end.write([record.encode(void), record.encode(told)])
    return [told, void], True


def _settled(view: View, one: str, other: str) -> tuple[str, str]:
    """Both as whole ids, the earlier first."""
    ids = {record.identifier(find(view, each).record) for each in (one, other)}
    if len(ids) == 1:
        raise UsageError(f"{ids.pop()} cannot be told apart from itself", "name two observations")
    earlier, later = sorted(ids, key=lambda id_: age(view.observations[id_]))
    return earlier, later


def _all(workspace: Workspace, ids: Iterable[str]) -> list[Record]:
    lines = [_reinstatement(workspace, id_) for id_ in ids]
    if not lines:
        raise UsageError(
            "no run of consolidate has a mark left to undo",
            "`valor consolidate --undo SUP-ID` voids one mark; `valor memory-query --all` names them",
        )
    return lines


def _reinstatement(workspace: Workspace, target: str) -> Record:
    return {
        "id": record.new_id("rei"),
        "timestamp": record.stamp(),
        "session_id": redact(workspace.config.session_id),
        "type": record.REINSTATEMENT,
        "tool": "consolidate",
        "of": target,
    }
