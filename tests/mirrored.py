"""A folder with a log, and its mirror on a real server."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import strategies as st

from valor import mirror_check, server
from valor.config import Config
from valor.follow import Outcome
from valor.place import place_of
from valor.sync import sync
from valor.workspace import LOG, Workspace

WORDS = (
    "amber",
    "blue",
    "coral",
    "denim",
    "ebony",
    "fawn",
    "green",
    "hazel",
    "flock",
    "socket",
    "rebase",
    "mutex",
)


def line(number: int, **more: Any) -> bytes:
    chance = random.Random(number)
    data = {
        "id": f"obs-{1_700_000_000 + number}-{number:012x}",
        "timestamp": "2026-01-01T00:00:00Z",
        "type": chance.choice(["error", "decision", "correction"]),
        "summary": " ".join(chance.choices(WORDS, k=5)) + f" case{number}",
        "details": " ".join(chance.choices(WORDS, k=8)),
        "tags": chance.choices(WORDS, k=1),
    }
    return json.dumps(data | more).encode() + b"\n"


def id_of(number: int) -> str:
    return f"obs-{1_700_000_000 + number}-{number:012x}"


def mark(number: int, targets: list[str], by: str | None, **more: Any) -> bytes:
    data = {"id": f"sup-1700000000-{number:012x}", "type": "supersession", "supersedes": targets, "by": by}
    return json.dumps(data | more).encode() + b"\n"


class Checkout:
    """A folder with a log, and its mirror on a real server."""

    def __init__(self, config: Config) -> None:
        self.workspace = Workspace(config)
        self.path = config.root / LOG
        self.path.parent.mkdir(parents=True, exist_ok=True)

    def write(self, *lines: bytes) -> None:
        self.path.write_bytes(b"".join(lines))

    def append(self, *lines: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(b"".join(lines))

    def sync(self, **how: bool) -> Outcome:
        return sync(self.workspace, **how)

    def differences(self) -> list[mirror_check.Difference]:
        return mirror_check.check(self.workspace)

    def held(self) -> mirror_check.Content:
        with server.client(server.address(self.workspace.config)) as client:
            found = mirror_check.held(client, place_of(self.workspace).names)
        assert found is not None
        return found

    def recalled(self) -> set[str]:
        return set(self.held().rows)


# A history: each step changes the log's file, and a sync follows it.
STEPS = st.one_of(
    st.tuples(st.just("append"), st.lists(st.integers(0, 40), min_size=1, max_size=4)),
    st.tuples(st.just("mark"), st.integers(0, 40), st.one_of(st.none(), st.integers(0, 40))),
    st.tuples(
        st.just("bequeath"),
        st.integers(0, 4),  # few, so that both are there
        st.integers(0, 4),
        st.lists(st.sampled_from([*WORDS, "Amber", "heirloom"]), max_size=3),
    ),
    st.tuples(st.just("void"), st.integers(0, 2)),
    st.tuples(st.just("inline"), st.integers(41, 60), st.integers(0, 40)),
    st.tuples(st.just("reinstate"), st.integers(0, 60)),
    st.tuples(st.just("edit"), st.integers(0, 40), st.sampled_from(WORDS)),
    st.tuples(st.just("private"), st.integers(0, 40)),
    st.tuples(st.just("drop"), st.integers(0, 40)),
    st.tuples(st.just("merge"), st.integers(0, 1 << 16)),
    st.tuples(st.just("branch"), st.integers(0, 3)),
    st.tuples(st.just("tear"), st.integers(1, 40)),
    st.tuples(st.just("junk"), st.sampled_from([b"<<<<<<< HEAD\n", b"\n", b"{}{}\n", b"[1]\n", b"\xff\n"])),
)


class History:
    """What the steps do to the lines; branches remember what they were."""

    def __init__(self) -> None:
        self.lines: list[bytes] = [line(n) for n in range(3)]
        self.branches: dict[int, list[bytes]] = {}

    def take(self, step: tuple[Any, ...]) -> None:
        kind, *how = step
        getattr(self, kind)(*how)
        if not any(b'"summary"' in one and one.endswith(b"}\n") for one in self.lines):
            self.lines.append(line(0))  # a log that lost all is another test's

    def append(self, numbers: list[int]) -> None:
        self.lines += map(line, numbers)

    def mark(self, target: int, by: int | None) -> None:
        name = len(self.lines)
        self.lines.append(mark(name, [id_of(target)], None if by is None else id_of(by)))

    def bequeath(self, target: int, by: int, tags: list[str]) -> None:
        will = {"tags": tags, "references": ["a.py:3"]}
        self.lines.append(mark(len(self.lines), [id_of(target)], id_of(by), inherits=will))

    def void(self, back: int) -> None:
        """Reinstate the last mark but ``back``."""
        marks = [
            json.loads(one)["id"]
            for one in self.lines
            if one.startswith(b'{"id": "sup-') and one[-2:] == b"}\n"
        ]
        if len(marks) > back:
            self.reinstate(int(marks[-1 - back].rpartition("-")[2], 16))

    def inline(self, number: int, target: int) -> None:
        self.lines.append(line(number, supersedes=[id_of(target)]))

    def reinstate(self, number: int) -> None:
        of = f"sup-1700000000-{number:012x}"
        self.lines.append(
            json.dumps({"id": f"rei-1-{number}", "type": "reinstatement", "of": of}).encode() + b"\n"
        )

    def edit(self, number: int, word: str) -> None:
        self.lines = [
            line(number, summary=f"edited {word}") if id_of(number).encode() in one else one
            for one in self.lines
        ]

    def private(self, number: int) -> None:
        self.lines.append(line(number, private=True))

    def drop(self, number: int) -> None:
        self.lines = [one for one in self.lines if id_of(number).encode() not in one]

    def merge(self, seed: int) -> None:
        random.Random(seed).shuffle(self.lines)
        self.lines += self.lines[:2]

    def branch(self, name: int) -> None:
        self.branches[name], self.lines = self.lines, list(self.branches.get(name, self.lines[:2]))

    def tear(self, cut: int) -> None:
        self.lines[-1] = self.lines[-1].rstrip(b"\n")[:cut]

    def junk(self, raw: bytes) -> None:
        self.lines.append(raw)

    def content(self) -> bytes:
        whole = b"".join(one if one.endswith(b"\n") else one + b"\n" for one in self.lines[:-1])
        return whole + self.lines[-1]
