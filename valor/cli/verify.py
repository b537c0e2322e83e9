"""valor verify: check the log, for CI."""

from __future__ import annotations

from collections import Counter

import typer

from valor.cli.door import workspace
from valor.cli.render import emit, say, wants_table
from valor.errors import DONE, FOUND_NOTHING, UsageError
from valor.verify import CHANGED, REMOVED, Report, verify
from valor.workspace import LOG

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("verify")
def command(
    against: str | None = typer.Option(
        None, "--against", metavar="REF", help="Every line of this revision's log must still be there."
    ),
    only_new: bool = typer.Option(
        False, "--only-new", help="With --against: leave out faults of lines that REF has already."
    ),
    json: bool = typer.Option(False, "--json", help="JSON lines, also on a terminal."),
    table: bool = typer.Option(False, "--table", help="A table, also in a pipe."),
) -> int:
    """Check that the log reads, and only grew.

    Every line reads, no id stands on two lines of different content, no line holds a secret.

    \b
    Each finding has a rule, a line, an id and a message. Rules: removed and changed (a line of REF
    that is not there byte for byte; its number is REF's), bad-line, conflicting-id, secret.

    \b
    Examples:
      valor verify
      valor verify --against origin/main
      valor verify --against origin/main --only-new --json

    \b
    Exit codes: 0 clean, or no log here; 1 findings; 2 usage, or no such revision; 5 the log cannot
    be read.
    """
    as_table = wants_table(json, table)
    if against == "":
        raise UsageError("--against names no revision", "is the variable that should hold it empty?")
    if only_new and not against:
        raise UsageError("--only-new needs --against", "name the revision whose faults are known")
    report = verify(workspace(), against or "", only_new=only_new)
    if report.findings:
        emit([finding.row() for finding in report.findings], ("rule", "line", "id", "message"), as_table)
    _talk(report, against or "")
    return FOUND_NOTHING if report.findings else DONE


def _talk(report: Report, against: str) -> None:
    if report.lines is None:
        say(f"there is no log here ({LOG})")
    if against and report.earlier is None:
        say(f"{against} has no log yet")
    if report.long:
        say(f"over 64 KiB, more than valor writes: line {', '.join(map(str, report.long))}")
    if report.mended:
        numbers = ", ".join(map(str, report.mended))
        say(f"gone, and no loss, since no record stood there: line {numbers} of {against}")
    counts = Counter(finding.rule for finding in report.findings)
    if counts:
        say(", ".join(f"{count:,} {rule}" for rule, count in counts.most_common()))
    elif report.lines is not None:
        kept = (
            ""
            if report.earlier is None
            else f"; all {report.earlier - len(report.mended):,} of {against} are there"
        )
        say(f"{report.lines:,} line{'s' * (report.lines != 1)}, nothing wrong{kept}")
    if counts[REMOVED] + counts[CHANGED]:
        say(
            f"the log only grows: bring those lines back, e.g. from `git show {against}:{LOG}`; if {against} "
            f"has moved on since this branch began, merge it first"
        )
