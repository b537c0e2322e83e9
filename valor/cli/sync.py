"""valor sync: bring the mirror up to the log."""

from __future__ import annotations

from dataclasses import asdict

import typer

from valor.cli.door import workspace
from valor.cli.render import emit, say, wants_table
from valor.errors import DONE, FOUND_NOTHING, UsageError

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("sync")
def sync(
    rebuild: bool = typer.Option(False, "--rebuild", help="Make the mirror anew, then swap it in at once."),
    verify: bool = typer.Option(
        False, "--verify", help="Compare the mirror with the log, byte for byte, and change nothing."
    ),
    json: bool = typer.Option(False, "--json", help="JSON lines, also on a terminal."),
    table: bool = typer.Option(False, "--table", help="A table, also in a pipe."),
) -> int:
    """Bring the mirror, from which hooks recall, up to the log.

    Seldom needed by hand: hooks do it in the background and observe adds its own line. What was
    appended is added; after a pull, a checkout or an edit the lines are compared by id. Starts valor's
    own server unless VALOR_REDIS_URL or redis_url names one.

    Prints how it went (unchanged, appended, changed or rebuilt) and counts of observations; --verify
    prints each difference: missing, phantom, stale, terms, hidden, count or gate.

    \b
    Examples:
      valor sync
      valor sync --verify || valor sync --rebuild

    \b
    Exit codes: 0 done, or no difference; 1 --verify found differences; 2 usage; 5 no server, no log, a
    full server, or a log that suddenly holds nothing.
    """
    as_table = wants_table(json, table)
    if verify:
        if rebuild:
            raise UsageError("--verify changes nothing, --rebuild does", "run one after the other")
        return _verify(as_table)
    from valor import sync as syncing

    row = asdict(syncing.sync(workspace(), rebuild=rebuild))
    emit([row], list(row), as_table)
    return DONE


def _verify(as_table: bool) -> int:
    from valor.mirror_check import check

    found = check(workspace())
    if not found:
        say("the mirror holds what the log says")
        return DONE
    emit([asdict(each) for each in found], ["what", "name", "detail"], as_table)
    say(f"{len(found)} differences; `valor sync --rebuild` makes the mirror anew")
    return FOUND_NOTHING
