"""The command line: finds the command, runs it, turns every outcome into an exit code.

A command's module is imported only when that command is called: importing all of them would cost
more than most commands do.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from valor import git
from valor.cli.render import complain
from valor.errors import BUG, DONE, INTERRUPTED, UNAVAILABLE, USAGE, ValorError
from valor.suggest import one_of

COMMANDS = {
    "init": "install",
    "uninstall": "uninstall",
    "observe": "observe",
    "route": "route",
    "memory-query": "memory_query",
    "consolidate": "consolidate",
    "verify": "verify",
    "export": "export",
    "import": "import_",
    "eval": "evaluate",
    "mcp": "mcp",
    "server": "server",
    "sync": "sync",
    "recall": "recall",
    "brief": "brief",
    "hook": "hook",
    "doctor": "doctor",
    "stats": "stats",
}
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


class Commands(TyperGroup):
    """The group of commands, each built from its module at first use."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        module = COMMANDS[one_of(cmd_name, COMMANDS, "command")]
        app = importlib.import_module(f"valor.cli.{module}").app
        command = typer.main.get_command(app)
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Git-native memory for coding agents: an append-only log, found again when it matters.",
    epilog="Exit codes: 0 done, 1 nothing or problems found, 2 usage, 3 another owner's, "
    "4 refused content, 5 unavailable, 70 a bug, 130 interrupted.",
)


def _version(asked: bool) -> None:
    if asked:
        from valor.version import __version__

        typer.echo(f"valor {__version__}")
        raise typer.Exit


@app.callback()
def valor(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Git-native memory for coding agents."""


def run() -> int:
    """Run the command this process was started with; its exit code."""
    git.forget_repository_variables(os.environ)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # None where who started us closed it
            stream.reconfigure(errors="backslashreplace")  # cp1252 and friends lack most letters
    return main(sys.argv[1:])


def main(arguments: Sequence[str]) -> int:
    """Run the command named in ``arguments``; its exit code."""
    try:
        code = typer.main.get_command(app).main(list(arguments), prog_name="valor", standalone_mode=False)
        return code if isinstance(code, int) else DONE
    except ValorError as error:
        return _say(error.message, error.hint, error.exit_code)
    except _UsageError as error:
        return _usage(error, arguments)
    except (KeyboardInterrupt, typer.Abort):
        return _say("interrupted", "", INTERRUPTED)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            return _bug(error)
        return _say(
            f"no space left ({error.filename or 'standard output'})",
            "make room, then run it again",
            UNAVAILABLE,
        )
    except Exception as error:  # noqa: BLE001 (boundary): what is left is a bug, kept for its report
        return _bug(error)


def _say(message: str, hint: str, code: int) -> int:
    """Complain and return ``code``. A message may quote what was typed, and that may be a secret."""
    from valor.secrets.detect import redact

    complain(redact(f"valor: {message}\n" + (f"  {hint}\n" if hint else "")))
    return code


def _usage(error: Any, arguments: Sequence[str]) -> int:
    """What the parser found wrong, in the words of the other errors."""
    message = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":
        complain(message + "\n")
        return USAGE
    near = getattr(error, "possibilities", None)
    if near:
        return _say(f"no such option: {error.option_name}", f"did you mean {' or '.join(near)}?", USAGE)
    command = next((word for word in arguments if word in COMMANDS), "")
    return _say(message[:1].lower() + message[1:], f"try `{f'valor {command}'.strip()} --help`", USAGE)


def _bug(error: Exception) -> int:
    """Keep the traceback, without any text of the log in it, and say where."""
    from valor.bug import keep

    where = keep(error, os.environ)
    return _say(
        f"a bug: {type(error).__name__}",
        f"please report what {where} says" if where else "please report it",
        BUG,
    )
