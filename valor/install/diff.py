"""A plan as a diff that ``git apply`` takes."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from valor.install.plan import Change


def unified(changes: Sequence[Change]) -> Iterator[str]:
    """The lines of the diff, without their line ends; bytes that are not UTF-8 as lone surrogates."""
    for change in changes:
        yield f"diff --git a/{change.path} b/{change.path}"
        yield from _modes(change)
        yield from _hunks(change)


def _modes(change: Change) -> Iterator[str]:
    mode = "100755" if change.executable else "100644"
    if change.before is None:
        yield f"new file mode {mode}"
    elif change.after is None:
        yield f"deleted file mode {mode}"
    elif change.before == change.after:
        yield from ("old mode 100644", "new mode 100755")


def _hunks(change: Change) -> Iterator[str]:
    before, after = _lines(change.before), _lines(change.after)
    old = "/dev/null" if change.before is None else f"a/{change.path}"
    new = "/dev/null" if change.after is None else f"b/{change.path}"
    for number, line in enumerate(difflib.unified_diff(before, after, old, new, lineterm="")):
        text, end, _ = line.partition("\n")
        yield text
        if not end and number > 1 and not line.startswith("@@"):
            yield "\\ No newline at end of file"


def _lines(content: bytes | None) -> list[str]:
    """The lines with their ``\\n``, and with that alone as a line end."""
    parts = (content or b"").decode("utf-8", "surrogateescape").split("\n")
    return [part + "\n" for part in parts[:-1]] + [part for part in parts[-1:] if part]
