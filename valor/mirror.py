"""The view in Redis: written, changed, read back. ``valor.keys`` names and lays out what is there.

A rebuild loads everything under other names, term by term, and swaps it in at once; a change is one
script. So a reader sees the view before or after, never between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from valor import keys
from valor.errors import ErrorReply, Unavailable
from valor.keys import Keys
from valor.wire import Connection, Script

HIDDEN = b"-"  # instead of a number: an id of the log that recall must not know
_BATCH = 2_000  # fields of one HSET
_FULL = Unavailable(
    "the mirror's server is full; the view in it stays as it was",
    "raise VALOR_SERVER_MEMORY (MiB) and run `valor server stop`, or give the server named by "
    "VALOR_REDIS_URL more memory",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """What the mirror says of its view: how many lines, the next free number, its stamp, and sync's
    own notes (JSON)."""

    lines: int
    next: int
    stamp: str
    state: bytes

    def fields(self) -> dict[str, str | int | bytes]:
        """As the hash holds them."""
        return {"lines": self.lines, "next": self.next, "stamp": self.stamp, "state": self.state}


@dataclass(slots=True, kw_only=True)
class Change:
    """What leaves the view and what joins it. ``cut`` and ``join`` hold u32 words by term: line
    numbers, and postings; the others are keyed as their hashes are."""

    cut: dict[str, bytes] = field(default_factory=dict)
    join: dict[str, bytes] = field(default_factory=dict)
    lines: dict[int, bytes] = field(default_factory=dict)
    ids: dict[str, bytes] = field(default_factory=dict)
    forward: dict[int, bytes] = field(default_factory=dict)
    gone_lines: list[int] = field(default_factory=list)
    gone_ids: list[str] = field(default_factory=list)

    def arguments(self) -> Iterator[Any]:
        """As the script takes them."""
        terms = self.cut.keys() | self.join.keys()
        yield len(terms)
        for term in terms:
            yield from (term, self.cut.get(term, b""), self.join.get(term, b""))
        for gone, set_ in (
            (self.gone_lines, self.lines),
            (self.gone_ids, self.ids),
            (self.gone_lines, self.forward),
        ):
            yield len(gone)
            yield from gone
            yield len(set_)
            for pair in set_.items():
                yield from pair
        yield len(self.gone_ids)
        yield from self.gone_ids


def meta(connection: Connection, names: Keys) -> Meta | None:
    """What is there; None where there is no view, or none that this version made."""
    lines, next_, stamp, state = connection.call("HMGET", names.meta, "lines", "next", "stamp", "state")
    if lines is None or next_ is None or stamp is None or state is None:
        return None
    try:
        return Meta(lines=int(lines), next=int(next_), stamp=stamp.decode("ascii"), state=state)
    except ValueError:
        return None


def rebuild(
    connection: Connection,
    project: str,
    view: str,
    load: str,
    *,
    terms: Mapping[str, bytes],
    lines: Iterable[tuple[int, bytes]],
    ids: Iterable[tuple[str, bytes]],
    forward: Iterable[tuple[int, bytes]],
    facts: Meta,
    loaded: Callable[[], None],
) -> None:
    """Put this view in the place of the one there. ``load`` is a name nobody else uses meanwhile;
    ``loaded`` is called when all is there and nothing of it seen yet. Raises WireError, and Unavailable
    where the server has no room; the old view is then untouched."""
    names, loading = Keys(project, view), Keys(project, view, load)
    try:
        for key, pairs in (
            (loading.terms, terms.items()),
            (loading.lines, lines),
            (loading.ids, ids),
            (loading.forward, forward),
        ):
            _fill(connection, key, pairs)
        loaded()
        swap = [part for pair in facts.fields().items() for part in pair]
        _done(
            connection.call(
                *Script(keys.SWAP).call([*loading.loaded, *names.loaded, names.meta], [keys.LIFE, *swap])
            )
        )
        _drop_vectors(connection, names)
    except ErrorReply as error:
        connection.pipeline([("UNLINK", *loading.loaded)])
        if error.code == "OOM":
            raise _FULL from None
        raise


def change(connection: Connection, names: Keys, expected: str, step: Change, facts: Meta) -> bool:
    """Take the step; False, and nothing happens, where the view's stamp is not ``expected``."""
    fields = [part for pair in facts.fields().items() for part in pair]
    arguments = [expected, keys.LIFE, *step.arguments(), len(facts.fields()), *fields]
    try:
        return bool(
            connection.call(
                *Script(keys.CHANGE).call([*names.loaded, names.meta, names.embeddings], arguments)
            )
        )
    except ErrorReply as error:
        if error.code == "OOM":
            raise _FULL from None
        raise


def touch(connection: Connection, names: Keys) -> None:
    """Let the view live on: its checkout does."""
    for reply in connection.pipeline([("EXPIRE", key, keys.LIFE) for key in _all(names)]):
        _done(reply)


def drop(connection: Connection, names: Keys) -> None:
    """Remove the view."""
    for reply in connection.pipeline([("UNLINK", *_all(names))]):
        _done(reply)


def numbers(connection: Connection, names: Keys, ids: Sequence[str]) -> list[bytes | None]:
    """The number of each id, ``HIDDEN`` where recall must not know it, None where the log lacks it."""
    return list(connection.call("HMGET", names.ids, *ids)) if ids else []


def rows(connection: Connection, names: Keys) -> dict[int, bytes]:
    """Every row by number."""
    flat = connection.call("HGETALL", names.lines)
    return {int(flat[at]): flat[at + 1] for at in range(0, len(flat), 2)}


def ids(connection: Connection, names: Keys) -> dict[str, bytes]:
    """Every id of the log with its number or ``HIDDEN``."""
    flat = connection.call("HGETALL", names.ids)
    return {flat[at].decode("utf-8", "surrogatepass"): flat[at + 1] for at in range(0, len(flat), 2)}


def terms_of(connection: Connection, names: Keys, lines: Sequence[int]) -> list[list[str]]:
    """The terms of each of these lines."""
    found: list[list[str]] = []
    for batch in _batches(lines):
        for raw in connection.call("HMGET", names.forward, *batch):
            found.append((raw or b"").decode("utf-8", "surrogatepass").split("\n") if raw else [])
    return found


def _drop_vectors(connection: Connection, names: Keys) -> None:
    """Remove the vectors of ids that the log has no more."""
    there = connection.call("HKEYS", names.embeddings)
    if there:
        known = numbers(connection, names, [id_.decode("utf-8", "surrogatepass") for id_ in there])
        gone = [id_ for id_, number in zip(there, known, strict=True) if number is None]
        if gone:
            connection.call("HDEL", names.embeddings, *gone)
        connection.call("EXPIRE", names.embeddings, keys.LIFE)


def _fill(connection: Connection, key: str, pairs: Iterable[tuple[Any, bytes]]) -> None:
    rest = iter(pairs)
    first = True
    while batch := list(islice(rest, _BATCH)):
        commands: list[Any] = [("HSET", key, *[part for pair in batch for part in pair])]
        if first:
            commands.append(("EXPIRE", key, keys.LOAD_LIFE))
        for reply in connection.pipeline(commands):
            _done(reply)
        first = False


def _batches(items: Sequence[int]) -> Iterator[Sequence[int]]:
    for at in range(0, len(items), _BATCH):
        yield items[at : at + _BATCH]


def _all(names: Keys) -> tuple[str, ...]:
    return (*names.loaded, names.meta, names.embeddings)


def _done(reply: object) -> None:
    if isinstance(reply, ErrorReply):
        raise reply
