"""Bring the mirror of one checkout up to its log: under a lock, with a server that answers."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from valor import lock, origins, server
from valor.errors import LockBusy, Unavailable, WireError
from valor.follow import APPENDED, OFF, UNCHANGED, Follower, Outcome
from valor.install import hookfile
from valor.place import place_of
from valor.sweep import sweep
from valor.wire import Connection
from valor.workspace import Workspace

PATIENCE = 60.0  # seconds for the server to take it all
MOST_REPLY = 1 << 30  # bytes


def sync(workspace: Workspace, *, rebuild: bool = False, patience: float = PATIENCE) -> Outcome:
    """Bring the mirror up to the log, starting valor's own server if there is no other, and sweep
    the state folder. Where memory is switched off, make hooks silent instead. ``patience`` is how
    long the server may take, in seconds. Raises Unavailable, LockBusy where another sync runs for
    too long."""
    place = place_of(workspace)
    if not workspace.config.enabled:
        _make(place.folder)
        (place.folder / "off").touch(0o600)  # so that hooks do not ask again and again
        (place.folder / "view").unlink(missing_ok=True)  # without it hooks are silent
        return Outcome(how=OFF, lines=0)
    with _locked(place.folder, workspace.config.lock_timeout):
        address = server.ensure(workspace.config)
        with Connection(address, time.monotonic() + patience, MOST_REPLY) as connection:
            done = Follower(workspace, place, connection).run(rebuild)
        (place.folder / "off").unlink(missing_ok=True)
        origins.refresh(workspace, place, done.how not in (UNCHANGED, APPENDED))
        with suppress(OSError):  # the state folder was writable a moment ago; hooks merely stay silent
            hookfile.write(workspace.state)
        sweep(workspace.state, place.folder)
    return done


def after_append(workspace: Workspace, before: list[int], seconds: float) -> str:
    """Take the lines just appended to the log into the mirror, within ``seconds`` or not at all; ""
    where they are in it or will be at the next sync, else what a person should know.

    ``before`` is the identity of the log before the append, by which its beginning is known unread.
    """
    deadline = time.monotonic() + seconds
    place = place_of(workspace)
    url = workspace.config.redis_url
    try:
        address = server.address(workspace.config)
        with _locked(place.folder, 0.0), Connection(address, deadline) as connection:
            Follower(workspace, place, connection).extend(before)
    except LockBusy:
        return ""  # a sync runs, and the next one takes what that one does not
    except (WireError, Unavailable) as error:
        return f"the mirror was skipped ({error.message})" if url else ""
    return ""


@contextmanager
def _locked(folder: Path, timeout: float) -> Iterator[None]:
    _make(folder)
    try:
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unavailable(f"{folder}: {error.strerror}", "make room, or set XDG_STATE_HOME") from None
    try:
        with lock.held(descriptor, str(folder / "lock"), timeout):
            yield
    finally:
        os.close(descriptor)


def _make(folder: Path) -> None:
    """Make a view's folder, and valor's own above it, for their user alone."""
    try:
        folder.parents[1].mkdir(parents=True, exist_ok=True)
        for each in (folder.parents[1], folder.parent, folder):
            each.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"{folder}: {error.strerror}", "make room, or set XDG_STATE_HOME") from None
