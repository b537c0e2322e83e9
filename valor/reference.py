"""What a reference of a line points at: a path of the checkout, or something else.

Part of the hot ring. A reference is free text: a path, ``path:10``, ``path:10-20``, ``path#L10``, a test's
name (``path::test``), but also a URL, a commit, an issue, an id. What is no path is no reason to doubt a
line, so whatever is not plainly one needs git to have known it (``sure``).
"""

from __future__ import annotations

MOST_REFERENCES = 16  # of a line that are looked at
_LONGEST = 1_024
_MARKS = ("obs-", "sup-", "rei-")
_HEX = frozenset("0123456789abcdefABCDEF")
_ODD = frozenset(" \t*?[]{}()<>|\"'`,;$=!&^%@\\")  # in a file's name now and then, in other texts often
# Endings of names that are files even without a folder before them; `node.js` and `numpy.linalg` are not.
_KNOWN = (
    "bash c cc cfg cpp cs css csv ex exs go h hpp html ini ipynb java "
    "json jsonl jsx kt lock lua md mjs mk php pl proto py pyi pyx rb rs "
    "rst scala scss sh sql svelte swift tf toml ts tsx txt vue xml yaml yml "
)
_ENDINGS = frozenset(_KNOWN.split())


class Pointed:
    """``path`` from the checkout's root, ``/`` between names; ``first`` and ``last`` lines (1-based), 0
    where none are named; ``sure`` says that the text can hardly be anything but a path."""

    __slots__ = ("first", "last", "path", "sure")

    def __init__(self, path: str, first: int, last: int, sure: bool) -> None:
        self.path = path
        self.first = first
        self.last = last
        self.sure = sure


def pointed(reference: str, root: str) -> Pointed | None:
    """Where the reference points in the checkout at ``root``; None where it is no path, or leads out."""
    text = reference.strip()
    if not text or len(text) > _LONGEST or "://" in text or text[0] == "~":
        return None
    if min(text) < " " or "\x7f" in text:
        return None
    named, first, last = _parts(text)
    path = _inside(named, root)
    if not path or (not first and _is_a_name(path)):
        return None
    return Pointed(path, first, last, _is_sure(path))


def _parts(text: str) -> tuple[str, int, int]:
    """The text before its line numbers, and these; "" for the text where it is no path."""
    head, mark, tail = text.partition("#")
    if mark:
        first, last = _span(tail)
        if first and tail[0] == "L":
            return head, first, last
        if tail.isdigit():
            return "", 0, 0  # an issue
        if _ending(head):
            return head, 0, 0  # a heading of a page
    head, mark, tail = text.partition(":")
    if not mark:
        return text, 0, 0
    first, last = _span(tail.partition(":")[0])
    if first or tail.startswith(":") or _ending(head):  # lines; path::test; path:symbol
        return head, first, last
    return "", 0, 0


def _span(text: str) -> tuple[int, int]:
    """``10``, ``10-20``, ``L10``, ``L10-L20`` as first and last line; zeros for anything else."""
    low, mark, high = text.replace("–", "-").partition("-")
    low, high = low.removeprefix("L"), high.removeprefix("L")
    if not _is_number(low) or (mark and not _is_number(high)):
        return 0, 0
    first = int(low)
    return (first, max(first, int(high or low))) if first else (0, 0)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 8


def _inside(text: str, root: str) -> str:
    """The path from the root without ``.`` and ``..``; "" where it leads out, or into git's own folder."""
    if text.startswith("/"):
        if not text.startswith(f"{root.rstrip('/')}/"):
            return ""
        text = text[len(root.rstrip("/")) :]
    names: list[str] = []
    for name in text.split("/"):
        if name == "..":
            if not names:
                return ""
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    return "" if names and names[0] == ".git" else "/".join(names)


def _is_a_name(path: str) -> bool:
    """Whether it is the name of a commit or of a line."""
    return "/" not in path and (
        (len(path) >= 7 and _HEX.issuperset(path)) or (path.startswith(_MARKS) and "." not in path)
    )


def _is_sure(path: str) -> bool:
    ending = _ending(path)
    if not ending or not _ODD.isdisjoint(path):
        return False
    folder, mark, _ = path.partition("/")
    if not mark:
        return ending in _ENDINGS
    return "." not in folder[1:]  # a host's name stands before a path elsewhere


def _ending(path: str) -> str:
    """What follows the last dot of the last name, where that can be a file's ending; else ""."""
    stem, _, ending = path.rpartition("/")[2].rpartition(".")
    fits = stem and len(ending) <= 10 and ending.isascii() and ending.isalnum() and ending[0].isalpha()
    return ending.lower() if fits else ""
