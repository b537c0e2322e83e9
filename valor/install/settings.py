"""Entries in a settings file, put in and taken out without touching another byte.

What holds them is named by its keys from the root: a list (``permissions.allow``, one of the ``hooks``
events) where the entries are a sequence, an object (``mcpServers``) where they are a mapping.
``add`` makes one contiguous splice and ``remove`` is its inverse, from the text alone: no receipt is
kept, so any clone can uninstall, whatever was edited elsewhere in between. Two rules make that work:

* A container that ``add`` made opens with a blank (a newline, or a space in a one-line document). In
  one that was there and empty, the splice follows the bracket at once: tight means "not ours".
* A file that ``add`` made ends with a newline; in a file that was there and blank, the document
  follows what there was, without one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from valor.install.json_text import BLANK, BOM, Container, NotJson, check, container, line_of, root

_FIRST_INDENT = re.compile(r"\n([ \t]+)\S")
Entries = Sequence[Any] | Mapping[str, Any]


def add(text: str | None, keys: Sequence[str], values: Entries) -> str:
    """``text`` (None: no file) with the values at the end of what is at ``keys``; unchanged where all
    of them are there. Raises NotJson, also where a value at one of the keys is of another kind.

    Members of an object must not be there with other values: see ``rivals``.
    """
    if text is None or not text.strip(BLANK + BOM):
        made = _Layout(eol="\n", unit="  ", gap=" ", lines=True).made(keys, values, "")
        return made + "\n" if text is None else text + made
    chain = _chain(text, keys, values)
    holder, missing = chain[-1], keys[len(chain) - 1 :]
    if not missing and held(text, keys, values) == len(values):
        return text
    layout = _Layout.of(text, chain[0])
    gap = _gap(text, holder, layout)
    place = holder.items[-1].end if holder.items else holder.start + 1
    indent = gap.rpartition("\n")[2] if "\n" in gap else _indent_at(text, place)
    if missing:
        piece = layout.member(missing, values, indent)
    else:
        piece = f",{gap}".join(layout.entries(values, indent))
    return text[:place] + (f",{gap}" if holder.items else "") + piece + text[place:]


def remove(text: str, keys: Sequence[str], values: Entries) -> str | None:
    """``text`` without the values that ``add`` put at ``keys``; None where the file was made
    for them. Unchanged where some of them are missing: what is left is not as ``add`` wrote it."""
    if not text.strip(BLANK + BOM) or held(text, keys, values) < len(values):
        return text
    first = _run(text, _chain(text, keys, values)[-1], values)
    if first is not None:
        return _without(text, keys, values, first, first + len(values) - 1)
    left: str | None = text  # someone has sorted them: take them one by one
    for value in _each(values):
        place = _run(left, _chain(left, keys, values)[-1], value) if left else None
        left = _without(left, keys, values, place, place) if left and place is not None else left
    return left


def held(text: str, keys: Sequence[str], values: Entries) -> int:
    """How many of the values are at ``keys``."""
    present = _present(text, keys, values)
    return sum(value in present for value in _comparable(values))


def rivals(text: str | None, keys: Sequence[str], members: Mapping[str, Any]) -> list[str]:
    """The names among ``members`` that the object at ``keys`` has already, with another value."""
    present = _present(text, keys, members)
    names = {key for key, _ in present}
    return [key for key, value in _comparable(members) if key in names and (key, value) not in present]


def others(text: str | None, keys: Sequence[str], values: Entries) -> list[Any]:
    """What is at ``keys`` beside the values."""
    return [entry for entry in _present(text, keys, values) if entry not in _comparable(values)]


def _present(text: str | None, keys: Sequence[str], values: Entries) -> list[Any]:
    """The entries at ``keys``, of the kind that the values are."""
    if text is None or not text.strip(BLANK + BOM):
        return []
    chain = _chain(text, keys, values)
    return _elements(text, chain[-1]) if len(chain) > len(keys) else []


def _each(values: Entries) -> list[Entries]:
    """The entries one by one, each still in a container of its kind."""
    if isinstance(values, Mapping):
        return [{key: value} for key, value in values.items()]
    return [[value] for value in values]


def _comparable(values: Entries) -> list[Any]:
    """The entries as ``_elements`` finds them in a text."""
    return list(values.items()) if isinstance(values, Mapping) else list(values)


def _chain(text: str, keys: Sequence[str], values: Entries) -> list[Container]:
    """The containers from the root down to what is at ``keys``, as far as they exist."""
    check(text)
    chain: list[Container] = []
    place = root(text)
    for depth in range(len(keys) + 1):
        wanted = "{" if depth < len(keys) or isinstance(values, Mapping) else "["
        if text[place] != wanted:
            name = ".".join(keys[:depth]) or "the document"
            kind = "an object" if wanted == "{" else "a list"
            raise NotJson(line_of(text, place), f"{name} is not {kind}")
        chain.append(container(text, place))
        if depth == len(keys):
            break
        # Of two members with one key the last counts, as in JSON.parse.
        places = [item.value for item in chain[-1].items if item.key == keys[depth]]
        if not places:
            break
        place = places[-1]
    return chain


def _elements(text: str, holder: Container) -> list[Any]:
    """The values of a list, the pairs of an object."""
    # As floats, since an integer of thousands of digits is legal JSON and no legal int().
    found = [(item.key, json.loads(text[item.value : item.end], parse_int=float)) for item in holder.items]
    return found if text[holder.start] == "{" else [value for _, value in found]


def _run(text: str, holder: Container, values: Entries) -> int | None:
    """The index at which the values stand one behind the other."""
    present, wanted = _elements(text, holder), _comparable(values)
    starts = range(len(present) - len(wanted) + 1)
    return next((start for start in starts if present[start : start + len(wanted)] == wanted), None)


def _without(text: str, keys: Sequence[str], values: Entries, first: int, last: int) -> str | None:
    """``text`` without these entries, and without the containers made for them."""
    chain = _chain(text, keys, values)
    for depth in reversed(range(len(chain))):
        holder = chain[depth]
        alone = first == 0 and last == len(holder.items) - 1
        if not alone or text[holder.start + 1] not in BLANK:
            return _cut(text, holder, first, last)
        if depth:
            inner = holder.start
            first = last = next(i for i, item in enumerate(chain[depth - 1].items) if item.value == inner)
    before, after = text[: chain[0].start], text[chain[0].end + 1 :]
    return None if not before and after in ("\n", "\r\n") else before + after


def _cut(text: str, holder: Container, first: int, last: int) -> str:
    items = holder.items
    if first > 0:
        return text[: items[first - 1].end] + text[items[last].end :]
    if last < len(items) - 1:
        return text[: items[0].start] + text[items[last + 1].start :]
    return text[: holder.start + 1] + text[items[last].end :]


def _gap(text: str, holder: Container, layout: _Layout) -> str:
    """What belongs between a comma and the next item of ``holder``."""
    if not holder.items:
        return layout.gap
    start = holder.items[-1].start
    blank = text[len(text[:start].rstrip(BLANK)) : start]
    if "\n" in blank:
        return layout.eol + blank.rpartition("\n")[2]
    return blank if len(holder.items) > 1 else layout.gap


def _indent_at(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """How a document is laid out: its line end, one step of indentation, what follows a colon or an
    inline comma, and whether containers are spread over lines."""

    eol: str
    unit: str
    gap: str
    lines: bool

    @classmethod
    def of(cls, text: str, document: Container) -> _Layout:
        inside = text[document.start : document.end]
        indent = _FIRST_INDENT.search(text)
        key = document.items[0] if document.items else None
        return cls(
            eol="\r\n" if "\r\n" in text else "\n",
            unit=indent.group(1) if indent else "  ",
            gap="" if key and text[key.value - 1] == ":" else " ",
            lines=not document.items or "\n" in inside,
        )

    def made(self, keys: Sequence[str], values: Entries, indent: str) -> str:
        """The containers that hold the values under these keys, each opened with a blank."""
        inner = indent + self.unit
        pieces = [self.member(keys, values, inner)] if keys else self.entries(values, inner)
        opening, closing = ("{", "}") if keys or isinstance(values, Mapping) else ("[", "]")
        if not self.lines:
            return f"{opening} " + f",{self.gap}".join(pieces) + f" {closing}"
        lines = f",{self.eol}{inner}".join(pieces)
        return f"{opening}{self.eol}{inner}{lines}{self.eol}{indent}{closing}"

    def member(self, keys: Sequence[str], values: Entries, indent: str) -> str:
        return f"{json.dumps(keys[0])}:{self.gap}{self.made(keys[1:], values, indent)}"

    def entries(self, values: Entries, indent: str) -> list[str]:
        """Each of the values as text, members with their key."""
        if isinstance(values, Mapping):
            return [
                f"{json.dumps(key)}:{self.gap}{self.value(value, indent)}" for key, value in values.items()
            ]
        return [self.value(value, indent) for value in values]

    def value(self, value: Any, indent: str) -> str:
        separators = (",", f":{self.gap}") if self.lines else (f",{self.gap}", f":{self.gap}")
        text = json.dumps(
            value, ensure_ascii=False, indent=self.unit if self.lines else None, separators=separators
        )
        return text.replace("\n", self.eol + indent)
