"""Which lines are to be doubted: what they refer to is gone, or changed since they were committed.

What the line's commit has at a path is compared with what git would commit there now. What cannot be known
(no commit yet, no history, no such file in git then) is no reason for doubt; existence can always be told.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from valor import git_batch, origins
from valor.baseline import ABSENT, BLOB, NAME, TREE, UNKNOWN
from valor.baseline_file import Baseline, Record
from valor.log import Line
from valor.place import place_of
from valor.reference import Pointed
from valor.secrets.detect import redact
from valor.working_tree import FILE, FOLDER, GONE, LINK, WorkingTree
from valor.workspace import Workspace

_AT_ONCE = 200  # blobs in memory


class Doubt:
    """One reference that is not what it was: ``why`` is gone | changed; ``line``, where the file is there
    and lines are named, says same | moved to N | changed; ``renamed`` is where the same content is now."""

    __slots__ = ("line", "number", "order", "place", "record", "reference", "renamed", "why")

    def __init__(
        self, order: int, number: int, reference: str, place: Pointed, record: Record, why: str
    ) -> None:
        self.order = order
        self.number = number
        self.reference = reference
        self.place = place
        self.record = record
        self.why = why
        self.line = ""
        self.renamed = ""

    def row(self) -> dict[str, str]:
        """As it is printed: what there is nothing to say of is left out."""
        said = {"reference": redact(self.reference), "why": self.why, "line": self.line}
        said |= {"renamed": self.renamed, "since": self.record.commit[:12]}
        return {key: value for key, value in said.items() if value}


class Stale(NamedTuple):
    """``doubts`` by the number of the line; ``note`` says what could not be told, "" where all could."""

    doubts: dict[int, list[Doubt]]
    note: str


class _Asked(NamedTuple):
    """One reference of the line of this number; ``order`` is its place among all."""

    order: int
    number: int
    reference: str
    place: Pointed
    record: Record


def stale(workspace: Workspace, lines: Sequence[Line]) -> Stale:
    """Those of the lines that refer to something gone or changed. Raises Unavailable where git is needed
    and is not there."""
    root = workspace.config.root
    referring = origins.referring(lines, os.path.realpath(root))
    if not referring:
        return Stale({}, "")
    known = _learned(workspace, referring)
    not_committed = Record("", ABSENT, b"")
    each = (
        (line.number, text, place, known.records.get(key, not_committed))
        for line in referring
        for key, (text, place) in zip(line.record_keys(), line.places, strict=True)
    )
    asked = [_Asked(order, *one) for order, one in enumerate(each)]
    tree = WorkingTree(root)
    found = list(_doubts(tree, asked))
    _look_at_lines(tree, found)
    doubts: dict[int, list[Doubt]] = {}
    for one in sorted(found, key=lambda one: one.order):
        doubts.setdefault(one.number, []).append(one)
    return Stale(doubts, _note(asked, found))


def _learned(workspace: Workspace, referring: list[origins.Referring]) -> Baseline:
    """The records of these lines, which are kept for hooks and the next time where there is a view."""
    root, place = workspace.config.root, place_of(workspace)
    known = origins.load(place.folder) or Baseline()
    head = git_batch.head(root)
    if known.head != head:
        known.forget(git_batch.not_in_history(root, known.commits()))
    before = dict(known.records)
    origins.learn(root, referring, known)
    if head and known.records != before and place.has_view():
        known.head = known.head or "0" * len(head)  # sync has not been there yet
        origins.save(place.folder, known)
    return known


def _doubts(tree: WorkingTree, asked: Iterable[_Asked]) -> Iterable[Doubt]:
    suspects = []
    for one in asked:
        kind, then = tree.kind(one.place.path), one.record.kind
        if kind == GONE:
            if one.place.sure or then not in (ABSENT, UNKNOWN):
                doubt = Doubt(*one, "gone")
                doubt.renamed = tree.elsewhere(one.place.path, one.record.name) if then == BLOB else ""
                yield doubt
        elif then in (ABSENT, UNKNOWN):
            continue
        elif then == TREE or kind == FOLDER:
            if (then == TREE) != (kind == FOLDER):
                yield Doubt(*one, "changed")
        elif kind in (FILE, LINK) and tree.raw_name(one.place.path)[:NAME] != one.record.name:
            suspects.append(one)
    names = tree.names(one.place.path for one in suspects)
    for one in suspects:
        name = names.get(one.place.path)
        if name and name[:NAME] != one.record.name:
            yield Doubt(*one, "changed")


def _look_at_lines(tree: WorkingTree, doubts: list[Doubt]) -> None:
    """Say of each file that changed what became of the lines that were named."""
    named = [one for one in doubts if one.why == "changed" and one.place.first and one.record.kind == BLOB]
    blobs = sorted({one.record.name.hex() for one in named})
    for at in range(0, len(blobs), _AT_ONCE):
        some = blobs[at : at + _AT_ONCE]
        held = {
            name: data.splitlines()
            for name, data in zip(some, git_batch.contents(tree.root, some), strict=True)
        }
        for one in named:
            old, new = held.get(one.record.name.hex()), tree.lines(one.place.path)
            if old is not None and new is not None:
                one.line = _became(old, new, one.place.first, one.place.last)


def _became(old: list[bytes], new: list[bytes], first: int, last: int) -> str:
    """What became of these lines: same, moved to a number, changed; "" where there were none. Lines moved
    where the same text stands once in either."""
    wanted = old[first - 1 : last]
    if not wanted:
        return ""
    if new[first - 1 : last] == wanted:
        return "same"
    before, now = _standing(old, wanted), _standing(new, wanted)
    if b"".join(wanted).strip() and len(before) == len(now) == 1:
        return f"moved to {now[0] + 1}"
    return "changed"


def _standing(lines: list[bytes], wanted: list[bytes]) -> list[int]:
    """Where these lines stand in the others."""
    starts = [at for at, line in enumerate(lines) if line == wanted[0]]
    return [at for at in starts if lines[at : at + len(wanted)] == wanted]


def _note(asked: list[_Asked], found: list[Doubt]) -> str:
    doubted = {(one.number, one.reference) for one in found}
    unknown = sum(
        one.record.kind == UNKNOWN or (one.record.kind == ABSENT and bool(one.record.commit))
        for one in asked
        if one.place.sure and (one.number, one.reference) not in doubted
    )
    if not unknown:
        return ""
    what = "reference" if unknown == 1 else "references"
    return (
        f"whether {unknown} {what} changed is unknown: git does not have what was there when the line was "
        "committed (a shallow clone, or a file that was not in git then)"
    )
