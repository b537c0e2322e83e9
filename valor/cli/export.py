"""valor export: the log's lines, or some of them, for another tool or repository."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from valor.cli.door import workspace
from valor.cli.render import say, write_lines
from valor.errors import DONE, FOUND_NOTHING, Unavailable, UsageError
from valor.query import check_type
from valor.selection import select
from valor.transfer import export
from valor.workspace import Workspace

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("export")
def command(
    type_: str = typer.Option("", "--type", "-t", help="Only this type."),
    tags: str = typer.Option("", "--tags", help="Only with one of these tags, separated by commas."),
    since: str = typer.Option("", "--since", help="Only from this day or time on (UTC)."),
    until: str = typer.Option("", "--until", help="Only up to this day or time (UTC)."),
    session: str = typer.Option("", "--session", help="Only of this session."),
    hidden: bool = typer.Option(False, "--all", help="Superseded observations and the marks as well."),
    output: Path | None = typer.Option(
        None, "--output", "-o", metavar="FILE", help="Write there instead of standard output."
    ),
    force: bool = typer.Option(False, "--force", help="Replace FILE if it exists."),
) -> int:
    """Print the live observations as JSON lines.

    As they stand in the log, one object a line.

    \b
    All filters hold together. Fields valor does not know are kept; private lines never leave; a
    secret that an older tool wrote is masked.

    \b
    Examples:
      valor export > memories.jsonl
      valor export --type error --tags ci --since 2026-01-01
      valor export --all --output backup.jsonl

    \b
    Exit codes: 0 done; 1 nothing to export (FILE is left alone); 2 usage, or FILE exists; 5 the log
    cannot be read or FILE not written.
    """
    here = workspace()
    if output is not None:
        _check(here, output, force)
    chosen = select(type_=type_, tags=tags, since=since, until=until, session=session)
    found = export(here, chosen, hidden=hidden)
    if found.view.bad:
        numbers = ", ".join(str(bad.number) for bad in found.view.bad)
        say(f"left out, not readable: line {numbers} (`valor verify` says why)")
    if found.masked:
        say(f"secrets masked: line {', '.join(map(str, found.masked))}")
    if not found.lines:
        check_type(type_, found.view)
        say("nothing to export")
        return FOUND_NOTHING
    if output is None:
        write_lines(found.lines)
    else:
        _write(output, found.lines)
        count = len(found.lines)
        say(f"{count:,} line{'s' * (count != 1)} written to {output}")
    return DONE


def _check(here: Workspace, output: Path, force: bool) -> None:
    if output.resolve() == here.log.resolve():
        raise UsageError("that is the log itself", "name another file")
    if output.is_symlink() or (output.exists() and not output.is_file()):
        raise UsageError(
            f"{output} is no plain file", "name a plain file, or leave --output out and redirect"
        )
    if output.exists() and not force:
        raise UsageError(f"{output} exists", "name another file, or pass --force to replace it")


def _write(output: Path, lines: list[bytes]) -> None:
    """Whole or not at all: a full disk must not cost the file that was there."""
    fresh = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        try:
            fresh.write_bytes(b"".join(lines))
            fresh.replace(output)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable(
            f"{output} cannot be written: {error.strerror}", "check the folder and its mode"
        ) from None
