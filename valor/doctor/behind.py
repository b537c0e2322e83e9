"""How far the log is from what was mirrored of it."""

from __future__ import annotations

from pathlib import Path

from valor.confirm import begins_alike
from valor.viewfile import ViewFile, identity


class Behind:
    """``bytes`` and ``lines`` that were added; ``grew`` is False where something else happened to the
    file. True as a condition where there is anything to sync."""

    __slots__ = ("bytes", "grew", "lines")

    def __init__(self, file: ViewFile, log: Path) -> None:
        """Raises OSError where there is no log."""
        facts, known = identity(log.stat()), file.identity
        self.bytes = self.lines = 0
        with log.open("rb") as content:
            self.grew = facts == known or (facts[2] > file.covered and begins_alike(content.fileno(), file))
            if self.grew and facts != known:
                self.bytes = facts[2] - file.covered
                content.seek(file.covered)
                self.lines = sum(1 for _ in content)

    def __bool__(self) -> bool:
        return not self.grew or self.bytes > 0

    def __str__(self) -> str:
        if self.grew:
            return f"{self.lines:,} line{'s' * (self.lines != 1)} ({self.bytes:,} bytes) behind the log"
        return "the log has changed since (a pull, a checkout, an edit)"
