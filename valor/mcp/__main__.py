"""``python -m valor.mcp``: the server as a process."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from valor import git
from valor.errors import DONE, INTERRUPTED, UNAVAILABLE

MISSING = "valor: the MCP SDK is missing; install it with: pip install 'valor-memory[mcp]'\n"


def main() -> int:
    """Serve until the client goes away; the exit code."""
    try:
        from valor.mcp.server import server
    except ImportError as error:
        if not (error.name or "").startswith("mcp"):
            raise
        sys.stderr.write(MISSING)
        return UNAVAILABLE
    git.forget_repository_variables(os.environ)
    # A line may nest as deep as its parser allows (1,024); what walks one takes a few frames a level.
    sys.setrecursionlimit(10_000)
    try:
        server(dict(os.environ), Path.cwd()).run("stdio")
    except KeyboardInterrupt:
        return INTERRUPTED
    return DONE


if __name__ == "__main__":
    # Not by way of an interpreter's end, which would wait for a call that waits for a lock.
    code = main()
    sys.stderr.flush()
    os._exit(code)
