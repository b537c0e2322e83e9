"""Lines whose references are gone or changed, in real repositories."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import LOG, Repo, Result

Rows = dict[str, list[dict[str, str]]]


def line(name: str, *references: str, **more: Any) -> dict[str, Any]:
    number = int(hashlib.sha256(name.encode()).hexdigest()[:12], 16)
    data = {"id": f"obs-1790000000-{number:012x}", "timestamp": "2026-01-01T00:00:00Z", "type": "error"}
    return data | {"summary": name, "references": list(references)} | more


def put(repo: Repo, path: str, text: str | bytes) -> None:
    where = repo.root / path
    where.parent.mkdir(parents=True, exist_ok=True)
    where.write_bytes(text.encode() if isinstance(text, str) else text)


def add(repo: Repo, *lines: dict[str, Any]) -> None:
    repo.log.parent.mkdir(parents=True, exist_ok=True)
    with repo.log.open("ab") as file:
        file.write(b"".join(json.dumps(one).encode() + b"\n" for one in lines))


def commit(repo: Repo) -> str:
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "step")
    return repo.git("rev-parse", "HEAD").strip()


def found(done: Result) -> Rows:
    """What is stale, by the summary of the line."""
    assert done.code in (0, 1), done.err
    assert bool(done.rows) is (done.code == 0)
    return {row["summary"]: row["stale"] for row in done.rows}


def stale(repo: Repo, *arguments: str, **env: str) -> Rows:
    return found(repo.valor("memory-query", "--stale", *arguments, **env))


def test_a_changed_and_a_missing_file_are_named_with_the_commit_of_their_line(repo: Repo) -> None:
    for name in "abc":
        put(repo, f"src/{name}.py", f"{name}\n")
    add(repo, line("changes", "src/a.py"), line("goes", "src/b.py", "src/a.py"), line("stays", "src/c.py"))
    since = commit(repo)[:12]
    assert stale(repo) == {}
    put(repo, "src/a.py", "other\n")
    (repo.root / "src/b.py").unlink()
    changed = {"reference": "src/a.py", "why": "changed", "since": since}
    assert stale(repo) == {
        "changes": [changed],
        "goes": [{"reference": "src/b.py", "why": "gone", "since": since}, changed],
    }
    put(repo, "src/a.py", "a\n")
    assert set(stale(repo)) == {"goes"}


def test_each_line_is_held_to_its_own_commit(repo: Repo) -> None:
    put(repo, "a.py", "one\n")
    add(repo, line("first", "a.py"))
    first = commit(repo)[:12]
    put(repo, "a.py", "two\n")
    add(repo, line("second", "a.py"))
    commit(repo)
    assert stale(repo) == {"first": [{"reference": "a.py", "why": "changed", "since": first}]}
    put(repo, "a.py", "one\n")
    assert set(stale(repo)) == {"second"}


def test_of_a_named_line_it_is_said_what_became_of_it(repo: Repo) -> None:
    put(repo, "a.py", "import os\n\ndef f():\n    return 1\n\ndef g():\n    return 2\n")
    places = {"same": "a.py:1", "moved": "a.py:6-7", "changed": "a.py#L4", "gone": "a.py:99"}
    add(repo, *(line(name, place) for name, place in places.items()))
    commit(repo)
    put(repo, "a.py", "import os\n\n# f\ndef f():\n    return 3\n\ndef g():\n    return 2\n")
    said = {name: (one["why"], one.get("line")) for name, [one] in stale(repo).items()}
    assert said == {
        "same": ("changed", "same"),
        "moved": ("changed", "moved to 7"),
        "changed": ("changed", "changed"),
        "gone": ("changed", None),
    }


def test_a_renamed_file_is_gone_and_its_new_name_is_told(repo: Repo) -> None:
    put(repo, "src/old.py", "the same content\n")
    add(repo, line("renamed", "src/old.py:1"))
    since = commit(repo)[:12]
    repo.git("mv", "src/old.py", "src/new.py")
    gone = {"reference": "src/old.py:1", "why": "gone", "renamed": "src/new.py", "since": since}
    assert stale(repo) == {"renamed": [gone]}


def test_a_line_that_is_not_committed_is_doubted_only_where_its_path_is_missing(repo: Repo) -> None:
    put(repo, "src/a.py", "a\n")
    commit(repo)
    add(repo, line("there", "src/a.py"), line("missing", "src/b.py:3"), line("no path", "feature/login"))
    missing = {"missing": [{"reference": "src/b.py:3", "why": "gone"}]}
    assert stale(repo) == missing
    put(repo, "src/a.py", "changed\n")
    assert stale(repo) == missing


def test_before_the_first_commit_nothing_breaks(repo: Repo) -> None:
    add(repo, line("missing", "src/b.py"), line("there", "src/a.py"))
    put(repo, "src/a.py", "a\n")
    assert set(stale(repo)) == {"missing"}


def test_a_folder_without_git_still_tells_what_is_missing(repo: Repo, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    (plain / LOG).parent.mkdir(parents=True)
    (plain / LOG).write_text(json.dumps(line("missing", "src/b.py")) + "\n")
    done = repo.valor("memory-query", "--stale", cwd=plain, PROJECT_ROOT=str(plain))
    assert set(found(done)) == {"missing"}


def test_what_was_not_in_git_then_is_unknown_and_said_once(repo: Repo) -> None:
    add(repo, line("early", "src/late.py"), line("early too", "src/late.py"))
    commit(repo)
    put(repo, "src/late.py", "now\n")
    commit(repo)
    put(repo, "src/late.py", "later\n")
    done = repo.valor("memory-query", "--stale")
    assert found(done) == {}
    assert done.err.count("is unknown") == 1
    assert "2 references" in done.err


def test_a_shallow_clone_does_not_take_its_first_commit_for_the_lines(repo: Repo, tmp_path: Path) -> None:
    put(repo, "src/a.py", "one\n")
    add(repo, line("old", "src/a.py"))
    commit(repo)
    put(repo, "src/a.py", "two\n")
    commit(repo)
    add(repo, line("new", "src/a.py"))
    commit(repo)
    assert set(stale(repo)) == {"old"}
    clone = tmp_path / "shallow"
    repo.git("clone", "-q", "--depth", "2", f"file://{repo.root}", str(clone))
    done = repo.valor("memory-query", "--stale", cwd=clone)
    assert found(done) == {}
    assert "shallow" in done.err
    (clone / "src/a.py").write_text("three\n")
    assert set(found(repo.valor("memory-query", "--stale", cwd=clone))) == {"new"}


def test_a_branch_switch_is_judged_by_the_branch(repo: Repo) -> None:
    put(repo, "src/a.py", "one\n")
    add(repo, line("shared", "src/a.py"))
    commit(repo)
    repo.git("switch", "-q", "-c", "other")
    put(repo, "src/a.py", "two\n")
    add(repo, line("theirs", "src/a.py"))
    commit(repo)
    assert set(stale(repo)) == {"shared"}
    repo.git("switch", "-q", "main")
    assert stale(repo) == {}


def test_a_linked_worktree_is_judged_by_its_own_files(repo: Repo, tmp_path: Path) -> None:
    put(repo, "src/a.py", "one\n")
    add(repo, line("shared", "src/a.py"))
    commit(repo)
    linked = tmp_path / "linked"
    repo.git("worktree", "add", "-q", "-b", "linked", str(linked))
    (linked / "src/a.py").write_text("two\n")
    assert stale(repo) == {}
    assert set(found(repo.valor("memory-query", "--stale", cwd=linked))) == {"shared"}


def test_a_merge_by_union_keeps_each_line_with_its_commit(repo: Repo) -> None:
    put(repo, ".gitattributes", "*.jsonl merge=union\n")
    put(repo, "a.py", "one\n")
    put(repo, "b.py", "one\n")
    add(repo, line("base", "a.py"))
    commit(repo)
    repo.git("switch", "-q", "-c", "other")
    add(repo, line("theirs", "a.py", "b.py"))
    theirs = commit(repo)[:12]
    repo.git("switch", "-q", "main")
    add(repo, line("ours", "b.py"))
    put(repo, "b.py", "two\n")
    commit(repo)
    repo.git("merge", "-q", "--no-edit", "other")
    assert stale(repo) == {"theirs": [{"reference": "b.py", "why": "changed", "since": theirs}]}


def test_line_ends_and_filters_are_compared_as_git_compares_them(repo: Repo) -> None:
    put(repo, ".gitattributes", "*.txt text eol=crlf\n*.up filter=up\n*.auto text=auto\n")
    repo.git("config", "filter.up.clean", "tr a-z A-Z")
    put(repo, "src/crlf.txt", b"one\r\ntwo\r\n")
    put(repo, "src/a.up", "shout\n")
    put(repo, "src/mixed.auto", b"one\n")
    places = ["src/crlf.txt:2", "src/a.up", "src/mixed.auto"]
    add(repo, *(line(place, place) for place in places))
    commit(repo)
    assert stale(repo) == {}
    put(repo, "src/mixed.auto", b"one\r\n")
    put(repo, "src/a.up", "SHOUT\n")
    assert stale(repo) == {}
    put(repo, "src/crlf.txt", b"one\r\nthree\r\n")
    put(repo, "src/a.up", "other\n")
    assert set(stale(repo)) == {"src/crlf.txt:2", "src/a.up"}
    assert stale(repo)["src/crlf.txt:2"][0]["line"] == "changed"


def test_content_that_went_in_with_crlf_is_not_taken_for_changed(repo: Repo) -> None:
    put(repo, "src/a.txt", b"one\r\n")
    add(repo, line("crlf", "src/a.txt"))
    commit(repo)
    repo.git("config", "core.autocrlf", "input")
    assert stale(repo) == {}


def test_folders_links_and_odd_names_behave(repo: Repo) -> None:
    names = ["src/größe 漢字.py", "src/a b.py", 'src/"quoted".py', "src/-dash.py", "src/[id].tsx", "Makefile"]
    for name in names:
        put(repo, name, "one\n")
    (repo.root / "link").symlink_to("src/a b.py")
    (repo.root / "dangling").symlink_to("nowhere")
    (repo.root / "out").symlink_to("/etc")
    places = [*names, "src", "src/", "link", "dangling", "out/passwd", "out/nothing.py"]
    add(repo, *(line(place, place) for place in places))
    commit(repo)
    assert stale(repo, "--limit", "0") == {}
    for name in names:
        put(repo, name, "two\n")
    assert set(stale(repo, "--limit", "0")) == set(names)
    (repo.root / "link").unlink()
    (repo.root / "link").symlink_to("Makefile")
    shutil.rmtree(repo.root / "src")
    gone = stale(repo, "--limit", "0")
    assert set(gone) == {*names, "src", "src/", "link"}
    assert gone["Makefile"][0]["why"] == gone["link"][0]["why"] == "changed"
    put(repo, "src", "a file now\n")
    assert {stale(repo, "--limit", "0")[name][0]["why"] for name in ("src", "src/")} == {"changed"}


def test_what_a_sparse_checkout_leaves_out_is_not_gone(repo: Repo) -> None:
    put(repo, "kept/a.py", "one\n")
    put(repo, "left/b.py", "one\n")
    put(repo, "left/c.py", "one\n")
    add(repo, line("kept", "kept/a.py"), line("b", "left/b.py"), line("c", "left/c.py"), line("d", "left"))
    commit(repo)
    put(repo, "left/c.py", "two\n")
    commit(repo)
    repo.git("sparse-checkout", "set", "kept", "grimoires")
    assert not (repo.root / "left").exists()
    assert set(stale(repo)) == {"c"}


def test_a_submodule_is_there_whether_it_is_filled_or_not(make_repo: Callable[[str], Repo]) -> None:
    inner, outer = make_repo("inner"), make_repo("outer")
    put(inner, "lib/a.py", "one\n")
    commit(inner)
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "sub")
    add(outer, line("inside", "sub/lib/a.py"), line("itself", "sub"))
    commit(outer)
    assert stale(outer) == {}
    outer.git("submodule", "deinit", "-q", "-f", "sub")
    assert not (outer.root / "sub/lib").exists()
    assert stale(outer) == {}


def test_a_repository_of_sha_256_is_judged_too(repo: Repo) -> None:
    shutil.rmtree(repo.root / ".git")
    repo.git("init", "-q", "-b", "main", "--object-format=sha256")
    put(repo, "src/a.py", "one\ntwo\n")
    add(repo, line("sha256", "src/a.py:2"))
    commit(repo)
    assert stale(repo) == {}
    put(repo, "src/a.py", "one\nthree\n")
    assert stale(repo)["sha256"][0]["line"] == "changed"


def test_a_file_that_cannot_be_read_is_unknown(repo: Repo) -> None:
    for name in "abc":
        put(repo, f"src/{name}.py", "one\n")
    add(repo, *(line(name, f"src/{name}.py") for name in "abc"))
    commit(repo)
    for name in "ac":
        put(repo, f"src/{name}.py", "two\n")
    (repo.root / "src/b.py").unlink()
    os.mkfifo(repo.root / "src/b.py")
    assert set(stale(repo)) == {"a", "c"}


def test_superseded_and_private_lines_are_not_listed(repo: Repo) -> None:
    hidden = line("hidden", "src/a.py")
    add(repo, hidden, line("private", "src/a.py", private=True), line("newer", supersedes=[hidden["id"]]))
    assert stale(repo) == {}
    assert set(stale(repo, "--all")) == {"hidden"}


def test_stale_combines_with_the_other_filters(repo: Repo) -> None:
    add(
        repo,
        line("one socket", "src/a.py", tags=["ci"]),
        line("two socket", "src/a.py", type="learning"),
        line("three", "src/a.py", timestamp="2026-05-01T00:00:00Z"),
        line("four socket", timestamp="2026-06-01T00:00:00Z"),
    )
    assert set(stale(repo, "--type", "learning")) == {"two socket"}
    assert set(stale(repo, "--tags", "ci")) == {"one socket"}
    assert set(stale(repo, "--since", "2026-04-01")) == {"three"}
    assert list(stale(repo, "--limit", "1")) == ["three"]
    assert set(stale(repo, "socket")) == {"one socket", "two socket"}
    assert len(stale(repo, "socket", "--limit", "1")) == 1
    table = repo.valor("memory-query", "--stale", "--table", "--type", "learning")
    assert "reference=src/a.py why=gone" in table.out
    assert repo.valor("memory-query", "--stale", "--stats").code == 2


def test_full_shows_what_is_stale_of_one(repo: Repo) -> None:
    one, other = line("one", "src/a.py"), line("other")
    add(repo, one, other)
    [row] = repo.valor("memory-query", "--full", one["id"], "--stale").rows
    assert row["stale"] == [{"reference": "src/a.py", "why": "gone"}]
    [row] = repo.valor("memory-query", "--full", other["id"], "--stale").rows
    assert row["stale"] == []
    [row] = repo.valor("memory-query", "--full", one["id"]).rows
    assert "stale" not in row


def test_without_git_the_command_says_so_only_where_it_is_needed(repo: Repo, tmp_path: Path) -> None:
    add(repo, line("no reference"))
    empty = tmp_path / "bin"
    empty.mkdir()
    done = repo.valor("memory-query", "--stale", PATH=str(empty))
    assert (done.code, done.out) == (1, "")
    add(repo, line("one", "src/a.py"))
    done = repo.valor("memory-query", "--stale", PATH=str(empty))
    assert (done.code, done.out) == (5, "")
    assert "git" in done.err


def test_a_user_s_settings_for_blame_change_nothing(repo: Repo) -> None:
    put(repo, "src/a.py", "one\n")
    add(repo, line("one", "src/a.py"))
    since = commit(repo)
    put(repo, "src/a.py", "two\n")
    add(repo, line("two", "src/b.py"))
    commit(repo)
    (repo.home / "ignored").write_text(since + "\n")
    repo.git("config", "blame.ignoreRevsFile", str(repo.home / "ignored"))
    repo.git("config", "blame.markIgnoredLines", "true")
    repo.git("config", "core.quotePath", "true")
    assert stale(repo)["one"] == [{"reference": "src/a.py", "why": "changed", "since": since[:12]}]


def test_ten_thousand_references_cost_a_handful_of_processes(repo: Repo, tmp_path: Path) -> None:
    for number in range(50):
        put(repo, f"src/{number}.py", f"{number}\n")
    add(repo, *(line(f"line {n}", f"src/{n % 50}.py:1", f"src/missing{n}.py") for n in range(5_000)))
    commit(repo)
    put(repo, "src/7.py", "other\n")
    real = shutil.which("git")
    counting = tmp_path / "bin" / "git"
    counting.parent.mkdir()
    counting.write_text(f'#!/bin/sh\necho "$1 $2 $3" >> "{tmp_path}/calls"\nexec {real} "$@"\n')
    counting.chmod(counting.stat().st_mode | stat.S_IXUSR)
    path = f"{counting.parent}:{repo.env['PATH']}"
    rows = stale(repo, "--limit", "0", PATH=path)
    assert len(rows) == 5_000
    assert rows["line 7"][0] == {"reference": "src/7.py:1", "why": "changed", "line": "changed"} | {
        "since": repo.git("rev-parse", "HEAD")[:12]
    }
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) <= 12, calls


def test_a_secret_in_a_reference_is_masked(repo: Repo) -> None:
    secret = "AKIA" + "Q3XW7RZT5KLMNP2A"
    add(repo, line("one", f"src/{secret}.py"))
    done = repo.valor("memory-query", "--stale")
    assert done.code == 0
    assert secret not in done.out


def test_the_shared_history_is_left_alone(repo: Repo) -> None:
    put(repo, "src/a.py", "one\n")
    add(repo, line("one", "src/a.py"))
    commit(repo)
    put(repo, "src/a.py", "two\n")
    before = subprocess.run(
        ["git", "status", "--porcelain"], cwd=repo.root, env=repo.env, capture_output=True
    )
    index = (repo.root / ".git/index").read_bytes()
    assert set(stale(repo)) == {"one"}
    after = subprocess.run(["git", "status", "--porcelain"], cwd=repo.root, env=repo.env, capture_output=True)
    assert after.stdout == before.stdout
    assert (repo.root / ".git/index").read_bytes() == index
    assert not repo.state.exists()


@pytest.mark.parametrize("kind", ["folder", "list", "number"])
def test_references_of_another_shape_are_no_trouble(repo: Repo, kind: str) -> None:
    shapes = {"folder": "src/a.py, src/b.py", "list": [["src/a.py"], None, 7, {"a": 1}], "number": 7}
    add(repo, line("odd") | {"references": shapes[kind]})
    assert set(stale(repo)) == ({"odd"} if kind == "folder" else set())
