"""valor stats: what there is, and whether it is at work."""

from __future__ import annotations

import os
from typing import Any

import typer

from valor.cli.door import workspace
from valor.cli.render import emit, say, wants_table, write_json
from valor.errors import DONE

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("stats")
def command(
    json: bool = typer.Option(False, "--json", help="One JSON object, also on a terminal."),
    table: bool = typer.Option(False, "--table", help="A table, also in a pipe."),
) -> int:
    """Say what the memory of this checkout holds, and whether it is at work.

    Counts of the log; mirror: fresh, stale, missing, asleep (valor's own server is not started, which
    a session does) or unreachable; what hooks journalled and told in the last 24 hours and 7 days.

    What looks as if memory had stopped is said on standard error: hooks that are wired and were not
    heard of for days though observations or commits were made, a stale mirror, a server that does not
    answer. `valor doctor` then says why.

    \b
    Examples:
      valor stats
      valor stats --json | jq .injections_7d

    \b
    Exit codes: 0 done, whatever it says; 2 usage; 5 the log cannot be read, or there is no checkout here.
    """
    from valor.doctor import harness
    from valor.stats import statistics

    as_table = wants_table(json, table)
    here = workspace()
    files = harness.files(here.config.root, os.environ)
    wired = [file.path for file in files if any(one.ours for one in file.handlers())]
    found = statistics(here, wired)
    if as_table:
        emit(
            ({"fact": key, "value": _flat(value)} for key, value in found.facts.items()),
            ("fact", "value"),
            True,
        )
    else:
        write_json([found.facts])
    for alarm in found.alarms:
        say(f"warning: {alarm}; `valor doctor` says what to do")
    return DONE


def _flat(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(
            f"{each['type']} {each['count']}" if isinstance(each, dict) else each for each in value
        )
    return value
