"""JSON as text with positions: where each member and element of a document starts and ends.

An edit of someone's file must leave every other byte as it is, so it needs places rather than
values. ``check`` proves the document first; the scanner then trusts it and never recurses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

BLANK = " \t\r\n"
BOM = "\ufeff"

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_SCALAR = re.compile(r"[^\s,\]}]+")
_CONSTANT_OR_STRING = re.compile(r'(NaN|-?Infinity)|"[^"\\]*(?:\\.[^"\\]*)*"')
_BRACKET_OR_STRING = re.compile(r'[\[\]{}]|"[^"\\]*(?:\\.[^"\\]*)*"')


class NotJson(Exception):
    """The text is no JSON document: the line (1-based) it stops at and why."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A member (``key`` and value) or an element (``key`` None): the text from ``start`` to ``end``,
    its value from ``value`` on."""

    key: str | None
    start: int
    value: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """An object or array: the places of its brackets, and what is between them."""

    start: int
    end: int
    items: tuple[Item, ...]


def check(text: str) -> Any:
    """The document's value, its numbers as text. Raises NotJson, which knows a comment for one."""
    bare = text.removeprefix(BOM)

    def refuse(constant: str) -> NoReturn:
        found = next(found for found in _CONSTANT_OR_STRING.finditer(bare) if found.group(1))
        raise NotJson(line_of(bare, found.start()), f"{constant} is no JSON value")

    try:
        return json.loads(bare, parse_int=str, parse_float=str, parse_constant=refuse)
    except json.JSONDecodeError as error:
        comment = bare.startswith(("//", "/*", "#"), error.pos)
        raise NotJson(error.lineno, "a comment, which JSON does not have" if comment else error.msg) from None
    except RecursionError:
        raise NotJson(1, "nested too deep") from None


def root(text: str) -> int:
    """The place of the document's first character that is not blank."""
    return _skip(text, len(BOM) if text.startswith(BOM) else 0)


def container(text: str, start: int) -> Container:
    """The object or array whose bracket is at ``start``, in a text that ``check`` accepted."""
    items: list[Item] = []
    place = _skip(text, start + 1)
    while text[place] not in "]}":
        begin, key = place, None
        if text[start] == "{":
            place = _end(text, place)
            key = json.loads(text[begin:place])
            place = _skip(text, _skip(text, place) + 1)
        end = _end(text, place)
        items.append(Item(key=key, start=begin, value=place, end=end))
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return Container(start=start, end=place, items=tuple(items))


def line_of(text: str, place: int) -> int:
    """The line (1-based) that the character at ``place`` is on."""
    return text.count("\n", 0, place) + 1


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _end(text: str, place: int) -> int:
    """Where the value that starts at ``place`` ends."""
    if text[place] in "{[":
        depth = 0
        for bracket in _brackets(text, place):
            depth += 1 if bracket.group() in "{[" else -1
            if depth == 0:
                return bracket.end()
    match = (_STRING if text[place] == '"' else _SCALAR).match(text, place)
    return match.end() if match else len(text)


def _brackets(text: str, place: int) -> Iterator[re.Match[str]]:
    return (found for found in _BRACKET_OR_STRING.finditer(text, place) if found.group()[0] != '"')
