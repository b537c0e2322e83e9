"""The record itself: lines that do not read, ids that clash, secrets, a log that git does not keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from valor import git
from valor.doctor.finding import Finding, info, problem, warning
from valor.doctor.patient import Patient
from valor.errors import BrokenTable, UsageError
from valor.verify import BAD_LINE, CONFLICTING_ID, SECRET, verify
from valor.workspace import LOG, TABLE

_NAMED = 20  # findings of one kind that are listed one by one
_DO = {
    BAD_LINE: "mend or delete the line in an editor; `valor doctor --fix` keeps a copy first",
    CONFLICTING_ID: "give one of them an id of its own, or delete the one that is wrong",
    SECRET: "revoke it, it is in the history of git; then take it out of the line",
}
_GRAVITY: dict[str, Callable[..., Finding]] = {BAD_LINE: warning, CONFLICTING_ID: warning, SECRET: problem}
_MEND = {BAD_LINE: "quarantine"}


def check(patient: Patient) -> Iterator[Finding]:
    """What ``valor verify`` finds, and whether the log is kept at all."""
    log = patient.workspace.log
    if not log.is_file():
        yield problem("there is no log", LOG, "run `valor init`, or bring it back with git")
    else:
        report = verify(patient.workspace)
        patient.measured["lines"] = report.lines
        counts: Counter[str] = Counter()
        for one in report.findings:
            counts[one.rule] += 1
            if counts[one.rule] <= _NAMED:
                what = f"{one.rule}: {one.message}" + (f" ({one.id})" if one.rule == CONFLICTING_ID else "")
                where = f"{LOG}, line {one.line}"
                yield _GRAVITY[one.rule](what, where, _DO[one.rule], _MEND.get(one.rule, ""))
        for rule, count in counts.items():
            if count > _NAMED:
                yield _GRAVITY[rule](f"{rule}: {count - _NAMED:,} more", LOG, "`valor verify` lists them all")
        if report.long:
            numbers = ", ".join(map(str, report.long[:_NAMED]))
            yield info(f"over 64 KiB, more than valor writes: line {numbers}", LOG)
        yield from _kept(patient)
    yield from _table(patient)


def _kept(patient: Patient) -> Iterator[Finding]:
    """Whether git has the log."""
    if not (patient.root / ".git").exists():
        return
    if LOG in git.ignored(patient.root, [LOG]):
        yield problem(
            "git ignores the log: the record stays on this machine", LOG, "take it out of .gitignore"
        )
        return
    try:
        committed = git.show(patient.root, "HEAD", LOG)
    except UsageError:  # no commit yet
        committed = None
    now = patient.workspace.log.read_bytes().split(b"\n")
    fresh = sum((Counter(now) - Counter((committed or b"").split(b"\n"))).values())
    if committed is None and any(now):
        yield warning("the log was never committed", LOG, f"git add {LOG}, and commit it")
    elif fresh:
        yield info(f"{fresh:,} line{'s' * (fresh != 1)} not committed yet", LOG)


def _table(patient: Patient) -> Iterator[Finding]:
    if not patient.workspace.table.exists():
        yield warning("there is no routing table; the shipped one is used", TABLE, "run `valor init`")
    try:
        patient.workspace.rows()
    except BrokenTable as error:
        yield problem(error.message, TABLE, error.hint)
