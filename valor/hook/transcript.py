"""The tool calls at the end of a transcript.

Part of the hot ring. The format is the harness's own and changes between versions: what is not
understood is passed over. Claude Code writes a message a line, with ``tool_use`` and ``tool_result``
blocks; Codex an item a line, ``function_call`` and ``function_call_output`` or ``custom_tool_call``.
"""

from __future__ import annotations

import posix

from valor.scan import loads, parsed

TYPE_CHECKING = False  # typing costs half an interpreter start
if TYPE_CHECKING:
    from typing import TypeAlias

    Fields: TypeAlias = dict[str, object]

TAIL = 128 << 10  # bytes read of a transcript
ENOUGH = 64_000  # bytes of lines parsed; a window takes 10,000 characters of them

_MARKS = (b'"tool_use"', b'"tool_result"', b'_call"', b'_call_output"')


def calls(path: str, most: int, own: str = "", agent: str = "") -> list[Fields]:
    """The last ``most`` calls, oldest first, as events of a window: ``tool_input`` and ``tool_response``
    or ``error``, neither where the call has not ended.

    ``own``: an id to leave out. ``agent``: the sub-agent whose transcript it is; lines of other agents
    are left out. [] for what is no readable file.
    """
    reader = _Reader(own, agent)
    room = ENOUGH
    for line in reversed(_tail(path)):
        if any(mark in line for mark in _MARKS):
            room -= len(line)
            reader.read(line)
        if room <= 0 or len(reader.calls) >= most:
            break
    return reader.calls[:most][::-1]


def of_agent(path: str, agent: str) -> str:
    """Where the session whose transcript is ``path`` keeps that of one of its sub-agents."""
    plain = agent.replace("-", "").replace("_", "")
    return f"{path.removesuffix('.jsonl')}/subagents/agent-{agent}.jsonl" if plain.isalnum() else ""


def _tail(path: str) -> list[bytes]:
    """The last whole lines, of at most ``TAIL`` bytes. Never waits: no pipe or device is read."""
    try:
        file = posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_NOCTTY | posix.O_CLOEXEC)
    except (OSError, ValueError):
        return []
    try:
        about = posix.fstat(file)
        if about.st_mode & 0o170000 != 0o100000:
            return []
        start = max(about.st_size - TAIL, 0)
        data = posix.pread(file, TAIL, start)
    except OSError:
        return []
    finally:
        posix.close(file)
    lines = data.split(b"\n")
    return lines[1 if start else 0 : -1]  # the last may still be being written


class _Reader:
    """Takes lines from the last to the first: a result comes by before its call."""

    def __init__(self, own: str, agent: str) -> None:
        self.calls: list[Fields] = []  # newest first
        self._own = own
        self._agent = agent
        self._results: dict[object, Fields] = {}

    def read(self, line: bytes) -> None:
        try:
            fields = loads(line.decode("utf-8", "replace"))
        except ValueError:
            return
        if not isinstance(fields, dict):
            return
        item = fields.get("payload")
        if isinstance(item, dict):
            self._codex(item)
        elif self._concerns_us(fields):
            message = fields.get("message")
            blocks = message.get("content") if isinstance(message, dict) else None
            if isinstance(blocks, list):
                self._claude([block for block in blocks if isinstance(block, dict)], fields)

    def _concerns_us(self, fields: Fields) -> bool:
        if self._agent:
            return fields.get("agentId", self._agent) == self._agent
        return not fields.get("isSidechain")

    def _claude(self, blocks: list[Fields], fields: Fields) -> None:
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:
            content = block.get("content")
            if block.get("is_error"):
                self._result(block.get("tool_use_id"), {"error": _flat(content)})
            else:
                # What the tool gave stands beside the message as a hook sees it.
                whole = fields.get("toolUseResult") if len(results) == 1 else None
                self._result(block.get("tool_use_id"), {"tool_response": whole or content})
        for block in reversed(blocks):
            if block.get("type") == "tool_use":
                self._call(block.get("id"), block.get("input"))

    def _codex(self, item: Fields) -> None:
        kind, call_id = item.get("type"), item.get("call_id")
        if kind in ("function_call_output", "custom_tool_call_output"):
            got = parsed(item.get("output"))
            self._result(call_id, {"tool_response": got.get("output") if isinstance(got, dict) else got})
        elif kind == "function_call":
            asked = parsed(item.get("arguments"))
            if isinstance(asked, dict) and "cmd" in asked:
                asked = {"command": asked["cmd"]}
            self._call(call_id, asked)
        elif kind == "custom_tool_call":
            self._call(call_id, item.get("input"))

    def _result(self, call_id: object, result: Fields) -> None:
        if isinstance(call_id, str):
            self._results[call_id] = result

    def _call(self, call_id: object, asked: object) -> None:
        if isinstance(call_id, str) and call_id != self._own:
            self.calls.append({"tool_input": asked, **self._results.pop(call_id, {})})


def _flat(content: object) -> str:
    """The text of a result's content: a text, or blocks of it."""
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "\n".join([text for text in texts if isinstance(text, str)])
    return content if isinstance(content, str) else ""
