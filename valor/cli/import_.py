"""valor import: copy observations from another log, an MCP memory graph or a folder of Markdown."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from valor.cli.door import standard_input, workspace
from valor.cli.render import say, write_json
from valor.errors import FOUND_NOTHING
from valor.importers.source import FORMATS, read_lines, read_path
from valor.suggest import one_of
from valor.transfer import Receipt, Row, bring

app = typer.Typer(rich_markup_mode=None, add_completion=False)

_SHOWN = 20


@app.command("import")
def command(
    source: str = typer.Argument(..., metavar="FILE|DIR|-", help="What to read; - is standard input."),
    format_: str = typer.Option(
        "", "--from", metavar="FORMAT", help="jsonl, mcp-memory or markdown.", show_default="guessed"
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="Say what would land, write nothing."),
) -> int:
    """Copy observations into the log. Importing the same source twice changes nothing.

    \b
    jsonl: lines of another log, marks included, as they are. mcp-memory: the memory server's file of
    entities and relations. markdown: a folder of memories, or one file.
    Ids, times and unknown fields are kept; nothing is routed. A secret, an id with other content and
    a line that does not read stay out and are reported, the rest lands.

    \b
    Examples:
      valor import memories.jsonl
      valor import ~/.local/share/mcp/memory.jsonl --from mcp-memory --dry-run
      valor import ~/notes/memories
      gunzip -c backup.jsonl.gz | valor import -

    \b
    Prints one JSON object: read, written, already, refused_secret, bad, conflicts, skipped, dry_run.
    Exit codes: 0 all of it is in the log; 1 some did not land, or there was nothing; 2 usage;
    4 a secret was refused, the rest landed; 5 the source cannot be read or the log not written.
    """
    if format_:
        one_of(format_, FORMATS, "format")
    here = workspace()
    if source == "-":
        entries = read_lines(standard_input().splitlines(keepends=True), format_)
    else:
        entries = read_path(Path(source).expanduser(), format_)
    receipt = bring(here, entries, dry_run=dry_run)
    _talk(receipt)
    write_json([asdict(receipt)])
    if not receipt.read and not receipt.skipped:
        say(
            f"there is nothing in {source}"
            + (" (a folder is read for Markdown)" if Path(source).is_dir() else "")
        )
        return FOUND_NOTHING
    return receipt.exit_code


def _talk(receipt: Receipt) -> None:
    told = [f"{_place(row)}: refused, {row['kind']} in {row['field']}" for row in receipt.refused_secret]
    told += [f"{_place(row)}: {row['reason']}" for row in receipt.bad]
    told += [f"{_place(row)}: {row['id']} is in the log with other content" for row in receipt.conflicts]
    told += [f"{_place(row)}: passed over, {row['reason']}" for row in receipt.skipped]
    for line in told[:_SHOWN]:
        say(line)
    if len(told) > _SHOWN:
        say(f"… and {len(told) - _SHOWN:,} more, all of them on standard output")
    wrote = "would be written" if receipt.dry_run else "written"
    say(f"{receipt.read:,} read, {receipt.written:,} {wrote}, {receipt.already:,} there already")


def _place(row: Row) -> str:
    return f"line {row['line']}" if "line" in row else str(row["file"])
