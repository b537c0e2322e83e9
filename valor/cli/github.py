"""The plan as GitHub Actions workflow commands: each step becomes an annotation at its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from valor.cli.render import plain
from valor.consolidate.judgement import Relation, Tier
from valor.consolidate.step import APPLY, Step
from valor.fold import View

_LEVELS = {Tier.AUTO: "warning", Tier.SUGGEST: "notice", Tier.CONFLICT: "warning"}
_TITLES = {
    Relation.DUPLICATE: "said twice",
    Relation.SUPERSEDES: "superseded",
    Relation.CONFLICT: "contradicting",
}
_IN_MESSAGE = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY = _IN_MESSAGE | str.maketrans({":": "%3A", ",": "%2C"})


def workflow_commands(steps: Iterable[Step], view: View, path: str) -> Iterator[bytes]:
    """One ``::warning`` or ``::notice`` a line that a step would hide, at its number in ``path``."""
    for step in steps:
        row = step.row()
        for id_ in step.supersedes:
            number = view.observations[id_].number
            place = f"file={path.translate(_IN_PROPERTY)},line={number},title={_title(step)}"
            message = plain(f"{id_} {_verb(step)} {step.by}: {row['reason']} (“{row['summary']}”)")
            yield f"::{_LEVELS[step.tier]} {place}::{message.translate(_IN_MESSAGE)}\n".encode()


def _title(step: Step) -> str:
    return f"valor consolidate%3A {'' if step.action == APPLY else 'perhaps '}{_TITLES[step.relation]}"


def _verb(step: Step) -> str:
    if step.tier is Tier.CONFLICT:
        return "may contradict"
    says = "says the same as" if step.relation is Relation.DUPLICATE else "is superseded by"
    return says if step.action == APPLY else f"perhaps {says}"
