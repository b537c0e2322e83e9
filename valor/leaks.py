"""The secrets in a record, by the field they stand in.

What a text is often shows in its name alone: ``"db_password": "…"`` is a secret where the same value by
itself could be anything. So the value of a field that valor does not know is judged together with
the nearest name it has, also where that is the list's or the object's around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from valor.record import KEY_ORDER, Record, text
from valor.secrets.detect import find, redact

_AT_ONCE = 500  # records that are looked through together

_PLAIN = re.compile(r"(?:obs|sup|rei)-\d{1,12}-[0-9a-f]{1,16}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_NAMELESS = ("value", "values", "val", "content", "text", "data", "string")
_NAMING = ("name", "key", "field", "variable")


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
    for field, name, value in _leaves(data):
        found += _leaks_of(field, name, value)
    return found or _across(data)


def holding_secrets(records: Iterable[Record]) -> Iterator[bool]:
    """``bool(leaks(record))`` for each record, made for many: most are told to be clean by their words.

    Reads some hundred records ahead.
    """
    from valor.secrets.screen import Screen  # of use to many records alone, and not free

    screen = Screen()
    rest = iter(records)
    while some := list(islice(rest, _AT_ONCE)):
        for data, texts in zip(some, screen.suspects([_searched(data) for data in some]), strict=True):
            yield any(map(find, texts)) and bool(leaks(data))


def _searched(data: Record) -> list[str]:
    """The texts that ``leaks`` searches; ids and times as valor writes them hold nothing."""
    found: list[str] = []
    for key, value in data.items():
        if key not in KEY_ORDER:
            break
        if type(value) is str:
            if not _PLAIN.fullmatch(value):
                found.append(value)
        elif type(value) is list:
            found += value
        elif isinstance(value, Mapping):
            break
    else:
        if all(type(one) is str for one in found):
            return found + _announced(data)
    found = []
    for _, name, value in _leaves(data):
        if isinstance(value, str):
            found.append(value)
        if name:
            found.append(_assignment(name, value))
    return found + _announced(data)


def masked(data: Record) -> Record:
    """The record with its secrets replaced; its id stays."""
    clean: Record = _masked(data, "")
    for leak in _across(clean):
        clean[leak.field] = f"[redacted:{leak.kind}]"
    return clean | {"id": data["id"]} if "id" in data else clean


def _leaves(data: Record) -> Iterator[tuple[str, str, Any]]:
    """Every text and number: its field, the name it goes by ("" for none), itself; and every name."""
    waiting: list[tuple[str, str, Any]] = [("", "", data)]
    while waiting:  # by hand: a line may nest deeper than the interpreter calls
        field, name, value = waiting.pop()
        if isinstance(value, list):
            waiting += ((field, name, item) for item in reversed(value))
        elif isinstance(value, Mapping):
            for key, item in value.items():
                if key not in KEY_ORDER:
                    yield "a field's name", "", key
                waiting.append((field or key, _name(key, name, value), item))
        elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
            yield field, name, value


def _name(key: str, around: str, siblings: Mapping[str, Any]) -> str:
    """What the value of ``key`` goes by: a sibling that names it, else the key, else what is around."""
    if key in KEY_ORDER:
        return ""
    if key.lower() not in _NAMELESS:
        return key
    named = (siblings[naming] for naming in _NAMING if isinstance(siblings.get(naming), str))
    return next(named, around)


def _leaks_of(field: str, name: str, value: Any) -> Iterator[Leak]:
    plain = find(value) if isinstance(value, str) else []
    for one in plain:
        yield Leak(field, one.kind, one.start + 1)
    if name and not plain:
        before = len(_assignment(name, ""))
        for one in find(_assignment(name, value)):
            yield Leak(field, one.kind, max(1, one.start - before + 2))


def _masked(value: Any, name: str) -> Any:
    if isinstance(value, list):
        return [_masked(item, name) for item in value]
    if isinstance(value, Mapping):
        return {redact(key): _masked(item, _name(key, name, value)) for key, item in value.items()}
    if isinstance(value, str):
        clean = redact(value)
        return _masked_by_name(name, value) if name and clean == value else clean
    if isinstance(value, (int, float)) and not isinstance(value, bool) and name:
        return _masked_by_name(name, value)
    return value


def _masked_by_name(name: str, value: Any) -> Any:
    whole = _assignment(name, value)
    clean = redact(whole)
    return value if clean == whole else clean[len(_assignment(name, "")) - 1 : -1]


def _assignment(name: str, value: Any) -> str:
    """The name and its value as code would say it; a quote in the value would end it."""
    return f'{name}="{str(value).replace(chr(34), chr(39))}"'


def _across(data: Record) -> list[Leak]:
    """A secret that the summary announces and the details tell."""
    return [
        Leak("details", one.kind, max(1, one.start - len(summary)))
        for joined in _announced(data)
        for summary in [text(data, "summary").rstrip()]
        for one in find(joined)
        if one.end > len(summary) + 1
    ]


def _announced(data: Record) -> list[str]:
    """Summary and details in one text, where the summary announces what the details tell; else none."""
    summary = text(data, "summary").rstrip()
    if not summary.endswith((":", "=", " is", " are", " was")):
        return []
    details = text(data, "details")
    return [f"{summary} {details}"] if details.strip() else []
