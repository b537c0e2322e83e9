"""The settings files of the harnesses as they are, the checkout's and the user's own; only read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from valor.install.hooks import HARNESSES, NAME
from valor.install.json_text import BOM, NotJson, check

MILLISECONDS = ("gemini",)  # harnesses whose timeouts are in milliseconds; the others' in seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A settings file. ``own`` says that it is the one that init writes, ``fault`` why it cannot be read
    ("" where it can)."""

    harness: str
    path: Path
    own: bool
    text: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""

    def handlers(self) -> Iterator[Handler]:
        """Every hook in it, whatever it runs; what is shaped otherwise is passed over."""
        hooks = self.data.get("hooks")
        for event, groups in hooks.items() if isinstance(hooks, dict) else ():
            for group in groups if isinstance(groups, list) else ():
                if not isinstance(group, dict):
                    continue
                inner = group.get("hooks", [group])
                for each in inner if isinstance(inner, list) else ():
                    if isinstance(each, dict):
                        yield Handler(file=self, event=event, command=_command(each), fields=each)


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """One command that a file has run at an event."""

    file: File
    event: str
    command: str
    fields: Mapping[str, Any]

    @property
    def ours(self) -> bool:
        """Whether it runs valor's script."""
        return NAME in self.command

    @property
    def timeout(self) -> float | None:
        """As it stands in the file, in the harness's unit; None where there is none."""
        value = self.fields.get("timeout")
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    @property
    def seconds(self) -> float | None:
        """The timeout in seconds."""
        scale = 1000 if self.file.harness in MILLISECONDS else 1
        return None if self.timeout is None else self.timeout / scale


def files(root: Path, env: Mapping[str, str]) -> list[File]:
    """The files that exist, each once, the checkout's first."""
    home = Path(env.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 (Path.home() raises without one)
    places = [(name, root / harness.path, True) for name, harness in HARNESSES.items()]
    places += [
        ("claude", root / ".claude" / "settings.local.json", False),
        ("claude", Path(env.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "settings.json", False),
        ("codex", Path(env.get("CODEX_HOME") or home / ".codex") / "hooks.json", False),
        ("gemini", home / ".gemini" / "settings.json", False),
        ("cursor", home / ".cursor" / "hooks.json", False),
    ]
    found: dict[Path, File] = {}
    for name, path, own in places:
        if path.resolve() not in found and path.is_file():
            found[path.resolve()] = _read(name, path, own)
    return list(found.values())


def _read(name: str, path: Path, own: bool) -> File:
    try:
        text = path.read_bytes().decode("utf-8")
        check(text)
        data = json.loads(text.removeprefix(BOM), parse_int=float)
    except UnicodeDecodeError:
        return File(harness=name, path=path, own=own, fault="not UTF-8")
    except OSError as error:
        return File(harness=name, path=path, own=own, fault=error.strerror or "not readable")
    except NotJson as error:
        return File(harness=name, path=path, own=own, fault=f"line {error.line}: {error.reason}")
    if not isinstance(data, dict):
        return File(harness=name, path=path, own=own, fault="not an object")
    return File(harness=name, path=path, own=own, text=text, data=data)


def _command(handler: Mapping[str, Any]) -> str:
    """The whole command line; Claude Code can take its arguments apart."""
    command, arguments = handler.get("command"), handler.get("args")
    parts = [command, *(arguments if isinstance(arguments, list) else ())]
    return " ".join(part for part in parts if isinstance(part, str))
