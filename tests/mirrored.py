"""A folder with a log, and its mirror on a real server."""

from __future__ import annotations

import json
import random
from typing import Any

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


def mark(number: int, targets: list[str], by: str | None) -> bytes:
    data = {"id": f"sup-1700000000-{number:012x}", "type": "supersession", "supersedes": targets, "by": by}
    return json.dumps(data).encode() + b"\n"


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
