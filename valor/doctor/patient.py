"""Who is examined: one checkout, its settings and its surroundings, looked at and not touched."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from valor import server
from valor.doctor import harness
from valor.place import Place, place_of
from valor.server import Status
from valor.workspace import Workspace


class Patient:
    """``env`` is the environment that hooks would be run with, ``runs`` how often they are timed;
    ``measured`` is where checks leave figures for the report."""

    def __init__(self, workspace: Workspace, env: Mapping[str, str], runs: int) -> None:
        self.workspace = workspace
        self.env = env
        self.runs = runs
        self.measured: dict[str, Any] = {}

    @property
    def root(self) -> Path:
        """The checkout's root."""
        return self.workspace.config.root

    @cached_property
    def place(self) -> Place:
        """Where its view lies."""
        return place_of(self.workspace)

    @cached_property
    def status(self) -> Status:
        """The server that would be asked. Raises Unavailable where no socket can be named."""
        return server.status(self.workspace.config)

    @property
    def asleep(self) -> bool:
        """Whether the server is valor's own and merely not started."""
        return not self.status.running and self.status.own and self.status.reason == "it is not running"

    @cached_property
    def files(self) -> list[harness.File]:
        """The settings files of every harness that exist."""
        return harness.files(self.root, self.env)
