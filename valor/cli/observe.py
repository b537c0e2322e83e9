"""valor observe: write down what was learned."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import typer

from valor.cli.door import standard_input, standard_text, workspace
from valor.cli.render import plain, say, write_json, write_lines
from valor.errors import DONE, USAGE, Unavailable, UsageError
from valor.observe import Fate, observe

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("observe")
def command(
    text: str | None = typer.Argument(None, metavar="TEXT", help="What was learned, in a sentence."),
    type_: str | None = typer.Option(
        None,
        "--type",
        "-t",
        help="discovery, learning, pattern, error, decision, correction or surprise.",
        show_default="discovery",
    ),
    details: str | None = typer.Option(
        None, "--details", "-d", help="The rest of it; - reads standard input."
    ),
    tag: list[str] = typer.Option([], "--tag", help="A tag; repeat for more."),
    ref: list[str] = typer.Option(
        [], "--ref", help="A file, path:line or commit it is about; repeat for more."
    ),
    importance: float | None = typer.Option(
        None, "--importance", help="0 to 10; by default from the source."
    ),
    source: str | None = typer.Option(
        None, "--source", help="intentional, human, agent or merge.", show_default="intentional"
    ),
    supersedes: list[str] = typer.Option(
        [], "--supersedes", help="An id that this replaces; repeat for more."
    ),
    owner: str | None = typer.Option(None, "--owner", help="observations: skip the routing question."),
    redact: bool = typer.Option(
        False, "--redact", help="Write a text that holds a secret with the secret replaced."
    ),
    batch: bool = typer.Option(
        False, "--stdin", help="Read one JSON object a line and say what became of each."
    ),
    json: bool = typer.Option(False, "--json", help="Answer with a JSON object instead of the id."),
) -> int:
    """Write down what was learned.

    Prints the observation's id.

    \b
    Examples:
      valor observe "Redis needs PING after a fork" --type error --tag redis
      git show --stat | valor observe "Sync moved to one module" --type decision --details -
      valor observe --stdin < lines.jsonl

    \b
    Exit codes: 0 written, or there already; 2 usage; 3 another store owns it (named on standard
    error); 4 refused: a secret or junk; 5 the log cannot be written.
    """
    if batch:
        if text is not None or details is not None:
            raise UsageError("--stdin reads whole observations", "leave TEXT and --details out")
        return _batch(redact)
    if text is None:
        raise UsageError("there is no TEXT", 'say what was learned: valor observe "…"')
    entry = {
        "summary": text,
        "details": standard_text() if details == "-" else details,
        "type": type_,
        "tags": tag,
        "references": ref,
        "importance": importance,
        "source": source,
        "supersedes": supersedes,
        "owner": owner,
    }
    [fate] = observe(workspace(), [entry], redact=redact)
    if fate.error and not json:
        raise fate.error
    for note in fate.notes:
        say(note)
    if json:
        write_json([_row(fate)])
    elif fate.id:
        _announce(fate.id)
    return fate.error.exit_code if fate.error else DONE


def _announce(id_: str) -> None:
    """Print the id; on standard error where standard output takes nothing, for the line is written."""
    try:
        write_lines([id_.encode() + b"\n"])
    except Unavailable:
        say(f"written as {id_}")
        raise


def _batch(redact: bool) -> int:
    """Observe every line of standard input. The exit code is the gravest of the lines' own."""
    entries: list[dict[str, Any]] = []
    numbers: list[int] = []
    rows: dict[int, dict[str, Any]] = {}
    worst = DONE
    for number, entry in _entries():
        if isinstance(entry, str):
            rows[number] = {"line": number, "status": "refused", "exit": USAGE, "message": entry}
            worst = max(worst, USAGE)
        else:
            entries.append(entry)
            numbers.append(number)
    for number, fate in zip(numbers, observe(workspace(), entries, redact=redact), strict=True):
        rows[number] = {"line": number, **_row(fate)}
        worst = max(worst, fate.error.exit_code if fate.error else DONE)
    write_json(rows[number] for number in sorted(rows))
    return worst


def _entries() -> Iterator[tuple[int, dict[str, Any] | str]]:
    """The objects on standard input with their line numbers; for a bad line, what is wrong."""
    for number, raw in enumerate(standard_input().split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            value = orjson.loads(raw.strip().removeprefix(b"\xef\xbb\xbf"))
        except orjson.JSONDecodeError as error:
            yield number, f"not a JSON object: {error.msg}"
            continue
        yield number, value if isinstance(value, dict) else "not a JSON object"


def _row(fate: Fate) -> dict[str, Any]:
    row: dict[str, Any] = {"status": fate.status}
    if fate.id:
        row["id"] = fate.id
    if fate.routed:
        row["routed"] = fate.routed
    if fate.notes:
        row["notes"] = [plain(note) for note in fate.notes]
    if fate.error:
        row |= {"exit": fate.error.exit_code, "message": fate.error.message, "hint": fate.error.hint}
        row |= {
            key: getattr(fate.error, key) for key in ("owner", "store", "rule") if hasattr(fate.error, key)
        }
    return row
