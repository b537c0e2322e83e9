"""Does the log keep its promises? For CI, which sees what a merge or an editor did to it.

Every line reads, no id stands on lines of different content, no line holds a secret, and every line
of an earlier revision that is a record is still there, byte for byte: as a multiset, since a union
merge reorders.
Line ends and a byte order mark are no part of a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from valor import fold, git, log, record
from valor.errors import Unavailable
from valor.leaks import leaks
from valor.log import Bad, Line
from valor.record import BadLine
from valor.secrets.detect import find
from valor.workspace import LOG, Workspace

REMOVED, CHANGED = "removed", "changed"
BAD_LINE, CONFLICTING_ID, SECRET = "bad-line", "conflicting-id", "secret"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A broken promise: the rule, the line (1-based), its id ("" where it has none) and what is wrong.

    ``line`` counts in the log as it is; for ``removed`` and ``changed`` in the earlier revision,
    where ``now`` is the line that holds the id today.
    """

    rule: str
    line: int
    id: str
    message: str
    now: int | None = None

    def row(self) -> dict[str, Any]:
        """The finding as data; ``now`` only where there is one."""
        row = {"rule": self.rule, "line": self.line, "id": self.id, "message": self.message}
        return row if self.now is None else row | {"now": self.now}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The findings, those about the earlier revision first, then by line.

    ``lines`` counts the log's lines, None where there is no log; ``earlier`` those of the revision,
    None where it has no log or none was named. ``long`` are the numbers of lines over 64 KiB,
    ``mended`` those of the revision's lines that are gone and were no records.
    """

    findings: list[Finding]
    lines: int | None
    earlier: int | None
    long: list[int]
    mended: list[int]


def verify(workspace: Workspace, against: str = "", *, only_new: bool = False) -> Report:
    """Check the log, and that it still holds every line of the revision ``against``.

    ``only_new`` leaves out what is wrong with lines that the revision has already. Raises UsageError
    for a revision that does not exist, Unavailable for a log that cannot be read.
    """
    before = git.show(workspace.config.root, against, LOG) if against else None
    now = _content(workspace)
    earlier = _lines(before or b"")
    lines = _lines(now or b"")
    missing = _missing(earlier, lines)
    if before is not None and now is None:
        message = f"the log is gone; {against} has {len(earlier):,} lines of it"
        findings = [Finding(rule=REMOVED, line=1, id="", message=message)]
    else:
        findings = _lost(missing, earlier, lines, against)
    known = set(earlier.values()) if only_new else set()
    findings += sorted(_broken(now or b"", lines, known), key=lambda finding: finding.line)
    return Report(
        findings=findings,
        lines=None if now is None else len(lines),
        earlier=None if before is None else len(earlier),
        long=[number for number, raw in lines.items() if len(raw) >= record.MAX_LINE_BYTES],
        mended=[number for number in missing if not _id(earlier[number])],
    )


def _content(workspace: Workspace) -> bytes | None:
    try:
        return workspace.log.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(
            f"{workspace.log} cannot be read: {error.strerror}", "check the file's kind and mode"
        ) from None


def _lines(content: bytes) -> dict[int, bytes]:
    """The lines that are not blank, by number, without their ends."""
    numbered = enumerate(content.removeprefix(record.BOM).split(b"\n"), 1)
    return {number: bare for number, raw in numbered if (bare := raw.rstrip(b"\r")).strip()}


def _missing(earlier: dict[int, bytes], lines: dict[int, bytes]) -> list[int]:
    """The numbers of the earlier lines that are not there; of equal ones, the last are missed."""
    gone = Counter(earlier.values()) - Counter(lines.values())
    missing: list[int] = []
    for number, raw in reversed(earlier.items()):
        if gone[raw]:
            gone[raw] -= 1
            missing.append(number)
    return missing[::-1]


def _lost(
    missing: list[int], earlier: dict[int, bytes], lines: dict[int, bytes], revision: str
) -> list[Finding]:
    """What became of the records on the missing lines. A line that was none loses nothing: conflict
    markers and torn lines may be mended."""
    rewritten: dict[str, list[int]] = {}
    for number in _missing(lines, earlier) if missing else ():
        rewritten.setdefault(_id(lines[number]), []).append(number)
    findings: list[Finding] = []
    for number in missing:
        id_ = _id(earlier[number])
        what = f"line {number} of {revision}"
        if id_ and rewritten.get(id_):
            at = rewritten[id_].pop(0)
            message = f"{what} was changed: its id now stands on line {at} with other bytes"
            findings.append(Finding(rule=CHANGED, line=number, id=id_, message=message, now=at))
        elif id_:
            findings.append(Finding(rule=REMOVED, line=number, id=id_, message=f"{what} is gone"))
    return findings


def _broken(content: bytes, lines: dict[int, bytes], known: set[bytes]) -> Iterator[Finding]:
    """What is wrong with the log as it is, but for lines whose bytes are known."""
    read = list(log.split(BytesIO(content)))
    view = fold.fold(read)
    for conflict in view.conflicts:
        if any(lines[number] not in known for number in conflict.numbers):
            numbers = ", ".join(str(number) for number in sorted(conflict.numbers))
            message = f"lines {numbers} have this id and different content; line {conflict.numbers[-1]} wins"
            yield Finding(rule=CONFLICTING_ID, line=max(conflict.numbers), id=conflict.id, message=message)
    for line in read:
        if lines[line.number] not in known:
            yield from _wrong_with(line, lines[line.number])


def _wrong_with(line: Line | Bad, raw: bytes) -> Iterator[Finding]:
    if isinstance(line, Bad):
        yield Finding(rule=BAD_LINE, line=line.number, id="", message=line.reason)
        for found in find(raw.decode("utf-8", "replace")):
            message = f"{found.kind} at character {found.start + 1} of the line"
            yield Finding(rule=SECRET, line=line.number, id="", message=message)
        return
    told = leaks(line.record)
    id_ = "" if any(leak.field == "id" for leak in told) else record.identifier(line.record)
    for leak in told:
        yield Finding(rule=SECRET, line=line.number, id=id_, message=str(leak))


def _id(raw: bytes) -> str:
    try:
        return record.identifier(record.parse(raw))
    except BadLine:
        return ""
