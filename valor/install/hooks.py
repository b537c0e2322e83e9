"""How each harness is told to run ``memory-hook.sh``: its file, its events, its units.

A command that is missing, broken or half-merged must never reach the agent: exit code 2 erases a prompt
in Claude Code, and it is what a shell gives for a syntax error. So each command says itself that a
missing script is no error, and ends with 0 whatever the script does.

The shapes are those of the harnesses' own documentation:
https://code.claude.com/docs/en/hooks, https://developers.openai.com/codex/hooks,
https://geminicli.com/docs/hooks/reference, https://cursor.com/docs/hooks.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from valor.install import settings
from valor.install.json_text import BLANK, BOM, check

NAME = "memory-hook.sh"
SCRIPT = f".claude/scripts/{NAME}"
VERSION = {"version": 1}

# By bash, which reads with a time limit, and where there is none by sh: the script ends with 0, so that the
# second runs only if the first could not.
_RUN_S = 'bash "$s" 2>/dev/null || sh "$s" 2>/dev/null || :'
# Claude Code may run it in any folder; the variable names the project. It is read by the shell and not
# put in by the harness (which a bare ${CLAUDE_PROJECT_DIR} may be), so blanks in the path do no harm.
_BY_VARIABLE = f's=${{CLAUDE_PROJECT_DIR:-.}}/{SCRIPT}; [ ! -f "$s" ] || {_RUN_S}'
# Gemini CLI and Cursor run it in the folder whose settings they read. Gemini replaces everything that
# looks like a variable before a shell sees it, without quotes, so there is none; nor is anything here
# that fish, which Cursor may use, would read in another way.
_IN_PLACE = f"test ! -f {SCRIPT} || bash {SCRIPT} 2>/dev/null || sh {SCRIPT} 2>/dev/null || true"
# Codex runs it in the session's folder, which may be below the root, by the user's own shell.
_FROM_BELOW = (
    'sh -c \'r=$PWD; until [ -e "$r/.git" ] || [ -z "$r" ]; do r=${r%/*}; done; '
    f's=$r/{SCRIPT}; [ -z "$r" ] || [ ! -f "$s" ] || {_RUN_S}\''
)


class Harness(NamedTuple):
    """One harness: the file of its hooks, the group for each event, and what its user has to do."""

    path: str
    groups: dict[str, dict[str, Any]]
    then: str


def _nested(command: str, timeout: int, *events: str, **more: Any) -> dict[str, dict[str, Any]]:
    """Groups as Claude Code has them, and Codex and Gemini CLI after it."""
    handler = {"type": "command", "command": command, "timeout": timeout}
    return {event: {"hooks": [more | handler]} for event in events}


def _matching_all(groups: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {event: {"matcher": "*"} | group for event, group in groups.items()}


HARNESSES = {
    "claude": Harness(
        ".claude/settings.json",  # timeouts in seconds
        _nested(_BY_VARIABLE, 5, "SessionStart", "UserPromptSubmit")
        | _matching_all(_nested(_BY_VARIABLE, 5, "PostToolUse", "PostToolUseFailure"))
        | _nested(_BY_VARIABLE, 5, "SubagentStart", "SubagentStop", "Stop", "PreCompact", "SessionEnd"),
        "start Claude Code in this folder; /hooks lists the hooks",
    ),
    "codex": Harness(
        ".codex/hooks.json",  # in seconds; at most 3 for SessionEnd, and no event for a failed call
        _nested(_FROM_BELOW, 5, "SessionStart", "UserPromptSubmit", "PostToolUse", "SubagentStart")
        | _nested(_FROM_BELOW, 5, "SubagentStop", "Stop", "PreCompact")
        | _nested(_FROM_BELOW, 3, "SessionEnd"),
        "start Codex here and trust each hook in /hooks, else it is skipped without a word",
    ),
    "gemini": Harness(
        ".gemini/settings.json",  # in milliseconds
        _nested(_IN_PLACE, 5000, "SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", name="valor")
        | _nested(_IN_PLACE, 5000, "PreCompress", "SessionEnd", name="valor"),
        "start Gemini CLI in this folder and trust it; /hooks lists the hooks",
    ),
    "cursor": Harness(
        ".cursor/hooks.json",  # in seconds; only the first two can hand anything to the agent
        {
            event: {"command": _IN_PLACE, "timeout": 5}
            for event in ("sessionStart", "postToolUse", "stop", "subagentStop", "preCompact", "sessionEnd")
        },
        "open this folder in Cursor and trust it; the Hooks tab of its settings lists the hooks",
    ),
}


def entries(name: str) -> list[tuple[str, tuple[str, ...], settings.Entries]]:
    """What goes into the harness's file: the file, keys from its root, values."""
    path, groups, _ = HARNESSES[name]
    return [(path, ("hooks", event), (group,)) for event, group in groups.items()]


def wired_otherwise(text: str | None, keys: Sequence[str], values: settings.Entries) -> bool:
    """Whether the list at ``keys`` runs the script in another way than ``values`` do: someone has edited
    what init wrote, or wired it by hand."""
    return any(NAME in json.dumps(entry) for entry in settings.others(text, keys, values))


def with_version(before: str | None, after: str) -> str:
    """Cursor's file ``after`` the hooks went in, with the version that it must have. In a file that had
    hooks ``before`` but no version, none is added: what is wrong there is its owner's."""
    if "version" in check(after) or "hooks" in _members(before):
        return after
    return settings.add(after, (), VERSION)


def without_version(before: str, after: str | None) -> str | None:
    """Cursor's file ``after`` the hooks went out, without the version that ``with_version`` added: the
    one behind hooks that were all init's. A version of the user's own stands in front of them."""
    if not (after or "").strip(BLANK + BOM) or _members(before)[-2:] != ["hooks", "version"]:
        return after
    return after if after is None or "hooks" in check(after) else settings.remove(after, (), VERSION)


def _members(text: str | None) -> list[str]:
    return list(check(text)) if text is not None and text.strip(BLANK + BOM) else []
