"""The head of a Markdown file: ``key: value`` lines between two ``---``.

Memories are written by hand and by models, and their YAML is often broken (a colon in a value, a
fence that never closes). What is needed are plain values and one level of nesting, so this reads
lines rather than YAML, and every head yields something.
"""

from __future__ import annotations

import json
import re

Head = dict[str, str]  # a key of a nested block is "block.key"

_FENCE = re.compile(r"(---|\.\.\.)\s*$")
_PAIR = re.compile(r"(\s*)([^\s:#-][^:]*?)\s*:(?:\s+(.*))?$")
_BLOCK_SCALAR = re.compile(r"[|>][+-]?\d?$")


def split(text: str) -> tuple[Head, str]:
    """The head's values and the body. Without a head, no values and all of the text."""
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or not re.match(r"---\s*$", lines[0]):
        return {}, "\n".join(lines)
    end = next((at for at in range(1, len(lines)) if _FENCE.match(lines[at])), None)
    if end is None:  # never closed: it ends where the pairs do
        end = next((at for at in range(1, len(lines)) if not _PAIR.match(lines[at])), len(lines))
        return _values(lines[1:end]), "\n".join(lines[end:])
    return _values(lines[1:end]), "\n".join(lines[end + 1 :])


def _values(lines: list[str]) -> Head:
    head: Head = {}
    block, key = "", ""  # the open nested block, and the key that further lines continue
    for line in lines:
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        pair = _PAIR.match(line)
        indented = line[0] in " \t"
        if pair and not indented:
            key, value = pair[2], pair[3] or ""
            block = "" if value.strip() else key
            head[key] = "" if _BLOCK_SCALAR.match(value.strip()) else _scalar(value)
        elif pair and block and not head.get(block):
            key = f"{block}.{pair[2].strip()}"
            head[key] = _scalar(pair[3] or "")
        elif key:  # a list's item, or the next line of a long value
            more = _scalar(stripped.removeprefix("- "))
            glue = ", " if stripped.startswith("- ") else " "
            head[key] = f"{head[key]}{glue}{more}" if head[key] else more
    return {key: value for key, value in head.items() if value}


def _scalar(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] == '"':
        try:
            decoded = json.loads(value)
        except ValueError:
            return value[1:-1]
        return decoded if isinstance(decoded, str) else value
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    return value
