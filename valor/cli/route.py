"""valor route: which store owns a fact?"""

from __future__ import annotations

from typing import Any

import typer

from valor.cli.door import standard_text, workspace
from valor.cli.render import emit, wants_table, write_json
from valor.errors import DONE, FOUND_NOTHING, UsageError
from valor.routing.match import Candidate, Decision

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("route")
def command(
    text: str = typer.Argument(..., metavar="TEXT", help="The fact, as you would write it down; - reads it."),
    json: bool = typer.Option(False, "--json", help="A JSON object, the default in a pipe."),
    table: bool = typer.Option(False, "--table", help="A table, the default on a terminal."),
) -> int:
    """Say which store owns a fact.

    Where that is, too, and what in the routing table decided.

    \b
    Examples:
      valor route "The formatter rewrites quotes only in files it already touched"
      valor route "Answer in French" --json

    \b
    Exit codes: 0 decided (nowhere is a decision too); 1 ambiguous: the rows are shown; 2 usage;
    5 the routing table is broken.
    """
    as_table = wants_table(json, table)
    if text == "-":
        text = standard_text()
    if not text.strip():
        raise UsageError("there is no TEXT", 'say the fact: valor route "…"')
    decision = workspace().router().decide(text)
    row = _row(decision)
    if as_table:
        shown = row | {"reasons": "; ".join(decision.reasons), "candidates": _named(decision.candidates)}
        emit(
            ({"field": key, "value": shown[key]} for key in shown if shown[key] != ""),
            ("field", "value"),
            True,
        )
    else:
        write_json([row])
    return DONE if decision.decided else FOUND_NOTHING


def _row(decision: Decision) -> dict[str, Any]:
    return {
        "owner": decision.owner,
        "store": decision.store,
        "row": decision.row,
        "line": decision.line,
        "example": decision.example,
        "confidence": round(decision.confidence, 3),
        "reasons": list(decision.reasons),
        "candidates": [
            {
                "owner": one.owner,
                "store": one.store,
                "row": one.row,
                "line": one.line,
                "share": round(one.share, 3),
            }
            for one in decision.candidates
        ],
    }


def _named(candidates: tuple[Candidate, ...]) -> str:
    return "; ".join(f"{one.owner} {one.share:.0%} ({one.row})" for one in candidates)
