"""Append what a plan says.

Planning takes no lock; this takes the log's for as long as it looks whether the plan still holds, and
appends all marks in one write. The mirror knows the survivors before the marks are written, so that
nothing is hidden that is not found elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from valor import fold, log, record
from valor.consolidate.claim import fingerprint
from valor.consolidate.judgement import Relation
from valor.consolidate.marks import RUN, refused
from valor.consolidate.step import APPLY, Step
from valor.errors import Unavailable
from valor.fold import View
from valor.log import Appender, appending
from valor.place import place_of
from valor.private import strip_private
from valor.record import Record
from valor.secrets.detect import redact
from valor.workspace import Workspace

_PATIENCE = 15.0  # seconds for the mirror to take it in
_MOST_TARGETS = 500  # of one mark: its line must stay under 64 KiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The marks written, and how many steps were ``attempted``; why steps, or targets of steps, were
    passed over, and how many; what a person should know of the mirror ("" where there is nothing)."""

    marks: tuple[Record, ...]
    attempted: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    mirror: str = ""


def apply(workspace: Workspace, steps: Iterable[Step]) -> Applied:
    """Append a mark for each step that still holds. Steps that are not to be applied are passed over."""
    chosen = [step for step in steps if step.action == APPLY]
    if not chosen:
        return Applied(marks=())
    _mirrored(workspace)
    run = record.new_id("run")
    skipped: dict[str, int] = {}
    with appending(workspace.log, workspace.config.lock_timeout) as end:
        view = standing(end)
        told_apart = refused(view)
        marks = [mark for step in chosen for mark in _marks(step, view, told_apart, workspace, run, skipped)]
        if marks:
            end.write([record.encode(mark) for mark in marks])
    return Applied(
        marks=tuple(marks),
        attempted=len(chosen),
        skipped=skipped,
        mirror=_mirrored(workspace) if marks else "",
    )


def standing(end: Appender) -> View:
    """The view of the log as it is under the lock."""
    return fold.fold(log.lines(end.path), lambda _: False)


def _marks(
    step: Step,
    view: View,
    told_apart: set[frozenset[str]],
    workspace: Workspace,
    run: str,
    skipped: dict[str, int],
) -> Iterator[Record]:
    """The marks for what of the step is still so."""
    compared = dict(zip((step.by, *step.supersedes), step.digests, strict=True))
    if not view.is_live(step.by) or not _unchanged(view, step.by, compared):
        _count(skipped, f"{'changed' if view.is_live(step.by) else 'hidden'} meanwhile", len(step.supersedes))
        return
    targets: list[str] = []
    for id_ in step.supersedes:
        if not view.is_live(id_):
            _count(skipped, "hidden meanwhile")
        elif not _unchanged(view, id_, compared):
            _count(skipped, "changed meanwhile")
        elif frozenset((id_, step.by)) in told_apart:
            _count(skipped, "told apart meanwhile")
        else:
            targets.append(id_)
    for start in range(0, len(targets), _MOST_TARGETS):
        yield _mark(step, view, targets[start : start + _MOST_TARGETS], workspace, run)


def _mark(step: Step, view: View, targets: list[str], workspace: Workspace, run: str) -> Record:
    mark: Record = {
        "id": record.new_id("sup"),
        "timestamp": record.stamp(),
        "session_id": redact(workspace.config.session_id),
        "type": record.SUPERSESSION,
        "tool": "consolidate",
        "supersedes": targets,
        "by": step.by,
        "reason": redact(step.reason),
        "score": step.score,
        "relation": step.relation.value,
        RUN: run,
    }
    if step.relation is Relation.DUPLICATE:
        inherits = inherited(view, step.by, targets)
        if inherits:
            mark["inherits"] = inherits
    return mark


def inherited(view: View, by: str, targets: Iterable[str]) -> dict[str, list[str]]:
    """What the survivor lacks of the tags and references of those it stands for, in their order: neither
    a reference to one of them or to itself, nor what holds a secret or a private block."""
    targets = list(targets)
    own = view.observations[by].record
    found: dict[str, list[str]] = {}
    for key in ("tags", "references"):
        known = {each.casefold() if key == "tags" else each for each in record.texts(own, key)}
        known.update((by, *targets) if key == "references" else ())
        for id_ in targets:
            for each in record.texts(view.observations[id_].record, key):
                folded = each.casefold() if key == "tags" else each
                if folded not in known and redact(each) == each == strip_private(each):
                    known.add(folded)
                    found.setdefault(key, []).append(each)
    return found


def _unchanged(view: View, id_: str, compared: dict[str, bytes]) -> bool:
    return fingerprint(view.observations[id_].record) == compared[id_]


def _count(skipped: dict[str, int], reason: str, number: int = 1) -> None:
    skipped[reason] = skipped.get(reason, 0) + number


def _mirrored(workspace: Workspace) -> str:
    """Bring the mirror up to the log, where there is one; what went wrong, else "". The log is the
    record: a mirror that cannot be reached holds nothing up for long."""
    if not workspace.config.redis_url and not place_of(workspace).has_view():
        return ""
    from valor.sync import sync

    try:
        sync(workspace, patience=_PATIENCE)
    except Unavailable as error:
        return f"the mirror was skipped ({error.message})"
    return ""
