"""valor uninstall: take back what init added."""

from __future__ import annotations

import typer

from valor.cli.changes import run
from valor.cli.door import workspace
from valor.install.plan import to_uninstall

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("uninstall")
def command(
    dry_run: bool = typer.Option(False, "--dry-run", help="Show the diff and write nothing."),
    json: bool = typer.Option(False, "--json", help="List what was done as JSON lines."),
    table: bool = typer.Option(False, "--table", help="List what was done as a table."),
) -> int:
    """Take back exactly what init added; the log stays.

    Settings, attributes, pointed files and the hooks of every harness are again byte for byte what they
    were, your own edits in them kept. A wrapper or routing table that was edited is left where
    it is and named.

    \b
    Examples:
      valor uninstall
      valor uninstall --dry-run

    \b
    Exit codes: 0 done, or nothing to take back; 1 with --dry-run: there is something to take back;
    2 usage; 5 a file cannot be read or written (then nothing was changed), or there is no checkout here.
    """
    root = workspace().config.root
    return run(
        root,
        to_uninstall(root),
        dry_run=dry_run,
        json=json,
        table=table,
        nothing="nothing to do: nothing of init's is here",
    )
