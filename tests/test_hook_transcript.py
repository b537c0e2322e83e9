"""The tool calls at the end of a transcript, whatever else stands in it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from valor.hook import events, transcript


def use(number: int, **more: Any) -> dict[str, Any]:
    block = {
        "type": "tool_use",
        "id": f"toolu_{number}",
        "name": "Bash",
        "input": {"command": f"run {number}"},
    }
    return {"type": "assistant", "message": {"id": "m", "role": "assistant", "content": [block]}, **more}


def result(number: int, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": f"printed {number}"}
    return {"type": "user", "message": {"role": "user", "content": [block]}, **more}


def write(path: Path, *lines: object) -> str:
    whole = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    path.write_bytes(b"\n".join([*whole, b""]))
    return str(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def commands(calls: list[dict[str, Any]]) -> list[str]:
    return [call["tool_input"]["command"] for call in calls]


def test_a_call_comes_with_its_result(path: Path) -> None:
    write(path, use(1), use(2), result(1), result(2), use(3))
    assert transcript.calls(str(path), 8) == [
        {"tool_input": {"command": "run 1"}, "tool_response": "printed 1"},
        {"tool_input": {"command": "run 2"}, "tool_response": "printed 2"},
        {"tool_input": {"command": "run 3"}},
    ]


def test_the_newest_are_taken_and_the_events_own_is_not_taken_twice(path: Path) -> None:
    write(path, *(line for n in range(20) for line in (use(n), result(n))))
    assert commands(transcript.calls(str(path), 3)) == ["run 17", "run 18", "run 19"]
    assert commands(transcript.calls(str(path), 3, own="toolu_19")) == ["run 16", "run 17", "run 18"]


def test_what_the_tool_gave_is_taken_as_a_hook_sees_it(path: Path) -> None:
    shown = {"filePath": "/x/a.py", "structuredPatch": [{"lines": ["+new"]}]}
    write(path, use(1), result(1, toolUseResult=shown))
    assert transcript.calls(str(path), 8)[0]["tool_response"] == shown


def test_several_blocks_of_one_message_are_told_apart(path: Path) -> None:
    two, both = use(1), result(1, toolUseResult={"stdout": "of one of them"})
    two["message"]["content"] += [{"type": "text", "text": "and"}, *use(2)["message"]["content"]]
    both["message"]["content"] += result(2)["message"]["content"]
    write(path, two, both)
    assert [call["tool_response"] for call in transcript.calls(str(path), 8)] == ["printed 1", "printed 2"]
    assert commands(transcript.calls(str(path), 1)) == ["run 2"]


@pytest.mark.parametrize(
    "content", ["Exit code 1", [{"type": "text", "text": "Exit code 1"}, {"type": "image"}]]
)
def test_a_failed_call_has_its_error(path: Path, content: object) -> None:
    failed = result(1, toolUseResult="Error: Exit code 1")
    failed["message"]["content"][0] |= {"is_error": True, "content": content}
    write(path, use(1), failed)
    assert transcript.calls(str(path), 8) == [{"tool_input": {"command": "run 1"}, "error": "Exit code 1"}]


def test_lines_of_other_agents_are_left_out(path: Path) -> None:
    write(path, use(1), use(2, isSidechain=True, agentId="a1"), use(3, isSidechain=False))
    assert commands(transcript.calls(str(path), 8)) == ["run 1", "run 3"]
    own = [use(n, isSidechain=True, agentId=agent) for n, agent in enumerate(["a1", "a2", "a1"])]
    write(path, *own, use(3, isSidechain=True))
    assert commands(transcript.calls(str(path), 8, agent="a1")) == ["run 0", "run 2", "run 3"]


def test_lines_that_are_not_understood_are_passed_over(path: Path) -> None:
    odd: list[object] = [
        b"",
        b'{torn "tool_use"',
        b'["tool_use"]',
        b'"tool_use"',
        b'\xff\xfe "tool_use"',
        {"type": "system", "subtype": "compact_boundary", "note": "tool_use"},
        {"type": "assistant", "message": "tool_use"},
        {"type": "assistant", "message": {"content": ["tool_use", None, {"type": "tool_use"}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": ["x"]}]}},
        {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["tool_use"]}},
        {"payload": {"type": "function_call"}},
    ]
    write(path, use(1), *odd, result(1))
    assert commands(transcript.calls(str(path), 8)) == ["run 1"]


def test_a_line_still_being_written_is_left_for_later(path: Path) -> None:
    write(path, use(1), use(2))
    path.write_bytes(path.read_bytes()[:-1])
    assert commands(transcript.calls(str(path), 8)) == ["run 1"]


def test_only_the_tail_is_read(path: Path) -> None:
    big = {"type": "user", "message": {"role": "user", "content": "x" * transcript.TAIL}}
    write(path, use(1), big, use(2))
    assert commands(transcript.calls(str(path), 8)) == ["run 2"]
    write(path, use(1), use(2), big)
    assert transcript.calls(str(path), 8) == []


def test_of_long_lines_no_more_are_parsed_than_a_window_takes(path: Path) -> None:
    long = [use(n, padding="x" * (transcript.ENOUGH // 2)) for n in range(3)]
    write(path, *long)
    assert commands(transcript.calls(str(path), 8)) == ["run 1", "run 2"]


def test_codex_items_are_read(path: Path) -> None:
    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026-11-30T18:00:00Z", "type": "response_item", "payload": payload}

    asked = json.dumps({"command": ["bash", "-lc", "pytest"], "workdir": "/x"})
    write(
        path,
        {"type": "session_meta", "payload": {"id": "019a"}},
        item(type="function_call", name="shell", arguments=asked, call_id="call_1"),
        item(type="function_call_output", call_id="call_1", output='{"output":"1 failed","metadata":{}}'),
        item(type="function_call", name="exec_command", arguments='{"cmd":"ls"}', call_id="call_2"),
        item(type="function_call_output", call_id="call_2", output="a.py"),
        item(type="custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="call_3"),
        item(type="custom_tool_call_output", call_id="call_3", output="Success"),
    )
    assert transcript.calls(str(path), 8) == [
        {"tool_input": {"command": ["bash", "-lc", "pytest"], "workdir": "/x"}, "tool_response": "1 failed"},
        {"tool_input": {"command": "ls"}, "tool_response": "a.py"},
        {"tool_input": "*** Begin Patch", "tool_response": "Success"},
    ]


@pytest.mark.parametrize(
    "kind", ["missing", "folder", "pipe", "device", "unreadable", "empty", "zeros", "nul"]
)
def test_what_is_no_readable_file_is_passed_over_and_never_waited_for(path: Path, kind: str) -> None:
    where = str(path)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        where = "/dev/zero"
    elif kind == "unreadable":
        write(path, use(1))
        path.chmod(0)
        if os.access(path, os.R_OK):
            pytest.skip("this user may read everything")
    elif kind == "empty":
        path.touch()
    elif kind == "zeros":
        path.write_bytes(b"\0" * 300_000)
    elif kind == "nul":
        where += "\0"
    assert transcript.calls(where, 8) == []


def test_a_terminal_is_not_read(path: Path) -> None:
    main, child = os.openpty()
    assert transcript.calls(os.ttyname(child), 8) == []
    os.close(main)
    os.close(child)


def test_a_sub_agents_calls_are_looked_for_in_its_own_file(path: Path) -> None:
    def terms() -> set[str]:
        own = {"transcript_path": str(path), "agent_id": "a1", "tool_input": {"command": "pytest"}}
        event = events.normalised({"hook_event_name": "PostToolUse", **own})
        assert event
        return set(events.query(event, "/x").weights)

    write(path, use(1), result(1))
    assert terms() == {"pytest"}, "what the main agent did is not its work"
    own = path.with_suffix("") / "subagents" / "agent-a1.jsonl"
    own.parent.mkdir(parents=True)
    write(own, use(1, isSidechain=True, agentId="a1"), result(1, isSidechain=True, agentId="a1"))
    assert {"pytest", "run", "print"} <= terms()


@pytest.mark.parametrize("agent", ["../../evil", "a/b", "", ".", "a b"])
def test_a_strange_agent_has_no_file(agent: str) -> None:
    assert transcript.of_agent("/x/s.jsonl", agent) == ""


def test_the_transcript_of_another_process_that_never_writes_is_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    writer = subprocess.Popen(["sh", "-c", f"exec sleep 5 > '{path}'"])
    assert transcript.calls(str(path), 8) == []
    writer.kill()
    writer.wait()
