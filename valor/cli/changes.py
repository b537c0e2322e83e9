"""What init and uninstall have in common: carry a plan out, or show it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from valor.cli.render import emit, plain, say, wants_table, write_lines
from valor.errors import DONE, FOUND_NOTHING
from valor.install.apply import carry_out, check
from valor.install.diff import unified
from valor.install.plan import Plan

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def run(root: Path, plan: Plan, *, dry_run: bool, json: bool, table: bool, nothing: str) -> int:
    """Carry the plan out and list what was done; with ``dry_run`` show its diff (its list, if a form is
    asked for) and write nothing. ``nothing`` is said where there is nothing to do."""
    as_table = wants_table(json, table)
    if dry_run:
        check(root, plan.changes)
    else:
        carry_out(root, plan.changes)
    if dry_run and not (json or table):
        _show(unified(plan.changes))
    else:
        rows = [{"path": change.path, "action": change.action} for change in plan.changes]
        rows += [{"path": left.path, "action": "left", "reason": left.reason} for left in plan.left]
        if rows:
            emit(rows, ("path", "action", "reason") if plan.left else ("path", "action"), as_table)
    for left in plan.left:
        say(f"{left.path} is left: {left.reason}")
    if not plan.changes:
        say(nothing)
    return FOUND_NOTHING if dry_run and plan.changes else DONE


def _show(lines: Iterable[str]) -> None:
    """The diff: to a terminal in colour and harmless, to a pipe as it is."""
    if not sys.stdout.isatty():
        write_lines(line.encode("utf-8", "surrogateescape") + b"\n" for line in lines)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(soft_wrap=True, highlight=False)
    for line in lines:
        console.print(Text(plain(line.replace("\t", "    ")), style=_COLOURS.get(line[:1], "")))
