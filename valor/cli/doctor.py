"""valor doctor: is the memory alive, and if not, why?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from valor.cli.door import workspace
from valor.cli.render import emit, plain, say, wants_table, write_json, write_lines
from valor.errors import DONE, FOUND_NOTHING

if TYPE_CHECKING:
    from valor.doctor.checks import Report

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("doctor")
def command(
    fix: bool = typer.Option(False, "--fix", help="Mend what is safe to mend, then look again."),
    runs: int = typer.Option(
        15, "--runs", min=0, max=200, help="How often the hook is timed; 0: not at all."
    ),
    json: bool = typer.Option(False, "--json", help="JSON lines, also on a terminal."),
    table: bool = typer.Option(False, "--table", help="A table, also in a pipe."),
) -> int:
    """Prove that the memory is alive, and say what is wrong with it.

    Writes a canary into a throw-away checkout, syncs it with your server, fires the very command that
    the harness's settings wire, sees whether the canary is told, times the hook, and removes all of that.
    Then checks the record (bad lines, clashing ids, secrets, a log that shrank), the wiring, what init
    made, the server, the mirror, and what killed processes left.

    Each finding has a severity (problem, warning or info), what, where, and what to do. JSON lines end
    with a summary: counts, what was mended and measured, and each setting with where it came from.

    --fix syncs or rebuilds the mirror, replaces a server of valor's own that hangs, writes the hook's
    file in the state folder, makes scripts executable, removes leftovers, and copies lines that do not
    read to a quarantine file in the state folder. It never edits the log or anybody's settings.

    \b
    Examples:
      valor doctor
      valor doctor --fix
      valor doctor --runs 0 --json | jq -c 'select(.severity == "problem")'

    \b
    Exit codes: 0 all is well (infos may be listed); 1 problems or warnings; 2 usage, or a setting that
    does not parse; 5 there is no checkout here; 130 interrupted, and nothing of the canary stays.
    """
    from valor.doctor.checks import COSTLY, examine, settings
    from valor.doctor.mending import mend
    from valor.doctor.patient import Patient

    as_table = wants_table(json, table)
    here = workspace()
    mended: list[str] = []
    if fix:
        patient = Patient(here, os.environ, 0)
        mended = mend(patient, examine(patient, leave_out=COSTLY).findings)
    patient = Patient(here, os.environ, runs)
    report = examine(patient)
    rows = [finding.row() for finding in report.findings]
    if table:
        emit(rows, ("severity", "check", "what", "where", "do"), True)
    elif as_table:
        write_lines(_listed(rows))
    else:
        write_json([*rows, _summary(report, mended, settings(patient))])
    _talk(report, mended, fix)
    return FOUND_NOTHING if report.grave else DONE


def _listed(rows: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    """A block a finding: sentences are read more easily than five columns of a table."""
    for row in rows:
        lines = [f"{row['severity']}: {plain(row['what'])}"]
        lines += [f"    at: {plain(row['where'])}"] if row["where"] else []
        lines += [f"    do: {plain(row['do'])}"] if row["do"] else []
        yield ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")


def _summary(report: Report, mended: Sequence[str], settings: Any) -> dict[str, Any]:
    counts = Counter(finding.severity for finding in report.findings)
    return {
        "summary": {name: counts[name] for name in ("problem", "warning", "info")},
        "well": not report.grave,
        "mended": mended,
        "measured": report.measured,
        "settings": settings,
    }


def _talk(report: Report, mended: Sequence[str], fix: bool) -> None:
    for each in mended:
        say(f"--fix: {each}")
    if fix and not mended:
        say("--fix: there was nothing that it mends")
    proven = report.measured.get("proven")
    if proven:
        say(f"alive: a trial observation came back through {', '.join(proven)}")
    if not report.grave:
        say("all is well")
        return
    counts = Counter(finding.severity for finding in report.grave)
    said = " and ".join(f"{count:,} {name}{'s' * (count != 1)}" for name, count in counts.items())
    can = not fix and any(finding.mend for finding in report.grave)
    say(said + ("; `valor doctor --fix` mends some of it" if can else ""))
