"""Where the hook finds this installation: the file ``hook`` of the state folder.

The path of an interpreter is this machine's and not the repository's, so ``memory-hook.sh``, which is
committed, reads it from here.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

PROGRAM = Path(__file__).parents[1] / "hook" / "__main__.py"


def write(state: Path) -> None:
    """Make ``<state>/hook`` (mode 600, the folder 700): two lines, the interpreter that runs now and the
    hook's program, both absolute. Nothing is touched where they are right. Raises OSError.

    The interpreter is not resolved: behind the link of a virtual environment lies a Python without its
    packages.
    """
    content = b"".join(os.fsencode(os.path.abspath(path)) + b"\n" for path in (sys.executable, PROGRAM))  # noqa: PTH100
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    if stat.S_IMODE(state.stat().st_mode) & 0o077:
        state.chmod(0o700)
    file = state / "hook"
    if file.is_file() and file.read_bytes() == content and stat.S_IMODE(file.stat().st_mode) == 0o600:
        return
    staged = state / f"hook.{os.getpid()}"
    try:
        with os.fdopen(os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            out.write(content)
        staged.chmod(0o600)
        staged.replace(file)
    except OSError:
        with suppress(OSError):
            staged.unlink()
        raise
