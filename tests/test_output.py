"""Standard output that is narrow, full, closed or no longer read."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import VALOR, Repo

FINDING = "The socket pool hands out a dead connection after a fork"


def shell(repo: Repo, line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", line.replace("valor ", f"'{VALOR}' ")],
        cwd=repo.root,
        env=repo.env,
        capture_output=True,
        text=True,
    )


@pytest.fixture
def told(repo: Repo) -> Repo:
    assert repo.valor("observe", FINDING, "--tag", "sockets", "--details", "Seen on Linux. " * 9).code == 0
    return repo


@pytest.mark.parametrize("columns", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("flags", [(), ("--summary",), ("--blame",), ("--explain", "socket")])
def test_at_any_width_an_id_stays_whole_and_words_stay_words(
    told: Repo, columns: int, flags: tuple[str, ...]
) -> None:
    shown = told.on_a_terminal(columns, "memory-query", *flags)
    assert told.lines()[0]["id"] in shown
    assert "connection" in shown
    assert "\x1b" not in shown


def test_a_table_is_drawn_where_there_is_room(told: Repo) -> None:
    assert "summary" in told.on_a_terminal(160, "memory-query").splitlines()[1]


def test_an_observation_that_could_not_be_announced_is_no_bug_and_stands(repo: Repo) -> None:
    done = shell(repo, f'valor observe "{FINDING}" > /dev/full')
    assert done.returncode == 5
    assert "what the command did stands" in done.stderr
    assert len(repo.lines()) == 1


@pytest.mark.parametrize("command", ["memory-query", "export", "memory-query --stats", "verify", "--help"])
def test_a_full_output_is_unavailable_and_no_bug(told: Repo, command: str) -> None:
    done = shell(told, f"valor {command} > /dev/full")
    assert done.returncode == (0 if command == "verify" else 5)  # verify has nothing to say there
    assert "bug" not in done.stderr


@pytest.mark.parametrize("redirect", [">&-", "2>&-", "<&-", ">&- 2>&-"])
def test_closed_streams_are_no_bug(told: Repo, redirect: str) -> None:
    done = shell(told, f"valor memory-query {redirect}")
    assert done.returncode == (5 if ">&-" in redirect and not redirect.startswith("2") else 0)
    assert not (told.state / "errors.log").exists()


def test_a_reader_that_stops_early_changes_no_exit_code(repo: Repo) -> None:
    repo.write(*({"id": f"obs-{n}", "summary": f"note {n} " * 9} for n in range(5000)))
    for command in ("memory-query --limit 0", "export"):
        done = shell(repo, f"set -o pipefail; valor {command} | head -1")
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)


@pytest.mark.parametrize("kind", ["link", "fifo", "device"])
def test_export_replaces_plain_files_only(told: Repo, tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target"
    if kind == "link":
        target.symlink_to(tmp_path / "elsewhere")
    elif kind == "fifo":
        os.mkfifo(target)
    else:
        target = Path("/dev/null")
    before = target.lstat().st_mode
    result = told.valor("export", "--output", str(target), "--force")
    assert result.code == 2
    assert "no plain file" in result.err
    assert target.lstat().st_mode == before


def test_a_bug_is_kept_without_what_the_user_said(repo: Repo) -> None:
    broken = repo.home / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import valor.observe\n"
        "def observe(workspace, entries, **more): raise ValueError(f'no {entries}')\n"
        "valor.observe.observe = observe\n"
    )
    result = repo.valor("observe", FINDING, PYTHONPATH=str(broken))
    assert result.code == 70
    assert "errors.log" in result.err
    kept = (repo.state / "errors.log").read_text()
    assert "ValueError" in kept
    assert "in observe" in kept
    assert "socket" not in kept
