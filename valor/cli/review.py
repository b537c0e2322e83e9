"""Decide the open steps of a plan, one at a time, on a terminal."""

from __future__ import annotations

from dataclasses import replace

import typer

from valor.cli.plan_text import draw
from valor.cli.render import say
from valor.consolidate.judgement import Relation
from valor.consolidate.step import APPLY, DECIDE, Step
from valor.consolidate.undo import tell_apart
from valor.fold import View
from valor.workspace import Workspace

_CHOICES = {
    "m": "mark it so",
    "o": "the other way round",
    "a": "two facts: both stay, never ask again",
    "s": "skip",
    "q": "stop asking",
}


def review(here: Workspace, steps: tuple[Step, ...], view: View) -> list[Step]:
    """The steps that a person said yes to, ready to be applied; pairs told apart are written at once."""
    open_ = [step for step in steps if step.action != APPLY]
    chosen: list[Step] = []
    say(f"{len(open_)} to look at: {', '.join(f'{key} = {does}' for key, does in _CHOICES.items())}")
    for step in open_:
        draw([step], view, explain=False)
        answer = _ask()
        if answer == "q":
            break
        if answer == "a":
            for id_ in step.supersedes:
                tell_apart(here, step.by, id_)
        elif answer in ("m", "o"):
            chosen += _decided(step, turned=answer == "o")
    return chosen


def _ask() -> str:
    while True:
        answer: str = typer.prompt("m/o/a/s/q", default="s", err=True).strip().lower()[:1]
        if answer in _CHOICES:
            return answer


def _decided(step: Step, *, turned: bool) -> list[Step]:
    """The step as a person wants it; turned round, each line that it would hide stays, one step each."""
    relation = Relation.SUPERSEDES if step.action == DECIDE else step.relation
    reason = "a person decided" if step.action == DECIDE else f"reviewed: {step.reason}"
    said = replace(step, action=APPLY, relation=relation, rule="review", reason=reason)
    if not turned:
        return [said]
    kept, *hidden = said.digests
    return [
        replace(said, by=id_, supersedes=(said.by,), digests=(digest, kept))
        for id_, digest in zip(said.supersedes[:1], hidden[:1], strict=True)
    ]
