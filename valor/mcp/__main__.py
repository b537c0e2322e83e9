"""``python -m valor.mcp``: the server as a process."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from valor import git
from valor.errors import DONE, UNAVAILABLE

MISSING = "valor: the MCP SDK (mcp>=2,<3) is missing; install it with: pip install 'valor-memory[mcp]'\n"


def main() -> int:
    """Serve until the client goes away; the exit code."""
    try:
        from valor.mcp.server import server
    except ImportError as error:
        if not (error.name or "").startswith("mcp"):
            raise
        sys.stderr.write(MISSING)
        return UNAVAILABLE
    # The SDK waits for its input in a thread that no exception reaches; ending the process does.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    git.forget_repository_variables(os.environ)
    # A line may nest as deep as its parser allows (1,024); what walks one takes a few frames a level.
    sys.setrecursionlimit(10_000)
    server(dict(os.environ), Path.cwd()).run("stdio")
    return DONE


if __name__ == "__main__":
    sys.exit(main())
