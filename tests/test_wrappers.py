"""The scripts of .claude/scripts: they find valor from anywhere, and otherwise stay out of the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import VALOR, Repo, Result

from valor.install.plan import wrapper

PROJECT = Path(__file__).parents[1]
COMMANDS = {"query": "memory-query", "observe": "observe", "route": "route", "consolidate": "consolidate"}
OURS = [PROJECT / f".claude/scripts/memory-{name}.sh" for name in COMMANDS]
# Says what it was called with, so that a test sees the call and not the command's answer.
ECHO = '#!/bin/sh\nprintf "%s\\n" "$0" "$(pwd -P)" "${PROJECT_ROOT:-}" "$@"\nexit 42\n'


def program(path: Path, text: str = ECHO) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def give_wrappers(root: Path) -> Path:
    """Put the scripts where init puts them; the one for queries."""
    for ours in OURS:
        program(root / ".claude/scripts" / ours.name, ours.read_text())
    return root / ".claude/scripts/memory-query.sh"


def call(repo: Repo, script: Path | str, *arguments: str, cwd: Path | None = None, **env: str) -> Result:
    """Run the script with a PATH on which no valor is."""
    done = subprocess.run(
        [script, *arguments],
        cwd=cwd or repo.root,
        env=repo.env | {"PATH": "/usr/bin:/bin"} | env,
        capture_output=True,
        text=True,
    )
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("used", OURS, ids=lambda path: path.name)
def test_a_wrapper_is_short_checked_and_the_one_this_repository_uses(used: Path) -> None:
    text = wrapper(used.name)
    assert used.read_bytes() == text
    assert b"@" not in text.replace(b'"$@"', b"")
    assert os.access(used, os.X_OK)
    assert text.startswith(b"#!/bin/sh\n")
    assert b"\r" not in text
    assert len(text.splitlines()) <= 40
    checker = Path(sys.executable).with_name("shellcheck")
    if checker.exists():
        subprocess.run([checker, "--shell=sh", used], check=True)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrapper_passes_its_arguments_and_the_exit_code_through(repo: Repo, name: str) -> None:
    give_wrappers(repo.root)
    valor = program(repo.root / ".venv/bin/valor")
    done = call(repo, f".claude/scripts/memory-{name}.sh", "a b", "", "*", "--limit", "$HOME", "--help")
    assert done.code == 42
    assert done.out.splitlines() == [
        str(valor), str(repo.root), "", COMMANDS[name], "a b", "", "*", "--limit", "$HOME", "--help",
    ]  # fmt: skip
    assert done.err == ""


def test_standard_input_and_signals_reach_the_command(repo: Repo) -> None:
    script = give_wrappers(repo.root)
    program(repo.root / ".venv/bin/valor", '#!/bin/sh\nread -r line; echo "$line"; kill -TERM $$\n')
    done = subprocess.run(
        [script], env=repo.env, cwd=repo.root, input="text\n", capture_output=True, text=True
    )
    assert done.stdout == "text\n"
    assert done.returncode == -signal.SIGTERM


def test_the_named_command_comes_first_then_the_checkouts_then_the_paths(repo: Repo, tmp_path: Path) -> None:
    script = give_wrappers(repo.root)
    named = program(tmp_path / "my tools/valor-dev")
    local = program(repo.root / ".venv/bin/valor")
    on_path = program(tmp_path / "path/valor")
    user = program(repo.home / ".local/bin/valor")
    path = f"{on_path.parent}:/usr/bin:/bin"

    def found(**env: str) -> str:
        return call(repo, script, **env).out.splitlines()[0]

    assert found(VALOR=str(named), PATH=path) == str(named)
    assert found(VALOR="valor-dev", PATH=f"{named.parent}:{path}") == str(named)
    assert found(PATH=path) == str(local)
    local.unlink()
    assert found(PATH=path) == str(on_path)
    assert found() == str(user)


@pytest.mark.parametrize("env", [{}, {"VALOR": "/nowhere/valor"}], ids=["nowhere", "misnamed"])
def test_without_valor_it_says_what_to_install(repo: Repo, env: dict[str, str]) -> None:
    script = give_wrappers(repo.root)
    if env:
        program(repo.root / ".venv/bin/valor")
    done = call(repo, script, "words", **env)
    assert (done.code, done.out) == (5, "")
    assert done.err.count("\n") == 1
    assert "pipx install valor-memory" in done.err
    assert "pip install valor-memory" in done.err


def test_it_works_from_a_subdirectory_and_by_every_kind_of_path(
    make_repo: Callable[[str], Repo], tmp_path: Path
) -> None:
    repo = make_repo("with spaces and ünïcode 記憶")
    script = give_wrappers(repo.root)
    valor = program(repo.root / ".venv/bin/valor")
    deep = repo.root / "src/deep er"
    deep.mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    absolute, relative = tmp_path / "bin/one.sh", tmp_path / "bin/two.sh"
    absolute.symlink_to(script)
    relative.symlink_to("one.sh")
    for command in (str(script), "../../.claude/scripts/memory-query.sh", str(absolute), str(relative)):
        done = call(repo, command, cwd=deep)
        assert done.out.splitlines()[:3] == [str(valor), str(deep), ""]
    outside = call(repo, str(relative), cwd=tmp_path).out.splitlines()
    assert outside[:3] == [str(valor), str(tmp_path), str(repo.root)]
    done = subprocess.run(
        ["sh", script.name], cwd=script.parent, env=repo.env, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[0] == str(valor)


def test_it_acts_on_the_checkout_it_is_called_in(make_repo: Callable[[str], Repo], tmp_path: Path) -> None:
    here, there = make_repo("here"), make_repo("there")
    script = give_wrappers(here.root)
    program(here.root / ".venv/bin/valor", f'#!/bin/sh\nexec "{VALOR}" "$@"\n')
    for repo, text in (
        (here, "the pool of connections is here"),
        (there, "the pool of connections is there"),
    ):
        repo.write({"id": f"obs-1790000000-{len(text):012x}", "type": "error", "summary": text})
    assert "is here" in call(here, script, "connections").out
    assert "is there" in call(here, script, "connections", cwd=there.root).out
    assert "is here" in call(here, script, "connections", cwd=tmp_path).out, "outside: the script's own"
    assert "is there" in call(here, script, "connections", PROJECT_ROOT=str(there.root)).out


def test_the_project_root_of_the_environment_counts_before_the_checkout(repo: Repo, tmp_path: Path) -> None:
    script = give_wrappers(repo.root)
    program(repo.root / ".venv/bin/valor")
    valor = program(tmp_path / "no git here/.venv/bin/valor")
    named = str(tmp_path / "no git here")
    assert call(repo, script, PROJECT_ROOT=named).out.splitlines()[:3] == [str(valor), str(repo.root), named]


def test_a_worktree_and_a_submodule_use_the_main_checkouts_valor(
    make_repo: Callable[[str], Repo], tmp_path: Path
) -> None:
    repo, library = make_repo("main"), make_repo("library")
    for each in (repo, library):
        give_wrappers(each.root)
        each.git("add", ".claude")
        each.git("commit", "-q", "-m", "start")
    valor = program(repo.root / ".venv/bin/valor")
    tree = tmp_path / "a worktree"
    repo.git("worktree", "add", "-q", "--detach", str(tree))
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.root), "lib")
    for place in (tree, repo.root / "lib"):
        done = call(repo, ".claude/scripts/memory-query.sh", cwd=place)
        assert Path(done.out.splitlines()[0]).resolve() == valor
        assert done.out.splitlines()[1:3] == [str(place), ""]
    own = program(tree / ".venv/bin/valor")
    assert call(repo, ".claude/scripts/memory-query.sh", cwd=tree).out.splitlines()[0] == str(own)


def test_a_copy_outside_any_project_points_valor_nowhere(repo: Repo, tmp_path: Path) -> None:
    script = program(tmp_path / "bin/memory-query.sh", OURS[0].read_text())
    done = call(repo, script, cwd=tmp_path, VALOR=str(VALOR))
    assert done.code == 5
    assert "not in a git repository" in done.err


def test_the_valor_that_ran_init_is_found_again(repo: Repo) -> None:
    assert repo.valor("init").code == 0
    repo.valor("observe", "the worker drops its queue on reload")
    found = call(repo, repo.root / ".claude/scripts/memory-query.sh", "queue")
    assert found.code == 0
    assert found.rows
