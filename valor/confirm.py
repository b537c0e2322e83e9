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
_KIND = "discovery"  # of a line without a type
# Letters of an id that stand in JSON as they are; a slash may be escaped.
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-:")


def digest(raw: bytes) -> bytes:
    """What tells bytes from others: a line's (without their end), or the end of what was mirrored."""
    found: bytes = sha384(raw).digest()[:DIGEST]
    return found


def confirmed(file: ViewFile, rows: list[Row], most: int) -> list[Row]:
    """The first ``most`` of the rows that hold in the log of the view.

    A row holds when its bytes are where they were, a line of their own, and say what it says; and when the
    log has not changed since the view was made, or has neither a mark that hides it nor another line of its
    id; that a line speaks of it, or a mark hides others in its favour (``"by"``), hides nothing of it.
    A changed log is looked through whole. One too long for that is taken to have grown where what was
    mirrored ends as it did and no mark in it waits to take effect, and what was added is looked through; a
    byte changed in the middle of such a log is seen by sync alone. Raises OSError.
    """
    descriptor = posix.open(file.log, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
    try:
        unread, start = b"", 0
        facts = identity(posix.fstat(descriptor))
        changed = facts != file.identity
        if changed:
            start = 0 if facts[2] <= MOST_UNREAD else file.covered
            if facts[2] - start > MOST_UNREAD:
                return []
            if start and not (file.settled and begins_alike(descriptor, file)):
                return []
            unread = posix.pread(descriptor, facts[2] - start, start)
            if _spells_letters(unread):
                return []
        held: list[Row] = []
        for row in rows:
            if len(held) == most:
                break
            raw = _line(descriptor, row)
            if not raw or not _says(raw, row):
                continue
            if not changed or (_PLAIN.issuperset(row.id) and not _is_named(unread, raw, row, start)):
                held.append(row)
        return held
    finally:
        posix.close(descriptor)


def _is_named(unread: bytes, raw: bytes, row: Row, start: int) -> bool:
    """Whether what is looked through hides the row, or has another line of its id. Mostly counting tells:
    the id stands in the row's own line alone, and as the ``by`` of marks (within a text these quotes would
    be escaped). Else the lines that name it are read."""
    id_ = row.id.encode()
    own = raw.count(id_) if row.offset >= start else 0
    if unread.count(id_) - unread.count(b'"by":"' + id_ + b'"') <= own:
        return False
    at = unread.find(id_)
    while at >= 0:
        end = unread.find(b"\n", at)
        end = len(unread) if end < 0 else end
        line = unread[unread.rfind(b"\n", 0, at) + 1 : end].rstrip(b"\r")
        if line != raw and _touches(line, row.id):
            return True
        at = unread.find(id_, end)
    return False


def _touches(line: bytes, id_: str) -> bool:
    """Whether a line that holds this id may hide it or is one of it, and not only speaks of it."""
    if b"supersedes" not in line and b'"' + id_.encode() + b'"' not in line:
        return False
    try:
        data = loads(line.decode())
    except ValueError:
        return True
    if not isinstance(data, dict):
        return True
    return str(data.get("id")) == id_ or id_ in str(data.get("supersedes"))


def begins_alike(descriptor: int, file: ViewFile) -> bool:
    """Whether what was mirrored ends as it did. The file's number says nothing: git removes a file and
    makes it anew, and may get the same number again."""
    start = max(0, file.covered - END)
    return digest(posix.pread(descriptor, file.covered - start, start)).hex() == file.end


def _line(descriptor: int, row: Row) -> bytes:
    """The row's bytes, where they are still a whole line; else nothing."""
    if not 0 < row.length <= LONGEST_LINE:
        return b""
    before = 1 if row.offset else 0
    around = posix.pread(descriptor, before + row.length + 2, row.offset - before)
    raw, behind = around[before : before + row.length], around[before + row.length :]
    ends = around[:before] in (b"", b"\n") and (behind[:1] in (b"", b"\n") or behind == b"\r\n")
    return raw if ends and digest(raw) == row.digest else b""


def _spells_letters(raw: bytes) -> bool:
    """Whether a letter that an id may have is written as an escape somewhere: it would hide a mention."""
    at = raw.find(b"\\u00")
    while at >= 0:
        code = raw[at + 4 : at + 6]
        if _is_hex(code) and chr(int(code, 16)) in _PLAIN:
            return True
        at = raw.find(b"\\u00", at + 4)
    return False


def _is_hex(code: bytes) -> bool:
    return len(code) == 2 and all(char in b"0123456789abcdefABCDEF" for char in code)


def _says(raw: bytes, row: Row) -> bool:
    """Whether the row tells what the line says, and no more; it is given the line's references."""
    try:
        data = loads(raw.decode("utf-8-sig" if raw[:3] == b"\xef\xbb\xbf" else "utf-8"))
    except ValueError:
        return False
    if not isinstance(data, dict) or str(data.get("id") or row.id) != row.id:
        return False
    row.references = _texts(data.get("references"))
    summary, details, kind = _text(data.get("summary")), _text(data.get("details")), _text(data.get("type"))
    return _is_redacted(plain(kind or _KIND), row.type) and _is_redacted(
        plain(summary) or plain(details), row.text
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _texts(value: object) -> list[str]:
    """As ``valor.record.texts``, but for what is no text."""
    if isinstance(value, str):
        return value.split(",")
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _is_redacted(text: str, said: str) -> bool:
    """Whether ``said`` is the beginning of ``text``, with nothing but redactions for parts of it."""
    if text.startswith(said):
        return bool(said)
    first, *rest = said.split(_REDACTED)
    if not rest or not text.startswith(first):
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
