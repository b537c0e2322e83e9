"""Is this text in the log already? A disposable index of content digests.

``observe`` must not read 100,000 lines to answer that. The index holds, for every observation, an
8-byte digest of its normalised text and the offset of its line; the line itself is read back before
anything is believed. It lives in valor's state folder and is brought up to date under the log's lock.

It trusts the file's identity (device, inode, size, change times) as it left it, and a checksum per
MiB of content otherwise: a pull, an edit or a cut costs re-reading from the first block that differs.

File layout: one JSON line (format, identity, covered bytes, block checksums, offsets of marking
lines), then per observation digest and offset, 8 bytes each, little-endian.
"""

from __future__ import annotations

import hashlib
import os
import struct
import unicodedata
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import orjson

from valor import log
from valor.record import MARKS, Record, text

_FORMAT = 2
_BLOCK = 1 << 20
_AROUND = ".,;:!?()[]\"'“”‘’"  # what stands around a word of prose
_ENTRY = struct.Struct("<8sQ")


def normalise(value: str) -> str:
    """Text as repetitions are told: NFKC, runs of white space as one blank, and the case folded but for
    names: ``-f`` is not ``-F``, nor ``src/a.py`` ``src/A.py``, nor userId userID."""
    if not value.isascii():
        value = unicodedata.normalize("NFKC", value)
    if value.islower():
        return " ".join(value.split())
    return " ".join([word if _keeps_case(word) else word.casefold() for word in value.split()])


def _keeps_case(word: str) -> bool:
    core = word.strip(_AROUND)
    if not core.isalpha():
        return True
    return not (core.islower() or core.isupper() or core.istitle())


def digest(record: Record) -> bytes:
    """8 bytes that equal observations share: BLAKE2b of normalised summary and details."""
    content = f"{normalise(text(record, 'summary'))}\0{normalise(text(record, 'details'))}"
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).digest()


class Digests:
    """The index of one log. Open it, and update it, only while holding that log's lock."""

    def __init__(self, state: Path, path: Path) -> None:
        name = hashlib.blake2b(os.fsencode(path.resolve()), digest_size=12).hexdigest()
        self._state = state
        self._home = state / "digests" / name
        self._log = path
        self._entries = bytearray()
        self._blocks: list[int] = []
        self._covered = 0
        self.marking: list[int] = []

    def refresh(self, fd: int) -> None:
        """Cover the open log ``fd`` as it stands now, reading only what is not covered yet."""
        identity = self._load()
        if identity == _identity(fd):
            return
        if self._covered:
            self._forget_from(self._first_difference(fd))
        self._cover(fd)

    def extend(self, fd: int) -> None:
        """Cover what was appended to ``fd`` since ``refresh``, under the same lock: what was there
        before has not changed, so it is not read again."""
        self._cover(fd)

    def save(self, fd: int) -> None:
        """Write the index for the next process; ``fd`` as in ``refresh``. A state folder that
        cannot be written costs speed, never an observation."""
        head = {
            "format": _FORMAT,
            "identity": _identity(fd),
            "covered": self._covered,
            "blocks": self._blocks,
            "marking": self.marking,
            "count": len(self._entries) // _ENTRY.size,
        }
        with suppress(OSError):
            self._state.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._home.parent.mkdir(mode=0o700, exist_ok=True)
            fresh = self._home.with_suffix(".new")  # one writer at a time: the log is locked
            fresh.write_bytes(orjson.dumps(head) + b"\n" + bytes(self._entries))
            fresh.replace(self._home)

    def candidates(self, wanted: bytes) -> Iterator[int]:
        """The offsets of the lines whose digest this is, earliest first."""
        at = self._entries.find(wanted)
        while at >= 0:
            if at % _ENTRY.size == 0:
                yield _ENTRY.unpack_from(self._entries, at)[1]
            at = self._entries.find(wanted, at + 1)

    def _load(self) -> list[int] | None:
        """Read the saved index; the identity of the log it was made from, None where there is none."""
        try:
            head, _, entries = self._home.read_bytes().partition(b"\n")
            facts = orjson.loads(head)
            if facts["format"] != _FORMAT or len(entries) != facts["count"] * _ENTRY.size:
                return None
            self._entries = bytearray(entries)
            self._blocks = facts["blocks"]
            self._covered = facts["covered"]
            self.marking = facts["marking"]
            identity: list[int] = facts["identity"]
        except (OSError, ValueError, KeyError, TypeError):
            return None  # no index, or one that a crash or another version left: made anew
        return identity

    def _first_difference(self, fd: int) -> int:
        """The byte up to which the log is known to be what was covered."""
        for number, known in enumerate(self._blocks):
            start = number * _BLOCK
            length = min(_BLOCK, self._covered - start)
            if zlib.crc32(os.pread(fd, length, start)) != known:
                return start
        return self._covered

    def _forget_from(self, byte: int) -> None:
        """Drop every line that does not end before ``byte``, and the blocks that hold them."""
        if byte >= self._covered:
            return
        count = len(self._entries) // _ENTRY.size
        while count and _ENTRY.unpack_from(self._entries, (count - 1) * _ENTRY.size)[1] >= byte:
            count -= 1
        # The last line left starts before the difference and may reach into it: read it again.
        count = max(0, count - 1)
        self._covered = 0
        if count:
            self._covered = _ENTRY.unpack_from(self._entries, count * _ENTRY.size)[1]
        del self._entries[count * _ENTRY.size :]
        self.marking = [offset for offset in self.marking if offset < self._covered]
        del self._blocks[self._covered // _BLOCK :]

    def _cover(self, fd: int) -> None:
        """Index the lines behind what is covered, up to the last newline."""
        del self._blocks[self._covered // _BLOCK :]  # the last one was not full
        with os.fdopen(os.dup(fd), "rb", buffering=_BLOCK) as file:
            file.seek(self._covered)
            for line in log.split(self._whole(file), offset=self._covered):
                if type(line) is log.Line:
                    self._add(line)
        for start in range(len(self._blocks) * _BLOCK, self._covered, _BLOCK):
            self._blocks.append(zlib.crc32(os.pread(fd, min(_BLOCK, self._covered - start), start)))

    def _whole(self, file: Iterable[bytes]) -> Iterator[bytes]:
        """The lines that have their newline; a torn end is not covered, the next append heals it."""
        for raw in file:
            if raw.endswith(b"\n"):
                self._covered += len(raw)
                yield raw

    def _add(self, line: log.Line) -> None:
        record = line.record
        if record.get("type") in MARKS:
            self.marking.append(line.offset)
            return
        if "supersedes" in record:
            self.marking.append(line.offset)
        self._entries += _ENTRY.pack(digest(record), line.offset)


def _identity(fd: int) -> list[int]:
    stat = os.fstat(fd)
    return [stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]
