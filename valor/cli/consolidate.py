"""valor consolidate: mark observations that say the same."""

from __future__ import annotations

import sys
from typing import Any

import typer

from valor.cli.door import workspace
from valor.cli.render import emit, say, wants_table
from valor.consolidate import APPLY, Step, apply, plan, undo
from valor.errors import DONE, FOUND_NOTHING
from valor.workspace import Workspace

app = typer.Typer(rich_markup_mode=None, add_completion=False)

_COLUMNS = ("action", "by", "supersedes", "summary", "differs")
_WRITTEN = ("id", "by", "supersedes", "reason")


@app.command("consolidate")
def command(
    dry_run: bool = typer.Option(False, "--dry-run", help="Print the plan, write nothing anywhere."),
    yes: bool = typer.Option(
        False, "--yes", "-y", help="Apply the plan without asking; so does a run without a terminal."
    ),
    maximum: int = typer.Option(
        0, "--max", metavar="N", min=0, help="At most N marks a run.", show_default="all"
    ),
    include_protected: bool = typer.Option(
        False, "--include-protected", help="Hide lines whose source is human as well."
    ),
    undo_id: str = typer.Option("", "--undo", metavar="SUP-ID", help="Void this mark."),
    json: bool = typer.Option(False, "--json", help="JSON lines, also on a terminal."),
    table: bool = typer.Option(False, "--table", help="A table, also in a pipe."),
) -> int:
    """Mark observations of identical text.

    The oldest stays, the others are superseded by it.

    \b
    The log only grows: each mark is one line, and `--undo` adds the line that voids it. Observations
    with disjoint tags or paths are about different components and are left alone, private ones as
    well; lines whose source is human are only proposed.

    \b
    Examples:
      valor consolidate --dry-run
      valor consolidate --yes --max 20
      valor consolidate --undo sup-1790000000-3f9a1c2b7d04

    \b
    Exit codes: 0 done, or nothing to do; 1 with --dry-run: a plan exists; 2 usage, or no such
    mark; 5 the log cannot be read or written.
    """
    as_table = wants_table(json, table)
    here = workspace()
    if undo_id:
        return _undo(here, undo_id, dry_run, as_table)
    # A script has nobody to ask, and every mark can be undone.
    yes = yes or not (sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty())
    steps = plan(here.view(lambda _: False), include_protected=include_protected, maximum=maximum)
    todo = sum(step.action == APPLY for step in steps)
    if dry_run:
        _show(steps, as_table)
        say(_sum_up(steps, todo) if steps else "nothing to do")
        return FOUND_NOTHING if steps else DONE
    if len(steps) > todo:
        say(_sum_up(steps, todo))
    if not todo:
        say("nothing to do")
        return DONE
    if not yes:
        _show(steps, as_table)
        if not typer.confirm(f"Append {todo} mark{'s' * (todo != 1)}?", err=True):
            say("nothing was written")
            return DONE
    marks = apply(here, steps)
    emit(marks, _WRITTEN, as_table)
    say(f"{len(marks)} mark{'s' * (len(marks) != 1)} written")
    return DONE


def _show(steps: list[Step], as_table: bool) -> None:
    if steps:
        emit([step.row() for step in steps], _COLUMNS, as_table)


def _sum_up(steps: list[Step], todo: int) -> str:
    hidden = sum(len(step.supersedes) for step in steps if step.action == APPLY)
    protected = len(steps) - todo
    said = f"marks to write: {todo}, hiding observations: {hidden}"
    return (
        f"{said}; {protected} only proposed, a person wrote them (--include-protected)" if protected else said
    )


def _undo(here: Workspace, typed: str, dry_run: bool, as_table: bool) -> int:
    line, is_new = undo(here, typed, dry_run=dry_run)
    rows: list[dict[str, Any]] = [line]
    emit(rows, ("id", "type", "of"), as_table)
    if not is_new:
        say(f"{line['of']} is void already")
        return DONE
    say(f"{line['of']} {'would be' if dry_run else 'is'} void: what it hid is live again")
    return FOUND_NOTHING if dry_run else DONE
