"""A plan on a terminal: a block a step, so that both texts can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from valor.cli.render import plain
from valor.consolidate.step import DECIDE, Step
from valor.fold import View
from valor.record import moment, stamp, text
from valor.secrets.detect import redact

_MOST_HIDDEN = 10  # lines of one step that are shown


def draw(steps: Iterable[Step], view: View, explain: bool) -> None:
    """Print the steps to standard output."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    for step in steps:
        for line in _block(step, view, explain):
            console.print(line, soft_wrap=True)


def _block(step: Step, view: View, explain: bool) -> Iterator[str]:
    row = step.row()
    kind = ", ".join(dict.fromkeys((step.tier.value, step.relation.value)))
    yield plain(f"{step.action} ({kind}): {row['reason']}")
    show = _shower(view, len("2026-12-01T10:00:00Z" if step.action == DECIDE else "2026-12-01"))
    later, earlier = ("or", "or") if step.action == DECIDE else ("stays", "hidden")
    yield f"  {later:<7} {show(step.by)}"
    for id_ in step.supersedes[:_MOST_HIDDEN]:
        yield f"  {earlier:<7} {show(id_)}"
    if len(step.supersedes) > _MOST_HIDDEN:
        yield f"          and {len(step.supersedes) - _MOST_HIDDEN} more, which --json lists"
    if row["differs"]:
        yield f"  differ  {plain(row['differs'])}"
    if explain:
        guards = step.row(explain=True)["guards"]
        agree = [guard for guard, found in guards.items() if found == "agree"]
        yield f"  guards  {', '.join(agree)} agree"
        for guard, found in guards.items():
            if found != "agree":
                yield f"          {guard} differ: {plain(found)}"
    yield ""


def _shower(view: View, width: int) -> Callable[[str], str]:
    def show(id_: str) -> str:
        data = view.observations[id_].record
        at = stamp(moment(data))[:width] if moment(data) else "no date"
        return plain(f"{id_}  {at}  {redact(text(data, 'summary') or text(data, 'details'))}")

    return show
