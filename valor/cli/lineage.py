"""A lineage on standard output: a tree on a terminal, one JSON object in a pipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from valor.cli.render import emit, plain, wants_table, write_json, write_lines
from valor.fold import View
from valor.lineage import OVERRULED, SUPERSEDED_BY, SUPERSEDES, WAITS, Lineage, disclosed, rows

_LABEL = 36  # columns that a label keeps at least: an id and a little
_INDENT = 4  # columns of a level
_STATES = {WAITS: "waits for what is not in the log", OVERRULED: "overruled, it closes a circle"}


def show(found: Lineage, view: View, row: dict[str, Any], as_table: bool) -> None:
    """The line's row, as ``--full`` has it, and its lineage."""
    row = disclosed(found, view, row)
    ways = {way: rows(found, view, way) for way in (SUPERSEDED_BY, SUPERSEDES)}
    standing = {"standing": found.standing, "survivor": found.survivor} if found.standing else {}
    if not as_table:
        write_json([row | {"lineage": standing | ways}])
        return
    emit(({"field": key, "value": value} for key, value in row.items()), ("field", "value"), True)
    if wants_table(False, False):  # a terminal
        _draw(found, ways)
    else:
        flat = [
            {"way": way} | node | {"marks": _marks(node)} for way, nodes in ways.items() for node in nodes
        ]
        write_lines([b"\n"])
        emit(flat, ("way", "depth", "from", "id", "standing", "timestamp", "summary", "marks"), True)


def _draw(found: Lineage, ways: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    from rich.console import Console
    from rich.text import Text
    from rich.tree import Tree

    console = Console(highlight=False, markup=False, emoji=False)
    deepest = max(2, (console.width - _LABEL) // _INDENT)
    tree = Tree(Text(_heading(found)))
    for way, nodes in ways.items():
        path = [tree.add(Text(way.replace("_", " ") if nodes else f"{way.replace('_', ' ')} nothing"))]
        left_out = 0
        for node in nodes:
            depth = node["depth"]
            if depth > deepest:
                left_out += 1
                continue
            if left_out:
                path[-1].add(Text(_more(left_out)))
                left_out = 0
            del path[depth:]
            path.append(path[-1].add(Text(_label(node))))
        if left_out:
            path[-1].add(Text(_more(left_out)))
    console.print(tree)


def _heading(found: Lineage) -> str:
    where = f", survivor {found.survivor}" if found.survivor not in (None, found.id) else ""
    return plain(f"{found.id}  {found.standing}{where}".rstrip())


def _label(node: Mapping[str, Any]) -> str:
    """Who it is, and below that each mark that led here."""
    if node["id"] is None:
        who = node["standing"]
    else:
        private = "private" if node.get("private") else ""
        parts = (node["id"], node.get("timestamp", "")[:10], node["standing"], private, node.get("summary"))
        who = "  ".join(plain(part) for part in parts if part)
    again = ["(its own lineage stands elsewhere in this tree)"] if node.get("again") else []
    return "\n".join([who, *again, *(f"by {_mark(mark)}" for mark in node["marks"])])


def _marks(node: Mapping[str, Any]) -> str:
    return "; ".join(map(_mark, node["marks"]))


def _mark(mark: Mapping[str, Any]) -> str:
    state = f"void by {plain(mark['void_by'])}" if "void_by" in mark else _STATES.get(mark["state"], "")
    score = f"score {mark['score']}" if "score" in mark else ""
    parts = (mark["id"], mark["timestamp"][:10], state, mark.get("reason"), score)
    return "  ".join(plain(part) for part in parts if part)


def _more(count: int) -> str:
    return f"and {count} more below, which --json lists"
