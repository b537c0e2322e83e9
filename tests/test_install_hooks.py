"""The hooks that init wires: files as each harness reads them, commands as each harness runs them."""

from __future__ import annotations

import json
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Repo
from hypothesis import given
from hypothesis import strategies as st

from valor.install import hookfile, settings
from valor.install.hooks import HARNESSES, SCRIPT
from valor.install.plan import ENTRIES, VERSIONED, Plan, with_entries, without_entries

PATHS = {name: harness.path for name, harness in HARNESSES.items()}
EVENTS = {
    "claude": [
        *("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SubagentStart"),
        *("SubagentStop", "Stop", "PreCompact", "SessionEnd"),
    ],
    "codex": [
        *("SessionStart", "UserPromptSubmit", "PostToolUse", "SubagentStart", "SubagentStop", "Stop"),
        *("PreCompact", "SessionEnd"),
    ],
    "gemini": ["SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "PreCompress", "SessionEnd"],
    "cursor": ["sessionStart", "postToolUse", "stop", "subagentStop", "preCompact", "sessionEnd"],
}
THEIRS = '{"hooks": {"%s": [{"hooks": [{"type": "command", "command": "say done"}]}]}}'
# Records that it ran, where, and what it was handed; says something the harness would take.
SPY = '#!/bin/sh\npwd -P >>"$SPY"\ncat >>"$SPY"\necho "{}"\n'
EVENT = {"session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}}


def handlers(repo: Repo, name: str) -> list[dict[str, Any]]:
    """Every handler in the harness's file, whatever it is wrapped in."""
    groups = [group for groups in wired(repo, name).values() for group in groups]
    return [handler for group in groups for handler in group.get("hooks", [group])]


def wired(repo: Repo, name: str) -> dict[str, list[dict[str, Any]]]:
    return dict(json.loads((repo.root / PATHS[name]).read_text())["hooks"])


def run_as(repo: Repo, name: str, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command that was wired for a tool call as the harness does: its shell, folder, variables."""
    command = wired(repo, name)[EVENTS[name][2 if name != "cursor" else 1]][-1]
    command = command.get("hooks", [command])[0]["command"]
    shell = ["sh", "-c"]
    if name == "claude":
        env = {"CLAUDE_PROJECT_DIR": str(repo.root)} | env
    elif name == "cursor":
        env = {"CURSOR_PROJECT_DIR": str(repo.root), "CLAUDE_PROJECT_DIR": str(repo.root)} | env
    elif name == "codex":
        shell = ["bash", "-lc"]
    elif name == "gemini":
        shell = ["bash", "-c"]
        command = re.sub(
            r"\$(?:(\w+)|{([^}]+)})",
            lambda found: (repo.env | env).get(found[1] or found[2], found[0]),
            command,
        )
    return subprocess.run(
        [*shell, command],
        cwd=cwd or repo.root,
        env=repo.env | env,
        input=json.dumps(EVENT),
        capture_output=True,
        text=True,
    )


def with_spy(repo: Repo, *, executable: bool = True) -> Path:
    (repo.root / SCRIPT).write_text(SPY)
    (repo.root / SCRIPT).chmod(0o755 if executable else 0o644)
    return repo.home / "spy"


@pytest.mark.parametrize("name", HARNESSES)
def test_each_harness_gets_the_events_it_has_in_the_unit_it_counts_in(repo: Repo, name: str) -> None:
    assert repo.valor("init", "--harness", name).code == 0
    assert list(wired(repo, name)) == EVENTS[name]
    second = 1000 if name == "gemini" else 1
    for handler in handlers(repo, name):
        assert handler.get("type", "command") == "command"
        assert second <= handler["timeout"] <= 5 * second
    others = {path for other, path in PATHS.items() if other != name}
    assert not [path for path in others if (repo.root / path).exists()]


def test_a_matcher_stands_at_the_events_of_tools_alone(repo: Repo) -> None:
    repo.valor("init")
    matched = [event for event, groups in wired(repo, "claude").items() if "matcher" in groups[0]]
    assert matched == ["PostToolUse", "PostToolUseFailure"]


def test_codex_takes_no_member_beside_the_hooks_and_cursor_needs_its_version(repo: Repo) -> None:
    repo.valor("init", "--harness", "codex", "--harness", "cursor")
    assert list(json.loads((repo.root / PATHS["codex"]).read_text())) == ["hooks"]
    assert json.loads((repo.root / PATHS["cursor"]).read_text())["version"] == 1
    assert max(handler["timeout"] for handler in wired(repo, "codex")["SessionEnd"][0]["hooks"]) <= 3


@pytest.mark.parametrize("name", HARNESSES)
@pytest.mark.parametrize("executable", [True, False])
def test_the_event_reaches_the_script_in_any_path(
    make_repo: Callable[[str], Repo], name: str, executable: bool
) -> None:
    repo = make_repo('it\'s a "path" with $HOME and 記憶')
    repo.valor("init", "--harness", name)
    spy = with_spy(repo, executable=executable)
    done = run_as(repo, name, SPY=str(spy))
    assert (done.returncode, done.stdout, done.stderr) == (0, "{}\n", "")
    where, event = spy.read_text().splitlines()
    assert (where, json.loads(event)) == (str(repo.root), EVENT)


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_subfolder_finds_the_script_where_the_harness_runs_there(repo: Repo, name: str) -> None:
    repo.valor("init", "--harness", name)
    deep = repo.root / "src/deep er"
    deep.mkdir(parents=True)
    spy = with_spy(repo)
    assert run_as(repo, name, cwd=deep, SPY=str(spy)).stdout == "{}\n"
    assert spy.read_text().startswith(f"{deep}\n")


@pytest.mark.parametrize("name", HARNESSES)
def test_in_a_folder_where_no_script_is_nothing_is_said(repo: Repo, name: str) -> None:
    repo.valor("init", "--harness", name)
    deep = repo.root / "deep"
    deep.mkdir()
    (repo.root / SCRIPT).unlink()
    for cwd in (repo.root, deep, repo.home):
        done = run_as(repo, name, cwd=cwd)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", HARNESSES)
@pytest.mark.parametrize("text", ["exit 2\n", "<<<<<<< HEAD\nexit 0\n=======\n", "if\n", "kill -9 $$\n"])
def test_a_broken_script_blocks_nothing(repo: Repo, name: str, text: str) -> None:
    repo.valor("init", "--harness", name)
    (repo.root / SCRIPT).write_text(f"#!/bin/sh\n{text}")
    done = run_as(repo, name)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_script_above_the_checkout_or_outside_of_one_is_never_run(repo: Repo, tmp_path: Path) -> None:
    repo.valor("init", "--harness", "codex")
    spy = with_spy(repo)
    (tmp_path / SCRIPT).parent.mkdir(parents=True)
    (repo.root / SCRIPT).rename(tmp_path / SCRIPT)
    for cwd in (repo.root, repo.home):
        assert run_as(repo, "codex", cwd=cwd, SPY=str(spy)).stdout == ""
    assert not spy.exists()


@pytest.mark.parametrize("name", HARNESSES)
def test_a_users_own_hooks_stay_byte_for_byte(repo: Repo, name: str) -> None:
    path = repo.root / PATHS[name]
    path.parent.mkdir(exist_ok=True)
    theirs = THEIRS % EVENTS[name][-1]
    path.write_text(theirs)
    repo.valor("init", "--harness", name)
    assert wired(repo, name)[EVENTS[name][-1]][0] == json.loads(theirs)["hooks"][EVENTS[name][-1]][0]
    assert len(handlers(repo, name)) == len(EVENTS[name]) + 1
    assert "nothing to do" in repo.valor("init", "--harness", name).err
    repo.valor("uninstall")
    assert path.read_text() == theirs


def test_uninstall_takes_the_files_of_every_harness(repo: Repo) -> None:
    repo.valor("init", *(word for name in HARNESSES for word in ("--harness", name)))
    assert all((repo.root / path).exists() for path in PATHS.values())
    assert repo.valor("uninstall").code == 0
    assert sorted(path.name for path in repo.root.iterdir()) == [".git", "grimoires"]


def test_a_broken_file_of_a_harness_never_asked_for_is_no_matter_of_ours(repo: Repo) -> None:
    (repo.root / ".gemini").mkdir()
    (repo.root / PATHS["gemini"]).write_text("{ // a comment, which Gemini takes\n}")
    (repo.root / ".cursor").symlink_to(".gemini")
    assert repo.valor("init").code == 0
    assert repo.valor("uninstall").code == 0
    assert not (repo.root / SCRIPT).exists()
    done = repo.valor("init", "--harness", "gemini")
    assert (done.code, done.out) == (5, "")
    assert "a comment" in done.err


def test_a_hook_that_someone_wired_otherwise_is_not_doubled_and_is_named(repo: Repo) -> None:
    repo.valor("init")
    path = repo.root / PATHS["claude"]
    before, stop, after = path.read_text().partition('"Stop"')
    edited = before + stop + after.replace('"timeout": 5', '"timeout": 10', 1)
    path.write_text(edited)
    done = repo.valor("init")
    assert "hooks.Stop differs" in done.err
    assert path.read_text() == edited
    done = repo.valor("uninstall")
    assert "hooks.Stop differs" in done.err
    assert json.loads(path.read_text()) == {"hooks": {"Stop": json.loads(edited)["hooks"]["Stop"]}}


@pytest.mark.parametrize(
    "theirs",
    [
        '{"version": 1}\n',
        '{\n  "version": 1\n}\n',
        '{"version": 1, "hooks": {}}',
        '{"hooks": {}, "version": 1}',
        '{\n  "hooks": {\n  },\n  "version": 1\n}\n',
        '{"hooks": {"stop": [{"command": "x"}]}, "version": 1}',
        "{}",
        "{\n}\n",
        "",
        "\n",
    ],
)
def test_a_version_is_added_where_there_is_none_and_goes_again(repo: Repo, theirs: str) -> None:
    path = repo.root / PATHS["cursor"]
    path.parent.mkdir()
    path.write_text(theirs)
    repo.valor("init", "--harness", "cursor")
    assert json.loads(path.read_text())["version"] == 1
    repo.valor("uninstall")
    assert path.read_text() == theirs


def test_a_cursor_file_that_lacks_its_version_is_named(repo: Repo) -> None:
    path = repo.root / PATHS["cursor"]
    path.parent.mkdir()
    path.write_text('{"hooks": {"stop": [{"command": "x"}]}}')
    done = repo.valor("init", "--harness", "cursor")
    assert '"version": 1' in done.err
    repo.valor("uninstall")
    assert path.read_text() == '{"hooks": {"stop": [{"command": "x"}]}}'


groups = st.lists(
    st.sampled_from(
        [
            {"hooks": [{"type": "command", "command": "x.sh"}]},
            {"matcher": "Bash", "hooks": []},
            {"command": "y"},
        ]
    ),
    max_size=2,
)


@st.composite
def hook_files(draw: st.DrawFn, name: str) -> str | None:
    """A harness's file, with hooks of the user's own at some of our events, at others, or at none."""
    if draw(st.booleans()) and draw(st.booleans()):
        return draw(st.sampled_from([None, "", "\n"]))
    members: list[tuple[str, Any]] = [("model", "x"), ("permissions", {"allow": ["Read"]})]
    if draw(st.booleans()):
        events = st.sampled_from([*EVENTS[name], "PreToolUse"])
        members.append(("hooks", draw(st.dictionaries(events, groups, max_size=4))))
    if name == "cursor":
        members.append(("version", 1))
    value = dict(draw(st.permutations(draw(st.lists(st.sampled_from(members), unique_by=lambda m: m[0])))))
    if name == "cursor" and "hooks" in value:
        value.setdefault("version", 1)
    indent = draw(st.sampled_from([None, 2, 4, "\t"]))
    separators = draw(st.sampled_from([None, (",", ":")]))
    end = draw(st.sampled_from(["", "\n"]))
    return json.dumps(value, indent=indent, separators=separators) + end


@given(st.data(), st.sampled_from(list(HARNESSES)))
def test_all_entries_of_a_harness_go_in_once_and_come_out_to_the_byte(data: st.DataObject, name: str) -> None:
    text = data.draw(hook_files(name))
    for path in dict.fromkeys(path for path, _, _ in ENTRIES[name]):
        entries = [(keys, values) for one, keys, values in ENTRIES[name] if one == path]
        plan = Plan()
        added = with_entries(plan, path, text, entries)
        assert added is not None
        assert all(settings.held(added, keys, values) == len(values) for keys, values in entries)
        assert with_entries(plan, path, added, entries) == added
        assert without_entries(plan, path, added, entries) == text
        assert path != VERSIONED or '"version"' in added
        assert not plan.left


def test_the_end_says_what_to_do_and_only_once(repo: Repo) -> None:
    done = repo.valor("init", "--harness", "codex")
    assert "trust" in done.err
    assert "valor observe" in done.err
    assert "trust" not in repo.valor("init", "--harness", "codex").err
    assert "next:" not in repo.valor("init", "--dry-run").err


def test_an_unknown_harness_is_refused_with_the_nearest(repo: Repo) -> None:
    done = repo.valor("init", "--harness", "codx")
    assert done.code == 2
    assert "did you mean codex" in done.err
    assert sorted(path.name for path in repo.root.iterdir()) == [".git"]


@pytest.mark.parametrize("rule", ["grimoires/", "*.jsonl"])
def test_a_record_that_git_ignores_is_warned_of(repo: Repo, rule: str) -> None:
    (repo.root / ".gitignore").write_text(f"{rule}\n")
    for arguments in (["init", "--dry-run"], ["init"], ["init"]):
        assert "record would not be committed" in repo.valor(*arguments).err
    repo.git("add", "-f", "grimoires")
    assert "warning" not in repo.valor("init").err


def test_other_files_that_git_ignores_are_named(repo: Repo) -> None:
    (repo.root / ".gitignore").write_text(".claude/\n")
    done = repo.valor("init")
    assert done.code == 0
    assert PATHS["claude"] in done.err
    assert "would not be committed" not in done.err


def test_init_leaves_the_way_to_itself_in_the_state_folder(repo: Repo) -> None:
    repo.state.mkdir(parents=True)
    repo.state.chmod(0o755)
    repo.valor("init")
    interpreter, program = (repo.state / "hook").read_text().splitlines()
    assert interpreter == sys.executable
    assert Path(program) == Path(hookfile.__file__).parents[1] / "hook" / "__main__.py"
    assert stat.S_IMODE((repo.state / "hook").stat().st_mode) == 0o600
    assert stat.S_IMODE(repo.state.stat().st_mode) == 0o700


def test_the_way_is_written_anew_only_where_it_is_wrong(tmp_path: Path) -> None:
    state = tmp_path / "state"
    hookfile.write(state)
    file = state / "hook"
    right = (file.read_bytes(), file.stat().st_ino)
    hookfile.write(state)
    assert (file.read_bytes(), file.stat().st_ino) == right
    file.write_text("/gone/python\n/gone/hook\n")
    hookfile.write(state)
    file.chmod(0o644)
    hookfile.write(state)
    assert file.read_bytes() == right[0]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(state.iterdir()) == [file]


def test_a_state_folder_that_cannot_be_made_is_said_and_costs_the_hooks_alone(repo: Repo) -> None:
    (repo.home / "state").write_text("a file where the folder should be")
    done = repo.valor("init")
    assert done.code == 0
    assert "hooks stay silent" in done.err
    assert (repo.root / SCRIPT).exists()


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize("name", ["codex", "cursor"])
def test_a_person_who_uses_fish_is_served_too(repo: Repo, name: str) -> None:
    repo.valor("init", "--harness", name)
    spy = with_spy(repo)
    command = handlers(repo, name)[0]["command"]
    subprocess.run(["fish", "-c", command], cwd=repo.root, env=repo.env | {"SPY": str(spy)}, check=True)
    assert spy.exists()
