"""What harnesses send, as one shape.

Part of the hot ring. Claude Code, Codex and Gemini CLI share an envelope (``session_id``,
``transcript_path``, ``cwd``, ``hook_event_name``) and differ in the events' names; Cursor writes
names small, ``conversation_id``, ``workspace_roots`` where there is no ``cwd``, and ``tool_output``
as JSON in a string. docs/reference/hook-protocol.md has the table.
"""

from __future__ import annotations

import posix

from valor.scan import parsed
from valor.viewfile import file_name
from valor.window import SPAN, Query, window_query

TYPE_CHECKING = False  # typing costs half an interpreter start
if TYPE_CHECKING:
    from typing import TypeAlias

    Fields: TypeAlias = dict[str, object]


TOOL, FAILURE, PROMPT, SUBAGENT, START, MOMENT = range(6)

KINDS = {
    "PostToolUse": TOOL,
    "AfterTool": TOOL,
    "postToolUse": TOOL,
    "PostToolUseFailure": FAILURE,
    "UserPromptSubmit": PROMPT,
    "BeforeAgent": PROMPT,
    "SubagentStart": SUBAGENT,
    "SessionStart": START,
    "sessionStart": START,
    "Stop": MOMENT,
    "SubagentStop": MOMENT,
    "SessionEnd": MOMENT,
    "PreCompact": MOMENT,
    "AfterAgent": MOMENT,
    "PreCompress": MOMENT,
    "stop": MOMENT,
    "subagentStop": MOMENT,
    "sessionEnd": MOMENT,
    "preCompact": MOMENT,
}


class Event:
    """A hook event: ``name`` as it came, ``kind`` one of the above, ``session`` and ``agent`` ("" for
    the main one) as the harness names them, ``folders`` where it works, likeliest first,
    ``transcript`` the path of the session's, ``call_id`` of the tool call; ``fields`` all of it."""

    __slots__ = ("agent", "call_id", "fields", "folders", "kind", "name", "session", "transcript")

    def __init__(self, name: str, kind: int, fields: Fields) -> None:
        self.name = name
        self.kind = kind
        self.fields = fields
        self.session = _text(fields, "session_id") or _text(fields, "conversation_id")
        self.agent = _text(fields, "agent_id")
        self.transcript = _text(fields, "transcript_path")
        self.call_id = _text(fields, "tool_use_id")
        cwd, roots = _text(fields, "cwd"), fields.get("workspace_roots")
        self.folders = [cwd] if cwd else []
        if not cwd and isinstance(roots, list):
            self.folders = [root for root in roots if isinstance(root, str) and root]

    def folder(self, state: str) -> str:
        """Where the session's files lie, below valor's state folder; "" for a session without a name."""
        return f"{state}/sessions/{file_name(self.session)}" if self.session else ""

    @property
    def cursor(self) -> bool:
        """Whether it wants Cursor's form of an answer: names written small are Cursor's alone."""
        return self.name[0].islower()


def normalised(fields: object) -> Event | None:
    """The event of a parsed text; None for what is no event, or none that is answered."""
    if not isinstance(fields, dict):
        return None
    name = _text(fields, "hook_event_name")
    kind = KINDS.get(name)
    return None if kind is None else Event(name, kind, fields)


def told(event: Event, state: str) -> set[str]:
    """The file names of the ids that the session was told (``valor.viewfile.file_name``)."""
    try:
        return set(posix.listdir(event.folder(state) + "/told")) if event.session else set()
    except OSError:
        return set()


def query(event: Event, root: str) -> Query:
    """What the agent is working on: a prompt alone, a tool call with those before it in the transcript,
    for a sub-agent that starts the task it was given."""
    fields = event.fields
    if event.kind == PROMPT:
        return window_query([{"hook_event_name": "UserPromptSubmit", "prompt": fields.get("prompt")}], root)
    if event.kind == SUBAGENT:
        started = _before(event, event.transcript, "")
        tasks = [call["tool_input"] for call in started]
        return window_query([{"tool_input": task} for task in tasks if _is_task(task)][-1:], root)
    path = event.transcript
    if event.agent and path:
        from valor.hook.transcript import of_agent

        path = of_agent(path, event.agent)
    return window_query([*_before(event, path, event.agent), _call(fields)], root)


def _before(event: Event, path: str, agent: str) -> list[Fields]:
    """The calls of a window before the event's own."""
    if not path:
        return []
    from valor.hook.transcript import calls

    return calls(path, SPAN - 1, event.call_id, agent)


def _is_task(asked: object) -> bool:
    return isinstance(asked, dict) and "prompt" in asked


def _call(fields: Fields) -> Fields:
    """The event's own call, as a window takes it."""
    got = fields.get("tool_response")
    if got is None:
        got = parsed(fields.get("tool_output"))
    return {"tool_input": fields.get("tool_input"), "tool_response": got, "error": fields.get("error")}


def _text(fields: Fields, key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""
