"""The file of the MCP memory server: a knowledge graph as JSON lines.

An entity (``name``, ``entityType``, ``observations``) gives one observation for each of its own; a
relation (``from``, ``to``, ``relationType``) gives one that says it as a sentence. The graph has no
times: its file's own stands in. Format: the server's README, "Core Concepts".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from valor import record
from valor.importers.entry import Entry, Item, Skipped, Unusable, derived_id, label, observation
from valor.record import BadLine


def is_part(data: dict[str, Any]) -> bool:
    """Whether the object is a line of such a graph."""
    return (data.get("type") == "entity" and "name" in data and "summary" not in data) or (
        data.get("type") == "relation" and "from" in data and "to" in data
    )


def read(lines: Iterable[bytes], seconds: float) -> Iterator[Entry]:
    """The graph's observations and relations; ``seconds`` (unix) is when it was last written."""
    for number, raw in enumerate(lines, 1):
        bare = raw.strip()
        if not bare:
            continue
        try:
            data = record.parse(bare)
        except BadLine as error:
            yield Unusable(place=number, reason=error.reason)
            continue
        if data.get("type") == "entity":
            yield from _entity(number, data, seconds)
        elif data.get("type") == "relation":
            yield _relation(number, data, seconds)
        else:
            yield Unusable(place=number, reason="neither an entity nor a relation")


def _entity(number: int, data: dict[str, Any], seconds: float) -> Iterator[Entry]:
    name, kind = _text(data.get("name")), _text(data.get("entityType"))
    observations = data.get("observations")
    if not name:
        yield Unusable(place=number, reason="an entity without a name")
        return
    if not isinstance(observations, list):
        yield Unusable(place=number, reason="observations is no list")
        return
    if not observations:
        yield Skipped(place=number, reason="an entity without observations")
    about = f"About {name} ({kind})" if kind else f"About {name}"
    for said in observations:
        text = _text(said)
        if not text:
            yield Unusable(place=number, reason="an observation that is no text")
            continue
        id_ = derived_id("mcp-memory", name, kind, text)
        tags = [label(kind)] if label(kind) else []
        line = observation(text, about, id_=id_, seconds=seconds, tags=tags, references=[])
        yield Item(place=number, record=line, derived=True)


def _relation(number: int, data: dict[str, Any], seconds: float) -> Entry:
    ends = [_text(data.get(key)) for key in ("from", "relationType", "to")]
    if not all(ends):
        return Unusable(place=number, reason="a relation that lacks an end or its type")
    id_ = derived_id("mcp-memory", *ends)
    subject, verb, object_ = ends
    line = observation(
        f"{subject} {verb.replace('_', ' ')} {object_}",
        f"{subject} -[{verb}]-> {object_}",
        id_=id_,
        seconds=seconds,
        tags=["relation"],
        references=[],
    )
    return Item(place=number, record=line, derived=True)


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
