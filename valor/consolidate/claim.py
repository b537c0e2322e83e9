"""A record as consolidation sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from sys import intern

from valor import record
from valor.consolidate.statement import Statement
from valor.log import Line
from valor.record import Record
from valor.tokens import normalise

COMMIT = re.compile(r"[0-9a-f]{7,40}")
_POSITION = re.compile(r"(?::\d+(?:-\d+)?)+$|#L\d+(?:-L?\d+)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """``at`` is its time in unix seconds, ``number`` that of its line; ``digest`` that of its text, white
    space aside; ``tags`` are case-folded; ``places`` are the paths it is about, without line
    numbers; ``commits`` those it came from, which say nothing about that: a cherry-pick has another one."""

    id: str
    at: float
    number: int
    type: str
    statement: Statement
    digest: bytes
    tags: frozenset[str]
    references: tuple[str, ...]
    places: frozenset[str]
    commits: frozenset[str]
    human: bool

    @property
    def age(self) -> Age:
        """The order of observations in time; of one second, that of their lines."""
        return self.at, self.number, self.id


Age = tuple[float, int, str]


def age(line: Line) -> Age:
    """A line's place in time, as ``Claim.age``."""
    return record.moment(line.record), line.number, record.identifier(line.record)


def claim(data: Record, number: int = 0) -> Claim:
    """The record as a claim; ``number`` is that of its line."""
    summary, details = record.text(data, "summary"), record.text(data, "details")
    references = tuple(record.texts(data, "references"))
    commits = frozenset(each.lower() for each in references if COMMIT.fullmatch(each.lower()))
    return Claim(
        id=record.identifier(data),
        at=record.moment(data),
        number=number,
        type=intern(record.kind(data)),
        statement=Statement(summary, details),
        digest=digest(summary, details),
        tags=frozenset(intern(tag.casefold()) for tag in record.texts(data, "tags")),
        references=references,
        places=frozenset(_places(references)),
        commits=commits,
        human=record.text(data, "source") == "human",
    )


def digest(summary: str, details: str) -> bytes:
    """16 bytes that texts have in common which differ in white space, or in width or form of the same
    letters, alone."""
    told = "\0".join(" ".join(normalise(text).split()) for text in (summary, details))
    return blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def fingerprint(data: Record) -> bytes:
    """16 bytes of all that a plan rests on: the text, its component, and who may see and change it."""
    made = claim(data)
    parts = (
        made.digest,
        made.type,
        sorted(made.tags),
        sorted(made.places),
        made.human,
        record.is_private(data),
    )
    return blake2b(repr(parts).encode(), digest_size=16).digest()


def _places(references: tuple[str, ...]) -> Iterator[str]:
    for reference in references:
        if not COMMIT.fullmatch(reference.lower()):
            yield _POSITION.sub("", reference)


NO_TEXT = digest("", "")
