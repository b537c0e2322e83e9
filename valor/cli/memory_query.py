"""valor memory-query: ask the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from valor import query
from valor.cli.door import workspace
from valor.cli.render import emit, say, wants_table, write_json
from valor.errors import DONE, FOUND_NOTHING, UnknownId, UsageError
from valor.fold import View
from valor.log import Line
from valor.selection import Selection, instant, select
from valor.workspace import LOG, Workspace

app = typer.Typer(rich_markup_mode=None, add_completion=False)
_SHOWN_BAD = 10


@app.command("memory-query")
def command(
    words: list[str] | None = typer.Argument(
        None, metavar="[WORDS]...", help="What to look for; best match first."
    ),
    index: bool = typer.Option(
        False, "--index", help="About 50 tokens each: id, type, date, headline (default)."
    ),
    summary: bool = typer.Option(False, "--summary", help="About 200 tokens each."),
    full: str = typer.Option(
        "", "--full", metavar="ID", help="All of one observation; a prefix of its id will do."
    ),
    type_: str = typer.Option("", "--type", "-t", help="Only this type."),
    tags: str = typer.Option("", "--tags", "--tag", help="Only with any of these tags (comma-separated)."),
    since: str = typer.Option("", "--since", help="Only from this date or time on (UTC)."),
    until: str = typer.Option("", "--until", help="Only up to this date or time."),
    session: str = typer.Option("", "--session", metavar="ID", help="Only of this session."),
    limit: int | None = typer.Option(
        None, "--limit", "-n", min=0, help="How many; 0 for all.", show_default="10"
    ),
    all_: bool = typer.Option(False, "--all", help="Superseded ones too, each with its successor."),
    lineage: bool = typer.Option(
        False, "--lineage", help="With --full: what it replaced and what replaced it; ID may be a mark's."
    ),
    as_of: str = typer.Option("", "--as-of", metavar="TIME", help="What was known then."),
    explain: bool = typer.Option(False, "--explain", help="Say why each hit ranks where it does."),
    stale: bool = typer.Option(
        False, "--stale", help="Only lines with a reference that is gone, or changed since their commit."
    ),
    blame: bool = typer.Option(False, "--blame", help="Say who added each line, when and in which commit."),
    stats: bool = typer.Option(False, "--stats", help="Counts, over what the filters let through."),
    json: bool = typer.Option(False, "--json", help="JSON lines, the default in a pipe."),
    table: bool = typer.Option(False, "--table", help="A table, the default on a terminal."),
) -> int:
    """Ask the log: list, search, open one.

    \b
    Examples:
      valor memory-query --index --limit 20
      valor memory-query "socket timeout" --type error --since 2026-01-01
      valor memory-query --full obs-1790000000-3f9a --lineage
      valor memory-query --tags ci,redis --table --blame
      valor memory-query --stale --limit 0

    \b
    Exit codes: 0 found; 1 nothing found; 2 usage; 5 the log cannot be read, or git, where it is needed.
    """
    level = query.level_of(index, summary)
    as_table = wants_table(json, table)
    at = instant(as_of, "--as-of", end_of_day=True) if as_of else None
    here = workspace()
    if full:
        if words or stats:
            raise UsageError("--full opens one observation", "leave the words and --stats out")
        return _full(here, full, at, as_table, blame, stale, lineage)
    if lineage:
        raise UsageError("--lineage is that of one observation", "name it: --full ID --lineage")
    selection = select(type_=type_, tags=tags, since=since, until=until, session=session)
    if stats:
        if words:
            raise UsageError("--stats counts, it does not search", "leave the words out; filters narrow it")
        if stale:
            raise UsageError("--stats counts what filters let through, not what is stale", "pass one of them")
        return _stats(here, selection, as_table)
    most = here.config.limit if limit is None else limit
    answer = query.query(
        here,
        selection,
        " ".join(words or ()),
        limit=0 if stale else most,
        hidden=all_,
        as_of=at,
    )
    _warn(answer.view)
    doubts = _doubts(here, answer.lines) if stale else {}
    if stale:
        answer = answer._replace(
            lines=[line for line in answer.lines if line.number in doubts][: most or None]
        )
    rows = [query.disclose(line, answer.view, level) for line in answer.lines]
    if stale:
        rows = [row | {"stale": doubts[line.number]} for row, line in zip(rows, answer.lines, strict=True)]
    if explain:
        rows = [
            row | dict(answer.why.get(line.number, {})) for row, line in zip(rows, answer.lines, strict=True)
        ]
    if blame:
        _blame(here, answer.lines, rows)
    if not rows:
        _nothing(answer.view, answer.suggestions)
        return FOUND_NOTHING
    if explain and not words:
        say("nothing to explain: without words the list is in order of time")
    columns = [key for key in dict.fromkeys(key for row in rows for key in row) if key != "details"]
    emit(rows, columns, as_table)
    return DONE


def _full(
    here: Workspace,
    typed: str,
    at: float | None,
    as_table: bool,
    blame: bool,
    stale: bool,
    with_lineage: bool,
) -> int:
    view = query.view_at(here, at)
    _warn(view)
    if not view.observations and not view.marks:
        _nothing(view, ())
        return FOUND_NOTHING
    try:
        line = _find_any(view, typed) if with_lineage else query.find(view, typed)
    except UnknownId as error:
        say(f"{error.message}; {error.hint}")
        return FOUND_NOTHING
    row = query.disclose(line, view, query.FULL)
    if stale:
        row["stale"] = _doubts(here, [line]).get(line.number, [])
    if blame:
        _blame(here, [line], [row])
    if with_lineage:
        _show_lineage(view, line, row, as_table)
    elif as_table:
        emit(({"field": key, "value": value} for key, value in row.items()), ("field", "value"), True)
    else:
        write_json([row])
    return DONE


def _find_any(view: View, typed: str) -> Line:
    from valor.lineage import find

    return find(view, typed)


def _show_lineage(view: View, line: Line, row: dict[str, Any], as_table: bool) -> None:
    from valor.cli.lineage import show
    from valor.lineage import lineage

    show(lineage(view, line), view, row, as_table)


def _stats(here: Workspace, selection: Selection, as_table: bool) -> int:
    view = here.view()
    _warn(view)
    if not view.total:
        _nothing(view, ())
        return FOUND_NOTHING
    facts = query.statistics(view, selection)
    if as_table:
        emit(({"fact": key, "value": _flat(value)} for key, value in facts.items()), ("fact", "value"), True)
    else:
        write_json([facts])
    return DONE


def _flat(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(f"{item['type']} {item['count']}" for item in value)
    if isinstance(value, dict):
        return " to ".join(str(item) for item in value.values())
    return str(value)


def _doubts(here: Workspace, lines: Sequence[Line]) -> dict[int, list[dict[str, str]]]:
    """What is gone or has changed of what the lines refer to, by the number of the line."""
    from valor.stale import stale

    found = stale(here, lines)
    if found.note:
        say(found.note)
    return {number: [one.row() for one in doubts] for number, doubts in found.doubts.items()}


def _blame(here: Workspace, lines: list[Line] | Any, rows: list[dict[str, Any]]) -> None:
    from valor import git
    from valor.record import stamp
    from valor.secrets.detect import redact

    found = git.blame(here.config.root, LOG, [line.number for line in lines])
    for line, row in zip(lines, rows, strict=True):
        who = found.get(line.number)
        committed = who is not None and bool(who.commit)
        row["commit"] = who.commit[:12] if who and committed else "not committed yet"
        row["author"] = who.author if who and committed else ""
        row["committed"] = stamp(who.seconds) if who and committed else ""
        row["subject"] = redact(who.subject) if who and committed else ""


def _warn(view: View) -> None:
    """Name the lines that were passed over: silence would make an answer look complete."""
    if view.bad:
        named = "; ".join(f"line {bad.number}: {bad.reason}" for bad in view.bad[:_SHOWN_BAD])
        more = f"; and {len(view.bad) - _SHOWN_BAD} more" if len(view.bad) > _SHOWN_BAD else ""
        plural = "line" if len(view.bad) == 1 else "lines"
        say(f"skipped {len(view.bad)} bad {plural} of the log ({named}{more})")


def _nothing(view: View, suggestions: Any) -> None:
    if not view.total:
        say('there is nothing in the log yet; write to it with `valor observe "…"`')
    elif suggestions:
        say(f"nothing found; did you mean {' or '.join(suggestions)}?")
    else:
        say("nothing found")
