"""valor brief: what an agent is told at the start of a session."""

from __future__ import annotations

import typer

from valor import answer
from valor.brief import written
from valor.cli.door import mirrored_view
from valor.cli.render import write_json, write_lines
from valor.errors import DONE

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("brief")
def brief(
    json: bool = typer.Option(False, "--json", help="The observations alone, as JSON lines, all at hand."),
) -> int:
    """Say what an agent is told at the start of a session: the boundary, the strongest standing
    observations, how to search. At most 1,500 characters.

    Strong is what is important and of a type that weighs, young before old. The mirror is brought up to
    the log first. Nothing that is asked here counts as told.

    \b
    Examples:
      valor brief
      valor brief --json

    \b
    Exit codes: 0 done; 2 usage; 5 no server or no log.
    """
    found = answer.brief(mirrored_view(), set())
    if json:
        write_json({"id": each.id, "stub": each.stub} for each in found)
    else:
        write_lines([written(found).encode() + b"\n"])
    return DONE
