"""valor recall: what hooks would tell an agent."""

from __future__ import annotations

import sys
import time
from typing import Any

import orjson
import typer

from valor import record
from valor.answer import View, answer
from valor.cli.door import mirrored_view, standard_input
from valor.cli.render import emit, say, wants_table
from valor.errors import DONE, FOUND_NOTHING, Unavailable, UsageError
from valor.stub import plain
from valor.window import Query, prompt_query, window_query

app = typer.Typer(rich_markup_mode=None, add_completion=False)

_SECONDS = 5.0  # for the server to answer
_TERMS = ("term", "weight", "lines", "idf", "role", "in_gate")
_CANDIDATES = ("id", "evidence", "score", "reason", "summary")


@app.command("recall")
def recall(
    text: list[str] = typer.Argument(
        None,
        metavar="[TEXT]...",
        help="What the work is about, as a prompt; without it, hook events as JSON on standard input.",
    ),
    explain: bool = typer.Option(
        False, "--explain", help="Each term, the gate's decision, and each candidate with its reason."
    ),
    as_of: str | None = typer.Option(
        None, "--as-of", metavar="TIME", help="What would have been told then, from lines made before."
    ),
    json: bool = typer.Option(False, "--json", help="JSON lines, also on a terminal."),
    table: bool = typer.Option(False, "--table", help="A table, also in a pipe."),
) -> int:
    """Say what hooks would tell an agent whose work this is: at most three observations.

    TEXT is taken as a prompt. Standard input holds one hook event, a list of them, or one a line: a
    window of tool calls, oldest first. The mirror is brought up to the log first. Nothing that is asked
    here counts as told.

    \b
    Examples:
      valor recall "the socket hangs after a fork"
      valor recall --explain "flock on NFS" --table
      valor recall < event.json

    \b
    Exit codes: 0 there is something to tell; 1 nothing; 2 usage, or no JSON; 5 no server or no log.
    """
    as_table = wants_table(json, table)
    query = _query(text)
    now = _moment(as_of)
    before = None if as_of is None else now
    view = mirrored_view()
    if explain:
        return _explain(view, query, now, before, as_table)
    found = answer(view, query, set(), now, time.monotonic() + _SECONDS, before=before)
    if view.wants_sync:
        raise Unavailable("the mirror does not answer", "`valor doctor` says why")
    rows = [{"id": each.id, "evidence": round(each.evidence, 3), "stub": each.stub} for each in found]
    if as_table:
        rows = [row | {"stub": _words(str(row["stub"]))} for row in rows]
    emit(rows, ["id", "evidence", "stub"], as_table)
    if not found:
        say("nothing to tell; --explain says why")
    return DONE if found else FOUND_NOTHING


def _words(stub: str) -> str:
    """What the stub says, for people."""
    text = stub.partition(">")[2].rpartition("<")[0]
    for entity, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        text = text.replace(entity, char)
    return text


def _query(text: list[str] | None) -> Query:
    if text:
        return prompt_query(" ".join(text))
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(
            "there is nothing to recall for", "say what the work is about, or pipe in a hook event"
        )
    return window_query(_events(standard_input()))


def _events(raw: bytes) -> list[dict[str, Any]]:
    """Hook events: one, a list, or one a line. Raises UsageError."""
    try:
        try:
            found = orjson.loads(raw)
        except orjson.JSONDecodeError:
            found = [orjson.loads(each) for each in raw.splitlines() if each.strip()]
    except orjson.JSONDecodeError as error:
        raise UsageError(f"standard input is no hook event: {error.msg}", "pipe in its JSON object") from None
    events = found if isinstance(found, list) else [found]
    if not events or not all(isinstance(event, dict) for event in events):
        raise UsageError("standard input holds no hook event", "pipe in a JSON object, or several")
    return events


def _moment(as_of: str | None) -> float:
    if as_of is None:
        return time.time()
    at = record.seconds(as_of)
    if at is None:
        raise UsageError(f"{plain(as_of)!r} is no time", "write 2026-11-30 or 2026-11-30T18:00:00Z")
    return at


def _explain(view: View, query: Query, now: float, before: float | None, as_table: bool) -> int:
    from valor.explain_recall import explain

    found = explain(view, query, now, before)
    if as_table:
        emit([found.query], list(found.query), True)
        emit(found.terms, _TERMS, True)
        emit([found.gate], list(found.gate), True)
        emit(found.candidates, _CANDIDATES, True)
    else:
        emit(found.rows(), ["of"], False)
    told = any(each["reason"] == "told" for each in found.candidates)
    return DONE if told else FOUND_NOTHING
