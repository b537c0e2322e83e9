"""What the hooks have journalled, and whether they fell silent while work went on.

The hook appends a line to ``journal.jsonl`` in the view's folder for each injection, and at the end of
each turn, session or sub-agent: ``{"at": unix seconds, "session", "event", "ids": [told]}``.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from valor import git, record
from valor.doctor.finding import Finding, problem
from valor.doctor.patient import Patient
from valor.workspace import Workspace

NAME = "journal.jsonl"
DAY = 86_400
_OBSERVED = DAY  # an agent writes, and its harness ran no hook for a day before
_COMMITTED = 3 * DAY  # people commit too


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line: when (unix seconds), in which session, at which event, which ids were told."""

    at: float
    session: str
    event: str
    ids: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Counts over some time: events journalled, those of them that told something, ids told, sessions."""

    events: int
    injections: int
    ids: int
    sessions: int


def read(folder: Path) -> list[Entry]:
    """The journal of the view in this folder; lines that do not read are passed over."""
    try:
        with (folder / NAME).open("rb") as file:
            return [entry for line in file if (entry := _entry(line)) is not None]
    except FileNotFoundError:
        return []


def _entry(line: bytes) -> Entry | None:
    try:
        found: Any = orjson.loads(line)
        return Entry(
            at=float(found["at"]),
            session=str(found["session"]),
            event=str(found["event"]),
            ids=[str(each) for each in found["ids"]],
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return None


def span(entries: Iterable[Entry], since: float) -> Span:
    """The counts from this moment on."""
    chosen = [entry for entry in entries if entry.at >= since]
    return Span(
        events=len(chosen),
        injections=sum(1 for entry in chosen if entry.ids),
        ids=sum(len(entry.ids) for entry in chosen),
        sessions=len({entry.session for entry in chosen if entry.session}),
    )


def silence(workspace: Workspace, folder: Path, wired: Sequence[Path], now: float) -> str:
    """What to say where hooks are wired by these files and none was heard of, though there was work for
    days after; "" where there is nothing to say."""
    since = max((path.stat().st_mtime for path in wired if path.exists()), default=0.0)
    if not since:
        return ""
    last = max((entry.at for entry in read(folder)), default=0.0)
    heard = (
        f"the last event of a hook was {_ago(now - last)} ago" if last else "no event of a hook was ever seen"
    )
    start = max(last, since)
    observed = max(
        (record.moment(line.record) for line in workspace.view().observations.values()), default=0.0
    )
    if start + _OBSERVED < observed <= now:
        return f"{heard}, though something was observed {_ago(now - observed)} ago"
    committed = git.last_commit(workspace.config.root) or 0.0
    if start + _COMMITTED < committed <= now:
        return f"{heard}, though something was committed {_ago(now - committed)} ago"
    return ""


def _ago(seconds: float) -> str:
    for unit, size in (("day", DAY), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count:,} {unit}{'s' * (count != 1)}"
    return "a moment"


def check(patient: Patient) -> Iterator[Finding]:
    """Whether memory has stopped without a word."""
    wired = [file.path for file in patient.files if any(one.ours for one in file.handlers())]
    said = silence(patient.workspace, patient.place.folder, wired, time.time())
    if said:
        yield problem(
            f"{said}: the hooks may have stopped",
            patient.place.folder / NAME,
            "see the other findings, and whether the harness trusts its hooks: /hooks lists those it runs",
        )
