"""Embeddings in the mirror: filled by an embedder that a program brings, read back with their ids.

A vector is stored with its model, its dimension and the digest of the line that it was made from. One of
another space, or of a line that has changed since, is never compared: it is left out and counted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from valor import embedding, record, rows, server
from valor.confirm import digest
from valor.embedding import Embedder, Embedding
from valor.errors import Unavailable, UsageError
from valor.keys import DIGEST, LIFE, Keys
from valor.place import place_of
from valor.sync import MOST_REPLY, PATIENCE, sync
from valor.wire import Connection
from valor.workspace import Workspace

_BATCH = 64  # texts given to an embedder at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """What ``fill`` did: vectors made, vectors that were there, vectors of other spaces replaced."""

    made: int
    kept: int
    replaced: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """The vectors of one space by id; ``ignored`` counts those of other spaces, outdated or damaged."""

    by_id: dict[str, Embedding]
    ignored: int


def fill(workspace: Workspace, embedder: Embedder) -> Filled:
    """Give each mirrored observation without one a vector of this embedder; brings the mirror up to the
    log first. What was stored stays stored if the embedder fails. Raises UsageError where its vectors are
    not what it says, Unavailable."""
    sync(workspace)
    with _connected(workspace) as (connection, names):
        there, foreign = _read(connection, names, _digests(workspace), embedder.model, embedder.dimension)
        entries = _texts(workspace)
        missing = [id_ for id_ in entries if id_ not in there]
        for at in range(0, len(missing), _BATCH):
            batch = missing[at : at + _BATCH]
            made = embedding.embed(embedder, [entries[id_][1] for id_ in batch])
            parts: list[str | bytes] = []
            for id_, vector in zip(batch, made, strict=True):
                parts += [id_, _packed(vector, entries[id_][0])]
            connection.deadline = time.monotonic() + PATIENCE
            connection.pipeline([("HSET", names.embeddings, *parts), ("EXPIRE", names.embeddings, LIFE)])
    return Filled(made=len(missing), kept=len(there), replaced=len(foreign.intersection(missing)))


def vectors(workspace: Workspace, model: str, dimension: int) -> Vectors:
    """The stored vectors of this space. Raises Unavailable where there is no mirror."""
    with _connected(workspace) as (connection, names):
        there, foreign = _read(connection, names, _digests(workspace), model, dimension)
    return Vectors(by_id=there, ignored=len(foreign))


@contextmanager
def _connected(workspace: Workspace) -> Iterator[tuple[Connection, Keys]]:
    address, names = server.address(workspace.config), place_of(workspace).names
    with Connection(address, time.monotonic() + PATIENCE, MOST_REPLY) as connection:
        if not connection.call("EXISTS", names.meta):
            raise Unavailable("there is no mirror of this checkout", "run `valor sync`")
        yield connection, names


def _read(
    connection: Connection, names: Keys, lines: dict[str, bytes], model: str, dimension: int
) -> tuple[dict[str, Embedding], set[str]]:
    """Vectors of this space for lines as they are, and the ids of all others."""
    flat = connection.call("HGETALL", names.embeddings)
    found: dict[str, Embedding] = {}
    others: set[str] = set()
    for at in range(0, len(flat), 2):
        id_ = flat[at].decode("utf-8", "surrogatepass")
        vector, line = _unpacked(flat[at + 1])
        if vector is None or (vector.model, vector.dimension) != (model, dimension) or lines.get(id_) != line:
            others.add(id_)
        else:
            found[id_] = vector
    return found, others


def _packed(vector: Embedding, line: bytes) -> bytes:
    return line + vector.model.encode() + b"\0%d\0" % vector.dimension + vector.data


def _unpacked(raw: bytes) -> tuple[Embedding | None, bytes]:
    model, _, rest = raw[DIGEST:].partition(b"\0")
    dimension, _, data = rest.partition(b"\0")
    try:
        return embedding.decode(model.decode(), int(dimension), data), raw[:DIGEST]
    except (UsageError, ValueError):
        return None, b""


def _digests(workspace: Workspace) -> dict[str, bytes]:
    return {record.identifier(line.record): digest(line.raw) for line in workspace.view().live()}


def _texts(workspace: Workspace) -> dict[str, tuple[bytes, str]]:
    """Each observation that is mirrored: its digest, and what is to be embedded, without secrets."""
    found = {}
    for line in workspace.view().live():
        entry = rows.entry(line)
        if entry:
            summary, details, _ = entry.texts
            found[entry.id] = digest(line.raw), f"{summary}\n\n{details}".strip()
    return found
