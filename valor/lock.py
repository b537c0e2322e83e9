"""The kernel's advisory lock on an open file.

``flock`` belongs to the open file description: it ends with the process, however that dies, so no
stale lock can block a writer and no lock file is left behind.
"""

from __future__ import annotations

import errno
import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager

from valor.errors import LockBusy, Unavailable

_FIRST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.02  # seconds between tries


@contextmanager
def held(fd: int, path: str, timeout: float) -> Iterator[None]:
    """Hold the exclusive lock on ``fd`` for the block; LockBusy after ``timeout`` seconds.

    Polled rather than waited for: a blocking ``flock`` has no time-out of its own.
    """
    deadline = time.monotonic() + timeout
    pause = _FIRST_PAUSE
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise LockBusy(
                    f"{path} has been locked by another process for {timeout:g} s",
                    "see which process holds it with `fuser`, end it, and run the command again",
                ) from None
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        except OSError as error:
            if error.errno in (errno.ENOLCK, errno.EOPNOTSUPP):
                raise Unavailable(
                    f"the file system of {path} has no locks",
                    "keep the repository on a local file system",
                ) from None
            raise
    try:
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)
