"""The routing table: a Markdown page that people edit, read into rows.

Raises BrokenTable with the line that is wrong, never guesses. The page's grammar is in
docs/reference/routing-table.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from valor.errors import BrokenTable, Unavailable, UsageError
from valor.routing.lexicon import CLASSES
from valor.routing.signals import unknown_class

OWNERS = ("auto-memory", "observations", "instructions", "nowhere")
NOWHERE = "nowhere"
AMBIGUOUS = "ambiguous"

COLUMNS = ("Scope", "Owner", "Storage", "Signals", "Examples")
UNDECIDED_COLUMNS = ("Left ambiguous", "Signals", "Examples")

_CELL = r"(?<!\\)\|"
_RULE = r":?-+:?"
_BREAK = r"(?i)<br\s*/?>"
_DASHES = frozenset(("", "-", "–", "—"))
_Line = tuple[int, list[str]]


class Row(NamedTuple):
    """One row: a scope of facts and who owns them.

    ``owner`` is one of OWNERS, or AMBIGUOUS for a row of "Left ambiguous"; ``store`` the Storage cell
    ("" for nowhere and for ambiguous); ``line`` its line in the page (1-based).
    """

    scope: str
    owner: str
    store: str
    signals: tuple[str, ...]
    examples: tuple[str, ...]
    line: int


class Table(NamedTuple):
    """The rows in the page's order, those of "Left ambiguous" last."""

    rows: tuple[Row, ...]

    def store_of(self, owner: str) -> str:
        """Where ``owner`` keeps its facts ("" for nowhere): the first of its rows says.

        Raises UsageError for a name that is no owner, or one the table has no row for.
        """
        for row in self.rows:
            if row.owner == owner:
                return row.store
        if owner in OWNERS:
            raise UsageError(f"the routing table has no row for {owner}", "add one, or name another owner")
        raise UsageError(f"no owner is called {owner!r}", "owners: " + ", ".join(OWNERS))


def load(path: Path) -> Table:
    """The table of the page at ``path``. Raises Unavailable where there is none, BrokenTable."""
    return parse_page(path, read(path))


def read(path: Path) -> bytes:
    """The page at ``path``. Raises Unavailable where there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise Unavailable(f"no routing table at {path}", "valor init writes one") from None
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be read: {error.strerror}", "check the file's kind and mode"
        ) from None


def parse_page(path: Path, page: bytes) -> Table:
    """The table in ``page``, which was read at ``path``. Raises BrokenTable, naming both."""
    try:
        return parse(decode(page))
    except BrokenTable as error:
        raise BrokenTable(f"{path}: {error.message}", error.hint, line=error.line) from None


def decode(page: bytes) -> str:
    """The page's text. Raises BrokenTable."""
    try:
        return page.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BrokenTable(f"line {line} is not UTF-8", "save the page as UTF-8", line=line) from None


def parse(text: str) -> Table:
    """The table in a page's text. Raises BrokenTable."""
    rows: list[Row] = []
    undecided: list[Row] = []
    for block in _blocks(text):
        number, header = block[0]
        if header[0] == UNDECIDED_COLUMNS[0]:
            _check_header(number, header, UNDECIDED_COLUMNS)
            undecided += [_row(line, cells, header) for line, cells in _body(block)]
        elif len(set(header) & set(COLUMNS)) >= 2:
            if rows:
                raise BrokenTable(f"line {number} starts a second routing table", "join the two", line=number)
            _check_header(number, header, COLUMNS)
            rows = [_row(line, cells, header) for line, cells in _body(block)]
            if not rows:
                raise BrokenTable(f"the table at line {number} has no rows", "add a row", line=number)
    if not rows:
        raise BrokenTable("the page has no routing table", f"its header is | {' | '.join(COLUMNS)} |", line=1)
    return Table(rows=tuple(rows + undecided))


def _blocks(text: str) -> Iterator[list[_Line]]:
    """Runs of lines that start with a bar, outside of fenced code."""
    block: list[_Line] = []
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fence = "" if fence and stripped.startswith(fence) else fence or stripped[:3]
        elif stripped.startswith("|") and not fence:
            block.append((number, _cells(stripped)))
            continue
        if block:
            yield block
            block = []
    if block:
        yield block


def _cells(line: str) -> list[str]:
    inner = line[1:]
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [cell.replace("\\|", "|").strip() for cell in re.split(_CELL, inner)]


def _check_header(number: int, header: list[str], wanted: tuple[str, ...]) -> None:
    for name in wanted:
        if name not in header:
            hint = f"the columns are {', '.join(wanted)}"
            raise BrokenTable(f"the header at line {number} lacks the column {name}", hint, line=number)
        if header.count(name) > 1:
            hint = "keep one of them"
            raise BrokenTable(f"the header at line {number} has {name} twice", hint, line=number)


def _body(block: list[_Line]) -> Iterator[_Line]:
    number, header = block[0]
    if len(block) < 2 or not all(re.fullmatch(_RULE, cell) for cell in block[1][1]):
        hint = f"put |{'---|' * len(header)} below the header"
        raise BrokenTable(f"the header at line {number} has no rule below it", hint, line=number + 1)
    for line, cells in block[2:]:
        if len(cells) != len(header):
            raise BrokenTable(
                f"line {line} has {len(cells)} cells, the header has {len(header)}",
                "a bar inside a cell is written \\|",
                line=line,
            )
        yield line, cells


def _row(line: int, cells: list[str], header: list[str]) -> Row:
    cell = dict(zip(header, cells, strict=True))
    scope = cell[header[0]] if header[0] == UNDECIDED_COLUMNS[0] else cell["Scope"]
    if not scope:
        raise BrokenTable(
            f"line {line} has no scope", "say in a few words which facts it is about", line=line
        )
    owner = cell.get("Owner", AMBIGUOUS).strip("`*_ ").lower()
    if owner not in OWNERS and "Owner" in cell:
        hint = "owners: " + ", ".join(OWNERS)
        raise BrokenTable(f"line {line} names an unknown owner, {cell['Owner']!r}", hint, line=line)
    store = _store(line, owner, cell.get("Storage", ""))
    signals = tuple(part for part in map(str.strip, cell["Signals"].split(";")) if part not in _DASHES)
    examples = tuple(
        part for part in map(str.strip, re.split(_BREAK, cell["Examples"])) if part not in _DASHES
    )
    if not signals and not examples:
        raise BrokenTable(
            f"line {line} has neither signals nor examples, so it can never match",
            "write a sentence or two of the kind into Examples",
            line=line,
        )
    for said in signals:
        if (name := unknown_class(said)) is not None:
            hint = "classes: " + ", ".join(sorted(CLASSES))
            raise BrokenTable(f"line {line} uses an unknown class, @{name}", hint, line=line)
    return Row(scope=scope, owner=owner, store=store, signals=signals, examples=examples, line=line)


def _store(line: int, owner: str, cell: str) -> str:
    store = "" if cell in _DASHES else cell.replace("`", "")
    if owner in (NOWHERE, AMBIGUOUS):
        if store:
            raise BrokenTable(
                f"line {line} gives nowhere a place, {store!r}", "put — into Storage", line=line
            )
    elif not store:
        raise BrokenTable(
            f"line {line} does not say where {owner} keeps it",
            "put the path of the file or folder into Storage",
            line=line,
        )
    return store
