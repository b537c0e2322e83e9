"""What the paths that lines refer to were when the lines were committed.

A line's commit is the one that brought it into the log (git-blame); its baseline is the names of the blobs
that this commit has at the paths. Blaming a long log is slow (its whole content once a commit), so what was
found is kept beside the view, by the line's own digest, for as long as the commit is in the history, also
where the line was moved since.
``valor memory-query --stale`` finds out all it needs; ``sync`` no more than can be had at once, and nothing
while the same commit is checked out and the log merely grew, for then no line can have been committed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from valor import baseline_file, git_batch, log, record
from valor.baseline import ABSENT, BLOB, CONVERTED, NAME, TREE, UNKNOWN, key
from valor.baseline_file import Baseline, Record
from valor.confirm import END, digest
from valor.errors import Unavailable
from valor.log import Line
from valor.place import Place
from valor.reference import MOST_REFERENCES, Pointed, pointed
from valor.workspace import LOG, Workspace

SECONDS = 1.0  # that a sync has for each question to git
_MENTION = b'"references"'


class Referring(NamedTuple):
    """A line that refers to paths: its number (1-based), the byte it starts at, the digest of its bytes, and
    each reference as it is written with where it points."""

    number: int
    offset: int
    digest: bytes
    places: list[tuple[str, Pointed]]

    def record_keys(self) -> list[bytes]:
        """The keys of its records."""
        return [key(self.digest, place.path) for _, place in self.places]


def referring(lines: Iterable[Line], root: str) -> list[Referring]:
    """Those of the lines that refer to paths of the checkout at ``root`` (a real path)."""
    found = []
    for line in lines:
        raw = line.raw
        if _MENTION in raw:
            texts = record.texts(line.record, "references")[:MOST_REFERENCES]
            places = [(text, place) for text in texts if (place := pointed(text, root))]
            if places:
                found.append(Referring(line.number, line.offset, digest(raw), places))
    return found


def load(folder: Path) -> Baseline | None:
    """What is kept in the view's folder."""
    try:
        return baseline_file.parse((folder / "baseline").read_bytes())
    except OSError:
        return None


def save(folder: Path, known: Baseline) -> None:
    """Keep it, whole or not at all. It is a copy: where it cannot be kept, it is found out again."""
    fresh = folder / f".baseline.{os.getpid()}"
    with suppress(OSError):
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(baseline_file.dump(known))
            fresh.replace(folder / "baseline")
        finally:
            fresh.unlink(missing_ok=True)


def learn(root: Path, lines: Sequence[Referring], known: Baseline, seconds: float | None = None) -> set[int]:
    """Find out the records that the lines lack; the numbers of those that are not committed. What git cannot
    tell within ``seconds`` becomes UNKNOWN, and is asked again only where there is no such limit."""
    commits: dict[int, str] = {}
    lacking = []
    for line in lines:
        held = [known.records.get(each) for each in line.record_keys()]
        commit = next((each.commit for each in held if each and each.commit), None)
        if commit:
            commits[line.number] = commit
        if not all(each and (seconds is not None or each.commit) for each in held):
            lacking.append(line)
    asked = [line.number for line in lacking if line.number not in commits]
    if asked:
        commits |= git_batch.line_commits(root, LOG, asked, seconds)
    _note(root, lacking, commits, known, seconds)
    return {number for number, commit in commits.items() if not commit}


def _note(
    root: Path, lines: list[Referring], commits: dict[int, str], known: Baseline, seconds: float | None
) -> None:
    """Put the lines' records into ``known``; none for a line that is not committed."""
    asked: dict[tuple[str, str], list[bytes]] = {}
    for line in lines:
        commit = commits.get(line.number)
        for each, (_, place) in zip(line.record_keys(), line.places, strict=True):
            if commit:
                asked.setdefault((commit, place.path), []).append(each)
            elif commit is None:
                known.records[each] = Record("", UNKNOWN, b"")
    found = git_batch.entries(root, list(asked), seconds)
    blobs = {path for (_, path), entry in zip(asked, found, strict=True) if entry and entry.kind == "blob"}
    converted = git_batch.converted(root, sorted(blobs), seconds) if blobs else set()
    for ((commit, path), keys), entry in zip(asked.items(), found, strict=True):
        made = Record(commit, ABSENT, b"")
        if entry:
            kind = TREE if entry.kind == "tree" else CONVERTED if path in converted else BLOB
            made = Record(commit, kind, bytes.fromhex(entry.name)[:NAME])
        known.records |= dict.fromkeys(keys, made)


def refresh(workspace: Workspace, place: Place, changed: bool) -> None:
    """Keep up with what was committed since; ``changed`` says that the log did more than grow. Cheap while
    nothing was committed, and never longer than a few seconds."""
    root = workspace.config.root
    try:
        head = git_batch.head(root, SECONDS)
        known = load(place.folder)
        if not head or (known and known.head == head and not changed):
            return
        whole = known is None or changed
        known = known or Baseline()
        if known.head != head:
            known.forget(git_batch.not_in_history(root, known.commits(), SECONDS))
        _follow(root, workspace.log, place, known, head, whole)
    except (OSError, Unavailable):
        return  # there is no git, or the log went away: hooks judge by what exists


def _follow(root: Path, path: Path, place: Place, known: Baseline, head: str, whole: bool) -> None:
    data = path.read_bytes()
    data = data[: data.rfind(b"\n") + 1]
    start = 0 if whole or _end(data, known.size) != known.end else known.size
    first = data.count(b"\n", 0, start) + 1
    split = log.split(BytesIO(data[start:]), first, start)
    lines = referring((line for line in split if isinstance(line, Line)), os.path.realpath(root))
    if not start:
        kept = {each for line in lines for each in line.record_keys()}
        known.records = {each: one for each, one in known.records.items() if each in kept}
    waiting = learn(root, lines, known, SECONDS)
    known.head = head
    known.size = min((line.offset for line in lines if line.number in waiting), default=len(data))
    known.end = _end(data, known.size)
    save(place.folder, known)


def _end(data: bytes, size: int) -> str:
    return digest(data[max(0, size - END) : size]).hex() if size <= len(data) else ""
