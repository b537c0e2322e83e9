"""What a hook must know of a checkout's view, in one small file beside the gate's filter.

Part of the hot ring. ``<state>/views/<digest of the root's path>/`` holds ``view`` (this file),
``gate`` (``valor.bloom``), ``brief`` (rows in hexadecimal, strongest first), ``journal.jsonl`` and
``lock``. The file may hold the server's password: it is readable by its user alone.
"""

from __future__ import annotations

import posix

from valor.bloom import sha384
from valor.scan import loads

FORMAT = 3
MOST_BYTES = 1 << 20


class ViewFile:
    """What a view is: ``root`` and ``log`` are paths; ``identity`` is that of the log as it was mirrored,
    ``covered`` the end of its last whole line in bytes, ``end`` a digest of what stood before that
    (``valor.confirm``), and whether its marks are ``settled`` (``valor.notes``); ``url`` is the server's
    (``valor.address``), ``project`` and ``view`` name the keys, ``stamp`` the filter's and ``gate`` the
    identity of its file, ``lines`` counts the live ones."""

    __slots__ = (
        *("covered", "end", "gate", "identity", "lines"),
        *("log", "project", "root", "settled", "stamp", "url", "view"),
    )

    def __init__(
        self,
        *,
        root: str,
        log: str,
        identity: list[int],
        covered: int,
        end: str,
        settled: bool,
        url: str,
        project: str,
        view: str,
        stamp: str,
        gate: list[int],
        lines: int,
    ) -> None:
        self.root = root
        self.log = log
        self.identity = identity
        self.covered = covered
        self.end = end
        self.settled = settled
        self.url = url
        self.project = project
        self.view = view
        self.stamp = stamp
        self.gate = gate
        self.lines = lines

    def fields(self) -> dict[str, object]:
        """What the file holds."""
        return {"format": FORMAT, **{name: getattr(self, name) for name in self.__slots__}}


def identity(facts: posix.stat_result) -> list[int]:
    """What a file's facts say about which content it has: device, inode, size and both change times."""
    return [facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns]


def folder(state: str, root: str) -> str:
    """Where the view of the checkout at ``root`` (a real path) lies."""
    return f"{state}/views/{sha384(root.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}"


LONGEST_NAME = 128  # characters, as in memory-hook.sh
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")


def file_name(id: str) -> str:
    """The id where it can be a file's name, else a digest of it, which no such id is."""
    if id and len(id) <= LONGEST_NAME and _PLAIN.issuperset(id) and id not in (".", ".."):
        return id
    return f"~{sha384(id.encode('utf-8', 'replace')).hexdigest()[:32]}"


def read(path: str) -> bytes:
    """The whole file. Raises OSError."""
    descriptor = posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
    try:
        return posix.read(descriptor, MOST_BYTES)
    finally:
        posix.close(descriptor)


def load(place: str) -> ViewFile | None:
    """The view in this folder; None where none was made, or another version made it."""
    try:
        found = loads(read(f"{place}/view").decode("utf-8", "surrogateescape"))
        if not isinstance(found, dict) or found.pop("format", None) != FORMAT:
            return None
        return ViewFile(**found)
    except (OSError, ValueError, TypeError):
        return None
