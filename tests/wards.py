"""A checkout to examine: set up, committed, mirrored on a real server, well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conftest import VALOR, Repo, Result
from hooks import facts

SETTINGS = ".claude/settings.json"


def set_up(repo: Repo, url: str, *harnesses: str) -> Repo:
    """The checkout with the facts in its log, committed and in the mirror."""
    repo.env |= {"VALOR_REDIS_URL": url, "TMPDIR": str(repo.home)}
    repo.env["PATH"] = f"{VALOR.parent}:{repo.env['PATH']}"
    repo.write(*facts())
    flags = [part for name in harnesses or ("claude",) for part in ("--harness", name)]
    assert repo.valor("init", *flags).code == 0
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Give it a memory")
    assert repo.valor("sync").code == 0
    return repo


def examine(repo: Repo, *flags: str, runs: int = 0, **env: str) -> Result:
    return repo.valor("doctor", "--json", "--runs", str(runs), *flags, **env)


def findings(done: Result, *severities: str) -> list[dict[str, Any]]:
    return [row for row in done.rows[:-1] if row["severity"] in (severities or ("problem", "warning"))]


def about(done: Result, check: str) -> list[str]:
    """What a check has found, in its words."""
    return [f"{row['what']} | {row['where']}" for row in findings(done) if row["check"] == check]


def keys(url: str) -> set[bytes]:
    """Every key on the server."""
    from valor import server
    from valor.address import parse

    with server.client(parse(url)) as client:
        return set(client.scan_iter())


def traces(repo: Repo, url: str) -> set[Any]:
    """All that a canary could leave: files of the state folder and of the temporary one, keys."""
    files = {path for path in repo.home.rglob("*") if path.name != "sizes.jsonl"}
    return files | keys(url)


def rewire(repo: Repo, old: str, new: str, path: str = SETTINGS) -> None:
    """Edit a settings file."""
    file = repo.root / path
    before = file.read_text()
    assert old in before
    file.write_text(before.replace(old, new))


def script(repo: Repo, *lines: str) -> None:
    """Put another script in the place of the hook's."""
    path: Path = repo.root / ".claude/scripts/memory-hook.sh"
    path.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n")
