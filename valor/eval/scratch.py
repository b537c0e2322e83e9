"""A log mirrored for measuring: a checkout, a state folder and a server of its own, gone at the end."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from valor import server, sync
from valor.answer import View, answer, find_view
from valor.config import Config
from valor.errors import Unavailable
from valor.eval.recall import Engine
from valor.window import Query
from valor.workspace import LOG, Workspace

_SECONDS = 30.0  # for one answer: what is measured here is quality


@contextmanager
def mirrored(path: Path, programs: str) -> Iterator[View]:
    """The view of the log at ``path``, as hooks find it. ``programs`` is where a server program is looked
    for (as PATH). Raises Unavailable."""
    # Not the user's own folder for temporary files: its path may be too long for a socket.
    with tempfile.TemporaryDirectory(prefix="valor-", dir="/tmp") as folder:
        root = Path(os.path.realpath(folder), "checkout")
        (root / LOG).parent.mkdir(parents=True)
        (root / ".git").mkdir()
        (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        shutil.copyfile(path, root / LOG)
        config = Config(
            root=root,
            state=Path(folder, "state"),
            runtime=Path(folder, "run"),
            path=programs,
            server_idle=600.0,
        )
        try:
            sync.sync(Workspace(config))
            view = find_view(str(root), str(config.state), str(root))
            if view is None:
                raise Unavailable("the scratch mirror cannot be read back", "see that /tmp has room")
            yield view
        finally:
            server.stop(config)


def engine(view: View) -> Engine:
    """The engine that hooks run, over this view. A server that fails is an error here, not silence."""

    def ask(
        query: Query, now: float, *, before: float | None, told: set[str], scale: float
    ) -> list[tuple[str, float]]:
        deadline = time.monotonic() + _SECONDS
        found = answer(view, query, told, now, deadline, before=before, scale=scale)
        if view.wants_sync:
            raise Unavailable("the scratch server did not answer", "run it again")
        return [(each.id, each.evidence) for each in found]

    return ask


def moved(item: Mapping[str, Any], root: str) -> dict[str, Any]:
    """The item with its events' working directory, wherever they name it, replaced by ``root``."""
    events = item.get("window")
    if not isinstance(events, list):
        return dict(item)
    return {**item, "window": [_moved(event, root) for event in events]}


def _moved(event: Any, root: str) -> Any:
    cwd = event.get("cwd") if isinstance(event, dict) else None
    if not isinstance(cwd, str) or len(cwd.strip("/")) < 2:
        return event
    old, new = orjson.dumps(cwd.rstrip("/"))[1:-1], orjson.dumps(root)[1:-1]
    return orjson.loads(orjson.dumps(event).replace(old, new))
