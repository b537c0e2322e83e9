"""The mirror follows the log.

What only grew is added, anything else compared id by id; a mirror that is missing, foreign or too far
off is made anew beside the old one and swapped in. Written in this order, so that no reader is ever told
"nothing" wrongly: the gate's filter, which only ever lets too much through; the server; the view file.
"""

from __future__ import annotations

import heapq
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO

import orjson

from valor import bloom, bloom_file, covered, log, mirror, notes, recall, record, rows, server, viewfile
from valor.beside import beside
from valor.confirm import digest
from valor.covered import Covered
from valor.errors import Unavailable
from valor.fold import View, fold
from valor.keys import MOST_NUMBERS, POSTING
from valor.log import Line
from valor.mirror import HIDDEN, Change, Meta
from valor.notes import Notes
from valor.place import Place
from valor.recall_index import bulk_postings
from valor.record import MARKS, Record
from valor.rows import Entry
from valor.viewfile import ViewFile
from valor.wire import Connection
from valor.workspace import LOG, Workspace

OFF, UNCHANGED, APPENDED, CHANGED, REBUILT = "off", "unchanged", "appended", "changed", "rebuilt"
_BRIEF = 12  # observations that are kept at hand for a brief
_FEW = 1_000  # lines that are always worth changing one by one
_MUCH = 32 << 20  # bytes of a log whose records do not all fit in memory at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a sync did: ``how`` is unchanged | appended | changed | rebuilt | off; counts of observations."""

    how: str
    lines: int
    added: int = 0
    removed: int = 0
    moved: int = 0


class Follower:
    """One run, under the view's lock."""

    def __init__(self, workspace: Workspace, place: Place, connection: Connection) -> None:
        self._workspace = workspace
        self._place = place
        self._connection = connection
        self._facts = mirror.meta(connection, place.names)
        self._notes = notes.load(self._facts.state) if self._facts else None

    def run(self, rebuild: bool) -> Outcome:
        """Do what is needed, or make the mirror anew."""
        with self._open_log() as descriptor:
            if rebuild or self._facts is None or self._notes is None or not self._has_files():
                return self._rebuild(descriptor)
            known = self._notes.covered
            if viewfile.identity(os.fstat(descriptor)) == known.identity:
                mirror.touch(self._connection, self._place.names)
                return Outcome(how=UNCHANGED, lines=self._facts.lines)
            return self._follow(descriptor, not known.is_torn and known.is_prefix_of(descriptor))

    def extend(self, before: list[int]) -> None:
        """Take appended lines in, if that is all there is to do."""
        if self._facts is None or self._notes is None or not self._has_files():
            return
        if self._notes.covered.identity != before or self._notes.covered.is_torn:
            return
        with self._open_log() as descriptor:
            found, data = covered.read(descriptor, self._notes.covered)
            lines = self._simple(data)
            if lines is not None:
                self._append(found, lines)

    def _follow(self, descriptor: int, grew: bool) -> Outcome:
        assert self._notes is not None
        if grew:
            found, data = covered.read(descriptor, self._notes.covered)
            lines = self._simple(data)
            if lines is not None:
                return self._append(found, lines) or self._rebuild(descriptor)
        return self._compare(descriptor)

    @contextmanager
    def _open_log(self) -> Iterator[int]:
        path = self._workspace.log
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.close(descriptor)
                raise Unavailable(f"{path} is no plain file", "move away what is there")
        except OSError as error:
            raise Unavailable(
                f"{path} cannot be read: {error.strerror}",
                "nothing was changed in the mirror; run `valor init`, or bring the log back with git",
            ) from None
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _has_files(self) -> bool:
        """Whether hooks have what belongs to the view on the server, from a sync that came to its end."""
        file = viewfile.load(str(self._place.folder))
        return (
            file is not None
            and self._facts is not None
            and (file.stamp, file.project, file.view)
            == (self._facts.stamp, self._place.project, self._place.view)
            and file.url == self._url()
            and (self._place.folder / "gate").is_file()
        )

    def _simple(self, data: bytes) -> list[Line] | None:
        """The lines of an appended piece, where each is a whole, fresh observation that no mark knows of;
        None where more than adding is to be done."""
        assert self._notes is not None
        if data and not data.endswith(b"\n"):
            return None
        found = log.split(BytesIO(data), offset=self._notes.covered.size)
        lines = [line for line in found if type(line) is Line]
        if any(line.record.get("type") in MARKS or "supersedes" in line.record for line in lines):
            return None
        ids = [record.identifier(line.record) for line in lines]
        if len(set(ids)) < len(ids) or self._notes.awaited.intersection(ids):
            return None
        known = mirror.numbers(self._connection, self._place.names, ids)
        return lines if all(number is None for number in known) else None

    def _append(self, found: Covered, lines: list[Line]) -> Outcome | None:
        assert self._notes is not None
        entries = [rows.entry(line) for line in lines]
        step = Change(ids={record.identifier(line.record): HIDDEN for line in lines})
        added = [each for each in entries if each is not None]
        known = replace(self._notes, covered=found)
        how = APPENDED if lines else UNCHANGED
        return self._change(how, step, added, [], [*known.brief, *(each.row for each in added)], known)

    def _compare(self, descriptor: int) -> Outcome:
        """The view of the whole file against the one on the server, id by id."""
        assert self._notes is not None
        found, data = covered.read(descriptor)
        view = _view(data)
        self._refuse_blank(view)
        there = mirror.ids(self._connection, self._place.names)
        packed = mirror.rows(self._connection, self._place.names)
        step = Change()
        step.gone_ids = [id_ for id_ in there if id_ not in view.observations and id_ not in view.marks]
        hidden = {*view.observations, *view.marks}
        inherited = _inherited(view)
        added: list[Entry] = []
        kept: dict[int, bytes] = {}
        for line in view.live():
            id_ = record.identifier(line.record)
            number = there.get(id_, HIDDEN)
            old = b"" if number == HIDDEN else packed.get(int(number), b"")
            same = inherited.get(id_) == self._notes.inherited.get(id_)  # else it is found by other tags
            if old and same and rows.digest_in(old) == digest(line.raw):
                kept[int(number)] = rows.relocated(line, old)
                hidden.discard(id_)
            elif fresh := rows.entry(line, view):
                added.append(fresh)
        step.lines = {number: row for number, row in kept.items() if packed[number] != row}
        step.ids = {id_: HIDDEN for id_ in hidden if there.get(id_) != HIDDEN}
        step.gone_lines = [number for number in packed if number not in kept]
        if len(added) + len(step.gone_lines) <= max(_FEW, len(packed) // 3):
            known = replace(
                self._notes,
                covered=found,
                awaited=_awaited(view),
                settled=_is_settled(view),
                inherited=inherited,
            )
            standing = [*kept.values(), *(each.row for each in added)]
            done = self._change(CHANGED, step, added, step.gone_lines, standing, known)
            if done is not None:
                return done
        return self._load(found, view)

    def _rebuild(self, descriptor: int) -> Outcome:
        found, data = covered.read(descriptor)
        return self._load(found, _view(data))

    def _load(self, found: Covered, view: View) -> Outcome:
        """Make the mirror anew."""
        self._refuse_blank(view)
        live = sum(1 for _ in view.live())
        if live > MOST_NUMBERS:
            raise Unavailable(
                f"{live:,} live observations, and the mirror holds {MOST_NUMBERS:,}",
                "consolidate the log",
            )
        entries, terms, forward = rows.indexed(view)
        lines = len(entries)
        held = {term: len(postings) // POSTING for term, postings in terms.items()}
        common = {term: count for term, count in held.items() if recall.is_common(count, lines)}
        known = Notes(
            covered=found,
            common=common,
            awaited=_awaited(view),
            settled=_is_settled(view),
            inherited=_inherited(view),
            brief=_strongest(each.row for each in entries),
        )
        facts = Meta(lines=lines, next=lines, stamp=os.urandom(8).hex(), state=known.dump())
        weighty = [term for term in terms if term not in common]
        gate = beside(lambda: bloom_file.build(weighty, lines, facts.stamp.encode()))
        ids = dict.fromkeys([*view.observations, *view.marks], HIDDEN)
        ids |= {each.id: b"%d" % number for number, each in enumerate(entries)}
        mirror.rebuild(
            self._connection,
            self._place.project,
            self._place.view,
            os.urandom(8).hex(),
            terms=terms,
            lines=enumerate(each.row for each in entries),
            ids=ids.items(),
            forward=enumerate("\n".join(each).encode() for each in forward),
            facts=facts,
            loaded=lambda: self._write("gate", gate()),
        )
        self._publish(facts, known)
        return Outcome(how=REBUILT, lines=lines, added=lines)

    def _change(
        self,
        how: str,
        step: Change,
        added: list[Entry],
        gone: list[int],
        standing: Iterable[bytes],
        known: Notes,
    ) -> Outcome | None:
        """Take entries in and lines out; None, and nothing happens, where only a rebuild helps."""
        assert self._facts is not None
        old = self._facts
        moved = len(step.lines)
        lines = old.lines + len(added) - len(gone)
        if old.next + len(added) > MOST_NUMBERS:
            return None
        step.join, forward = bulk_postings((each.texts for each in added), old.next)
        for number, (each, terms) in enumerate(zip(added, forward, strict=True), old.next):
            step.lines[number] = each.row
            step.ids[each.id] = b"%d" % number
            step.forward[number] = "\n".join(terms).encode()
        for number, terms in zip(
            gone, mirror.terms_of(self._connection, self._place.names, gone), strict=True
        ):
            for term in terms:
                step.cut[term] = step.cut.get(term, b"") + number.to_bytes(POSTING, "little")
        common, fresh = _common_now(known.common, step, lines)
        known = replace(known, common=common, brief=_strongest(standing))
        facts = Meta(lines=lines, next=old.next + len(added), stamp=os.urandom(8).hex(), state=known.dump())
        gate = bloom_file.extend(
            bloom.read(str(self._place.folder / "gate")), fresh, lines, facts.stamp.encode()
        )
        if gate is None:
            return None
        self._write("gate", gate)
        if not mirror.change(self._connection, self._place.names, old.stamp, step, facts):
            return None
        self._publish(facts, known)
        return Outcome(how=how, lines=lines, added=len(added), removed=len(gone), moved=moved)

    def _refuse_blank(self, view: View) -> None:
        """A log that lost all it held is an accident, or a branch without memory: neither is a reason to
        forget. What is not in the file is not told, whatever the mirror holds."""
        if self._facts is not None and self._facts.lines and not view.observations:
            raise Unavailable(
                f"the log holds no observation, the mirror {self._facts.lines}: nothing was blanked",
                "if the log was lost, bring it back with git; if that is right, the view expires by itself",
            )

    def _publish(self, facts: Meta, known: Notes) -> None:
        """Tell hooks of the view that is on the server now."""
        brief = orjson.dumps([each.hex() for each in known.brief])
        self._write("brief", brief)
        self._write("view", orjson.dumps(self._file(facts, known).fields()))

    def _file(self, facts: Meta, known: Notes) -> ViewFile:
        return ViewFile(
            root=os.path.realpath(self._workspace.config.root),
            log=os.path.join(os.path.realpath(self._workspace.config.root), LOG),  # noqa: PTH118
            identity=known.covered.identity,
            covered=known.covered.size,
            end=known.covered.end,
            settled=known.settled,
            url=self._url(),
            project=self._place.project,
            view=self._place.view,
            stamp=facts.stamp,
            gate=viewfile.identity((self._place.folder / "gate").stat()),
            lines=facts.lines,
        )

    def _url(self) -> str:
        config = self._workspace.config
        return config.redis_url or str(server.address(config))

    def _write(self, name: str, content: bytes) -> None:
        """Put a file in the view's folder, whole or not at all."""
        home = self._place.folder / name
        fresh = self._place.folder / f".{name}.new"
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            fresh.replace(home)
        except OSError as error:
            raise Unavailable(f"{home}: {error.strerror}", "make room, then run `valor sync`") from None


def _view(data: bytes) -> View:
    keep = None if len(data) <= _MUCH else _bytes_only
    return fold(log.split(BytesIO(data)), keep)


def _bytes_only(_: Record) -> bool:
    return False


def _awaited(view: View) -> frozenset[str]:
    """Ids that marks name and no line has: a line that brings one may be hidden, or hide, at once."""
    return frozenset(view.named - view.observations.keys() - view.marks.keys())


def _is_settled(view: View) -> bool:
    """Whether no mark speaks of a live line or an absent one: then no line that is added hides or shows
    another without naming it."""
    return not any(
        view.is_live(id_) or id_ not in view.observations for id_ in view.named - view.marks.keys()
    )


def _inherited(view: View) -> dict[str, str]:
    """What lines are found by besides their own words: a digest of the tags that each inherits, by id."""
    return {id_: digest(record.dumps(tags)).hex() for id_, (tags, _) in view.inherited.items() if tags}


def _common_now(common: Mapping[str, int], step: Change, lines: int) -> tuple[dict[str, int], list[str]]:
    """The terms that the filter may still lack, and those to put into it."""
    counts = dict(common)
    fresh = []
    for term in step.join:
        if term not in counts:
            fresh.append(term)
    for term, count in common.items():
        count += (len(step.join.get(term, b"")) - len(step.cut.get(term, b""))) // POSTING
        counts[term] = count
        if not recall.is_common(count, lines):
            del counts[term]
            fresh.append(term)
    return counts, fresh


def _strongest(packed: Iterable[bytes]) -> list[bytes]:
    now = time.time()
    return heapq.nlargest(_BRIEF, packed, key=lambda each: rows.standing(each, now))
