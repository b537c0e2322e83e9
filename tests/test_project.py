from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Repo
from hypothesis import given, settings
from hypothesis import strategies as st

from valor.gitconfig import values
from valor.project import normalised, project_key

SAME = [
    "https://github.com/Owner/Repo.git",
    "https://github.com/Owner/Repo",
    "https://GitHub.com/Owner/Repo/",
    "https://github.com:443/Owner/Repo.git/",
    "http://github.com:80/Owner/Repo",
    "https://ada:" + "token" + "@github.com/Owner/Repo.git",
    "https://x@y:" + "p%40ss" + "@github.com/Owner/Repo.git",
    "HTTPS://github.com//Owner//Repo.git",
    "ssh://git@github.com/Owner/Repo.git",
    "ssh://git@github.com:22/Owner/Repo",
    "ssh://github.com/Owner/Repo",
    "git+ssh://git@github.com/Owner/Repo.git",
    "git://github.com/Owner/Repo.git",
    "git://github.com:9418/Owner/Repo.git",
    "git@github.com:Owner/Repo.git",
    "git@GITHUB.COM:Owner/Repo",
    "github.com:Owner/Repo.git",
    "git@github.com:/Owner/Repo.git/",
    "org-77@github.com:Owner/Repo.git",
    "[git@github.com:22]:Owner/Repo.git",
    " https://github.com/Owner/Repo.git\n",
]
DIFFERENT = [
    "https://github.com/Owner/Repo",
    "https://github.com/Owner/repo",
    "https://github.com/Other/Repo",
    "https://github.com/Repo",
    "https://gitlab.com/Owner/Repo",
    "https://github.com:8443/Owner/Repo",
    "https://github.com/Owner/Repo.git.wiki",
    "https://github.com/Owner/Repo/Repo",
    "ssh://git@github.com:2222/Owner/Repo",
    "ada@host:Repo",
    "bob@host:Repo",
    "git@host:Repo",
    "/srv/git/Repo.git",
    "/srv/other/Repo.git",
]


def clone_of(url: str, repo: Repo) -> str:
    repo.git("config", "remote.origin.url", url)
    return project_key(repo.root)


@pytest.mark.parametrize("url", SAME)
def test_every_form_of_a_repositorys_url_gives_one_key(url: str) -> None:
    assert normalised(url) == "github.com/Owner/Repo"


def test_other_forms_agree_where_they_name_one_place() -> None:
    for one, other in (
        ("ssh://git@[::1]:2222/o/r", "[git@::1:2222]:o/r"),
        ("ssh://git@[::1]/o/r", "git@[::1]:o/r"),
        ("https://host/a%20b.git", "git@host:a b"),
        ("ssh://ada@host/~/r.git", "ada@host:r"),
        ("ssh://ada@host/~/r.git", "ada@host:~/r"),
        ("ada@host:/srv/r.git", "ssh://bob@host/srv/r"),
    ):
        assert normalised(one) == normalised(other) != ""


def test_repositories_that_share_a_name_have_keys_of_their_own(repo: Repo) -> None:
    assert len({clone_of(url, repo) for url in DIFFERENT}) == len(DIFFERENT)


def test_a_key_has_no_credentials_and_no_brace(repo: Repo) -> None:
    key = clone_of("https://ada:" + "token" + "@host/o/{we}ird näme & more of it.git", repo)
    assert "token" not in key
    assert key.startswith("we-ird-n-me-more-of-i-")
    assert set(key) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


@settings(max_examples=150)
@given(st.text(max_size=30))
def test_any_url_gives_a_key(url: str) -> None:
    normalised(url)


def test_clones_and_linked_worktrees_agree(make_repo: Callable[[str], Repo], tmp_path: Path) -> None:
    first = make_repo("first")
    first.git("commit", "-q", "--allow-empty", "-m", "base")
    first.git("worktree", "add", "-q", "-b", "linked", str(tmp_path / "linked wörktree"))
    first.git("clone", "-q", str(first.root), str(tmp_path / "clone"))
    first.git("clone", "-q", f"file://{tmp_path}/clone", str(tmp_path / "clone of clone"))
    first.git("clone", "-q", "--bare", str(first.root), str(tmp_path / "bare.git"))
    names = ["linked wörktree", "clone", "clone of clone", "bare.git"]
    keys = {project_key(tmp_path / name) for name in names[:3]} | {project_key(first.root)}
    assert len(keys) == 1
    first.git("config", "remote.origin.url", "git@host:o/r.git")
    moved = {project_key(tmp_path / name) for name in names[:3]} | {project_key(first.root)}
    assert len(moved) == 1
    assert moved != keys


def test_clones_of_a_bare_repository_agree_however_its_path_is_written(
    make_repo: Callable[[str], Repo], tmp_path: Path
) -> None:
    repo = make_repo("work")
    repo.git("init", "-q", "--bare", str(tmp_path / "hub.git"))
    (tmp_path / "link.git").symlink_to(tmp_path / "hub.git")
    written = [str(tmp_path / "hub.git"), str(tmp_path / "hub"), "../hub.git", f"file://{tmp_path}/hub.git"]
    written += [str(tmp_path / "link.git"), f"file://localhost{tmp_path}/hub.git/"]
    assert len({clone_of(url, repo) for url in written}) == 1


def test_repositories_that_point_at_each_other_have_a_key(make_repo: Callable[[str], Repo]) -> None:
    one, other = make_repo("one"), make_repo("other")
    one.git("remote", "add", "origin", str(other.root))
    other.git("remote", "add", "origin", str(one.root))
    assert project_key(one.root)
    assert project_key(other.root)
    for odd in (
        "/",
        ".",
        "..",
        "",
        "x:y",
        "C:\\repo",
        "/none/at/all",
        "file://",
        "ssh://",
        "://",
        "a" * 5000,
    ):
        assert clone_of(odd, one)


def test_repositories_without_a_remote_have_keys_of_their_own(make_repo: Callable[[str], Repo]) -> None:
    one, other = make_repo("x/api"), make_repo("y/api")
    keys = project_key(one.root), project_key(other.root)
    assert keys[0] != keys[1]
    assert all(key.startswith("api-") for key in keys)


def test_a_submodule_is_not_its_parent(make_repo: Callable[[str], Repo]) -> None:
    inner, outer = make_repo("inner"), make_repo("outer")
    inner.git("commit", "-q", "--allow-empty", "-m", "base")
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "sub")
    assert project_key(outer.root / "sub") == project_key(inner.root) != project_key(outer.root)


def test_a_folder_without_git_has_its_path(tmp_path: Path, repo: Repo) -> None:
    for name in ("one", "other"):
        (repo.root / name).mkdir()
    keys = {project_key(repo.root / "one"), project_key(repo.root / "other"), project_key(repo.root)}
    assert len(keys) == 3


# Reading git's configuration, held against git


def of_git(path: Path) -> list[str]:
    done = subprocess.run(
        ["git", "config", "--file", str(path), "--includes", "--get-all", "remote.origin.url"],
        capture_output=True,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"},
        check=False,
    )
    return done.stdout.decode("utf-8", "surrogateescape").split("\n")[:-1]


CONFIGS = [
    '[remote "origin"]\n\turl = https://h/o/r.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
    '[remote "origin"]\n\tpushurl = p\n[remote "other"]\n\turl = other\n[remote "origin"] url = same line\n',
    '[remote "ORIGIN"]\nurl = big\n[REMOTE "origin"]\nURL = small\n',
    "[remote.origin]\nurl = old form\n[Remote.ORIGIN]\nurl = old form too\n",
    '[remote "origin"]\nurl = a # comment\nurl = "a # no comment" ; comment\nurl = a\\\\b\\"c\\t\n',
    '[remote "origin"]\r\n\turl = crlf\r\n',
    '\ufeff[remote "origin"]\nurl = mark\n',
    '; [remote "origin"]\n# url = no\n[remote "origin"] # x\nurl = yes\n',
    '[remote "origin"]\nurl = in \\\n  two lines\n# a comment \\\nurl = second\n',
    '[remote "ori\\"gin"]\nurl = no\n[remote "origin"]\nurl=  blanks   inside   \n',
    '[remote "a]b"]\nurl = no\n[core]\nx = "]"\n[remote "origin"]\nurl = yes\n',
    '[include]\npath = more\n[remote "origin"]\nurl = after\n',
    '[remote "origin"]\nurl = before\n[include]\npath = more\npath = missing\n',
    '[remote "origin"]\nurl\n',
    "",
]


@pytest.mark.parametrize("number", range(len(CONFIGS)))
def test_a_configuration_reads_as_git_reads_it(number: int, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_bytes(CONFIGS[number].encode())
    (tmp_path / "more").write_text('[remote "origin"]\nurl = included\n[include]\npath = more\n'[:43])
    assert values(path, "remote", "origin", "url") == [value for value in of_git(path) if value]


@settings(max_examples=60)
@given(st.text(st.characters(exclude_characters="\0\n", exclude_categories=("Cs",)), min_size=1, max_size=20))
def test_whatever_url_git_writes_is_read_back(tmp_path_factory: pytest.TempPathFactory, url: str) -> None:
    path = tmp_path_factory.mktemp("c") / "config"
    subprocess.run(["git", "config", "--file", str(path), "remote.origin.url", url], check=True)
    assert values(path, "remote", "origin", "url") == [url]


def test_a_configuration_that_cannot_be_read_has_no_values(tmp_path: Path) -> None:
    assert values(tmp_path / "none", "remote", "origin", "url") == []
    (tmp_path / "x").write_text('[include]\npath = x\n[remote "origin"\nurl = y\n[[[')
    values(tmp_path / "x", "remote", "origin", "url")
