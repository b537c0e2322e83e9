"""The file disposes: is a line that the mirror proposes still there, and does nothing name it since?

Part of the hot ring.
"""

from __future__ import annotations

import posix

from valor.bloom import sha384
from valor.keys import DIGEST
from valor.viewfile import identity

TYPE_CHECKING = False  # typing costs half an interpreter start
if TYPE_CHECKING:
    from valor.keys import Row

MOST_UNREAD = 8 << 20  # bytes of a changed log that are looked through; beyond that only sync helps


def digest(raw: bytes) -> bytes:
    """What tells a line's bytes (without their end) from others'."""
    found: bytes = sha384(raw).digest()[:DIGEST]
    return found


def confirmed(path: str, known: list[int], covered: int, rows: list[Row], most: int) -> list[Row]:
    """The first ``most`` of the rows that hold in the log at ``path``.

    A row holds when its bytes are where they were, and what was written since the view was made does
    not name its id: as a mark would that hides it. ``known`` is the identity of the file that the view
    was made from, ``covered`` the byte up to which it was read. Of a file that only grew the new end is
    looked through, of another file all of it. Raises OSError.
    """
    descriptor = posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
    try:
        facts = identity(posix.fstat(descriptor))
        unread = b""
        grew = facts[:2] == known[:2] and facts[2] >= covered
        if facts != known or covered < facts[2]:
            start = covered if grew else 0
            if facts[2] - start > MOST_UNREAD:
                return []
            unread = posix.pread(descriptor, facts[2] - start, start)
        held: list[Row] = []
        for row in rows:
            if len(held) == most:
                break
            raw = posix.pread(descriptor, row.length, row.offset)
            mentions = unread.count(row.id.encode())
            if digest(raw) == row.digest and mentions <= (not grew):
                held.append(row)
        return held
    finally:
        posix.close(descriptor)
