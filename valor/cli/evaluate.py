"""valor eval: measure valor on labelled examples."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
import typer

from valor import log
from valor.cli.door import standard_input, workspace
from valor.cli.render import write_json
from valor.errors import DONE, Unavailable, UsageError
from valor.fold import fold

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    help="Measure valor on labelled JSON lines.\n\nOne JSON report, no side effects.",
)
_FILE = typer.Argument(
    ..., metavar="FILE", help="Labelled items, one JSON object a line; - for standard input."
)
_LOG = typer.Option(None, "--log", metavar="FILE", help="The log to measure on; by default this project's.")
_PAIRS_LOG = typer.Option(
    None, "--log", metavar="FILE", help="A log that says how rare a word is; by default the pairs do."
)
_ITEMS = typer.Option(False, "--items", help="A JSON line for each item before the report.")


@app.command("query")
def query(file: str = _FILE, log_file: str | None = _LOG, items: bool = _ITEMS) -> int:
    """Free-text search: mrr, hit@1, hit@5, hit@10.

    \b
    An item: {"query": "…", "relevant": ["obs-…"], "maybe": ["obs-…"]}
    Example: valor eval query queries.jsonl --log observations.jsonl

    \b
    Exit codes: 0 measured; 2 an item is malformed; 5 a file cannot be read.
    """
    from valor import record
    from valor.eval.query import evaluate
    from valor.query import document, in_time

    labelled = _read(file)
    path = Path(log_file) if log_file else workspace().log
    if not path.is_file():
        raise Unavailable(f"there is no log at {path}", "name one with --log")
    view = fold(log.lines(path))
    lines = in_time([line for line in view.live() if not record.is_private(line.record)])
    documents = [(record.identifier(line.record), *document(view.shown(line))) for line in lines]
    report, rows = evaluate(documents, labelled)
    return _print(report, [asdict(row) for row in rows] if items else ())


@app.command("recall")
def recall(file: str = _FILE, log_file: str | None = _LOG, items: bool = _ITEMS) -> int:
    """Recall: false_injection_rate, hit_rate, and both at other bars (curve).

    Measures what hooks run, on a mirror of its own: a scratch checkout, server and state folder,
    gone at the end. Each window is a fresh session, played event by event without a transcript.

    \b
    An item: {"window": [hook events], "label": "positive|negative", "as_of": "…", "relevant": ["obs-…"]}
    Example: valor eval recall toolcalls.jsonl --log observations.jsonl

    \b
    Exit codes: 0 measured; 2 an item is malformed; 5 a file cannot be read or no server can be started.
    """
    from valor.eval.recall import evaluate
    from valor.eval.scratch import engine, mirrored, moved

    labelled = _read(file)
    path = Path(log_file) if log_file else workspace().log
    if not path.is_file():
        raise Unavailable(f"there is no log at {path}", "name one with --log")
    with mirrored(path, os.environ.get("PATH") or os.defpath) as view:
        report, rows = evaluate(engine(view), [moved(item, view.root) for item in labelled], time.time())
    return _print(report, [asdict(row) for row in rows] if items else ())


@app.command("pairs")
def pairs(file: str = _FILE, log_file: str | None = _PAIRS_LOG, items: bool = _ITEMS) -> int:
    """Consolidation: false_merge_rate, suggest_false_rate, duplicates_found, supersedes_found.

    Also duplicates_auto, supersedes_suggested, and the matrix of verdicts by label and subtype.

    \b
    An item: {"a": {…}, "b": {…}, "label": "distinct|duplicate|supersedes", "accept": ["…"]}
    where a and b are observations, b the later; accept names other labels that are right too.
    Example: valor eval pairs pairs.jsonl --items

    \b
    Exit codes: 0 measured; 2 an item is malformed; 5 a file cannot be read.
    """
    from valor.eval.pairs import evaluate

    labelled = _read(file)
    documents: list[dict[str, Any]] = []
    if log_file:
        path = Path(log_file)
        if not path.is_file():
            raise Unavailable(f"there is no log at {path}", "name one with --log")
        documents = [line.record for line in fold(log.lines(path)).live()]
    report, rows = evaluate(labelled, documents)
    return _print(report, [asdict(row) for row in rows] if items else ())


@app.command("route")
def route(
    file: str = _FILE,
    table_file: str | None = typer.Option(
        None,
        "--routing-table",
        metavar="FILE",
        help="The routing table to measure; by default this project's.",
    ),
    items: bool = _ITEMS,
) -> int:
    """Routing: accuracy_decided, coverage, confusion, ambiguous_left, secrets_routed.

    \b
    An item: {"text": "…", "label": "observations|auto-memory|instructions|nowhere|ambiguous"}
    Example: valor eval route labelled.jsonl --items

    \b
    Exit codes: 0 measured; 2 an item is malformed; 5 a file cannot be read or the table is broken.
    """
    from valor.eval.route import evaluate
    from valor.routing import table

    labelled = _read(file)
    rows = table.load(Path(table_file)) if table_file else workspace().rows()
    report, judged = evaluate(rows, labelled)
    return _print(report, [asdict(item) for item in judged] if items else ())


def _read(file: str) -> list[dict[str, Any]]:
    """The labelled items. Raises UsageError naming a line that is no JSON object."""
    try:
        data = standard_input() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise Unavailable(f"{file} cannot be read: {error.strerror}", "name a file of JSON lines") from None
    items = []
    for number, raw in enumerate(data.split(b"\n"), 1):
        if not raw.strip():
            continue
        try:
            item = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            raise UsageError(f"{file}, line {number}: {error.msg}", "write one JSON object a line") from None
        if not isinstance(item, dict):
            raise UsageError(f"{file}, line {number} is no JSON object", "write one JSON object a line")
        items.append(item)
    if not items:
        raise UsageError(f"{file} has no items", "write one JSON object a line")
    return items


def _print(report: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> int:
    write_json(rows)
    write_json([report])
    return DONE
