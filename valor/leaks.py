"""The secrets in a record, by the field they stand in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from valor.record import KEY_ORDER, Record
from valor.secrets.detect import find, redact


class Leak(NamedTuple):
    """A secret of this kind in this field, from this character (1-based). Never its value."""

    field: str
    kind: str
    character: int

    def __str__(self) -> str:
        return f"{self.kind} in {self.field}, at character {self.character}"


def leaks(data: Record) -> list[Leak]:
    """Every secret in the record's texts, names of unknown fields included."""
    found: list[Leak] = []
    waiting: list[tuple[str, Any]] = [("", data)]
    while waiting:  # by hand: a line may nest deeper than the interpreter calls
        field, value = waiting.pop()
        if isinstance(value, str):
            found += (Leak(field, one.kind, one.start + 1) for one in find(value))
        elif isinstance(value, list):
            waiting += ((field, item) for item in reversed(value))
        elif isinstance(value, Mapping):
            for key, item in value.items():
                if key not in KEY_ORDER:
                    found += (Leak("a field's name", one.kind, one.start + 1) for one in find(key))
                if key in KEY_ORDER or not isinstance(item, str):
                    waiting.append((field or key, item))
                else:
                    found += _named(field or key, key, item)
    return found


def masked(data: Record) -> Record:
    """The record with its secrets replaced; its id stays."""
    clean: Record = _masked(data)
    return clean | {"id": data["id"]} if "id" in data else clean


def _named(field: str, key: str, value: str) -> Iterator[Leak]:
    """The secrets in a text under a name that valor does not know."""
    before = len(_assignment(key, "")) - 1
    for one in find(_assignment(key, value)):
        yield Leak(field, one.kind, max(0, one.start - before) + 1)


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_masked(item) for item in value]
    if isinstance(value, Mapping):
        return {redact(key): _masked_item(key, item) for key, item in value.items()}
    return value


def _masked_item(key: str, item: Any) -> Any:
    if key in KEY_ORDER or not isinstance(item, str):
        return _masked(item)
    clean = redact(_assignment(key, item))
    return clean[len(_assignment(key, "")) - 1 : -1] if clean.startswith(key) else redact(item)


def _assignment(key: str, value: str) -> str:
    """A field that valor does not know as its name and value together: "api_key" tells what a text
    is that by itself could be anything."""
    return f'{key}="{value}"'
