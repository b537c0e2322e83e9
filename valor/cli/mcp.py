"""valor mcp: the memory as tools of the Model Context Protocol."""

from __future__ import annotations

import os
import sys

import typer

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("mcp")
def command() -> int:
    """Serve the memory to an agent as MCP tools, over standard input and output.

    The tools are memory_search, memory_get, memory_observe and memory_route. Each call names the
    folder it is about in cwd, or means the one that this was started in. It ends when its input
    does. Needs the extra: pip install 'valor-memory[mcp]'.

    \b
    Examples:
      valor mcp
      claude mcp add valor -- valor mcp

    \b
    Exit codes: 0 the client went away; 2 usage; 5 the extra is not installed.
    """
    # A server outlives what a command is tuned for (no garbage collection, say), so this process
    # becomes a fresh interpreter. -P: a folder named mcp where we stand is not the SDK.
    os.execv(sys.executable, [sys.executable, "-P", "-m", "valor.mcp"])
