"""Does the mirror hold what the log says? Read back in full, with a client that did not write it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import iter_unpack
from typing import Any

from valor import bloom, recall, rows, server
from valor.errors import Unavailable
from valor.fold import View
from valor.keys import SHARE_BITS, Keys
from valor.mirror import HIDDEN
from valor.place import place_of
from valor.workspace import Workspace

_BATCH = 5_000  # fields of one HSCAN

Postings = dict[str, dict[str, int]]
"""Term -> id -> share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """``what`` is missing | phantom | stale | terms | hidden | count | gate; ``name`` the id or term it is
    about; ``detail`` says how mirror and log differ."""

    what: str
    name: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A view, whatever numbers its lines have: rows by id, postings by term and id, hidden ids."""

    rows: dict[str, bytes]
    postings: Postings
    forward: dict[str, frozenset[str]]
    hidden: frozenset[str]
    lines: int


def expected(view: View) -> Content:
    """What the mirror of this view has to hold."""
    entries, terms, forward = rows.indexed(view)
    names = [each.id for each in entries]
    return Content(
        rows={each.id: each.row for each in entries},
        postings={term: dict(_unpacked(packed, names.__getitem__)) for term, packed in terms.items()},
        forward={name: frozenset(found) for name, found in zip(names, forward, strict=True)},
        hidden=frozenset({*view.observations, *view.marks}.difference(names)),
        lines=len(entries),
    )


def held(client: Any, names: Keys) -> Content | None:
    """What the mirror holds; None where it has no such view. ``client`` is redis-py's."""
    lines = client.hget(names.meta, "lines")
    if lines is None:
        return None
    numbers = {raw.decode(): number for raw, number in client.hscan_iter(names.ids, count=_BATCH)}
    by_number: dict[int, str] = {int(number): id_ for id_, number in numbers.items() if number != HIDDEN}

    def name(number: int) -> str:
        return by_number.get(number, f"number {number}")

    return Content(
        rows={name(int(number)): row for number, row in client.hscan_iter(names.lines, count=_BATCH)},
        postings={
            term.decode(): dict(_unpacked(packed, name))
            for term, packed in client.hscan_iter(names.terms, count=_BATCH)
        },
        forward={
            name(int(number)): frozenset(raw.decode().split("\n") if raw else ())
            for number, raw in client.hscan_iter(names.forward, count=_BATCH)
        },
        hidden=frozenset(id_ for id_, number in numbers.items() if number == HIDDEN),
        lines=int(lines),
    )


def check(workspace: Workspace) -> list[Difference]:
    """Every difference between the mirror and the log; [] where they agree. Changes nothing, starts no
    server. Raises Unavailable where there is no mirror to compare."""
    place = place_of(workspace)
    client = server.client(server.address(workspace.config))
    with client:
        there = held(client, place.names)
    if there is None:
        raise Unavailable("there is no mirror of this checkout", "run `valor sync`")
    here = expected(workspace.view())
    return [*compare(here, there), *_gate(here, place.folder)]


def compare(here: Content, there: Content) -> Iterator[Difference]:
    """How ``there``, the mirror, differs from ``here``, the log."""
    if here.lines != there.lines:
        yield Difference(what="count", name="lines", detail=f"{there.lines}, in the log {here.lines}")
    for id_ in sorted(here.rows.keys() | there.rows.keys()):
        if id_ not in there.rows:
            yield Difference(what="missing", name=id_, detail="live in the log, not in the mirror")
        elif id_ not in here.rows:
            yield Difference(what="phantom", name=id_, detail="in the mirror, not live in the log")
        elif here.rows[id_] != there.rows[id_]:
            yield Difference(what="stale", name=id_, detail="the line has changed or moved")
        elif here.forward[id_] != there.forward.get(id_):
            yield Difference(what="terms", name=id_, detail="its list of terms is another")
    for id_ in sorted(here.hidden ^ there.hidden):
        where = "log" if id_ in here.hidden else "mirror"
        yield Difference(what="hidden", name=id_, detail=f"known and not recalled in the {where} alone")
    for term in sorted(here.postings.keys() | there.postings.keys()):
        if here.postings.get(term) != there.postings.get(term):
            yield Difference(what="terms", name=term, detail="other lines or shares")


def _gate(here: Content, folder: Path) -> Iterator[Difference]:
    """The weighty terms that the filter would not let through."""
    gate = bloom.load(str(folder / "gate"))
    if gate is None:
        yield Difference(what="gate", name="gate", detail="missing or damaged: every window asks the server")
        return
    for term, found in here.postings.items():
        if not recall.is_common(len(found), here.lines) and term not in gate:
            yield Difference(what="gate", name=term, detail="the filter lacks it")


def _unpacked(packed: bytes, name: Callable[[int], str]) -> Iterable[tuple[str, int]]:
    steps = 1 << SHARE_BITS
    return ((name(word // steps), word % steps) for (word,) in iter_unpack("<I", packed))
