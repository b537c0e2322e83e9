"""The shapes in which four harnesses send their events, and the form in which each wants an answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from valor.answer import Told
from valor.hook import events, output
from valor.stub import stub

ROOT = "/home/ada/shop"

CLAUDE = {
    "session_id": "5e1f", "transcript_path": "/home/ada/.claude/projects/-home-ada-shop/5e1f.jsonl",
    "cwd": ROOT, "permission_mode": "default",
}  # fmt: skip
CODEX = {
    "session_id": "019a-77", "turn_id": "3", "cwd": ROOT, "model": "gpt-x", "permission_mode": "default",
    "transcript_path": "/home/ada/.codex/sessions/2026/11/30/rollout-019a-77.jsonl",
}  # fmt: skip
GEMINI = {
    "session_id": "9b2c", "transcript_path": "/home/ada/.gemini/tmp/1f/chats/session-9b2c.json", "cwd": ROOT,
    "timestamp": "2026-11-30T18:00:00.000Z",
}  # fmt: skip
CURSOR = {
    "conversation_id": "66c7", "generation_id": "g-1", "model": "composer", "cursor_version": "2.4.0",
    "workspace_roots": [ROOT], "user_email": None, "transcript_path": None,
}  # fmt: skip

PATCH = """*** Begin Patch
*** Update File: lib/basket_total.py
@@
-    return grossSum
+    return nettoSum
*** End Patch"""

RECORDED: dict[str, tuple[dict[str, Any], int, set[str]]] = {
    "claude-edit": (
        CLAUDE | {
            "hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_use_id": "toolu_01",
            "tool_input": {"file_path": f"{ROOT}/lib/basket_total.py", "old_string": "a", "new_string": "b"},
            "tool_response": {"filePath": f"{ROOT}/lib/basket_total.py", "originalFile": "hugeOriginal",
                              "structuredPatch": [{"lines": ["-return grossSum", "+return nettoSum"]}]},
        },
        events.TOOL, {"basket_total", "nettosum", "grosssum"},
    ),
    "claude-failure": (
        CLAUDE | {
            "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_use_id": "toolu_02",
            "tool_input": {"command": "pytest tests/test_basket.py"}, "is_interrupt": False,
            "error": "Exit code 1\nKeyError: nettoSum", "duration_ms": 812,
        },
        events.FAILURE, {"test_basket", "nettosum"},
    ),
    "claude-prompt": (
        CLAUDE | {"hook_event_name": "UserPromptSubmit", "prompt": "why is nettoSum off?"},
        events.PROMPT, {"nettosum"},
    ),
    "codex-patch": (
        CODEX | {
            "hook_event_name": "PostToolUse", "tool_name": "apply_patch", "tool_use_id": "call_1",
            "tool_input": {"command": PATCH}, "tool_response": "Success. Updated lib/basket_total.py",
        },
        events.TOOL, {"basket_total", "nettosum", "grosssum"},
    ),
    "codex-patch-as-text": (
        CODEX | {"hook_event_name": "PostToolUse", "tool_name": "apply_patch", "tool_input": PATCH},
        events.TOOL, {"basket_total", "nettosum", "grosssum"},
    ),
    "codex-command": (
        CODEX | {
            "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "call_2",
            "tool_input": {"command": ["bash", "-lc", "pytest tests/test_basket.py"]},
            "tool_response": "nettoSum",
        },
        events.TOOL, {"test_basket", "nettosum"},
    ),
    "gemini-tool": (
        GEMINI | {
            "hook_event_name": "AfterTool", "tool_name": "read_file",
            "tool_input": {"absolute_path": f"{ROOT}/lib/basket_total.py"},
            "tool_response": {"llmContent": "def nettoSum(): ...", "returnDisplay": "Read", "error": None},
        },
        events.TOOL, {"basket_total", "nettosum"},
    ),
    "gemini-tool-error": (
        GEMINI | {
            "hook_event_name": "AfterTool", "tool_name": "run_shell_command",
            "tool_input": {"command": "pytest tests/test_basket.py"},
            "tool_response": {"llmContent": [{"text": "KeyError: nettoSum"}], "error": "exit 1: grossSum"},
        },
        events.TOOL, {"test_basket", "nettosum", "grosssum"},
    ),
    "gemini-prompt": (
        GEMINI | {"hook_event_name": "BeforeAgent", "prompt": "why is nettoSum off?"},
        events.PROMPT, {"nettosum"},
    ),
    "cursor-tool": (
        CURSOR | {
            "hook_event_name": "postToolUse", "tool_name": "Shell", "tool_use_id": "t1", "duration": 12,
            "tool_input": {"command": "pytest tests/test_basket.py"},
            "tool_output": json.dumps({"stdout": "FAILED nettoSum", "exitCode": 1}),
        },
        events.TOOL, {"test_basket", "nettosum"},
    ),
    "cursor-plain-output": (
        CURSOR | {"hook_event_name": "postToolUse", "tool_input": {}, "tool_output": "[nettoSum is no JSON"},
        events.TOOL, {"nettosum"},
    ),
}  # fmt: skip


def read(fields: dict[str, Any]) -> events.Event:
    event = events.normalised(json.loads(json.dumps(fields)))
    assert event is not None
    return event


@pytest.mark.parametrize("name", RECORDED)
def test_an_event_of_each_harness_becomes_a_query(name: str) -> None:
    fields, kind, terms = RECORDED[name]
    event = read(fields)
    assert event.kind == kind
    assert event.folders == [ROOT]
    assert event.session == (fields.get("session_id") or fields["conversation_id"])
    found = events.query(event, ROOT)
    assert terms <= set(found.weights)
    assert not {"hugeoriginal", "home", "ada", "shop"} & set(found.weights)
    assert found.short is (kind == events.PROMPT)


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        ("SessionStart sessionStart", events.START),
        ("SubagentStart", events.SUBAGENT),
        ("Stop SubagentStop SessionEnd PreCompact AfterAgent PreCompress", events.MOMENT),
        ("stop subagentStop sessionEnd preCompact", events.MOMENT),
    ],
)
def test_moments_of_a_session_are_known_by_each_harness_name(names: str, kind: int) -> None:
    for name in names.split():
        assert read(CLAUDE | {"hook_event_name": name}).kind == kind


@pytest.mark.parametrize(
    "name", ["PreToolUse", "Notification", "beforeSubmitPrompt", "WorktreeCreate", "", 3, None]
)
def test_an_event_that_takes_no_context_is_left_alone(name: object) -> None:
    assert events.normalised(CURSOR | {"hook_event_name": name}) is None


@pytest.mark.parametrize("fields", [None, [], "text", 3, {}, [{"hook_event_name": "Stop"}]])
def test_what_is_no_object_is_no_event(fields: object) -> None:
    assert events.normalised(fields) is None


def test_values_of_another_shape_are_passed_over() -> None:
    wrong = {"session_id": 1, "transcript_path": {}, "cwd": [], "tool_use_id": None, "agent_id": 0}
    event = read(
        wrong | {"hook_event_name": "PostToolUse", "tool_input": 5, "tool_response": [None, {"a": []}]}
    )
    assert (event.session, event.transcript, event.folders, event.agent) == ("", "", [], "")
    assert events.query(event, ROOT).weights == {}


def test_the_folder_of_the_event_counts_before_the_workspaces() -> None:
    both = CURSOR | {"hook_event_name": "postToolUse", "workspace_roots": ["/a", 3, "", "/b"]}
    assert read(both).folders == ["/a", "/b"]
    assert read(both | {"cwd": "/c"}).folders == ["/c"]


@pytest.mark.parametrize(
    "name", ["SessionStart", "UserPromptSubmit", "PostToolUse", "BeforeAgent", "AfterTool"]
)
def test_the_answer_names_the_event_as_it_came_and_has_no_other_key(name: str) -> None:
    answer = json.loads(output.rendered(read(CODEX | {"hook_event_name": name}), 'é "quoted"\n<thought>'))
    assert answer == {
        "hookSpecificOutput": {"hookEventName": name, "additionalContext": 'é "quoted"\n<thought>'}
    }


def test_cursor_gets_its_own_form() -> None:
    answer = json.loads(output.rendered(read(CURSOR | {"hook_event_name": "postToolUse"}), "é"))
    assert answer == {"additional_context": "é"}


def test_of_long_stubs_as_many_are_told_as_fit_and_the_rest_may_come_later(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    event = read(CLAUDE | {"hook_event_name": "PostToolUse"})
    found = [Told(f"obs-{n}", stub(f"obs-{n}", "error", "word " * 16_000)) for n in range(3)]
    output.put(event, str(tmp_path), str(tmp_path), found)
    text = json.loads(capfd.readouterr().out)["hookSpecificOutput"]["additionalContext"]
    assert len(text) <= 1_200
    assert text.count("<thought") == 2
    assert events.told(event, str(tmp_path)) == {"obs-0", "obs-1"}


def test_an_id_that_can_be_no_files_name_is_told_once_as_well(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    event = read(CLAUDE | {"hook_event_name": "PostToolUse", "session_id": "../../up"})
    for id_ in ("../evil", "a/b", "..", "ä", "x" * 200):
        for times in (1, 0):
            output.put(event, str(tmp_path), str(tmp_path), [Told(id_, "<thought>")])
            assert capfd.readouterr().out.count("<thought>") == times
    assert {path.name for path in tmp_path.iterdir()} == {"sessions", "journal.jsonl"}
