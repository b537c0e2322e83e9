"""A throw-away checkout with one observation that nobody else could have written.

It uses the user's state folder and server, under keys and in folders of its own, and goes without a
trace: also when the examination fails, is interrupted or told to end.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from valor import mirror, record, server
from valor.config import Config
from valor.doctor.limit import ending_by_exception, undisturbed
from valor.errors import Unavailable, WireError
from valor.follow import Follower
from valor.place import Place, place_of
from valor.wire import Connection
from valor.workspace import Workspace

PREFIX = "valor-canary-"
_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
_PATIENCE = 2.0  # seconds for the server to forget it
_SYNC_SECONDS = 10.0
_LIFE = 600  # seconds that its keys would outlive a kill -9


class Canary:
    """``words`` are the three that tell its observation ``id``; ``root`` is its checkout."""

    def __init__(self, config: Config) -> None:
        self.token = secrets.token_hex(8)
        # Real, since the view's folder is named after the real path.
        self.root = Path(os.path.realpath(tempfile.gettempdir())) / f"{PREFIX}{self.token}"
        self.words = ["".join(secrets.choice(_SYLLABLES) for _ in range(5)) for _ in range(3)]
        self.id = record.new_id()
        self.workspace = Workspace(config._replace(root=self.root))
        self._sessions = 0
        self._synced = False

    @property
    def place(self) -> Place:
        """Where its view lies."""
        return place_of(self.workspace)

    @property
    def text(self) -> str:
        """What is remembered, and asked for."""
        return f"The {self.words[0]} breaks when {self.words[1]} meets {self.words[2]}"

    def plant(self) -> None:
        """Make the checkout, observe, sync. Raises Unavailable."""
        try:
            self.root.mkdir(mode=0o700)
            (self.root / ".git").mkdir()
            (self.root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
            self.workspace.log.parent.mkdir(parents=True)
            line = {"id": self.id, "timestamp": record.stamp(), "type": "error"}
            line |= {"summary": self.text, "source": "intentional"}
            self.workspace.log.write_bytes(record.dumps(line) + b"\n")
        except OSError as error:
            raise Unavailable(
                f"{self.root} cannot be made: {error.strerror}", "make room, or set TMPDIR"
            ) from None
        self._sync()
        names = self.place.names
        with self._connection() as connection:
            connection.pipeline([("EXPIRE", key, _LIFE) for key in (*names.loaded, names.meta)])
        self._synced = True

    def _sync(self) -> None:
        """As ``valor.sync`` does, without what that does for others: sweeping, and the hook's file."""
        place = self.place
        place.folder.mkdir(mode=0o700, parents=True)
        address = server.ensure(self.workspace.config)
        with Connection(address, time.monotonic() + _SYNC_SECONDS) as connection:
            Follower(self.workspace, place, connection).run(rebuild=True)

    def session(self) -> str:
        """The name of a session that was told nothing yet. The hook's background sync is put off: it
        would outlive us."""
        asked = self.place.folder / "asked"
        asked.write_bytes(b".")
        self._sessions += 1
        return f"{PREFIX}{self.token}-{self._sessions}"

    def remove(self) -> None:
        """Remove the checkout, the view, its keys and the sessions, as far as there are any."""
        place = self.place
        with suppress(WireError), self._connection() as connection:
            mirror.drop(connection, place.names)
            if not self._synced:
                self._drop_half_loaded(connection)
        for folder in (place.folder, *self.workspace.state.glob(f"sessions/{PREFIX}{self.token}-*")):
            shutil.rmtree(folder, ignore_errors=True)
        for parent in (place.folder.parent, self.workspace.state / "sessions"):
            with suppress(OSError):
                parent.rmdir()  # if we made it, it is empty now
        shutil.rmtree(self.root, ignore_errors=True)  # last: the names of all else come from it

    def _drop_half_loaded(self, connection: Connection) -> None:
        """What a sync that was cut off had loaded, under names that only it knew."""
        cursor = b"0"
        while True:
            cursor, keys = connection.call(
                "SCAN", cursor, "MATCH", f"valor:{{{self.place.project}}}:*", "COUNT", 1_000
            )
            if keys:
                connection.call("UNLINK", *keys)
            if cursor == b"0":
                return

    def _connection(self) -> Connection:
        return Connection(server.address(self.workspace.config), time.monotonic() + _PATIENCE)


@contextmanager
def planted(config: Config) -> Iterator[Canary]:
    """A canary that was synced. Raises Unavailable where it could not be; nothing of it stays."""
    canary = Canary(config)
    with ending_by_exception():
        try:
            canary.plant()
            yield canary
        finally:
            with undisturbed():
                canary.remove()


def prompt(canary: Canary, event: str, text: str, **more: Any) -> dict[str, Any]:
    """A prompt of this text in the canary's checkout, as harnesses send it."""
    return _envelope(canary, event) | {"prompt": text} | more


def call(canary: Canary, event: str, text: str, **more: Any) -> dict[str, Any]:
    """A tool call that met this text there."""
    asked = {"tool_name": "Bash", "tool_input": {"command": f"make {canary.words[0]}"}}
    if event[0].islower():  # Cursor
        answer = {"tool_output": f'{{"stdout": "{text}"}}'}
        common: dict[str, Any] = {
            "hook_event_name": event,
            "conversation_id": canary.session(),
            "workspace_roots": [str(canary.root)],
        }
        return common | asked | answer | more
    return _envelope(canary, event) | asked | {"tool_response": {"stdout": text}} | more


def _envelope(canary: Canary, event: str) -> dict[str, Any]:
    return {"session_id": canary.session(), "cwd": str(canary.root), "hook_event_name": event}
