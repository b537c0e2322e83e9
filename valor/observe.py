"""The one write path: every door that adds an observation comes through here.

strip ``<private>`` -> refuse secrets -> gate junk -> route -> dedupe -> append -> mirror. What is
refused on the way leaves no trace in any file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from valor import junk, private, record, viewfile
from valor.digests import Digests, digest, normalise
from valor.draft import validate
from valor.errors import JunkRefused, OwnedElsewhere, RefusedContent, SecretRefused, UsageError, ValorError
from valor.fold import View
from valor.leaks import leaks, masked
from valor.log import Appender, appending
from valor.lookup import resolve
from valor.place import place_of
from valor.record import Record
from valor.routing.router import Router
from valor.routing.table import AMBIGUOUS
from valor.workspace import Workspace

WRITTEN, EXISTS, REFUSED, OFF = "written", "exists", "refused", "off"
OBSERVATIONS = "observations"
MIRROR_SECONDS = 0.05  # that an observe may wait for the mirror


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What became of one entry.

    ``status`` is written | exists | refused | off, ``id`` the observation's ("" where there is
    none), ``notes`` what a person should know, ``error`` why it was refused, ``record`` what was
    written.
    """

    status: str
    id: str = ""
    notes: tuple[str, ...] = ()
    error: ValorError | None = None
    routed: str = ""
    record: Record | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """An entry that passed every gate but the last: is it there already?"""

    record: Record
    notes: list[str]
    brings_id: bool


def observe(
    workspace: Workspace,
    entries: Sequence[Mapping[str, Any]],
    *,
    redact: bool = False,
    now: float | None = None,
) -> list[Fate]:
    """Write the entries that may be written, in one append; say what became of each, in order.

    An entry has the keys of a line (docs/reference/record-format.md), all optional but ``summary``,
    and may have ``owner``. ``redact`` writes a text that holds a secret with the secret replaced.
    ``now`` (unix seconds) stamps lines that bring no time. Raises only what concerns all entries
    (a broken table, a log that cannot be opened); each entry's own error is in its fate.
    """
    if not workspace.config.enabled:
        where = workspace.config.origins.get("enabled", "")
        return [Fate(status=OFF, notes=(f"memory is off ({where}: enabled = false)",)) for _ in entries]
    gate = _Gate(workspace, redact, now)
    fates: list[Fate | None] = [None] * len(entries)
    ready: dict[int, _Ready] = {}
    for position, entry in enumerate(entries):
        try:
            ready[position] = gate.admit(entry)
        except (UsageError, RefusedContent, OwnedElsewhere) as error:
            fates[position] = Fate(status=REFUSED, error=error)
    if ready:
        written, before = _append(workspace, list(ready.values()))
        note = _mirror(workspace, before) if any(fate.status == WRITTEN for fate in written) else ""
        for position, fate in zip(ready, written, strict=True):
            said = bool(note) and fate.status == WRITTEN
            fates[position] = replace(fate, notes=(*fate.notes, note)) if said else fate
    return [fate for fate in fates if fate is not None]


class _Gate:
    """Everything that decides on one entry alone."""

    def __init__(self, workspace: Workspace, redact: bool, now: float | None) -> None:
        self.workspace = workspace
        self.redact = redact
        self.now = now
        self._router: Router | None = None
        self._view: View | None = None

    def admit(self, entry: Mapping[str, Any]) -> _Ready:
        """The entry as a record. Raises UsageError, SecretRefused, JunkRefused or OwnedElsewhere."""
        bare = private.strip_deep({"session_id": self.workspace.config.session_id, **entry})
        clean, notes = self._without_secrets(bare)
        checked = validate(clean)
        owner = checked.pop("owner", None)
        reason = junk.why_junk(checked["summary"], checked.get("details", ""))
        if reason:
            raise JunkRefused(
                f"not worth remembering ({reason.replace('_', ' ')})",
                "say what was learned in a sentence: what happens, where, and why",
            )
        if "supersedes" in checked:
            known = self._known().observations
            checked["supersedes"] = [resolve(id_, known) for id_ in checked["supersedes"]]
        routed = self._route(checked, owner, notes)
        if routed:
            checked["routed"] = routed
        checked.setdefault("id", record.new_id(now=self.now))
        checked.setdefault("timestamp", record.stamp(self.now))
        size = len(record.encode(checked))
        if size > record.MAX_LINE_BYTES:
            raise RefusedContent(
                f"the line would be {size:,} bytes, {record.MAX_LINE_BYTES:,} is the most",
                "keep the finding and name the file that holds the rest with --ref",
            )
        return _Ready(record=checked, notes=notes, brings_id="id" in entry)

    def _known(self) -> View:
        if self._view is None:
            self._view = self.workspace.view()
        return self._view

    def _without_secrets(self, draft: Record) -> tuple[Record, list[str]]:
        """The draft, its secrets replaced where that was asked for, and what was replaced."""
        found = leaks(draft)
        if found and not self.redact:
            raise SecretRefused(
                f"this holds a secret ({'; '.join(map(str, found))}); nothing was written",
                "say it without the value, or pass --redact to replace it; if it was real, revoke it",
            )
        return (masked(draft) if found else draft), [f"redacted: {leak}" for leak in found]

    def _route(self, draft: Record, owner: str | None, notes: list[str]) -> str:
        """What ``routed`` the line records ("" where the table gives it to the log)."""
        if owner not in (None, OBSERVATIONS):
            store = self._table().store_of(owner)
            raise OwnedElsewhere(
                f"{owner} is not this log",
                f"write it to {store}" if store else "leave it out",
                owner=owner,
                store=store,
                rule="--owner",
            )
        said = "\n".join(part for part in (draft["summary"], draft.get("details", "")) if part)
        decision = self._table().decide(said)
        if decision.owner == OBSERVATIONS:
            return ""
        if owner == OBSERVATIONS:
            return "" if decision.owner == AMBIGUOUS else "override"
        if decision.owner == AMBIGUOUS:
            notes.append(f"ambiguous owner, written here: {decision.why()}")
            return "ambiguous"
        near = f", like “{decision.example}”" if decision.example else ""
        raise OwnedElsewhere(
            f"{decision.owner} owns this, not the log: row “{decision.row}”{near}",
            (f"write it to {decision.store}" if decision.store else "it belongs nowhere: leave it out")
            + "; --owner observations writes it here all the same",
            owner=decision.owner,
            store=decision.store,
            rule=decision.row,
        )

    def _table(self) -> Router:
        if self._router is None:
            self._router = self.workspace.router()
        return self._router


def _mirror(workspace: Workspace, before: list[int]) -> str:
    """Best effort: the log is the record, and a hook or the next sync brings what is missing."""
    if not workspace.config.redis_url and not place_of(workspace).has_view():
        return ""
    from valor.sync import after_append  # not free, and not needed where no hook recalls

    return after_append(workspace, before, MIRROR_SECONDS)


def _append(workspace: Workspace, ready: list[_Ready]) -> tuple[list[Fate], list[int]]:
    """Under the log's lock: find twins, append the rest in one write. Also the log's identity before."""
    fates: list[Fate] = []
    fresh: list[bytes] = []
    with appending(workspace.log, workspace.config.lock_timeout) as end:
        index = Digests(workspace.state, workspace.log)
        index.refresh(end.fd)
        identity = viewfile.identity(os.fstat(end.fd))
        twins = _Twins(workspace, end, index)
        for one in ready:
            fate = twins.judge(one)
            fates.append(fate)
            if fate.status == WRITTEN:
                fresh.append(record.encode(one.record))
        if fresh:
            before = end.fd
            end.write(fresh)
            # Another descriptor: git put another file there, and the lines went to that one too.
            (index.extend if end.fd == before else index.refresh)(end.fd)
        index.save(end.fd)
    return fates, identity


class _Twins:
    """Observations that are there already, read back from the file that the index points into."""

    def __init__(self, workspace: Workspace, end: Appender, index: Digests) -> None:
        self._workspace = workspace
        self._end = end
        self._index = index
        self._pending: dict[bytes, str] = {}
        self._view: View | None = None

    def judge(self, one: _Ready) -> Fate:
        """Whether the entry is to be written, is there already, or takes another one's id."""
        id_ = one.record["id"]
        if one.brings_id:
            known = self._seen().observations.get(id_)
            if known and _same_text(known.record, one.record):
                return Fate(status=EXISTS, id=id_, notes=("already in the log",))
            if known or id_ in self._seen().marks or id_ in self._pending.values():
                return _taken(id_)
        key = digest(one.record)
        # What replaces another line is written even where its words are not new.
        twin = None if "supersedes" in one.record else self._pending.get(key) or self._live(one.record, key)
        if twin:
            return Fate(status=EXISTS, id=twin, notes=("already in the log",))
        self._pending[key] = id_
        routed = one.record.get("routed", "")
        return Fate(status=WRITTEN, id=id_, notes=tuple(one.notes), routed=routed, record=one.record)

    def _live(self, wanted: Record, key: bytes) -> str | None:
        """The id of a live observation of the same text, earliest first."""
        for offset in self._index.candidates(key):
            twin = self._end.line_at(offset)
            if twin is None or not _same_text(twin, wanted):
                continue
            id_ = record.identifier(twin)
            if not self._index.marking or self._is_live(id_):
                return id_
        return None

    def _seen(self) -> View:
        """The whole view: only for an entry that brings its id, or a marked text that is said again."""
        if self._view is None:
            self._view = self._workspace.view()
        return self._view

    def _is_live(self, id_: str) -> bool:
        if self._view is None:
            marked = {
                target
                for offset in self._index.marking
                for target in record.texts(self._end.line_at(offset) or {}, "supersedes")
            }
            if id_ not in marked:
                return True
        return self._seen().is_live(id_)


def _taken(id_: str) -> Fate:
    return Fate(status=REFUSED, error=UsageError(f"the id {id_} is taken", "leave it out: observe makes one"))


def _same_text(one: Record, other: Record) -> bool:
    return all(
        normalise(record.text(one, key)) == normalise(record.text(other, key))
        for key in ("summary", "details")
    )
