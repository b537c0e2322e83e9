"""Blocks that init appends to someone's text files, and their removal.

A block is appended as one line end, its lines and one line end. The first of these heals a missing
final newline or, where none is missing, makes a blank line; either way, taking the whole splice out
gives back the file as it was.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

BEGIN, END = b"<!-- valor:begin -->", b"<!-- valor:end -->"
HEADING = b"# valor: a merge keeps the lines of both sides"

_POINTER = re.compile(
    rb"^" + BEGIN + rb"[ \t]*\r?\n(?:(?!" + BEGIN + rb").*\n)*?" + END + rb"[ \t]*(?:\r?\n|\Z)", re.M
)


class Unfinished(Exception):
    """A begin marker without its end; ``line`` (1-based) is where it stands."""

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line}")
        self.line = line


def with_pointer(content: bytes, block: bytes) -> bytes:
    """``content`` with ``block`` (marker to marker, ``\\n`` between lines) in place of the block it has,
    else at its end. Raises Unfinished."""
    found = _pointer(content)
    if found and found.group().replace(b"\r\n", b"\n").rstrip() == block:
        return content
    eol = _eol(found.group() if found else content)
    lines = block.replace(b"\n", eol) + eol
    if found:
        return content[: found.start()] + lines + content[found.end() :]
    return content + eol + lines


def without_pointer(content: bytes) -> bytes:
    """``content`` without its pointer blocks. Raises Unfinished."""
    while found := _pointer(content):
        content = _cut(content, found)
    return content


def with_union(content: bytes | None, paths: Sequence[str]) -> bytes:
    """``.gitattributes`` (None: no file) with ``merge=union`` for each path that lacks it."""
    missing = [path for path in paths if not _is_union(content or b"", path)]
    if not missing:
        return content or b""
    eol = _eol(content or b"")
    lines = eol.join((HEADING, *map(_attribute, missing))) + eol
    return lines if content is None else content + eol + lines


def without_union(content: bytes, paths: Sequence[str]) -> bytes | None:
    """``.gitattributes`` without the lines under init's heading; None where the file was made for them."""
    known = b"|".join(re.escape(_attribute(path)) for path in paths)
    block = re.compile(
        rb"^" + re.escape(HEADING) + rb"(?:\r?\n|\Z)(?:(?:" + known + rb")(?:\r?\n|\Z))*", re.M
    )
    while found := block.search(content):
        if found.group() == content:
            return None
        content = _cut(content, found)
    return content


def _attribute(path: str) -> bytes:
    return path.encode() + b" merge=union"


def _is_union(content: bytes, path: str) -> bool:
    """Whether the last line that names this path gives it ``merge=union`` (gitattributes(5): per
    attribute, the last matching line counts)."""
    union = False
    for line in content.splitlines():
        pattern, *attributes = line.split() or [b""]
        if pattern.strip(b'"').lstrip(b"/") == path.encode():
            for attribute in attributes:
                if attribute.lstrip(b"-!").partition(b"=")[0] == b"merge":
                    union = attribute == b"merge=union"
    return union


def _pointer(content: bytes) -> re.Match[bytes] | None:
    found = _POINTER.search(content)
    opened = re.search(rb"^" + BEGIN, content, re.M)
    if opened and not found:
        raise Unfinished(content.count(b"\n", 0, opened.start()) + 1)
    return found


def _cut(content: bytes, found: re.Match[bytes]) -> bytes:
    """``content`` without the block and the line end that was put in front of it."""
    eol = _eol(found.group())
    before, after = content[: found.start()].removesuffix(eol), content[found.end() :]
    if before and after and not before.endswith(b"\n"):
        before += eol  # someone wrote below a block that healed the last line
    return before + after


def _eol(content: bytes) -> bytes:
    return b"\r\n" if b"\r\n" in content else b"\n"
