"""What every command does first: resolve where it runs."""

from __future__ import annotations

import os
from pathlib import Path

from valor import config
from valor.errors import NotAProject
from valor.workspace import Workspace


def workspace() -> Workspace:
    """The workspace of the current directory, from this process's environment."""
    try:
        here = Path.cwd()
    except FileNotFoundError:
        raise NotAProject("the working directory is gone", "change to a folder that exists") from None
    return Workspace(config.resolve(os.environ, here))
