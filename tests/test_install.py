"""valor init and valor uninstall, as commands in real checkouts."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import LOG, VALOR, Repo

from valor.errors import Unavailable
from valor.install.apply import carry_out
from valor.install.plan import Change

TABLE = ".claude/loa/reference/memory-reference.md"
SETTINGS = ".claude/settings.json"
WRAPPERS = [
    f".claude/scripts/memory-{name}.sh" for name in ("query", "observe", "route", "consolidate", "hook")
]
SERVERS = ".mcp.json"
MADE = {LOG, TABLE, SETTINGS, SERVERS, ".gitattributes", *WRAPPERS}
THEIRS = """\
{
    "$schema": "https://json.schemastore.org/claude-code-settings.json",
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say 'done'"}]}]},

    "permissions": { "deny": [ "Read(.env)" ],
                     "allow": ["Bash(make:*)"] }
}"""

Tree = dict[str, tuple[bytes, int]]


def tree(root: Path, *, git: bool = False) -> Tree:
    """Every file below root with its bytes (a link: its target) and mode; ``git``: those of .git too."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.startswith(".git/") and not git:
            continue
        if path.is_symlink():
            found[name] = (bytes(path.readlink()), 0)
        elif path.is_file():
            found[name] = (path.read_bytes(), path.stat().st_mode & 0o777)
    return found


def without_log(found: Tree) -> Tree:
    return {name: entry for name, entry in found.items() if name != LOG}


def put(root: Path, name: str, content: str | bytes) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(content.encode() if isinstance(content, str) else content)


def test_init_makes_what_it_lists_and_nothing_else(repo: Repo) -> None:
    done = repo.valor("init")
    assert done.code == 0
    assert {row["path"]: row["action"] for row in done.rows} == dict.fromkeys(MADE, "created")
    assert set(tree(repo.root)) == MADE
    assert repo.log.read_bytes() == b""
    for name in WRAPPERS:
        assert (repo.root / name).stat().st_mode & 0o777 == 0o755
    assert repo.git("status", "--porcelain", "--untracked-files=all").count("??") == len(MADE)


def test_a_second_init_changes_nothing_and_says_so(repo: Repo) -> None:
    put(repo.root, "CLAUDE.md", "# Mine\n")
    put(repo.root, SETTINGS, THEIRS)
    repo.valor("init")
    before = tree(repo.root, git=True)
    done = repo.valor("init")
    assert (done.code, done.out) == (0, "")
    assert "nothing to do" in done.err
    assert tree(repo.root, git=True) == before
    assert repo.valor("init", "--dry-run").code == 0


def test_uninstall_gives_back_every_file_and_folder_but_the_log(repo: Repo) -> None:
    put(repo.root, "CLAUDE.md", b"# Mine\r\n\r\nno newline")
    put(repo.root, "AGENTS.md", "")
    put(repo.root, SETTINGS, THEIRS)
    put(repo.root, ".gitattributes", "*.png binary")
    before = tree(repo.root)
    repo.valor("init")
    assert set(tree(repo.root)) == {*before, *MADE}
    repo.write({"id": "obs-1790000000-3f9a1c2b7d04", "summary": "Redis wants a PING after a fork"})
    log = repo.log.read_bytes()
    done = repo.valor("uninstall")
    assert done.code == 0
    assert {row["path"]: row["action"] for row in done.rows} == dict.fromkeys(
        [TABLE, SERVERS, *WRAPPERS], "removed"
    ) | dict.fromkeys(before, "updated")
    assert without_log(tree(repo.root)) == before
    assert repo.log.read_bytes() == log
    assert sorted(path.name for path in (repo.root / ".claude").iterdir()) == ["settings.json"]
    assert repo.valor("uninstall").code == 0


def test_uninstall_leaves_no_folder_that_only_init_needed(repo: Repo) -> None:
    repo.valor("init")
    repo.valor("uninstall")
    assert set(tree(repo.root)) == {LOG}
    assert not (repo.root / ".claude").exists()
    again = repo.valor("uninstall")
    assert (again.code, again.out) == (0, "")
    assert "nothing to do" in again.err


def test_edits_made_after_init_outlive_uninstall(repo: Repo) -> None:
    put(repo.root, "CLAUDE.md", "# Mine\n")
    put(repo.root, SETTINGS, THEIRS)
    repo.valor("init")
    for name, old, new in (
        ("CLAUDE.md", "# Mine\n", "# Ours\n"),
        (SETTINGS, "Read(.env)", "Read(secrets/**)"),
    ):
        put(repo.root, name, (repo.root / name).read_text().replace(old, new))
    put(repo.root, ".gitattributes", (repo.root / ".gitattributes").read_text() + "*.png binary\n")
    repo.valor("uninstall")
    assert (repo.root / "CLAUDE.md").read_text() == "# Ours\n"
    assert (repo.root / SETTINGS).read_text() == THEIRS.replace("Read(.env)", "Read(secrets/**)")
    assert (repo.root / ".gitattributes").read_text() == "*.png binary\n"


def test_the_agent_may_ask_but_is_asked_before_it_writes(repo: Repo) -> None:
    put(repo.root, SETTINGS, THEIRS)
    repo.valor("init")
    after = json.loads((repo.root / SETTINGS).read_text())
    assert after["permissions"]["allow"] == [
        "Bash(make:*)",
        "Bash(.claude/scripts/memory-query.sh:*)",
        "Bash(.claude/scripts/memory-route.sh:*)",
    ]
    del after["permissions"]["allow"][1:]
    after["hooks"] = {"Stop": after["hooks"]["Stop"][:-1]}
    assert after == json.loads(THEIRS)


def test_the_mcp_server_joins_the_servers_that_are_there_and_leaves_them_as_they_were(repo: Repo) -> None:
    theirs = '{"mcpServers": {"other": {"command": "x", "args": []}}}'
    put(repo.root, SERVERS, theirs)
    repo.valor("init")
    assert json.loads((repo.root / SERVERS).read_text())["mcpServers"] == {
        "other": {"command": "x", "args": []},
        "valor": {"command": "valor", "args": ["mcp"], "alwaysLoad": True},
    }
    assert "nothing to do" in repo.valor("init").err
    repo.valor("uninstall")
    assert (repo.root / SERVERS).read_text() == theirs


def test_a_server_of_the_same_name_that_someone_edited_stays_and_is_named(repo: Repo) -> None:
    mine = '{"mcpServers": {"valor": {"command": "/opt/valor", "args": ["mcp"]}}}\n'
    put(repo.root, SERVERS, mine)
    for command in ("init", "uninstall"):
        done = repo.valor(command)
        assert done.code == 0
        assert "mcpServers.valor differs" in done.err
        assert (repo.root / SERVERS).read_text() == mine


@pytest.mark.parametrize("content", ['{"mcpServers": []}', '{"mcpServers": {},}'])
def test_a_server_file_that_cannot_be_edited_stops_everything(repo: Repo, content: str) -> None:
    put(repo.root, SERVERS, content)
    done = repo.valor("init")
    assert (done.code, done.out) == (5, "")
    assert SERVERS in done.err
    assert set(tree(repo.root)) == {SERVERS}


def test_an_existing_log_is_left_alone(repo: Repo) -> None:
    repo.write(b'{"id":"obs-1"}\n', b"torn")
    before = (repo.log.read_bytes(), repo.log.stat().st_ino, repo.log.stat().st_mtime_ns)
    assert LOG not in [row["path"] for row in repo.valor("init").rows]
    repo.valor("uninstall")
    assert (repo.log.read_bytes(), repo.log.stat().st_ino, repo.log.stat().st_mtime_ns) == before


@pytest.mark.parametrize("name", [TABLE, WRAPPERS[0]])
def test_a_file_of_the_users_own_in_a_place_of_inits_stays_and_is_named(repo: Repo, name: str) -> None:
    put(repo.root, name, "mine\n")
    done = repo.valor("init")
    assert done.code == 0
    [row] = [row for row in done.rows if row["path"] == name]
    assert row["action"] == "left"
    assert f"{name} is left" in done.err
    assert repo.valor("uninstall").code == 0
    assert (repo.root / name).read_text() == "mine\n"


@pytest.mark.parametrize("name", [TABLE, WRAPPERS[3]])
def test_uninstall_leaves_what_was_edited_and_names_it(repo: Repo, name: str) -> None:
    repo.valor("init")
    put(repo.root, name, (repo.root / name).read_text() + "\n# mine\n")
    done = repo.valor("uninstall")
    assert [row["path"] for row in done.rows if row["action"] == "left"] == [name]
    assert f"{name} is left" in done.err
    assert set(tree(repo.root)) == {LOG, name}


def test_a_wrapper_that_lost_its_mode_is_mended(repo: Repo) -> None:
    repo.valor("init")
    (repo.root / WRAPPERS[0]).chmod(0o644)
    dry = repo.valor("init", "--dry-run")
    assert "old mode 100644\nnew mode 100755" in dry.out
    assert repo.valor("init").rows == [{"path": WRAPPERS[0], "action": "updated"}]
    assert os.access(repo.root / WRAPPERS[0], os.X_OK)


def test_nothing_under_git_is_touched_and_hooks_stay(repo: Repo) -> None:
    put(repo.root, "a.py", "a = 1\n")
    put(repo.root, "hooks/pre-commit", "#!/bin/sh\nexit 0\n")
    put(repo.root, ".git/hooks/post-commit", "#!/bin/sh\nexit 0\n")
    repo.git("config", "core.hooksPath", "hooks")
    repo.git("add", "a.py")
    before = {name: entry for name, entry in tree(repo.root, git=True).items() if name.startswith(".git/")}
    repo.valor("init")
    repo.valor("uninstall")
    after = {name: entry for name, entry in tree(repo.root, git=True).items() if name.startswith(".git/")}
    assert after == before
    assert repo.git("ls-files", "-v") == "H a.py\n"
    assert {path.name for path in repo.state.iterdir()} == {"command", "hook"}


def test_a_merge_keeps_the_observations_of_both_branches(repo: Repo) -> None:
    repo.valor("init")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "set up")
    for branch in ("left", "right"):
        repo.git("checkout", "-q", "-b", branch, "main")
        repo.log.write_text(f'{{"id":"obs-{branch}"}}\n')
        repo.git("commit", "-qam", branch)
    repo.git("merge", "-q", "left", "-m", "both")
    assert {line["id"] for line in repo.lines()} == {"obs-left", "obs-right"}
    assert repo.git("check-attr", "merge", "grimoires/loa/memory/grades.jsonl").endswith("merge: union\n")


def test_the_pointer_is_short_and_names_the_ways_in_and_the_boundary(repo: Repo) -> None:
    put(repo.root, "CLAUDE.md", "# Mine\n")
    repo.valor("init")
    block = (repo.root / "CLAUDE.md").read_text().removeprefix("# Mine\n\n")
    assert block.startswith("<!-- valor:begin -->\n")
    assert block.endswith("<!-- valor:end -->\n")
    assert len(block.splitlines()) <= 12
    for word in ("memory-query.sh", "memory-observe.sh", "memory-route.sh", "auto-memory"):
        assert word in block
    assert not (repo.root / "AGENTS.md").exists()


def test_two_names_of_one_file_get_one_block(repo: Repo) -> None:
    put(repo.root, "AGENTS.md", "# Mine\n")
    (repo.root / "CLAUDE.md").symlink_to("AGENTS.md")
    before = tree(repo.root)
    assert repo.valor("init").code == 0
    assert (repo.root / "CLAUDE.md").read_text().count("valor:begin") == 1
    assert (repo.root / "CLAUDE.md").is_symlink()
    repo.valor("uninstall")
    assert without_log(tree(repo.root)) == before


@pytest.mark.parametrize("content", [b"\xff\xfe#\0 \0", b"x\n<!-- valor:begin -->\nhalf a block\n"])
def test_a_pointed_file_that_cannot_take_a_block_is_left_and_named(repo: Repo, content: bytes) -> None:
    put(repo.root, "CLAUDE.md", content)
    done = repo.valor("init")
    assert done.code == 0
    assert "CLAUDE.md is left" in done.err
    assert (repo.root / "CLAUDE.md").read_bytes() == content


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{\n  "model": "opus",\n}\n', "line 3"),
        ('{\n  // mine\n  "model": "opus"\n}\n', "line 2: a comment"),
        ('{"permissions": "all"}', "permissions is not an object"),
        (b'{"a":\n"\xff"}', "line 2: not UTF-8"),
    ],
)
@pytest.mark.parametrize("command", ["init", "uninstall"])
def test_settings_that_cannot_be_edited_stop_everything(
    repo: Repo, content: str | bytes, says: str, command: str
) -> None:
    put(repo.root, "CLAUDE.md", "# Mine\n")
    if command == "uninstall":
        repo.valor("init")
    put(repo.root, SETTINGS, content)
    before = tree(repo.root)
    done = repo.valor(command)
    assert (done.code, done.out) == (5, "")
    assert says in done.err
    assert "nothing was changed" in done.err
    assert tree(repo.root) == before


def a_link(place: Path) -> None:
    place.with_name("elsewhere.txt").write_text("{}")
    place.symlink_to("elsewhere.txt")


def a_folder(place: Path) -> None:
    (place / "inside").mkdir(parents=True)


def a_read_only_file(place: Path) -> None:
    place.write_text("{}")
    place.chmod(0o444)


def a_pipe(place: Path) -> None:
    os.mkfifo(place)


@pytest.mark.parametrize("in_the_way", [a_link, a_folder, a_pipe, a_read_only_file])
@pytest.mark.parametrize("name", [SETTINGS, ".gitattributes", "CLAUDE.md"])
def test_what_is_no_plain_writable_file_stops_everything(
    repo: Repo, name: str, in_the_way: Callable[[Path], None]
) -> None:
    (repo.root / name).parent.mkdir(exist_ok=True)
    in_the_way(repo.root / name)
    before = tree(repo.root)
    for arguments in (["init"], ["init", "--dry-run"]):
        done = repo.valor(*arguments)
        assert (done.code, done.out) == (5, "")
        assert name in done.err
        assert "nothing was changed" in done.err
        assert tree(repo.root) == before


def test_a_folder_that_leads_out_of_the_checkout_is_not_written_to(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (repo.root / ".claude").symlink_to(tmp_path / "outside")
    done = repo.valor("init")
    assert done.code == 5
    assert ".claude is a symbolic link" in done.err
    assert not list((tmp_path / "outside").iterdir())


def test_a_file_where_a_folder_must_be_stops_everything(repo: Repo) -> None:
    put(repo.root, "grimoires", "a file\n")
    done = repo.valor("init")
    assert done.code == 5
    assert "grimoires is not a folder" in done.err
    assert set(tree(repo.root)) == {"grimoires"}


def test_a_failure_half_way_undoes_what_was_done(tmp_path: Path) -> None:
    put(tmp_path, "first", "1")
    put(tmp_path, "gone", "2")
    put(tmp_path, "last", "changed meanwhile")
    before = tree(tmp_path)
    changes = [
        Change(path="first", before=b"1", after=b"one"),
        Change(path="new/folder/file", before=None, after=b"new"),
        Change(path="gone", before=b"2", after=None),
        Change(path="last", before=b"3", after=b"three"),
    ]
    with pytest.raises(Unavailable, match="changed by someone else"):
        carry_out(tmp_path, changes)
    assert tree(tmp_path) == before
    assert not (tmp_path / "new").exists()


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    put(tmp_path, "log", "someone's line\n")
    for after in (b"", b"ours"):
        with pytest.raises(Unavailable):
            carry_out(tmp_path, [Change(path="log", before=None, after=after)])
        assert tree(tmp_path) == {"log": (b"someone's line\n", (tmp_path / "log").stat().st_mode & 0o777)}


def test_the_mode_of_an_edited_file_is_kept(repo: Repo) -> None:
    put(repo.root, SETTINGS, THEIRS)
    (repo.root / SETTINGS).chmod(0o600)
    repo.valor("init")
    assert (repo.root / SETTINGS).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("command", ["init", "uninstall"])
def test_the_dry_run_is_a_patch_of_exactly_what_the_command_does(
    make_repo: Callable[[str], Repo], command: str
) -> None:
    dry, wet = make_repo("dry"), make_repo("wet")
    for repo in (dry, wet):
        put(repo.root, "CLAUDE.md", b"# Mine\r\n\xff\x0c\r\nno newline")
        put(repo.root, "AGENTS.md", "--- a\n+++ b\n\n-- c")
        put(repo.root, SETTINGS, THEIRS)
        if command == "uninstall":
            repo.valor("init")
    before = tree(dry.root)
    shown = subprocess.run([VALOR, command, "--dry-run"], cwd=dry.root, env=dry.env, capture_output=True)
    assert shown.returncode == 1
    assert tree(dry.root) == before
    subprocess.run(["git", "apply", "-"], cwd=dry.root, env=dry.env, input=shown.stdout, check=True)
    assert wet.valor(command).code == 0
    # Of a mode, git knows the owner's x alone.
    patched, made = (
        {name: (content, mode & 0o100) for name, (content, mode) in tree(one.root).items()}
        for one in (dry, wet)
    )
    assert patched == made


def test_the_dry_run_as_a_list_writes_nothing_either(repo: Repo) -> None:
    done = repo.valor("init", "--dry-run", "--json")
    assert done.code == 1
    assert {row["path"] for row in done.rows} == MADE
    assert tree(repo.root) == {}
    table = repo.valor("init", "--table").out
    assert f"| {LOG} | created |" in table


def on_a_terminal(repo: Repo, *arguments: str, **env: str) -> str:
    """What the command writes when its standard output is a terminal."""
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        [VALOR, *arguments], cwd=repo.root, env=repo.env | {"TERM": "xterm"} | env, stdout=inner
    )
    os.close(inner)
    written = b""
    while True:
        try:
            chunk = os.read(outer, 1 << 16)
        except OSError:  # how Linux reports the end of a terminal
            chunk = b""
        if not chunk:
            break
        written += chunk
    os.close(outer)
    process.wait()
    return written.decode()


def test_a_terminal_gets_colours_unless_they_are_unwanted_and_no_ones_escapes(repo: Repo) -> None:
    put(repo.root, "CLAUDE.md", "evil \x1b[2J\n")
    coloured = on_a_terminal(repo, "init", "--dry-run")
    assert "\x1b[32m+<!-- valor:begin -->\x1b[0m" in coloured
    assert "\x1b[2J" not in coloured
    assert "\x1b" not in on_a_terminal(repo, "init", "--dry-run", NO_COLOR="1")
    assert "created" in on_a_terminal(repo, "init")


def test_a_subdirectory_acts_on_the_root(make_repo: Callable[[str], Repo]) -> None:
    repo = make_repo("with spaces and ünïcode 記憶")
    (repo.root / "src/deep er").mkdir(parents=True)
    assert repo.valor("init", cwd=repo.root / "src/deep er").code == 0
    assert set(tree(repo.root)) == MADE


def test_a_linked_worktree_and_a_submodule_are_set_up_for_themselves(
    make_repo: Callable[[str], Repo], tmp_path: Path
) -> None:
    repo, library = make_repo("main"), make_repo("library")
    for each in (repo, library):
        each.git("commit", "-q", "--allow-empty", "-m", "start")
    repo.git("worktree", "add", "-q", "--detach", str(tmp_path / "a worktree"))
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.root), "lib")
    for place in (tmp_path / "a worktree", repo.root / "lib"):
        assert repo.valor("init", cwd=place).code == 0
        assert set(tree(place)) - {".git"} == MADE
    assert not repo.log.exists()


def test_a_folder_without_git_works_when_it_is_named(repo: Repo, tmp_path: Path) -> None:
    plain = tmp_path / "no git here"
    plain.mkdir()
    assert repo.valor("init", PROJECT_ROOT=str(plain)).code == 0
    assert set(tree(plain)) == MADE
    assert tree(repo.root) == {}


def test_outside_a_project_nothing_is_made(make_repo: Callable[[str], Repo], tmp_path: Path) -> None:
    one = make_repo("several/one")
    make_repo("several/two")
    done = one.valor("init", cwd=tmp_path / "several")
    assert done.code == 5
    assert "one, two" in done.err
    assert sorted(path.name for path in (tmp_path / "several").iterdir()) == ["one", "two"]


@pytest.mark.parametrize("command", ["init", "uninstall"])
def test_unknown_options_and_help(repo: Repo, command: str) -> None:
    assert repo.valor(command, "--dryrun").code == 2
    assert repo.valor(command, "--json", "--table").code == 2
    assert tree(repo.root) == {}
    done = repo.valor(command, "--help")
    assert done.code == 0
    assert "Exit codes:" in done.out


def test_uninstall_where_init_never_ran_changes_nothing(repo: Repo) -> None:
    settings = repo.root / ".claude" / "settings.json"
    settings.parent.mkdir()
    repo.valor("init")
    ours = settings.read_text()
    repo.valor("uninstall")
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(ours.replace("  ", "    "))
    before = settings.read_bytes()
    assert repo.valor("uninstall").code == 0
    assert settings.read_bytes() == before


def test_what_a_killed_init_left_behind_goes_with_the_next(repo: Repo) -> None:
    scripts = repo.root / ".claude" / "scripts"
    scripts.mkdir(parents=True)
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = scripts / f".memory-query.sh.valor-{dead.pid}"
    left.write_text("half")
    repo.valor("init")
    assert not left.exists()
    left.write_text("half")
    repo.valor("uninstall")
    assert not left.exists()
