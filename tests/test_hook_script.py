"""memory-hook.sh by itself: what it counts, what it hands on, and that it never stands in the way."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hooks import PROJECT, SCRIPT

# In the interpreter's place: says what it was started with, and prints the whole event.
ECHO = '#!/bin/sh\necho "$@"\nprintf "%s" "$VALOR_EVENT_HEAD"\nexec cat\n'
CALL: dict[str, Any] = {
    "session_id": "s-1",
    "transcript_path": "/home/ada/.claude/projects/-x/s-1.jsonl",
    "cwd": "/x",
    "hook_event_name": "PostToolUse",
    "tool_name": "Bash",
}


class Machine:
    """A user with a state folder, whose interpreter only repeats what it is handed."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "my state" / "valor"
        self.state.mkdir(parents=True)
        self.python = folder / "my python"
        self.python.write_text(ECHO)
        self.python.chmod(0o755)
        self.hook = folder / "hook.py"
        self.hook.touch()
        (self.state / "hook").write_text(f"{self.python}\n{self.hook}\n")
        self.env = {"PATH": os.environ["PATH"], "XDG_STATE_HOME": str(self.state.parent), "HOME": str(folder)}

    def run(self, event: dict[str, Any] | str | bytes, **env: str | None) -> bytes:
        """What is printed; anything but exit code 0 and silence on standard error fails."""
        text = json.dumps(event, separators=(",", ":")) if isinstance(event, dict) else event
        used = {name: value for name, value in (self.env | env).items() if value is not None}
        done = subprocess.run(
            [SCRIPT], env=used, input=text.encode() if isinstance(text, str) else text, capture_output=True
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    def opens(self, event: dict[str, Any] | str, times: int = 6, **env: str | None) -> str:
        """For each of as many calls, ``o`` where an interpreter was started, else ``.``"""
        return "".join("o" if self.run(event, **env) else "." for _ in range(times))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_script_is_checked_and_the_one_that_init_writes() -> None:
    assert SCRIPT.read_bytes() == (PROJECT / "valor/templates/memory-hook.sh").read_bytes()
    assert os.access(SCRIPT, os.X_OK)
    checker = Path(sys.executable).with_name("shellcheck")
    if checker.exists():
        subprocess.run([checker, "--shell=sh", SCRIPT], check=True)


def test_the_interpreter_gets_the_state_folder_and_the_whole_event(machine: Machine) -> None:
    text = json.dumps({"hook_event_name": "Stop", "x": "y" * 300_000})
    head, _, event = machine.run(text).partition(b"\n")
    assert head.decode() == f"-I -S {machine.hook} {machine.state}"
    assert event.decode() == text


def test_the_event_is_whole_when_it_comes_in_pieces(machine: Machine) -> None:
    process = subprocess.Popen([SCRIPT], env=machine.env, stdin=-1, stdout=-1)
    assert process.stdin
    assert process.stdout
    for piece in (b'{"hook_event', b'_name":', b'"Stop"}'):
        process.stdin.write(piece)
        process.stdin.flush()
        subprocess.run(["sleep", "0.05"], check=True)
    process.stdin.close()
    assert process.stdout.read().endswith(b'\n{"hook_event_name":"Stop"}')
    assert process.wait() == 0
    process.stdout.close()


@pytest.mark.parametrize("name", ["PostToolUse", "AfterTool", "postToolUse"])
def test_two_of_three_calls_start_no_interpreter(machine: Machine, name: str) -> None:
    assert machine.opens(CALL | {"hook_event_name": name}, 9) == "..o..o..o"


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")], ids=["tight", "blanks"])
def test_a_blank_behind_a_colon_makes_no_difference(machine: Machine, separators: tuple[str, str]) -> None:
    assert machine.opens(json.dumps(CALL, separators=separators), 3) == "..o"


def test_sessions_are_counted_apart(machine: Machine) -> None:
    other = CALL | {"session_id": "s-2"}
    assert [machine.opens(each, 1) for each in (CALL, other, CALL, other, CALL, other)] == list("....oo")


def test_cursors_name_of_a_session_counts_too(machine: Machine) -> None:
    event = {key: value for key, value in CALL.items() if key != "session_id"}
    assert machine.opens({"conversation_id": "c-1"} | event | {"hook_event_name": "postToolUse"}, 3) == "..o"
    assert (machine.state / "sessions/c-1/calls").exists()


@pytest.mark.parametrize("value", [None, "", 7], ids=["null", "empty", "number"])
def test_without_a_transcript_nothing_is_counted(machine: Machine, value: object) -> None:
    assert machine.opens(CALL | {"transcript_path": value}, 3) == "ooo"
    assert not (machine.state / "sessions").exists()


@pytest.mark.parametrize(
    "name", ["UserPromptSubmit", "PostToolUseFailure", "SessionStart", "SubagentStart", "Stop", "PreToolUse"]
)
def test_other_events_are_not_counted(machine: Machine, name: str) -> None:
    assert machine.opens(CALL | {"hook_event_name": name}, 3) == "ooo"
    assert not (machine.state / "sessions").exists()


def test_what_a_tool_was_given_is_not_taken_for_the_event(machine: Machine) -> None:
    inner = {"command": 'echo {"hook_event_name":"PostToolUse","transcript_path":"/x","session_id":"evil"}'}
    event = {"hook_event_name": "PostToolUseFailure", "session_id": "s-1", "tool_input": inner}
    assert machine.opens(event, 3) == "ooo"


@pytest.mark.parametrize(
    "session",
    [".", "..", "../up", "a/b", "a b", "ä", "$(touch evil)", "x" * 129, "", "-n\\n", 'a"b', "*", None, 5],
)
def test_a_session_with_a_strange_name_is_not_counted(machine: Machine, session: object) -> None:
    assert machine.opens(CALL | {"session_id": session}, 3) == "ooo"
    assert {path.name for path in machine.state.rglob("*")} == {"hook"}


@pytest.mark.parametrize("session", ["-n", "a", "0.._-", "x" * 128])
def test_a_plain_name_is_counted(machine: Machine, session: str) -> None:
    assert machine.opens(CALL | {"session_id": session}, 3) == "..o"


def test_a_counted_call_needs_no_program_but_dd_and_writes_one_byte(machine: Machine, tmp_path: Path) -> None:
    assert machine.opens(CALL | {"tool_input": {"command": "secret"}}, 1) == "."
    (tmp_path / "bin").mkdir()
    dd = shutil.which("dd")
    assert dd
    (tmp_path / "bin/dd").symlink_to(dd)
    assert machine.opens(CALL | {"tool_input": {"command": "secret"}}, 1, PATH=str(tmp_path / "bin")) == "."
    assert (machine.state / "sessions/s-1/calls").read_bytes() == b".."
    assert {path.name for path in machine.state.rglob("*")} == {"hook", "sessions", "s-1", "calls"}


def test_what_it_makes_is_the_users_alone(machine: Machine) -> None:
    machine.opens(CALL, 1)
    for path in (machine.state / "sessions").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize("off", ["false", "0", "no", "off", "False", "OFF"])
def test_switched_off_it_does_nothing(machine: Machine, off: str) -> None:
    assert machine.opens(CALL, 4, LOA_MEMORY_ENABLED=off) == "...."
    assert machine.opens({"hook_event_name": "Stop"}, 1, LOA_MEMORY_ENABLED=off) == "."
    assert not (machine.state / "sessions").exists()
    assert machine.opens(CALL, 3, LOA_MEMORY_ENABLED="true") == "..o"


def test_where_valor_never_ran_nothing_is_made(machine: Machine, tmp_path: Path) -> None:
    (machine.state / "hook").unlink()
    assert machine.opens(CALL, 3) == "..."
    assert machine.opens({"hook_event_name": "Stop"}, 1) == "."
    assert list(machine.state.iterdir()) == []


def test_the_state_lies_in_the_home_folder_by_default(machine: Machine, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(machine.state, home / ".local/state/valor")
    for state in (None, "", "relative/path"):
        out = machine.run({"hook_event_name": "Stop"}, XDG_STATE_HOME=state, HOME=str(home))
        assert out.decode().startswith(f"-I -S {machine.hook} {home}/.local/state/valor\n")


@pytest.mark.parametrize("home", [None, "", "relative"])
def test_without_a_home_there_is_silence(machine: Machine, home: str | None) -> None:
    assert machine.run({"hook_event_name": "Stop"}, XDG_STATE_HOME=None, HOME=home) == b""


def test_a_state_folder_that_takes_nothing_means_silence(machine: Machine) -> None:
    (machine.state / "sessions").touch()
    assert machine.opens(CALL, 3) == "..."


@pytest.mark.parametrize(
    "content", ["", "/nowhere/python\n/nowhere/hook.py\n", "one line", "\n\n", "/bin\n/bin\n"]
)
def test_a_hook_file_that_leads_nowhere_means_silence(machine: Machine, content: str) -> None:
    (machine.state / "hook").write_text(content)
    assert machine.run({"hook_event_name": "Stop"}) == b""


@pytest.mark.parametrize("end", ["exit 2", "kill -9 $$", "nonsense-command", "echo oops >&2; exit 1"])
def test_whatever_the_interpreter_does_the_exit_code_is_0(machine: Machine, end: str) -> None:
    machine.python.write_text(f"#!/bin/sh\n{end}\n")
    assert machine.run({"hook_event_name": "UserPromptSubmit", "prompt": "x"}) == b""


def test_help_says_what_it_is_for(machine: Machine) -> None:
    done = subprocess.run([SCRIPT, "--help"], env=machine.env, capture_output=True, text=True)
    assert done.returncode == 0
    assert "Example" in done.stdout
    assert "Exit codes" in done.stdout
    assert done.stderr == ""
