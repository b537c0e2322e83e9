"""The file disposes: does it hold the line that the mirror proposes, and does nothing name it since?

Part of the hot ring.
"""

from __future__ import annotations

import posix

from valor.bloom import sha384
from valor.keys import DIGEST
from valor.scan import loads
from valor.stub import plain
from valor.viewfile import identity

TYPE_CHECKING = False  # typing costs half an interpreter start
if TYPE_CHECKING:
    from valor.keys import Row
    from valor.viewfile import ViewFile

MOST_UNREAD = 8 << 20  # bytes of a changed log that are looked through; beyond that only sync helps
LONGEST_LINE = 1 << 20  # bytes of a line that is told
END = 4_096  # bytes by which the end of what was mirrored is known again
_REDACTED = "[redacted:"


def digest(raw: bytes) -> bytes:
    """What tells bytes from others: a line's (without their end), or the end of what was mirrored."""
    found: bytes = sha384(raw).digest()[:DIGEST]
    return found


def confirmed(file: ViewFile, rows: list[Row], most: int) -> list[Row]:
    """The first ``most`` of the rows that hold in the log of the view.

    A row holds when its bytes are where they were and say what it says, and when the log has not changed
    since the view was made, or does not name its id a second time, as a mark would that hides it. A
    changed log is looked through whole; of one too long for that, what was added, if all before is as it
    was. Raises OSError.
    """
    descriptor = posix.open(file.log, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
    try:
        unread, start = b"", 0
        facts = identity(posix.fstat(descriptor))
        if facts != file.identity:
            start = 0 if facts[2] <= MOST_UNREAD else file.covered
            if facts[2] - start > MOST_UNREAD or (start and not begins_alike(descriptor, file)):
                return []
            unread = posix.pread(descriptor, facts[2] - start, start)
        held: list[Row] = []
        for row in rows:
            if len(held) == most:
                break
            own = bool(unread) and row.offset >= start
            if unread.count(row.id.encode()) <= own and _says(descriptor, row):
                held.append(row)
        return held
    finally:
        posix.close(descriptor)


def begins_alike(descriptor: int, file: ViewFile) -> bool:
    """Whether what was mirrored ends as it did. The file's number says nothing: git removes a file and
    makes it anew, and may get the same number again."""
    start = max(0, file.covered - END)
    return digest(posix.pread(descriptor, file.covered - start, start)).hex() == file.end


def _says(descriptor: int, row: Row) -> bool:
    """Whether the line is where the row has it, and the row tells what the line says and no more."""
    if row.length > LONGEST_LINE:
        return False
    raw = posix.pread(descriptor, row.length, row.offset)
    if digest(raw) != row.digest:
        return False
    try:
        data = loads(raw.decode("utf-8-sig" if raw[:3] == b"\xef\xbb\xbf" else "utf-8"))
    except ValueError:
        return False
    if not isinstance(data, dict) or data.get("id", row.id) not in (row.id, ""):
        return False
    summary, details = data.get("summary"), data.get("details")
    return _is_redacted(plain(_text(summary) or _text(details)), row.text)


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _is_redacted(text: str, said: str) -> bool:
    """Whether ``said`` is the beginning of ``text``, with nothing but redactions for parts of it."""
    first, *rest = said.split(_REDACTED)
    if not rest:
        return text.startswith(said)
    if not text.startswith(first):
        return False
    at = len(first)
    for part in rest:
        kind, close, kept = part.partition("]")
        if not close:
            return not part or part.replace("-", "").isalnum()  # cut off within a redaction
        if not kind.replace("-", "").isalnum():
            return False
        at = text.find(kept, at)
        if at < 0:
            return False
        at += len(kept)
    return True
