"""valor hook: the hook as a command, for harnesses that do not run the script."""

from __future__ import annotations

import os
import sys

import typer

from valor import config
from valor.install.hookfile import PROGRAM

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command("hook")
def hook() -> int:
    """Answer the hook event on standard input, as memory-hook.sh does, with what the memory knows.

    The script is what harnesses run: it counts tool calls without starting an interpreter. This looks
    at each event, costs a command's start more, and ends with 0 whatever happens once it runs.

    \b
    Examples:
      valor hook < event.json

    \b
    Exit codes: 0 always; 2 usage.
    """
    state = config.state_directory(os.environ)
    os.execv(sys.executable, [sys.executable, "-I", "-S", str(PROGRAM), str(state)])
