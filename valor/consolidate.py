"""Mark observations that say the same: one stays, the others are superseded by it.

Identical text only: a false merge costs more than a missed one. The oldest of a group (time, then
id) survives, so that two clones that consolidate on their own agree. Nothing is deleted; a mark is
a line, and another line voids it.

Planning takes no lock. Applying takes the log's for as long as it looks whether the plan still
holds, and appends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from valor import fold, log, record
from valor.digests import digest, normalise
from valor.errors import UsageError
from valor.fold import View
from valor.log import Appender, Line, appending
from valor.lookup import resolve
from valor.record import Record
from valor.secrets.detect import redact
from valor.workspace import Workspace

APPLY, PROPOSE = "apply", "propose"
REASON = "identical text"
_MOST_TARGETS = 500  # of one mark: its line must stay under 64 KiB
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_POSITION = re.compile(r"(?::\d+(?:-\d+)?)+$|#L\d+(?:-L?\d+)?$")
_COMPARED = ("type", "tags", "references", "session_id", "source", "importance")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One mark of the plan.

    ``action`` is apply, or propose where a person wrote what would be hidden. ``differs`` names the
    fields in which the group is not equal.
    """

    action: str
    by: str
    supersedes: tuple[str, ...]
    summary: str
    differs: tuple[str, ...]

    def row(self) -> dict[str, Any]:
        """The step as data."""
        return {
            "action": self.action,
            "by": self.by,
            "supersedes": list(self.supersedes),
            "reason": REASON,
            "score": 1.0,
            "summary": redact(self.summary),
            "differs": list(self.differs),
        }


def plan(view: View, *, include_protected: bool = False, maximum: int = 0) -> list[Step]:
    """What there is to mark, oldest group first; at most ``maximum`` steps (0: all).

    Observations whose source is human are proposed unless ``include_protected``.
    """
    groups = sorted(_groups(view), key=lambda group: group[0].age)
    steps = [step for group in groups for step in _steps(group, include_protected)]
    return steps[: maximum or None]


def apply(workspace: Workspace, steps: list[Step]) -> list[Record]:
    """Append a mark for each step that still holds; the marks written. Steps to propose are passed over."""
    with appending(workspace.log, workspace.config.lock_timeout) as end:
        view = _standing(end)
        marks = [mark for step in steps if step.action == APPLY for mark in _marks(step, view, workspace)]
        if marks:
            end.write([record.encode(mark) for mark in marks])
    return marks


def undo(workspace: Workspace, typed: str, *, dry_run: bool = False) -> tuple[Record, bool]:
    """Void the mark whose id is ``typed`` or begins with it: the reinstatement, and whether it is new.

    Raises UsageError for an id that no supersession has.
    """
    view = workspace.view(lambda _: False)
    supersessions = [id_ for id_, data in _data(view) if data.get("type") == record.SUPERSESSION]
    if not supersessions:
        raise UsageError(
            "the log holds no mark to undo", "`valor memory-query --all` names the marks of hidden lines"
        )
    target = resolve(typed, supersessions, "mark")
    line = {
        "id": record.new_id("rei"),
        "timestamp": record.stamp(),
        "session_id": redact(workspace.config.session_id),
        "type": record.REINSTATEMENT,
        "tool": "consolidate",
        "of": target,
    }
    if dry_run:
        return _voiding(view, target) or line, target not in _voided(view)
    with appending(workspace.log, workspace.config.lock_timeout) as end:
        known = _voiding(_standing(end), target)
        if known:
            return known, False
        end.write([record.encode(line)])
    return line, True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    """An observation as grouping sees it."""

    id: str
    age: tuple[float, str]
    text: tuple[str, str]
    tags: frozenset[str]
    places: frozenset[str]
    human: bool
    line: Line


class _Group:
    """Members of one text, none of which is about another component than the rest."""

    def __init__(self) -> None:
        self.members: list[_Member] = []
        self._scopes: set[tuple[frozenset[str], frozenset[str]]] = set()

    def admits(self, member: _Member, refused: set[frozenset[str]]) -> bool:
        """Whether the member may be merged with every other."""
        return (
            member.text == self.members[0].text
            and not any(
                _apart(member.tags, tags) or _apart(member.places, places) for tags, places in self._scopes
            )
            and not any(frozenset((member.id, other.id)) in refused for other in self.members if refused)
        )

    def add(self, member: _Member) -> None:
        """Take the member in."""
        self.members.append(member)
        self._scopes.add((member.tags, member.places))


def _groups(view: View) -> Iterator[list[_Member]]:
    """The groups of two and more that may be merged, each oldest first."""
    same: dict[bytes, list[str]] = {}
    for line in view.live():
        data = line.record
        if not record.is_private(data):
            same.setdefault(digest(data), []).append(record.identifier(data))
    same.pop(digest({}), None)  # no text is no statement to repeat
    refused = _refused(view)
    for ids in same.values():
        if len(ids) > 1:
            groups: list[_Group] = []
            for member in sorted((_member(view, id_) for id_ in ids), key=lambda member: member.age):
                group = next((group for group in groups if group.admits(member, refused)), None)
                if group is None:
                    groups.append(group := _Group())
                group.add(member)
            yield from (group.members for group in groups if len(group.members) > 1)


def _member(view: View, id_: str) -> _Member:
    line = view.observations[id_]
    data = line.record
    return _Member(
        id=id_,
        age=(record.moment(data), id_),
        text=_text(data),
        tags=frozenset(tag.casefold() for tag in record.texts(data, "tags")),
        places=frozenset(_places(data)),
        human=record.text(data, "source") == "human",
        line=line,
    )


def _apart(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and bool(other) and one.isdisjoint(other)


def _places(data: Record) -> Iterator[str]:
    """The paths an observation is about, without line numbers. A commit says where a text came
    from, not what it is about: a cherry-pick has another one."""
    for reference in record.texts(data, "references"):
        if not _COMMIT.fullmatch(reference):
            yield _POSITION.sub("", reference)


def _refused(view: View) -> set[frozenset[str]]:
    """Pairs that were marked once and then reinstated: whoever did that need not do it again."""
    void = _voided(view)
    return {
        frozenset((target, record.text(data, "by")))
        for id_, data in _data(view)
        if id_ in void
        for target in record.texts(data, "supersedes")
    }


def _steps(group: list[_Member], include_protected: bool) -> Iterator[Step]:
    survivor, *rest = group
    protected = [member for member in rest if member.human and not include_protected]
    free = [member for member in rest if not member.human or include_protected]
    for action, members in ((APPLY, free), (PROPOSE, protected)):
        if members:
            everyone = [survivor.line.record, *(member.line.record for member in members)]
            yield Step(
                action=action,
                by=survivor.id,
                supersedes=tuple(member.id for member in members),
                summary=record.text(everyone[0], "summary"),
                differs=tuple(key for key in _COMPARED if any(_differ(key, everyone))),
            )


def _differ(key: str, records: list[Record]) -> Iterator[bool]:
    return (data.get(key) != records[0].get(key) for data in records[1:])


def _marks(step: Step, view: View, workspace: Workspace) -> Iterator[Record]:
    """The marks for what of the step is still so."""
    if not view.is_live(step.by):
        return
    text = _text(view.observations[step.by].record)
    targets = [
        id_ for id_ in step.supersedes if view.is_live(id_) and _text(view.observations[id_].record) == text
    ]
    for start in range(0, len(targets), _MOST_TARGETS):
        yield {
            "id": record.new_id("sup"),
            "timestamp": record.stamp(),
            "session_id": redact(workspace.config.session_id),
            "type": record.SUPERSESSION,
            "tool": "consolidate",
            "supersedes": targets[start : start + _MOST_TARGETS],
            "by": step.by,
            "reason": REASON,
            "score": 1.0,
        }


def _standing(end: Appender) -> View:
    return fold.fold(log.lines(end.path), lambda _: False)


def _data(view: View) -> Iterator[tuple[str, Record]]:
    return ((id_, line.record) for id_, line in view.marks.items())


def _voided(view: View) -> set[str]:
    return {record.text(data, "of") for _, data in _data(view) if data.get("type") == record.REINSTATEMENT}


def _voiding(view: View, id_: str) -> Record | None:
    """The reinstatement of this mark; None where there is none."""
    return next((data for _, data in _data(view) if record.text(data, "of") == id_), None)


def _text(data: Record) -> tuple[str, str]:
    return normalise(record.text(data, "summary")), normalise(record.text(data, "details"))
