"""What goes to standard output: a table on a terminal, JSON lines in a pipe.

Standard output is data, so JSON lines are UTF-8 whatever the locale says; talk goes to standard
error through ``say``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from valor.errors import UsageError
from valor.record import dumps

Row = Mapping[str, Any]


def wants_table(json: bool, table: bool) -> bool:
    """Whether to draw a table: as asked, else where standard output is a terminal."""
    if json and table:
        raise UsageError("--json and --table exclude each other", "pass one of them")
    return table or (not json and sys.stdout.isatty())


def emit(rows: Iterable[Row], columns: Sequence[str], as_table: bool) -> None:
    """Write the rows: every key of each as a JSON line, or the named columns as a table."""
    if not as_table:
        write_json(rows)
    elif sys.stdout.isatty():
        _rich_table(rows, columns)
    else:
        _markdown_table(rows, columns)


def write_json(rows: Iterable[Row]) -> None:
    """One compact object a line."""
    out = sys.stdout.buffer
    for row in rows:
        out.write(dumps(row) + b"\n")
    out.flush()


def say(message: str) -> None:
    """One line of talk, on standard error."""
    sys.stderr.write(f"valor: {plain(message)}\n")


def plain(value: object) -> str:
    """``value`` as text that cannot steer a terminal: control characters become visible, an escape
    sequence loses its power, a newline becomes a blank."""
    text = (
        ", ".join(map(str, value))
        if isinstance(value, (list, tuple))
        else ""
        if value is None
        else str(value)
    )
    return "".join(
        char if char.isprintable() else " " if char in "\n\t\r" else f"\\x{ord(char):02x}" for char in text
    )


def _rich_table(rows: Iterable[Row], columns: Sequence[str]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, header_style="")
    for column in columns:
        # An id is for copying: it must not be broken over lines.
        table.add_column(column, no_wrap=column in ("id", "by", "type", "timestamp"), overflow="fold")
    for row in rows:
        table.add_row(*(Text(plain(row.get(column))) for column in columns))
    Console(soft_wrap=False).print(table)


def _markdown_table(rows: Iterable[Row], columns: Sequence[str]) -> None:
    """A Markdown table: what an agent reads best, and rich need not be imported for a pipe."""
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    for row in rows:
        lines.append(
            "| " + " | ".join(plain(row.get(column)).replace("|", "\\|") for column in columns) + " |"
        )
    sys.stdout.buffer.write("\n".join(lines).encode("utf-8", "backslashreplace") + b"\n")
    sys.stdout.buffer.flush()
