"""Where the traceback of a bug is kept."""

from __future__ import annotations

import traceback
from collections.abc import Mapping

from valor.config import state_directory
from valor.errors import ValorError
from valor.record import stamp

_SAFE = (AttributeError, ImportError, NameError, RecursionError)


def keep(error: Exception, env: Mapping[str, str]) -> str:
    """Append the traceback to the state folder's ``errors.log``; its path, "" where that fails.

    The frames and the error's class; its message only where Python or the system made it, since
    another may quote what the user was about to store.
    """
    frames = "".join(traceback.format_tb(error.__traceback__))
    said = f"{error}" if isinstance(error, _SAFE) else ""
    said = f"{error.strerror}" if isinstance(error, OSError) else said
    try:
        path = state_directory(env) / "errors.log"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{stamp()} {type(error).__name__} {said}".rstrip() + f"\n{frames}\n")
    except (OSError, ValorError):
        return ""
    return str(path)
