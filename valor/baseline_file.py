"""The baseline's file, written and read whole: ``valor.baseline`` says what is in it."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import orjson

from valor.baseline import HEADER, KEY, MAGIC, NO_COMMIT, RECORD, counted

_RECORD = struct.Struct("<8sIB3x16s")
_HEAD = struct.Struct("<8sIIII8x")


class Record(NamedTuple):
    """What is known of one reference: the line's commit (hex; "" where it is not known), the kind of what
    the path named there, and the first bytes of its name."""

    commit: str
    kind: int
    name: bytes


@dataclass(slots=True, kw_only=True)
class Baseline:
    """``records`` by key; ``head`` the commit they were made at; ``size`` the byte of the log up to which
    each line has its records, ``end`` a digest of what stands before that (``valor.confirm``)."""

    head: str = ""
    size: int = 0
    end: str = ""
    records: dict[bytes, Record] = field(default_factory=dict)

    def commits(self) -> list[str]:
        """The commits that are named."""
        return sorted({each.commit for each in self.records.values()} - {""})

    def forget(self, commits: Iterable[str]) -> None:
        """Drop what is known from these commits; where that is anything, each line is to be asked again."""
        gone = set(commits)
        kept = {key: each for key, each in self.records.items() if each.commit not in gone}
        if len(kept) < len(self.records):
            self.records, self.size, self.end = kept, 0, ""


def dump(baseline: Baseline) -> bytes:
    """The file's bytes."""
    commits = baseline.commits()
    places = {commit: place for place, commit in enumerate(commits)}
    sha = len(baseline.head) // 2
    rest = orjson.dumps({"head": baseline.head, "size": baseline.size, "end": baseline.end})
    records = b"".join(
        _RECORD.pack(key, places.get(each.commit, NO_COMMIT), each.kind, each.name)
        for key, each in sorted(baseline.records.items())
    )
    head = _HEAD.pack(MAGIC, len(records) // RECORD, len(commits), sha, len(rest))
    return head + records + b"".join(map(bytes.fromhex, commits)) + rest


def parse(data: bytes) -> Baseline | None:
    """What the file's bytes say; None where they are none."""
    try:
        count, commits, sha = counted(data[:HEADER], len(data))
        start = HEADER + count * RECORD
        names = [data[start + n * sha : start + (n + 1) * sha].hex() for n in range(commits)]
        records = {
            key: Record("" if place == NO_COMMIT else names[place], kind, name)
            for key, place, kind, name in _RECORD.iter_unpack(data[HEADER:start])
        }
        rest = orjson.loads(data[start + commits * sha :])
        found = Baseline(head=rest["head"], size=rest["size"], end=rest["end"], records=records)
    except (ValueError, IndexError, KeyError, TypeError):
        return None
    return found if all(len(key) == KEY for key in records) else None
