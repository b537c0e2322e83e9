"""valor consolidate: mark observations that are said twice or replaced."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING

import typer

from valor.cli.door import workspace
from valor.cli.render import emit, on_terminal, say, wants_table, write_json, write_lines
from valor.errors import DONE, FOUND_NOTHING, UsageError
from valor.suggest import one_of
from valor.workspace import LOG, Workspace

if TYPE_CHECKING:
    from valor.consolidate.apply import Applied
    from valor.consolidate.plan import Plan
    from valor.fold import View

app = typer.Typer(rich_markup_mode=None, add_completion=False)

_COLUMNS = ("action", "by", "supersedes", "reason", "summary", "other", "dates", "differs")
_WRITTEN = ("id", "by", "supersedes", "reason")
_FORMATS = ("json", "table", "github")


@app.command("consolidate")
def command(
    dry_run: bool = typer.Option(False, "--dry-run", help="Print the plan, write nothing anywhere."),
    yes: bool = typer.Option(False, "--yes", "-y", help="Apply the plan without asking."),
    maximum: int = typer.Option(
        0, "--max", metavar="N", min=0, help="Apply at most N steps a run; 0 for all.", show_default="all"
    ),
    tier: list[str] = typer.Option(
        [], "--tier", metavar="TIER", help="Only this tier: auto, suggest or conflict; repeat for more."
    ),
    review: bool = typer.Option(
        False, "--review", help="On a terminal: decide what is proposed or to decide, one at a time."
    ),
    include_protected: bool = typer.Option(
        False, "--include-protected", help="Hide lines whose source is human as well."
    ),
    explain: bool = typer.Option(False, "--explain", help="Say what each guard found."),
    judge: str = typer.Option(
        "", "--judge", metavar="CMD", help="Have this command decide what would only be proposed."
    ),
    judge_timeout: float = typer.Option(
        300.0, "--judge-timeout", metavar="SECONDS", min=0.1, help="How long the judge may take in all."
    ),
    undo_id: str = typer.Option("", "--undo", metavar="SUP-ID", help="Void this mark."),
    undo_last: bool = typer.Option(False, "--undo-last", help="Void all marks of the last run."),
    apart: tuple[str, str] = typer.Option(
        ("", ""), "--apart", metavar="ID ID", help="Say that these two are two facts: no plan has them again."
    ),
    format_: str = typer.Option(
        "", "--format", metavar="FORMAT", help="json, table, or github: annotations for a pull request."
    ),
    json: bool = typer.Option(False, "--json", help="JSON lines, also on a terminal."),
    table: bool = typer.Option(False, "--table", help="A table, also in a pipe."),
) -> int:
    """Mark observations that are said twice or that a later one replaces.

    \b
    auto      the same words but for fillers and plain typos, or a line that says what it
              replaces: applied
    suggest   likely the same: proposed, for a person, a pull request or --judge
    conflict  the same but for a number or a word like before and after: which holds?

    \b
    The log only grows: each mark is one line, and `--undo` adds the line that voids it. Different
    numbers, names, paths, tags or polarity keep two observations apart; private ones take no part;
    lines whose source is human are only proposed. Without --yes and without a terminal to ask on,
    the plan is printed and nothing is written.

    \b
    Examples:
      valor consolidate --dry-run
      valor consolidate --dry-run --tier conflict --explain
      valor consolidate --yes --max 20
      valor consolidate --review
      valor consolidate --dry-run --judge 'python3 judge.py'
      valor consolidate --undo sup-1790000000-3f9a1c2b7d04
      valor consolidate --apart obs-1790000000-3f9a obs-1790000100-77b0

    \b
    Exit codes: 0 done, or nothing to do; 1 a plan exists and was not applied; 2 usage, or no such
    mark; 5 the log cannot be read or written.
    """
    show = _shown(format_, json, table)
    if not isfinite(judge_timeout):
        raise UsageError("--judge-timeout is no number of seconds", "pass one, such as 300")
    here = workspace()
    if undo_id or undo_last:
        if undo_id and undo_last:
            raise UsageError("--undo and --undo-last exclude each other", "pass one of them")
        return _undo(here, undo_id, dry_run, show != "json")
    if any(apart):
        return _tell_apart(here, *apart)
    from valor.consolidate.judgement import Tier
    from valor.consolidate.plan import TIERS, capped, plan

    gc.disable()  # nothing here makes cycles, and looking for them among all the words takes a tenth
    tiers = [Tier(one_of(each, TIERS, "tier")) for each in tier] or TIERS
    view = here.view(lambda _: False)
    with _progress() as progress:
        found = plan(view, include_protected=include_protected, tiers=tiers, progress=progress)
    if judge:
        found = _judged(found, view, judge, judge_timeout, here, include_protected)
    found = capped(found, maximum)
    if review:
        return _review(here, found, view, dry_run, show == "table")
    _print(found, view, show, explain, quiet=yes and not dry_run)
    return _apply(here, found, dry_run, yes, show != "json")


def _judged(
    found: Plan, view: View, command: str, timeout: float, here: Workspace, include_protected: bool
) -> Plan:
    from valor.consolidate.second_opinion import asked

    done = asked(
        found,
        view,
        command,
        timeout=timeout,
        cwd=here.config.root,
        environment=os.environ,
        include_protected=include_protected,
    )
    ignored = f", lines that told nothing: {done.ignored}" if done.ignored else ""
    pairs = f"{done.asked} pair{'s' * (done.asked != 1)}"
    say(f"the judge was asked about {pairs} and answered {done.answered}{ignored}")
    if done.ended:
        say(f"{done.ended}; what it did not answer stays proposed")
    return done.plan


def _shown(format_: str, json: bool, table: bool) -> str:
    if format_:
        if json or table:
            raise UsageError("--format excludes --json and --table", "pass one of them")
        return one_of(format_, _FORMATS, "format")
    return "table" if wants_table(json, table) else "json"


def _print(found: Plan, view: View, show: str, explain: bool, *, quiet: bool) -> None:
    """The plan; of a run that applies at once, what is not applied."""
    from valor.consolidate.step import APPLY

    steps = [step for step in found.steps if not quiet or step.action != APPLY]
    if show == "github":
        from valor.cli.github import workflow_commands

        write_lines(workflow_commands(found.steps, view, LOG))
    elif steps and not quiet:
        if show == "table" and on_terminal():
            from valor.cli.plan_text import draw

            draw(steps, view, explain)
        else:
            columns = (*_COLUMNS, "guards") if explain else _COLUMNS
            emit([step.row(explain=explain) for step in steps], columns, show == "table")
    say(_sum_up(found))


def _apply(here: Workspace, found: Plan, dry_run: bool, yes: bool, as_table: bool) -> int:
    from valor.consolidate.apply import apply
    from valor.consolidate.step import APPLY

    todo = sum(step.action == APPLY for step in found.steps)
    if dry_run or not todo:
        return FOUND_NOTHING if dry_run and found.steps else DONE
    if not yes:
        if not _has_somebody():
            say("nothing was written: pass --yes to apply what is marked apply")
            return FOUND_NOTHING
        if not typer.confirm(f"Append {todo} mark{'s' * (todo != 1)}?", err=True):
            say("nothing was written")
            return FOUND_NOTHING
    _report(apply(here, found.steps), as_table)
    return DONE


def _report(done: Applied, as_table: bool) -> None:
    """What was written, and how many of what was asked for."""
    emit(done.marks, _WRITTEN, as_table)
    skipped = sum(done.skipped.values())
    why = "".join(f"; {count} {reason}" for reason, count in done.skipped.items())
    say(f"attempted {done.attempted}, changed {len(done.marks)}, skipped {skipped}{why}")
    if done.mirror:
        say(done.mirror)


def _review(here: Workspace, found: Plan, view: View, dry_run: bool, as_table: bool) -> int:
    from valor.cli.review import review
    from valor.consolidate.apply import apply

    if dry_run or not _has_somebody():
        raise UsageError("--review asks on a terminal, and writes", "run it on one, without --dry-run")
    _report(apply(here, review(here, found.steps, view)), as_table)
    return DONE


def _has_somebody() -> bool:
    """Whether there is a person to ask."""
    return bool(sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty())


def _sum_up(found: Plan) -> str:
    looked = f"{found.lines:,} lines looked at, {found.pairs:,} pairs compared"
    left = "".join(f"; {count} {reason}" for reason, count in found.left.items())
    if not found.steps:
        why = (
            "there is nothing to compare"
            if found.lines < 2
            else "none are the same, replaced or contradicting"
        )
        return f"nothing to do: {looked}, {why}{left}"
    from valor.consolidate.step import APPLY, DECIDE, PROPOSE

    counts = {
        action: sum(step.action == action for step in found.steps) for action in (APPLY, PROPOSE, DECIDE)
    }
    hidden = sum(len(step.supersedes) for step in found.steps if step.action == APPLY)
    return (
        f"{looked}; to apply: {counts[APPLY]}, hiding {hidden}; proposed: {counts[PROPOSE]};"
        f" to decide: {counts[DECIDE]}{left}"
    )


def _tell_apart(here: Workspace, one: str, other: str) -> int:
    from valor.consolidate.undo import tell_apart

    lines, is_new = tell_apart(here, one, other)
    write_json(lines)
    say("both stay, and no plan has the pair again" if is_new else "the log says so already")
    return DONE


def _undo(here: Workspace, typed: str, dry_run: bool, as_table: bool) -> int:
    from valor.consolidate.undo import undo, undo_last

    if typed:
        line, is_new = undo(here, typed, dry_run=dry_run)
        lines = [line]
    else:
        lines, is_new = undo_last(here, dry_run=dry_run), True
    emit(lines, ("id", "type", "of"), as_table)
    if not is_new:
        say(f"{lines[0]['of']} is void already")
        return DONE
    named = lines[0]["of"] if len(lines) == 1 else f"{len(lines)} marks"
    are = "is" if len(lines) == 1 else "are"
    say(f"{named} {'would be' if dry_run else are} void: what was hidden is live again")
    return FOUND_NOTHING if dry_run else DONE


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on standard error where that is a terminal; it leaves no trace."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda what, done, of: bar.update(task, description=what, completed=done, total=of or None)
