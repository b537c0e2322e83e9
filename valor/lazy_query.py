"""A question to the log, put together step by step and asked when its answer is needed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Generic, NamedTuple, Self, TypeVar, overload

from valor.errors import UsageError
from valor.fold import View
from valor.log import Line
from valor.query import query
from valor.selection import Selection, instant
from valor.workspace import Workspace

M = TypeVar("M")
# A date or time as text ("2026-11-30", "2026-11-30T18:00:00Z"), unix seconds, or a datetime; UTC
# unless it says otherwise.
When = str | float | datetime


class SkippedLines(UserWarning):
    """The log holds lines that are no record; the answer was given without them."""


class _Plan(NamedTuple):
    """What was asked for so far."""

    selection: Selection = Selection()
    words: str = ""
    limit: int = 0
    hidden: bool = False
    as_of: float | None = None


class Query(Generic[M]):
    """An immutable question: each method returns a new one, narrowed further.

    The log is read at the first use of the answer (iteration, ``len``, an index, ``first``), once;
    the answer then stays as it is, and a new question sees a new log. Without ``search`` the newest
    come first, else the best matches. Private observations are never found. Reading raises
    UsageError for a type that neither valor nor the log knows, Unavailable where the log cannot be
    read, and warns with SkippedLines where it holds bad lines.
    """

    def __init__(
        self, workspace: Workspace, make: Callable[[Line, View], M], plan: _Plan | None = None
    ) -> None:
        self._workspace = workspace
        self._make = make
        self._plan = plan or _Plan()
        self._found: list[M] | None = None
        self._suggestions: tuple[str, ...] = ()

    def filter(
        self,
        *,
        type: str = "",
        tags: str | Sequence[str] = (),
        since: When | None = None,
        until: When | None = None,
        session: str = "",
    ) -> Self:
        """Only those of this type, with any of these tags, from ``since`` to ``until`` (both
        included), of this session. All filters hold together, those of earlier calls too.

        ``tags`` is a list, or a text with commas between. A date alone means its first second in
        ``since``, its last in ``until``. Raises UsageError for what is no time.
        """
        wanted = tags.split(",") if isinstance(tags, str) else tags
        selection = Selection(
            type=type,
            tags=tuple(tag.strip().casefold() for tag in wanted if tag.strip()),
            since=None if since is None else _seconds(since, "since"),
            until=None if until is None else _seconds(until, "until"),
            session=session,
        )
        return self._with(selection=self._plan.selection.narrowed(selection))

    def search(self, words: str) -> Self:
        """Only those that match the words, best first. A later search replaces an earlier one."""
        return self._with(words=words)

    def limit(self, n: int) -> Self:
        """The first ``n`` of them; 0 for all. Raises UsageError for a negative number."""
        if n < 0:
            raise UsageError(f"limit is {n}", "use 0 (all) or a number above")
        return self._with(limit=n)

    def all_versions(self) -> Self:
        """Superseded and retracted ones too; their ``live`` is false."""
        return self._with(hidden=True)

    def as_of(self, time: When) -> Self:
        """What was known then: lines that are later, marks included, do not count."""
        return self._with(as_of=_seconds(time, "until"))

    def first(self) -> M | None:
        """The first of them; None where there is none."""
        return next(iter(self if self._found is not None else self.limit(1)), None)

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Words of the log that come near the searched ones, where nothing matched."""
        self._answer()
        return self._suggestions

    def __iter__(self) -> Iterator[M]:
        return iter(self._answer())

    def __len__(self) -> int:
        return len(self._answer())

    @overload
    def __getitem__(self, index: int) -> M: ...

    @overload
    def __getitem__(self, index: slice) -> list[M]: ...

    def __getitem__(self, index: int | slice) -> M | list[M]:
        return self._answer()[index]

    def __repr__(self) -> str:
        return f"<Query of {self._workspace.config.root}>"

    def _with(self, **changes: object) -> Self:
        return type(self)(self._workspace, self._make, self._plan._replace(**changes))  # type: ignore[arg-type]

    def _answer(self) -> list[M]:
        if self._found is None:
            plan = self._plan
            answer = query(
                self._workspace,
                plan.selection,
                plan.words,
                limit=plan.limit,
                hidden=plan.hidden,
                as_of=plan.as_of,
            )
            warn_of_bad_lines(answer.view, 3)
            self._suggestions = tuple(answer.suggestions)
            self._found = [self._make(line, answer.view) for line in answer.lines]
        return self._found


def warn_of_bad_lines(view: View, above: int) -> None:
    """Name the lines that were passed over: silence would make an answer look complete.

    ``above``: how many calls above this one the program is, to whose line the warning belongs.
    """
    if view.bad:
        named = "; ".join(f"line {bad.number}: {bad.reason}" for bad in view.bad[:10])
        warnings.warn(
            f"skipped {len(view.bad)} bad lines of the log ({named})", SkippedLines, stacklevel=above + 1
        )


def _seconds(when: When, name: str) -> float:
    """``when`` as unix seconds. Raises UsageError."""
    if isinstance(when, datetime):
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    if isinstance(when, str):
        return instant(when, name, end_of_day=name == "until")
    return float(when)
