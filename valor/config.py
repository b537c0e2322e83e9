"""Settings, each with where it came from.

Only ``resolve`` reads the environment and the configuration files, and only the doors call it; the
rest of valor takes the ``Config`` it returns.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from valor import git
from valor.errors import NotAProject, Unavailable, UsageError

PROJECT_FILE = ".valor.toml"
_OFF = ("false", "0", "no", "off")
_ON = ("true", "1", "yes", "on")


class Setting(NamedTuple):
    """One setting of the files and the environment: its key, variable, default and kind."""

    key: str
    variable: str
    default: bool | int | float | str
    meaning: str


SETTINGS = (
    Setting(
        "enabled", "LOA_MEMORY_ENABLED", True, "false: `observe` writes nothing, hooks and recall are silent"
    ),
    Setting("limit", "VALOR_LIMIT", 10, "how many observations a query lists"),
    Setting("lock_timeout", "VALOR_LOCK_TIMEOUT", 10.0, "seconds to wait for another writer of the log"),
    Setting(
        "redis_url", "VALOR_REDIS_URL", "", "the server for the mirror; without one valor starts its own"
    ),
    Setting(
        "server_idle", "VALOR_SERVER_IDLE", 14400.0, "seconds without a question that end valor's own server"
    ),
    Setting("server_memory", "VALOR_SERVER_MEMORY", 512, "MiB that valor's own server may take"),
)


class Config(NamedTuple):
    """What a command needs to know about where it runs.

    ``root`` is the checkout's root, ``state`` valor's own folder outside the repository,
    ``auto_memory`` where the harness keeps what it remembers of this repository (never written),
    ``runtime`` the folder for the server's socket, ``path`` where programs are looked for (as PATH);
    ``origins`` says for each setting which file, variable or default it came from.
    """

    root: Path
    state: Path
    session_id: str = ""
    enabled: bool = True
    limit: int = 10
    lock_timeout: float = 10.0
    auto_memory: Path = Path()
    redis_url: str = ""
    server_idle: float = 14400.0
    server_memory: int = 512
    runtime: Path = Path(f"/tmp/valor-{os.geteuid()}")
    path: str = os.defpath
    origins: Mapping[str, str] = MappingProxyType({})


def resolve(env: Mapping[str, str], cwd: Path, *, anywhere: bool = False) -> Config:
    """The configuration for a command run in ``cwd``. Raises UsageError for a setting that does not
    parse, and NotAProject outside a project; ``anywhere`` takes ``cwd`` for the root there, for what
    is about the user and not about a project."""
    try:
        root, origin = _root(env, cwd)
    except NotAProject:
        if not anywhere:
            raise
        root, origin = cwd, "default"
    origins = {"root": origin}
    session = env.get("LOA_SESSION_ID") or env.get("CLAUDE_CODE_SESSION_ID") or ""
    origins["session_id"] = (
        "LOA_SESSION_ID" if env.get("LOA_SESSION_ID") else "harness" if session else "default"
    )
    values: dict[str, Any] = {}
    files = _files(env, root)
    for setting in SETTINGS:
        values[setting.key], origins[setting.key] = _value(setting, env, files)
    return Config(
        root=root,
        state=state_directory(env),
        session_id=session,
        auto_memory=_auto_memory(env, root),
        runtime=runtime_directory(env, cwd),
        path=env.get("PATH") or os.defpath,
        origins=origins,
        **values,
    )


def state_directory(env: Mapping[str, str]) -> Path:
    """Where valor keeps what is not the record: ``$XDG_STATE_HOME/valor`` (not made here)."""
    home = env.get("XDG_STATE_HOME", "")
    # The specification tells us to ignore a relative path.
    base = Path(home) if home.startswith("/") else _home(env) / ".local" / "state"
    return base / "valor"


def _home(env: Mapping[str, str]) -> Path:
    """The user's folder. Raises Unavailable where there is none, as for a bare user id in a container."""
    named = env.get("HOME", "")
    try:
        home = Path(named) if named else Path.home()
    except RuntimeError:
        home = Path()
    if not home.is_absolute():
        raise Unavailable("there is no home folder", "set HOME, or XDG_STATE_HOME and XDG_CONFIG_HOME")
    return home


def runtime_directory(env: Mapping[str, str], cwd: Path) -> Path:
    """Where the server's socket lies (not made here). Not in XDG_RUNTIME_DIR: that differs between a
    login, a cron job and a container's shell, and one state folder must have one server."""
    return cwd / (env.get("VALOR_RUNTIME_DIR") or Config._field_defaults["runtime"])


def _auto_memory(env: Mapping[str, str], root: Path) -> Path:
    """Claude Code's folder: named after the main checkout, which linked worktrees share, with a dash
    for whatever is no letter or digit."""
    with suppress(NotAProject):
        shared = git.find_checkout(root).common_dir
        root = shared.parent if shared.name == ".git" else root
    slug = "".join(char if char.isascii() and char.isalnum() else "-" for char in str(root))
    home = env.get("CLAUDE_CONFIG_DIR") or str(_home(env) / ".claude")
    return Path(home) / "projects" / slug / "memory"


def _root(env: Mapping[str, str], cwd: Path) -> tuple[Path, str]:
    named = env.get("PROJECT_ROOT", "")
    if not named:
        return git.find_checkout(cwd).root, "git"
    root = Path(os.path.abspath(cwd / named))  # noqa: PTH100 (resolve() would follow links)
    if not root.is_dir():
        raise NotAProject(
            f"PROJECT_ROOT is no folder: {named}", "set it to the repository's root, or unset it"
        )
    return root, "PROJECT_ROOT"


def _files(env: Mapping[str, str], root: Path) -> list[tuple[str, Mapping[str, Any]]]:
    """The parsed configuration files that exist, nearest first."""
    home = env.get("XDG_CONFIG_HOME") or str(_home(env) / ".config")
    found: list[tuple[str, Mapping[str, Any]]] = []
    for path in (root / PROJECT_FILE, Path(home) / "valor" / "config.toml"):
        if path.is_file():
            found.append((str(path), _parse(path)))
    return found


def _parse(path: Path) -> Mapping[str, Any]:
    import tomllib  # most projects have no file, and the parser is not free

    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path}: {error}", "mend the file; docs/reference/environment.md lists its keys"
        ) from None
    known = [setting.key for setting in SETTINGS]
    for key in table:
        if key not in known:
            raise UsageError(f"{path}: unknown key {key!r}", f"known keys: {', '.join(known)}")
    return table


def _value(
    setting: Setting, env: Mapping[str, str], files: list[tuple[str, Mapping[str, Any]]]
) -> tuple[Any, str]:
    if env.get(setting.variable):
        return _coerce(setting, env[setting.variable], setting.variable), setting.variable
    for path, table in files:
        if setting.key in table:
            return _coerce(setting, table[setting.key], f"{path}: {setting.key}"), path
    return setting.default, "default"


def _coerce(setting: Setting, value: object, where: str) -> bool | int | float | str:
    """``value`` in the setting's own kind, from a file's native value or a variable's text."""
    if isinstance(setting.default, str):
        if isinstance(value, str):
            return value.strip()
        raise UsageError(f"{where} is no text", "put it in quotes")
    text = str(value).strip().lower()
    if isinstance(setting.default, bool):
        if text in _ON + _OFF:
            return text in _ON
        raise UsageError(f"{where} is {value!r}", "use true or false")
    try:
        number = int(text) if isinstance(setting.default, int) else float(text)
    except ValueError:
        raise UsageError(f"{where} is {value!r}", "use a number") from None
    if not 0 < number < 1e9:
        raise UsageError(f"{where} is {value!r}", "use a number above 0")
    return number
