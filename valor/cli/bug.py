"""Where the traceback of a bug is kept."""

from __future__ import annotations

import traceback
from collections.abc import Mapping

from valor.config import state_directory
from valor.record import stamp


def keep(error: Exception, env: Mapping[str, str]) -> str:
    """Append the traceback to the state folder's ``errors.log``; its path, "" where that fails.

    Frames and the error's class alone: its message may quote what the user was about to store.
    """
    frames = "".join(traceback.format_tb(error.__traceback__))
    path = state_directory(env) / "errors.log"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{stamp()} {type(error).__name__}\n{frames}\n")
    except OSError:
        return ""
    return str(path)
