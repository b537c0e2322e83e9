"""valor init: set a repository up."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import typer

from valor.cli.changes import run
from valor.cli.door import workspace
from valor.install.plan import to_install

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("init")
def command(
    dry_run: bool = typer.Option(False, "--dry-run", help="Show the diff and write nothing."),
    json: bool = typer.Option(False, "--json", help="List what was done as JSON lines."),
    table: bool = typer.Option(False, "--table", help="List what was done as a table."),
) -> int:
    """Give this checkout a memory.

    Run again, it changes nothing.

    Makes the log, the routing table and the wrapper scripts where there are none, lets the agent ask
    (.claude/settings.json, .mcp.json), tells git to merge the log by union (.gitattributes), and adds a
    pointer to CLAUDE.md and AGENTS.md where they exist. What is there already stays as it is; nothing
    under .git is touched and nothing is staged.

    \b
    Examples:
      valor init
      valor init --dry-run
      valor init --dry-run | git apply --stat

    \b
    Exit codes: 0 set up, or there already; 1 with --dry-run: there is something to do; 2 usage;
    5 a file cannot be read or written (then nothing was changed), or there is no checkout here.
    """
    here = workspace()
    root = here.config.root
    code = run(
        root,
        to_install(root),
        dry_run=dry_run,
        json=json,
        table=table,
        nothing="nothing to do: this checkout is set up",
    )
    if not dry_run:
        _remember_command(here.state)
    return code


def _remember_command(state: Path) -> None:
    """Leave the path of this program in the state folder, where the wrappers look for one that is not
    on the PATH. It is this machine's, so it is not for the repository; without it they still work."""
    program = Path(sys.executable).with_name("valor")
    with suppress(OSError):
        if program.is_file():
            state.mkdir(mode=0o700, parents=True, exist_ok=True)
            (state / "command").write_text(f"{program}\n")
