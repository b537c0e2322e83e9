"""What goes to standard output: a table on a terminal, JSON lines in a pipe.

Standard output is data, so JSON lines are UTF-8 whatever the locale says; talk goes to standard
error through ``say``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from valor.errors import Unavailable, UsageError
from valor.record import dumps

Row = Mapping[str, Any]

_WHOLE = ("id", "by", "of", "type", "timestamp", "action")  # for copying: never broken over lines
_PROSE = 40  # columns that what is not whole needs beside it; with fewer, rows are stacked


def wants_table(json: bool, table: bool) -> bool:
    """Whether to draw a table: as asked, else where standard output is a terminal."""
    if json and table:
        raise UsageError("--json and --table exclude each other", "pass one of them")
    return table or (not json and on_terminal())


def emit(rows: Iterable[Row], columns: Sequence[str], as_table: bool) -> None:
    """Write the rows: every key of each as a JSON line, or the named columns as a table (Markdown
    where standard output is no terminal)."""
    if not as_table:
        write_json(rows)
        return
    cells = [[plain(row.get(column)) for column in columns] for row in rows]
    if on_terminal():
        _draw(cells, columns)
    else:
        _write(_markdown(cells, columns))


def write_json(rows: Iterable[Row]) -> None:
    """One compact object a line."""
    write_lines(dumps(row) + b"\n" for row in rows)


def write_lines(lines: Iterable[bytes]) -> None:
    """Whole lines, as they are."""
    _write(b"".join(lines))


def say(message: str) -> None:
    """One line of talk, on standard error."""
    complain(f"valor: {plain(message)}\n")


def complain(text: str) -> None:
    """Text on standard error; where that is closed there is nobody to tell."""
    if sys.stderr is not None:
        sys.stderr.write(text)


def plain(value: object) -> str:
    """``value`` as text that cannot steer a terminal: control characters become visible, an escape
    sequence loses its power, a newline becomes a blank. Lists and objects read as phrases."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(plain, value))
    if isinstance(value, Mapping):
        return " ".join(f"{plain(key)}={plain(item)}" for key, item in value.items())
    text = "" if value is None else str(value)
    return "".join(
        char if char.isprintable() else " " if char in "\n\t\r" else f"\\x{ord(char):02x}" for char in text
    )


def on_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def _write(data: bytes) -> None:
    """Raises Unavailable where standard output takes nothing. A reader that stopped (head, less) has
    seen enough: the rest is dropped."""
    if sys.stdout is None:
        raise Unavailable("standard output is closed", "run it with one; what it did stands")
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _drop_the_rest()
    except OSError as error:
        _drop_the_rest()
        raise Unavailable(
            f"standard output cannot be written: {error.strerror}", "make room; what the command did stands"
        ) from None


def _drop_the_rest() -> None:
    """Point standard output at nothing, or Python would complain again when it flushes at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _draw(cells: list[list[str]], columns: Sequence[str]) -> None:
    """A table where the terminal is wide enough for one, else a block a row."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    whole = [number for number, column in enumerate(columns) if column in _WHOLE]
    taken = sum(2 + max(len(row[number]) for row in [[*columns], *cells]) for number in whole)
    rest = [column for column in columns if column not in _WHOLE]
    if taken + max(_PROSE, 14 * len(rest)) > console.width and whole and rest:
        _draw_stacked(console, cells, columns)
    else:
        _draw_table(console, cells, columns)


def _draw_table(console: Any, cells: list[list[str]], columns: Sequence[str]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, header_style="")
    for column in columns:
        table.add_column(column, no_wrap=column in _WHOLE, overflow="fold")
    for row in cells:
        table.add_row(*row)
    console.print(table)


def _draw_stacked(console: Any, cells: list[list[str]], columns: Sequence[str]) -> None:
    """The short cells of a row on one line, the others below it with their names."""
    from rich.padding import Padding

    for row in cells:
        pairs = [(column, cell) for column, cell in zip(columns, row, strict=True) if cell]
        console.print("  ".join(cell for column, cell in pairs if column in _WHOLE), soft_wrap=True)
        for column, cell in pairs:
            if column not in _WHOLE:
                console.print(Padding(cell if column == "summary" else f"{column}: {cell}", (0, 0, 0, 2)))
        console.print()


def _markdown(cells: list[list[str]], columns: Sequence[str]) -> bytes:
    """A Markdown table: what an agent reads best, and rich need not be imported for a pipe."""
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells]
    return "\n".join(lines).encode("utf-8", "backslashreplace") + b"\n"
