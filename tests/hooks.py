"""A checkout with a mirrored memory, and an agent that works in it and fires hooks."""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any

import servers
from conftest import Repo, Result

from valor.install.hooks import HARNESSES

PROJECT = Path(__file__).parents[1]
SCRIPT = PROJECT / ".claude/scripts/memory-hook.sh"
COMMAND: str = HARNESSES["claude"].groups["PostToolUse"]["hooks"][0]["command"]

FACTS = {
    "socket": "The socket pool hands out a dead connection after a fork",
    "cron": "Cron jobs skip the hour of the daylight switch",
    "serializer": "The serializer drops unknown fields without a word",
    "vite": "Vite needs an explicit base path behind the reverse proxy",
    "migration": "Migrations lock the orders table for minutes",
    "webhook": "Webhook signatures are computed over the raw body",
    "thumbnail": "Thumbnails leak file handles when ImageMagick fails",
    "quota": "Tenants with a zero quota are treated as unlimited",
    "locale": "Turkish locale breaks lowercase comparisons of headers",
    "retry": "Retrying a timed out payment charges twice",
}
IDS = {name: f"obs-{1_790_000_000 + n}-{n:012x}" for n, name in enumerate(FACTS)}


def facts() -> list[dict[str, Any]]:
    return [
        {"id": IDS[name], "timestamp": "2026-11-30T18:00:00Z", "type": "error", "summary": text}
        for name, text in FACTS.items()
    ]


def fire(repo: Repo, event: dict[str, Any] | bytes, *, cwd: Path | None = None, **env: str) -> Result:
    """Run the command that `valor init` wires, as Claude Code runs it, with this event; a dict is written as
    harnesses write it."""
    text = event if isinstance(event, bytes) else json.dumps(event, separators=(",", ":")).encode()
    done = subprocess.run(
        ["sh", "-c", COMMAND],
        input=text,
        cwd=cwd or repo.root,
        env=repo.env | {"CLAUDE_PROJECT_DIR": str(PROJECT)} | env,
        capture_output=True,
        timeout=20,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def context(done: Result) -> str:
    """What the answer adds to the agent's context; "" where nothing was printed."""
    assert (done.code, done.err) == (0, "")
    if not done.out:
        return ""
    inner = json.loads(done.out)
    assert list(inner) == ["hookSpecificOutput"]
    assert set(inner["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    text: str = inner["hookSpecificOutput"]["additionalContext"]
    return text


def told(text: str) -> list[str]:
    """The names of the facts that a context holds, in order."""
    names = {id_: name for name, id_ in IDS.items()}
    return [names.get(id_, id_) for id_ in re.findall(r'<thought id="([^"]*)">', text)]


class Agent:
    """An agent's session: fires events in the shape of Claude Code's."""

    def __init__(self, repo: Repo, session: str) -> None:
        self.repo = repo
        self.session = session
        self.transcript: Path | None = None

    @property
    def folder(self) -> Path:
        return self.repo.state / "sessions" / self.session

    def event(self, name: str, **fields: Any) -> dict[str, Any]:
        common: dict[str, Any] = {"session_id": self.session}
        if self.transcript:
            common["transcript_path"] = str(self.transcript)
        return common | {"cwd": str(self.repo.root), "hook_event_name": name} | fields

    def fire(self, name: str, **fields: Any) -> list[str]:
        return told(context(fire(self.repo, self.event(name, **fields))))

    def prompt(self, text: str) -> list[str]:
        return self.fire("UserPromptSubmit", prompt=text)

    def command(self, command: str, output: str = "", **fields: Any) -> list[str]:
        got = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        asked = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "toolu_now"}
        return self.fire("PostToolUse", **asked, tool_response=got, **fields)


def processes_of(repo: Repo) -> list[str]:
    """The command lines of the processes that run with this state folder."""
    found = []
    mark = f"XDG_STATE_HOME={repo.env['XDG_STATE_HOME']}\0".encode()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (entry / "environ").read_bytes() and servers.alive(int(entry.name)):
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def wait_for_background(repo: Repo) -> None:
    """Until the sync that a hook began has ended."""
    deadline = time.monotonic() + 30
    while [each for each in processes_of(repo) if " sync" in each]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
