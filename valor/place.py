"""Where a checkout's view lies: its folder here, its keys on the server."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from valor import project, viewfile
from valor.keys import Keys
from valor.workspace import Workspace


class Place:
    """The place of one checkout's view; nothing is created by asking."""

    def __init__(self, state: Path, root: Path) -> None:
        self._root = root
        self.folder = Path(viewfile.folder(str(state), os.path.realpath(root)))

    def has_view(self) -> bool:
        """Whether a sync has ever come to its end here."""
        return (self.folder / "view").exists()

    @cached_property
    def project(self) -> str:
        """The project key, which clones and worktrees share."""
        return project.project_key(self._root)

    @cached_property
    def view(self) -> str:
        """What tells this view from the project's others."""
        return project.view_id(self._root)

    @cached_property
    def names(self) -> Keys:
        """The view's keys."""
        return Keys(self.project, self.view)


def place_of(workspace: Workspace) -> Place:
    """The place of this checkout's view."""
    return Place(workspace.state, workspace.config.root)
