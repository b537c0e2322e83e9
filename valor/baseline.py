"""Does what a line refers to still stand as it did when the line was committed? Asked for a few stubs.

Part of the hot ring: no git, one small read a reference. The working tree changes far more often than the
log, so nothing about it is kept: the file is looked at now, and compared with the digest that git had for
it at the commit that brought the line. These digests lie in ``<view's folder>/baseline``, which
``valor.origins`` writes; without a record existence alone is judged. Unknown is not stale.

The file: magic (8 bytes), records (u32), commits (u32), bytes of an object's name (u32), bytes of what
comes behind the commits (u32), zeros up to 32; the records, ascending; the commits' names; JSON for the
writer. A record is 32 bytes: ``key``; the commit's place (u32); kind (u8) and three zeros; the first 16
bytes of the name of the blob. Numbers are little-endian.
"""

from __future__ import annotations

import posix
import sys

from valor.bloom import sha384
from valor.reference import MOST_REFERENCES, pointed

MAGIC = b"VBASE\x01\r\n"
HEADER = 32
RECORD = 32
KEY = 8
NAME = 16  # bytes of an object's name that are kept
ABSENT, BLOB, TREE, CONVERTED, UNKNOWN = range(5)  # kinds of a record
NO_COMMIT = 0xFFFFFFFF

_MOST_READ = 1 << 20  # bytes of files that are digested for one line
_SHA1 = 20  # bytes of a name


def key(digest: bytes, path: str) -> bytes:
    """The key of a line (by its ``valor.confirm.digest``) and a path it refers to."""
    found: bytes = sha384(digest + path.encode("utf-8", "surrogatepass")).digest()[:KEY]
    return found


def is_doubtful(root: str, folder: str, digest: bytes, references: list[str]) -> bool:
    """Whether one of the paths that the line refers to is gone from the checkout at ``root``, or has other
    content than at the line's commit. ``folder`` is the view's."""
    places = [place for each in references[:MOST_REFERENCES] if (place := pointed(each, root))]
    if not places:
        return False
    home = f"{root}/".encode(sys.getfilesystemencoding(), "surrogateescape")
    known = _Records(f"{folder}/baseline")
    try:
        left = _MOST_READ
        for place in places:
            kind, name = known.find(key(digest, place.path))
            where = home + place.path.encode("utf-8", "surrogatepass")
            try:
                facts = posix.lstat(where)
            except (FileNotFoundError, NotADirectoryError):
                if _is_gone(root, kind, place.sure):
                    return True
                continue
            except OSError:
                continue
            format_ = facts.st_mode & 0o170000
            if kind == TREE and format_ in (0o100000, 0o120000):
                return True
            if kind == BLOB and facts.st_size <= left:
                left -= facts.st_size
                if _differs(where, format_, name, known.sha):
                    return True
        return False
    finally:
        known.close()


def _is_gone(root: str, kind: int, sure: bool) -> bool:
    """Whether a path that is not there was meant to be: git had it with the line, or it is plainly a path.
    Where only a part of the tree is checked out, nothing is known from that."""
    if kind in (BLOB, TREE, CONVERTED):
        return not _has(f"{_git_folder(root)}/info/sparse-checkout")
    if not sure:
        return False
    return not _has(f"{root}/.gitmodules") and not _has(f"{_git_folder(root)}/info/sparse-checkout")


def _git_folder(root: str) -> str:
    """The checkout's own git directory; a linked worktree's is named in a file."""
    try:
        said = _read(f"{root}/.git").decode().partition("gitdir:")[2].strip()
    except (OSError, ValueError):
        said = ""
    return said if said.startswith("/") else f"{root}/{said or '.git'}"


def _has(path: str) -> bool:
    try:
        posix.stat(path)
    except OSError:
        return False
    return True


def _differs(where: bytes, format_: int, name: bytes, sha: int) -> bool:
    """Whether git would give what is there another name. Line ends may be those of another system."""
    try:
        if format_ == 0o120000:
            return blob_name(posix.readlink(where), sha)[:NAME] != name
        if format_ != 0o100000:
            return format_ == 0o040000
        data = _read(where)
    except OSError:
        return False
    if blob_name(data, sha)[:NAME] == name:
        return False
    return b"\r\n" not in data or blob_name(data.replace(b"\r\n", b"\n"), sha)[:NAME] != name


def _read(path: str | bytes) -> bytes:
    descriptor = posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
    try:
        return posix.read(descriptor, _MOST_READ + 1)
    finally:
        posix.close(descriptor)


def blob_name(data: bytes, sha: int = _SHA1) -> bytes:
    """The name that git gives a blob (gitformat-loose(5)); ``sha`` is its length in bytes: 20 or 32."""
    if sha == _SHA1:
        try:
            from _sha1 import sha1 as hash_
        except ImportError:  # an interpreter built with OpenSSL's digests alone
            from hashlib import sha1 as hash_
    else:
        from hashlib import sha256 as hash_
    found: bytes = hash_(b"blob %d\0" % len(data) + data).digest()
    return found


class _Records:
    """The file's records, looked up where they lie: two dozen small reads in a big one. A file that is
    missing or of another shape has none."""

    __slots__ = ("_count", "_descriptor", "sha")

    def __init__(self, path: str) -> None:
        self._count, self._descriptor, self.sha = 0, -1, _SHA1
        try:
            self._descriptor = posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
            size = posix.fstat(self._descriptor).st_size
            self._count, self.sha = counted(posix.pread(self._descriptor, HEADER, 0), size)[0::2]
        except (OSError, ValueError):
            self._count = 0

    def find(self, wanted: bytes) -> tuple[int, bytes]:
        """Kind and name; UNKNOWN and nothing where there is no record."""
        low, high = 0, self._count
        while low < high:
            middle = (low + high) // 2
            record = posix.pread(self._descriptor, RECORD, HEADER + middle * RECORD)
            found = record[:KEY]
            if found == wanted:
                return record[12], record[16:RECORD]
            if found < wanted:
                low = middle + 1
            else:
                high = middle
        return UNKNOWN, b""

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor >= 0:
            posix.close(self._descriptor)


def counted(head: bytes, size: int) -> tuple[int, int, int]:
    """How many records and commits a file with this header has, and the length of an object's name. Raises
    ValueError where that does not fit its size in bytes."""
    numbers = [int.from_bytes(head[at : at + 4], "little") for at in range(8, 24, 4)]
    records, commits, sha, rest = numbers
    if head[:8] != MAGIC or HEADER + records * RECORD + commits * sha + rest != size:
        raise ValueError("no baseline")
    return records, commits, sha
