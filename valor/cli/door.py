"""What every command does first: resolve where it runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from valor import config
from valor.errors import NotAProject, Unavailable, UsageError
from valor.workspace import Workspace

if TYPE_CHECKING:
    from valor.answer import View


def workspace() -> Workspace:
    """The workspace of the current directory, from this process's environment."""
    try:
        here = Path.cwd()
    except FileNotFoundError:
        raise NotAProject("the working directory is gone", "change to a folder that exists") from None
    return Workspace(config.resolve(os.environ, here))


def mirrored_view() -> View:
    """The view of the current directory's checkout as hooks have it, brought up to the log. Raises
    Unavailable."""
    from valor.answer import find_view
    from valor.follow import OFF
    from valor.sync import sync

    place = workspace()
    if sync(place).how == OFF:
        where = place.config.origins.get("enabled", "")
        raise Unavailable(f"memory is switched off ({where})", "set enabled = true, or unset the variable")
    view = find_view(str(place.config.root), str(place.state), str(place.config.root))
    if view is None:
        raise Unavailable("the mirror's files cannot be read", "run `valor sync --rebuild`")
    return view


def standard_input() -> bytes:
    """All of standard input. Raises Unavailable where it is closed."""
    if sys.stdin is None:
        raise Unavailable("standard input is closed", "pipe the text in, or pass it as an argument")
    return sys.stdin.buffer.read()


def standard_text() -> str:
    """Standard input as UTF-8, whatever the locale says. Raises UsageError where it is not."""
    try:
        return standard_input().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"standard input is not UTF-8 (byte {error.start + 1})", "convert it first"
        ) from None
