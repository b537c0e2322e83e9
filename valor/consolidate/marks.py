"""The marks that are in a log: which are void, which pairs were told apart, which runs wrote them."""

from __future__ import annotations

from collections.abc import Iterator

from valor import record
from valor.fold import View
from valor.record import Record

RUN = "run"
"""The field of a mark that names the run of ``consolidate`` that wrote it."""


def data(view: View) -> Iterator[tuple[str, Record]]:
    """Every mark by its id."""
    return ((id_, line.record) for id_, line in view.marks.items())


def voided(view: View) -> set[str]:
    """The ids of the marks that a reinstatement names."""
    return {record.text(mark, "of") for _, mark in data(view) if mark.get("type") == record.REINSTATEMENT}


def refused(view: View) -> set[frozenset[str]]:
    """Pairs of ids that were marked once and then reinstated: whoever did that need not do it again."""
    void = voided(view)
    return {
        frozenset((target, record.text(mark, "by")))
        for id_, mark in data(view)
        if id_ in void
        for target in record.texts(mark, "supersedes")
    }


def voiding(view: View, id_: str) -> Record | None:
    """The reinstatement of this mark; None where there is none."""
    return next((mark for _, mark in data(view) if record.text(mark, "of") == id_), None)


def last_run(view: View) -> list[str]:
    """The ids of the marks that the newest run wrote and nobody voided; oldest first. Of
    two runs in one second the newer stands further down. Marks from before runs were named count as one
    run a second."""
    void = voided(view)
    runs: dict[str | float, list[tuple[float, int, str]]] = {}
    for id_, line in view.marks.items():
        mark = line.record
        if mark.get("type") == record.SUPERSESSION and mark.get("tool") == "consolidate" and id_ not in void:
            at = record.moment(mark)
            runs.setdefault(record.text(mark, RUN) or at, []).append((at, line.number, id_))
    if not runs:
        return []
    return [id_ for _, _, id_ in sorted(max(runs.values(), key=max))]
