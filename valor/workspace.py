"""A checkout opened for work: where its record lies, and the view of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from valor import fold, log
from valor.config import Config
from valor.record import Record

if TYPE_CHECKING:
    from valor.routing.router import Router
    from valor.routing.table import Table

LOG = "grimoires/loa/memory/observations.jsonl"
GRADES = "grimoires/loa/memory/grades.jsonl"
TABLE = ".claude/loa/reference/memory-reference.md"
SHIPPED_TABLE = Path(__file__).parent / "templates" / "memory-reference.md"


class Workspace:
    """Paths of one checkout and the readers over them; nothing is opened until asked."""

    def __init__(self, config: Config) -> None:
        self.config = config

    @property
    def log(self) -> Path:
        """The observations log."""
        return self.config.root / LOG

    @property
    def table(self) -> Path:
        """The routing table."""
        return self.config.root / TABLE

    def view(self, keep: Callable[[Record], bool] | None = None) -> fold.View:
        """The fold of the log as it stands now; ``keep`` as in ``fold.fold``."""
        return fold.fold(log.lines(self.log), keep)

    def rows(self) -> Table:
        """The routing table of this checkout; the one that ``valor init`` would write where there
        is none. Raises BrokenTable."""
        from valor.routing.table import load

        return load(self._page())

    def router(self) -> Router:
        """The same table, compiled, ready to decide; kept in the state folder while the page stays
        as it is. Raises BrokenTable."""
        from valor.routing.router import Router

        return Router(self._page(), self.state, self.config.auto_memory)

    def _page(self) -> Path:
        return self.table if self.table.exists() else SHIPPED_TABLE

    @property
    def state(self) -> Path:
        """valor's own folder, outside the repository; made by who writes there."""
        return self.config.state
