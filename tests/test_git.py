from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import LOG, Repo

from valor import config, git
from valor.errors import NotAProject, Unavailable, UsageError


def test_a_subdirectory_belongs_to_its_repository(repo: Repo) -> None:
    inner = repo.root / "a" / "b"
    inner.mkdir(parents=True)
    assert git.find_checkout(inner).root == repo.root


def test_a_linked_worktree_is_its_own_checkout_and_shares_the_common_directory(
    repo: Repo, tmp_path: Path
) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "base")
    linked = tmp_path / "linked wörktree"
    repo.git("worktree", "add", "-q", "-b", "linked", str(linked))
    found = git.find_checkout(linked)
    assert found.root == linked
    assert found.common_dir == git.find_checkout(repo.root).common_dir == repo.root / ".git"


def test_a_submodule_is_its_own_project(make_repo: Callable[[str], Repo]) -> None:
    inner, outer = make_repo("inner"), make_repo("outer")
    inner.git("commit", "-q", "--allow-empty", "-m", "base")
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "sub")
    assert git.find_checkout(outer.root / "sub").root == outer.root / "sub"
    assert outer.valor("observe", "the submodule pins its own toolchain", cwd=outer.root / "sub").code == 0
    assert (outer.root / "sub" / LOG).exists()
    assert not (outer.root / LOG).exists()


def test_a_path_with_spaces_and_other_letters_works(make_repo: Callable[[str], Repo]) -> None:
    repo = make_repo("mein projekt 프로젝트")
    assert repo.valor("observe", "the cache needs a warm start after every deploy").code == 0
    assert len(repo.lines()) == 1
    assert repo.valor("memory-query", "warm").rows[0]["id"] == repo.lines()[0]["id"]


def test_two_repositories_of_one_name_never_see_each_other(make_repo: Callable[[str], Repo]) -> None:
    one, other = make_repo("x/api"), make_repo("y/api")
    id_ = one.valor("observe", "the api gateway drops trailing slashes").out.strip()
    assert other.valor("memory-query", "gateway").code == 1
    assert other.valor("memory-query", "--full", id_).code != 0
    assert one.valor("memory-query", "--full", id_).code == 0


def test_outside_a_project_the_command_says_so(tmp_path: Path, repo: Repo) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    result = repo.valor("memory-query", "--index", cwd=outside)
    assert result.code == 5
    assert "git init" in result.err
    assert not result.out


def test_a_folder_of_several_repositories_names_them(
    make_repo: Callable[[str], Repo], tmp_path: Path
) -> None:
    make_repo("many/one")
    repo = make_repo("many/two")
    result = repo.valor("observe", "the build needs a clean tree", cwd=tmp_path / "many")
    assert result.code == 5
    assert "holds several: one, two" in result.err
    assert not (tmp_path / "many" / "grimoires").exists()


def test_project_root_names_the_project(repo: Repo, tmp_path: Path) -> None:
    folder = tmp_path / "plain folder"
    folder.mkdir()
    assert (
        repo.valor("observe", "plain folders work as well", cwd=tmp_path, PROJECT_ROOT=str(folder)).code == 0
    )
    assert (folder / LOG).exists()
    assert repo.valor("memory-query", cwd=tmp_path, PROJECT_ROOT=str(folder / "gone")).code == 5


def test_a_git_hook_does_not_redirect_valor_to_its_repository(make_repo: Callable[[str], Repo]) -> None:
    here, there = make_repo("here"), make_repo("there")
    here.valor("observe", "the worker died because the pre-push hook exports GIT_DIR")
    here.git("add", "-A")
    here.git("commit", "-qm", "log")
    result = here.valor(
        "memory-query", "--blame", GIT_DIR=str(there.root / ".git"), GIT_WORK_TREE=str(there.root)
    )
    assert result.rows[0]["author"] == "Ada"


def test_a_revision_that_does_not_exist_is_named(repo: Repo) -> None:
    (repo.root / "a").write_text("a")
    repo.git("add", "a")
    repo.git("commit", "-q", "-m", "base")
    for wrong in ("nowhere", "HEAD:a", "", "-x", "HEAD~9", "HEAD^{tree}"):
        with pytest.raises(UsageError):
            git.show(repo.root, wrong, "x")
    assert git.show(repo.root, "HEAD", "x") is None


def test_a_plain_folder_has_no_revisions_and_no_blame(tmp_path: Path) -> None:
    with pytest.raises(Unavailable):
        git.show(tmp_path, "HEAD", "x")
    assert git.blame(tmp_path, "x", [1]) == {}


def test_each_setting_knows_where_it_came_from(repo: Repo) -> None:
    (repo.root / ".valor.toml").write_text("limit = 3\n")
    user = repo.home / ".config" / "valor" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text("limit = 7\nlock_timeout = 2.5\n")
    found = config.resolve({"HOME": str(repo.home)}, repo.root)
    assert (found.limit, found.lock_timeout, found.enabled) == (3, 2.5, True)
    assert found.origins["limit"] == str(repo.root / ".valor.toml")
    assert found.origins["lock_timeout"] == str(user)
    assert found.origins["enabled"] == "default"
    assert config.resolve({"HOME": str(repo.home), "VALOR_LIMIT": "9"}, repo.root).limit == 9


@pytest.mark.parametrize(
    "text", ["limit = 'many'", "limit = 0", "enabled = 3", "colour = true", "limit = ", "lock_timeout = nan"]
)
def test_a_setting_that_does_not_parse_is_named_with_its_file(repo: Repo, text: str) -> None:
    (repo.root / ".valor.toml").write_text(text)
    with pytest.raises(UsageError, match=r"\.valor\.toml"):
        config.resolve({"HOME": str(repo.home)}, repo.root)


def test_a_relative_state_home_is_ignored_as_the_specification_says() -> None:
    assert config.state_directory({"XDG_STATE_HOME": "rel", "HOME": "/h"}) == Path("/h/.local/state/valor")
    assert config.state_directory({"XDG_STATE_HOME": "/s", "HOME": "/h"}) == Path("/s/valor")


def test_outside_any_project_config_raises(tmp_path: Path) -> None:
    with pytest.raises(NotAProject):
        config.resolve({}, tmp_path)


def test_a_project_in_a_folder_of_a_larger_repository_has_blame_and_revisions(repo: Repo) -> None:
    inner = repo.root / "services" / "api"
    inner.mkdir(parents=True)
    env = {"PROJECT_ROOT": str(inner)}
    repo.valor("observe", "the api gateway drops trailing slashes", **env)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "log")
    assert repo.valor("memory-query", "--blame", **env).rows[0]["author"] == "Ada"
    assert repo.valor("verify", "--against", "HEAD", **env).code == 0
    (inner / LOG).write_bytes(b"")
    assert repo.valor("verify", "--against", "HEAD", **env).code == 1


def test_a_repository_with_longer_hashes_is_read(repo: Repo, tmp_path: Path) -> None:
    (repo.root / ".git").rename(tmp_path / "sha1")
    repo.git("init", "-q", "--object-format=sha256")
    repo.valor("observe", "the api gateway drops trailing slashes")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "log")
    assert repo.valor("memory-query", "--blame").rows[0]["author"] == "Ada"
    assert repo.valor("verify", "--against", "HEAD").code == 0
    assert repo.valor("verify", "--against", "HEAD@{yesterday}").code in (0, 2)


def test_a_blame_that_git_refuses_is_no_line_without_a_commit(repo: Repo) -> None:
    repo.valor("observe", "the api gateway drops trailing slashes")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "log")
    repo.git("config", "blame.ignoreRevsFile", "missing")
    result = repo.valor("memory-query", "--blame")
    assert result.code == 5
    assert "missing" in result.err


def test_blame_of_more_lines_than_git_takes_options_for(repo: Repo) -> None:
    repo.write(*({"id": f"obs-{n}", "summary": f"note {n}"} for n in range(700)))
    repo.git("add", "-A")
    repo.git("commit", "-qm", "log")
    rows = repo.valor("memory-query", "--limit", "0", "--blame").rows
    assert len(rows) == 700
    assert {row["author"] for row in rows} == {"Ada"}
