"""valor server: the server that holds the mirror."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from valor import config, server
from valor.cli.render import emit, say, wants_table
from valor.errors import DONE, FOUND_NOTHING, NotAProject

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    help="The Redis or Valkey server that holds the mirror: one named by VALOR_REDIS_URL, else valor's own.",
    epilog="Exit codes: 0 done, 1 not running, 2 usage, 5 it cannot be started or stopped.",
)

_JSON = typer.Option(False, "--json", help="JSON lines, also on a terminal.")
_TABLE = typer.Option(False, "--table", help="A table, also in a pipe.")
_COLUMNS = (
    "running",
    "server",
    "version",
    "address",
    "own",
    "cluster",
    "memory",
    "uptime",
    "pid",
    "idle_stop",
)


@app.command("start")
def start(json: bool = _JSON, table: bool = _TABLE) -> int:
    """Start valor's own server, unless it runs; print what runs.

    Seldom needed by hand: what needs the server starts it. It listens on a unix socket for you
    alone, opens no port, saves nothing, and stops by itself when nobody has asked it for
    server_idle seconds. Where VALOR_REDIS_URL or redis_url names a server, that one must answer
    and nothing is started.

    \b
    Examples:
      valor server start
      VALOR_SERVER_IDLE=600 valor server start --json

    \b
    Exit codes: 0 it answers; 2 usage, or a URL that is none; 5 there is no server to start, or it
    does not answer.
    """
    as_table = wants_table(json, table)
    settings = _settings()
    server.ensure(settings)
    return _show(server.status(settings), as_table)


@app.command("stop")
def stop() -> int:
    """Stop valor's own server, also one that hangs, and remove its files. The mirror goes with it and
    is made anew from the log; a server named by VALOR_REDIS_URL is never stopped.

    \b
    Examples:
      valor server stop

    \b
    Exit codes: 0 stopped; 1 there was none; 2 usage; 5 it does not end.
    """
    settings = _settings()
    if server.stop(settings):
        say("stopped")
        return DONE
    say(
        "valor's own server was not running" + ("; the one named is left alone" if settings.redis_url else "")
    )
    return FOUND_NOTHING


@app.command("status")
def status(json: bool = _JSON, table: bool = _TABLE) -> int:
    """Say which server is used and how it is. Starts nothing.

    memory is in bytes, uptime and idle_stop (how long without a question ends valor's own server)
    in seconds; own tells it from one named by VALOR_REDIS_URL.

    \b
    Examples:
      valor server status
      valor server status --json

    \b
    Exit codes: 0 it runs; 1 it does not run or answer; 2 usage, or a URL that is none; 5 there is
    no folder for its socket.
    """
    return _show(server.status(_settings()), wants_table(json, table))


def _settings() -> config.Config:
    """The settings here; outside a project those of the user, whose server it is."""
    try:
        here = Path.cwd()
    except FileNotFoundError:
        raise NotAProject("the working directory is gone", "change to a folder that exists") from None
    return config.resolve(os.environ, here, anywhere=True)


def _show(found: server.Status, as_table: bool) -> int:
    row = {name: value for name, value in found._asdict().items() if value not in ("", None)}
    emit([row], [column for column in _COLUMNS if column in row], as_table)
    if found.running:
        return DONE
    say(f"{found.address}: {found.reason}" if found.own else found.reason)
    return FOUND_NOTHING
