"""One ``valor sync`` in a process of its own, that nobody waits for."""

from __future__ import annotations

import posix
import sys
from time import time

from valor.hook.session import make_folders

EVERY = 5.0  # seconds from one start to the next

_FLAGS = posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC
# The installed command may be another one, or none: this package, in this interpreter with its libraries.
_CODE = "import sys; sys.path.append(sys.argv.pop(1)); from valor.cli.start import run; run()"


def sync(root: str, folder: str, at_once: bool = False) -> None:
    """Start a sync of the checkout ``root``, unless one was started in the last five seconds, which is when
    ``<folder>/asked`` was last written; ``at_once`` only sees to it that of hooks at once one does."""
    if not _is_due(folder, 1.0 if at_once else EVERY):
        return
    package = __file__[: -len("/valor/hook/background.py")]
    environment = dict(posix.environ)
    if b"PROJECT_ROOT" in environment:
        environment[b"PROJECT_ROOT"] = root.encode("utf-8", "surrogateescape")
    posix.chdir(root)
    posix.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-c", _CODE, package, "sync"],
        environment,
        file_actions=[(posix.POSIX_SPAWN_OPEN, number, "/dev/null", posix.O_RDWR, 0) for number in (0, 1, 2)],
        setsid=True,
    )


def _is_due(folder: str, every: float) -> bool:
    """Whether it is us who start one: of hooks that run at once, one does."""
    import fcntl

    try:
        try:
            file = posix.open(folder + "/asked", _FLAGS, 0o600)
        except FileNotFoundError:
            make_folders(folder)
            file = posix.open(folder + "/asked", _FLAGS, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        about = posix.fstat(file)
        if about.st_size and 0 <= time() - about.st_mtime < every:
            return False
        posix.pwrite(file, b".", 0)  # the lock goes with the process, and the child does not inherit it
    except OSError:
        return False
    return True
