"""valor init: set a repository up."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

import typer

from valor import git
from valor.cli.changes import run
from valor.cli.door import workspace
from valor.cli.render import say
from valor.install import hookfile
from valor.install.hooks import HARNESSES
from valor.install.plan import CLAUDE, Plan, to_install
from valor.suggest import one_of
from valor.workspace import LOG

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("init")
def command(
    harness: list[str] = typer.Option(
        [CLAUDE], "--harness", help=f"Whose hooks to wire: {', '.join(HARNESSES)}; repeat for more."
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="Show the diff and write nothing."),
    json: bool = typer.Option(False, "--json", help="List what was done as JSON lines."),
    table: bool = typer.Option(False, "--table", help="List what was done as a table."),
) -> int:
    """Give this checkout a memory.

    Run again, it changes nothing.

    Makes the log, the routing table and the wrapper scripts where there are none, wires the hooks by
    which the agent is reminded and lets it ask (.claude/settings.json, .mcp.json; with --harness, the
    files of that harness instead), tells git to merge the log by union (.gitattributes), and adds a
    pointer to CLAUDE.md and AGENTS.md where they exist. What is there already stays as it is; nothing
    under .git is touched and nothing is staged.

    \b
    Examples:
      valor init
      valor init --harness claude --harness codex
      valor init --dry-run
      valor init --dry-run | git apply --stat

    \b
    Exit codes: 0 set up, or there already; 1 with --dry-run: there is something to do; 2 usage;
    5 a file cannot be read or written (then nothing was changed), or there is no checkout here.
    """
    harnesses = [one_of(name, HARNESSES, "harness") for name in harness]
    here = workspace()
    root = here.config.root
    plan = to_install(root, harnesses)
    code = run(
        root,
        plan,
        dry_run=dry_run,
        json=json,
        table=table,
        nothing="nothing to do: this checkout is set up",
    )
    _warn_of_ignored(root, plan, harnesses)
    if not dry_run:
        _remember_command(here.state)
        _remember_interpreter(here.state)
        if plan.changes:
            _say_what_to_do(harnesses)
    return code


def _say_what_to_do(harnesses: list[str]) -> None:
    say("next: commit these files")
    for name in dict.fromkeys(harnesses):
        say(f"{name}: {HARNESSES[name].then}")
    say('to see it work: valor observe "what you know", and let a new session touch the same thing')


def _warn_of_ignored(root: Path, plan: Plan, harnesses: list[str]) -> None:
    """What git ignores is written all the same, but stays on this machine; its owner should know."""
    wanted = dict.fromkeys(
        [LOG, *(change.path for change in plan.changes), *(HARNESSES[name].path for name in harnesses)]
    )
    ignored = git.ignored(root, list(wanted)) if (root / ".git").exists() else []
    if LOG in ignored:
        say(f"warning: git ignores {LOG}, so the record would not be committed; mend .gitignore")
    others = [path for path in ignored if path != LOG]
    if others:
        say(f"warning: git ignores {', '.join(others)}: they stay on this machine")


def _remember_interpreter(state: Path) -> None:
    try:
        hookfile.write(state)
    except OSError as error:
        say(f"warning: {state / 'hook'} cannot be written, so the hooks stay silent: {error.strerror}")


def _remember_command(state: Path) -> None:
    """Leave the path of this program in the state folder, where the wrappers look for one that is not
    on the PATH. It is this machine's, so it is not for the repository; without it they still work."""
    program = Path(sys.executable).with_name("valor")
    with suppress(OSError):
        if program.is_file():
            state.mkdir(mode=0o700, parents=True, exist_ok=True)
            (state / "command").write_text(f"{program}\n")
