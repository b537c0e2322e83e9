"""Is what init made still there, and does this machine have what it leads to?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from valor.doctor.finding import Finding, info, problem, warning
from valor.doctor.patient import Patient
from valor.errors import Unavailable
from valor.install import blocks, hookfile, hooks
from valor.install.json_text import NotJson
from valor.install.json_text import check as parsed
from valor.install.plan import ATTRIBUTES, SCRIPTS, SERVERS, WRAPPERS, wrapper
from valor.install.target import is_executable, read
from valor.workspace import GRADES, LOG

_SECONDS = 15.0
# What the hook's background sync needs, found as it finds it: the package appended to an isolated path.
_IMPORTS = "import sys; sys.path.append(sys.argv[1]); import valor.sync"


def check(patient: Patient) -> Iterator[Finding]:
    """Scripts, the merge attribute, the hook's file in the state folder, the MCP server's command."""
    for name in WRAPPERS:
        yield from _wrapper(patient.root, name)
    yield from _attributes(patient.root)
    yield from hook_file(patient)
    yield from _tools(patient)


def _wrapper(root: Path, name: str) -> Iterator[Finding]:
    path = f"{SCRIPTS}/{name}"
    grave = problem if name == hooks.NAME else warning
    again = "run `valor init` and commit it"
    try:
        content = read(root, path)
    except Unavailable as error:
        yield grave(error.message, path, "put a plain file there, or remove it and run `valor init`")
        return
    if content is None:
        yield grave("is missing", path, again)
        return
    if content != wrapper(name):
        yield warning("differs from what init writes", path, f"to have that, remove it and {again}")
    if not is_executable(root, path):
        yield warning("is not executable", path, f"chmod +x {path}, and commit it", "executable")


def _attributes(root: Path) -> Iterator[Finding]:
    content = read(root, ATTRIBUTES)
    missing = [path for path in (LOG, GRADES) if blocks.with_union(content, [path]) != (content or b"")]
    if missing:
        yield warning(
            f"no merge=union for {' and '.join(missing)}: a merge of two branches makes conflicts in it",
            ATTRIBUTES,
            "run `valor init` and commit it",
        )


def hook_file(patient: Patient) -> Iterator[Finding]:
    """The file by which ``memory-hook.sh`` finds this installation."""
    file = patient.workspace.state / "hook"
    mend = {"do": "run `valor sync` or `valor init`", "mend": "hook file"}
    try:
        lines = os.fsdecode(file.read_bytes()).split("\n")
    except FileNotFoundError:
        yield problem("is missing: every hook stays silent", file, **mend)
        return
    except OSError as error:
        yield problem(f"cannot be read ({error.strerror}): every hook stays silent", file, **mend)
        return
    python, program = (*lines, "", "")[:2]
    if not os.access(python, os.X_OK) or not Path(python).is_absolute():
        yield problem(f"names an interpreter that is not there: {python}", file, **mend)
    elif not Path(program).is_file():
        yield problem(f"names a program that is not there: {program}", file, **mend)
    else:
        here = (os.path.abspath(sys.executable), str(hookfile.PROGRAM))  # noqa: PTH100 (a link is the environment)
        if (python, program) != here:
            yield warning(f"leads to another installation than this one: {program}", file, **mend)
        yield from _imports(python, Path(program), file)


def _imports(python: str, program: Path, file: Path) -> Iterator[Finding]:
    package = str(program.parents[2])
    done = subprocess.run(
        [python, "-I", "-c", _IMPORTS, package], capture_output=True, text=True, timeout=_SECONDS
    )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        yield problem(
            f"its interpreter cannot import valor ({said}), so nothing is synced",
            file,
            "install valor-memory again, then run `valor init`",
        )


def _tools(patient: Patient) -> Iterator[Finding]:
    """The command that ``.mcp.json`` has an agent's harness start."""
    content = read(patient.root, SERVERS)
    try:
        servers = parsed(content.decode("utf-8")).get("mcpServers", {}) if content else {}
        command = servers.get("valor", {}).get("command")
    except (NotJson, UnicodeDecodeError, AttributeError):
        yield problem("cannot be read, so the agent has no tools from it", SERVERS, "mend the file")
        return
    if not isinstance(command, str):
        return
    found = shutil.which(command, path=patient.workspace.config.path)
    if found is None:
        yield warning(
            f"names the command {command}, which is not on the PATH: the agent has no memory tools",
            SERVERS,
            "install valor-memory with pipx, or put its folder on the PATH",
        )
    elif Path(found).resolve() != Path(sys.executable).with_name("valor").resolve():
        yield info(f"{command} on the PATH is another installation than this one: {found}", SERVERS)
    elif find_spec("mcp") is None:
        yield warning(
            "the extra for `valor mcp` is not installed: the agent has no memory tools",
            SERVERS,
            "pip install 'valor-memory[mcp]'",
        )
