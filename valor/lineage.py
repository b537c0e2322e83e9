"""What an observation replaced, and what replaced it: the marks of the log, followed both ways.

The fold says what holds; this says why. A tree comes as its nodes in the order of a walk, each with its
depth, since a chain may be ten thousand long. Only marks that hide something are followed further; a node
that stands there twice, in a diamond or a circle, is followed at its first place alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from valor import query, record
from valor.fold import View
from valor.log import Line
from valor.lookup import resolve
from valor.record import MARKS, REINSTATEMENT, Record
from valor.secrets.detect import redact

SUPERSEDES, SUPERSEDED_BY = "supersedes", "superseded_by"
HOLDS, VOID, WAITS, OVERRULED = "holds", "void", "waits", "overruled"
LIVE, SUPERSEDED, RETRACTED, ABSENT = "live", "superseded", "retracted", "absent"
RETRACTION = "retraction"

_REASON, _SUMMARY, _WORD = 300, 100, 40  # characters
# Of a mark: what it says by ids, and what --blame adds.
_WITHOUT_TEXT = (
    "id",
    "type",
    "timestamp",
    "supersedes",
    "by",
    "of",
    "score",
    "commit",
    "author",
    "committed",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One statement that ``target`` is replaced by ``by``, or (None) true no longer.

    ``id`` is that of the mark, or of an observation that supersedes by itself. ``state``: *holds*;
    *void*, by the reinstatements ``void_by``; *waits* for an observation that is not in the log;
    *overruled*, where it would close a circle of which ``target`` survives. All but the first hide nothing.
    """

    id: str
    target: str
    by: str | None
    state: str
    void_by: tuple[str, ...]
    line: Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An observation in the tree, ``depth`` marks away from the root.

    ``parent`` is the id it was reached from, by these ``marks``; ``again`` says that what follows it stands
    at its other place. ``standing``: live, superseded, retracted, or absent from the log; *retraction* where
    there is no successor, and no ``id``.
    """

    id: str | None
    parent: str
    depth: int
    standing: str
    marks: tuple[Mark, ...]
    again: bool
    line: Line | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """Both ways from one line, an observation or a mark (whose ``standing`` is "").

    ``survivor`` is the live id that an observation leads to, itself where it is live; None where its chain
    ends in a retraction.
    """

    id: str
    line: Line
    standing: str
    survivor: str | None
    superseded_by: tuple[Node, ...]
    supersedes: tuple[Node, ...]


def find(view: View, typed: str) -> Line:
    """The observation or mark whose id is ``typed`` or begins with it; errors as ``query.find``."""
    if typed in view.marks:
        return view.marks[typed]
    if typed in view.observations or not any(id_.startswith(typed) for id_ in view.marks):
        return query.find(view, typed)
    public = [id_ for id_, line in view.observations.items() if not record.is_private(line.record)]
    id_ = resolve(typed, [*public, *view.marks])
    return view.marks.get(id_) or view.observations[id_]


def lineage(view: View, line: Line) -> Lineage:
    """The lineage of a line of this view. Linear in its marks and in what it reaches."""
    id_ = record.identifier(line.record)
    marks = list(_marks(view))
    if id_ in view.observations:
        after = [mark for mark in marks if mark.target == id_]
        before = [mark for mark in marks if mark.by == id_]
    else:
        spoken = record.text(line.record, "of") if line.record.get("type") == REINSTATEMENT else id_
        before = [mark for mark in marks if mark.id == spoken]
        after = _one_of_each(before)
    return Lineage(
        id=id_,
        line=line,
        standing=_standing(view, id_) if id_ in view.observations else "",
        survivor=view.survivor(id_) if id_ in view.observations else None,
        superseded_by=tuple(_walk(view, id_, after, marks, SUPERSEDED_BY)),
        supersedes=tuple(_walk(view, id_, before, marks, SUPERSEDES)),
    )


def _marks(view: View) -> Iterator[Mark]:
    """Every mark of the log, one for each of its targets, whether it holds or not."""
    void: dict[str, list[str]] = {}
    marking: list[tuple[str, str | None, Line]] = []
    for id_, line in view.marks.items():
        data = line.record
        if data.get("type") == REINSTATEMENT:
            void.setdefault(record.text(data, "of"), []).append(id_)
        else:
            marking.append((id_, None if data.get("by") is None else record.text(data, "by"), line))
    marking += ((id_, id_, line) for id_, line in view.observations.items() if "supersedes" in line.record)
    for id_, by, line in marking:
        void_by = tuple(sorted(void.get(id_, ())))
        for target in dict.fromkeys(record.texts(line.record, "supersedes")):
            if target != by:  # of itself it says nothing
                state = _state(view, id_, target, bool(void_by))
                yield Mark(id=id_, target=target, by=by, state=state, void_by=void_by, line=line)


def _state(view: View, id_: str, target: str, is_void: bool) -> str:
    if id_ in view.marked_by.get(target, ()):
        return HOLDS if target in view.superseded else OVERRULED
    return VOID if is_void else WAITS


def _one_of_each(marks: Iterable[Mark]) -> list[Mark]:
    """For the successor of a mark's several targets: the mark once, holding where it does for any of them."""
    ranked = sorted(marks, key=lambda mark: (HOLDS, OVERRULED, WAITS, VOID).index(mark.state), reverse=True)
    return list({mark.by: mark for mark in ranked}.values())


def _walk(view: View, root: str, first: list[Mark], marks: list[Mark], way: str) -> Iterator[Node]:
    """The nodes of one direction, depth first."""
    ways: dict[str | None, list[Mark]] = {}
    for mark in marks:
        ways.setdefault(mark.target if way == SUPERSEDED_BY else mark.by, []).append(mark)
    seen = {root}
    waiting = _nodes(view, root, 1, first, way)[::-1]
    while waiting:
        node = waiting.pop()
        if node.id is None or all(mark.state != HOLDS for mark in node.marks):
            yield node
        elif node.id in seen:
            yield replace(node, again=True)
        else:
            yield node
            seen.add(node.id)
            waiting += _nodes(view, node.id, node.depth + 1, ways.get(node.id, []), way)[::-1]


def _nodes(view: View, parent: str, depth: int, marks: Iterable[Mark], way: str) -> list[Node]:
    """One node for each observation at the other end of these marks: oldest first, what is absent last."""
    ends: dict[str | None, list[Mark]] = {}
    for mark in sorted(marks, key=lambda mark: mark.id):
        ends.setdefault(mark.by if way == SUPERSEDED_BY else mark.target, []).append(mark)
    nodes = [
        Node(
            id=id_,
            parent=parent,
            depth=depth,
            standing=RETRACTION if id_ is None else _standing(view, id_),
            marks=tuple(through),
            again=False,
            line=view.observations.get(id_ or ""),
        )
        for id_, through in ends.items()
    ]
    return sorted(nodes, key=lambda node: view.age(node.id or "") if node.line else (1e12, node.id or ""))


def _standing(view: View, id_: str) -> str:
    if id_ not in view.observations:
        return ABSENT
    if id_ in view.retracted:
        return RETRACTED
    return SUPERSEDED if id_ in view.superseded else LIVE


def disclosed(found: Lineage, view: View, row: dict[str, Any]) -> dict[str, Any]:
    """The row of the line itself; of a mark that speaks of a private observation only what holds no text."""
    if found.standing or not _speaks_of_private(view, found.line.record, found.id):
        return row
    return {key: value for key, value in row.items() if key in _WITHOUT_TEXT}


def rows(found: Lineage, view: View, way: str) -> list[dict[str, Any]]:
    """The nodes of one direction as data, texts cut and masked. A private observation that is not the one
    asked for is told by its id, date and standing, and the marks that speak of it without their reason."""
    nodes = found.superseded_by if way == SUPERSEDED_BY else found.supersedes
    told: dict[int, dict[str, Any]] = {}  # by the line's number: a mark of many targets is read once
    for node in nodes:
        for mark in node.marks:
            if mark.line.number not in told:
                told[mark.line.number] = _mark_row(mark.line.record, view, found.id)
    return [_node_row(node, found.id, told) for node in nodes]


def _node_row(node: Node, asked: str, told: dict[int, dict[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {"id": node.id, "depth": node.depth, "from": node.parent, "standing": node.standing}
    if node.line is not None:
        data = node.line.record
        row["timestamp"] = _date(data)
        if record.is_private(data) and node.id != asked:
            row["private"] = True
        else:
            row["type"] = _cut(record.kind(data), _WORD)
            row["summary"] = _cut(record.text(data, "summary"), _SUMMARY)
    row["marks"] = [
        {"id": mark.id, "state": mark.state}
        | ({"void_by": list(mark.void_by)} if mark.void_by else {})
        | told[mark.line.number]
        for mark in node.marks
    ]
    return row | ({"again": True} if node.again else {})


def _mark_row(data: Record, view: View, asked: str) -> dict[str, Any]:
    """When the mark was made, its score and its reason, as far as the line has them."""
    row: dict[str, Any] = {"timestamp": _date(data)}
    if data.get("type") in MARKS:
        score, reason = data.get("score"), record.text(data, "reason")
        if isinstance(score, (int, float)) and not isinstance(score, bool):
            row["score"] = score
        if reason and not _speaks_of_private(view, data, asked):
            row["reason"] = _cut(reason, _REASON)
    return row


def _speaks_of_private(view: View, data: Record, asked: str) -> bool:
    """Whether the mark names a private observation other than the one asked for."""
    named = {*record.texts(data, "supersedes"), record.text(data, "by")} - {asked}
    return any(record.is_private(view.observations[id_].record) for id_ in named & view.observations.keys())


def _date(data: Record) -> str:
    """The line's time as it has it; from the seconds in its id where it has none."""
    given, at = record.text(data, "timestamp"), record.moment(data)
    return _cut(given, _WORD) if given else record.stamp(at) if at else ""


def _cut(text: str, most: int) -> str:
    text = redact(text[: 4 * most])  # before it is cut: half a secret would pass
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
