"""Values in a git configuration file, read without git.

The syntax is git-config(1)'s. ``include.path`` is honoured where it is no ``~`` path; ``includeIf`` is
not.
"""

from __future__ import annotations

from pathlib import Path

_DEEPEST = 10  # includes in includes, as git has it
_BLANKS = " \t\r\n"  # what git takes for white space, and no other
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\"}


def values(path: Path, section: str, subsection: str, key: str) -> list[str]:
    """Every value of ``section.subsection.key`` (section and key in lower case), in order, with
    what included files say in the include's place. An unreadable file has none."""
    return _values(path, (section, subsection, key), 0)


def _values(path: Path, wanted: tuple[str, str, str], depth: int) -> list[str]:
    try:
        text = path.read_bytes().decode("utf-8-sig", "surrogateescape")
    except OSError:
        return []
    found: list[str] = []
    section, subsection = "", ""
    for line in _lines(text):
        if line.startswith("["):
            section, subsection, line = _header(line)
        name, equals, rest = line.partition("=")
        entry = (section, subsection, name.strip(_BLANKS).lower())
        if not equals:
            continue  # a key alone means "true"
        if entry == wanted:
            value = _value(rest)
            found = [*found, value] if value else []  # an empty value clears the list
        elif entry == ("include", "", "path") and depth < _DEEPEST:
            target = _value(rest)
            if not target.startswith("~"):
                found += _values(path.parent / target, wanted, depth + 1)
    return found


def _lines(text: str) -> list[str]:
    """The lines, with those that a backslash continues joined; nothing continues a comment."""
    joined: list[str] = []
    open_ = False
    for line in text.replace("\r\n", "\n").split("\n"):
        if open_:
            joined[-1] += line
        else:
            joined.append(line.strip(_BLANKS))
        open_ = _continues(joined[-1])
        if open_:
            joined[-1] = joined[-1][:-1]
    return joined


def _continues(line: str) -> bool:
    backslashes = len(line) - len(line.rstrip("\\"))
    return backslashes % 2 == 1 and not line.startswith(("#", ";")) and _comment(line) < 0


def _comment(line: str) -> int:
    """Where a comment starts outside quotes; -1 for nowhere."""
    quoted = escaped = False
    for at, char in enumerate(line):
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            return at
    return -1


def _header(line: str) -> tuple[str, str, str]:
    """Section, subsection and the rest of a ``[section "subsection"] key = value`` line."""
    name, quote, rest = line[1:].partition('"')
    if not quote or "]" in name:
        name, _, rest = line[1:].partition("]")
        section, _, old = name.strip(_BLANKS).lower().partition(".")  # [remote.origin], in lower case
        return section, old, rest
    subsection, at = "", 0
    while at < len(rest) and rest[at] != '"':
        at += rest[at] == "\\"
        subsection += rest[at : at + 1]
        at += 1
    return name.strip(_BLANKS).lower(), subsection, rest[at + 1 :].partition("]")[2]


def _value(text: str) -> str:
    """A value as git reads it: outer blanks off, quotes and escapes undone, a comment dropped."""
    end = _comment(text)
    text = (text if end < 0 else text[:end]).strip(_BLANKS)
    out, quoted, at = "", False, 0
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
            out += _ESCAPES.get(text[at : at + 1], "")
        elif char == '"':
            quoted = not quoted
        else:
            out += char
        at += 1
    return out
