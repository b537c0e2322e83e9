"""What there is to mark, and why: the plan that a person, a pull request or CI reads.

The plan is a function of the view alone: the same lines in any order give the same steps.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from valor.consolidate.compared import Compared, Progress
from valor.consolidate.judgement import Tier
from valor.consolidate.step import APPLY, Step
from valor.consolidate.steps import merged, questions, replaced
from valor.fold import View

TIERS = tuple(Tier)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """``steps`` in the order auto, suggest, conflict, oldest first; ``lines`` were looked at, ``pairs``
    of them compared; ``left`` counts what was left out, by reason."""

    steps: tuple[Step, ...]
    lines: int
    pairs: int
    left: dict[str, int] = field(default_factory=dict)


def plan(
    view: View,
    *,
    include_protected: bool = False,
    tiers: Collection[Tier] = TIERS,
    progress: Progress = lambda *_: None,
) -> Plan:
    """What there is to mark, of these tiers.

    Observations whose source is human are proposed unless ``include_protected``. Private ones take no
    part.
    """
    compared = Compared(view, progress)
    steps = replaced(compared, include_protected)
    steps += merged(compared, _hidden(steps), include_protected)
    steps += questions(compared, _hidden(steps))
    chosen = sorted(
        (step for step in steps if step.tier in tiers),
        key=lambda step: (TIERS.index(step.tier), step.action, compared.claims[step.by].age, step.supersedes),
    )
    left = {"told apart before": compared.told_apart}
    return Plan(
        steps=tuple(chosen),
        lines=len(compared.claims),
        pairs=compared.pairs,
        left={reason: count for reason, count in left.items() if count},
    )


def capped(whole: Plan, maximum: int) -> Plan:
    """The plan with at most ``maximum`` steps to apply (0: all); what is only asked costs nothing."""
    steps: list[Step] = []
    room = maximum or len(whole.steps)
    for step in whole.steps:
        if step.action != APPLY or room > 0:
            steps.append(step)
            room -= step.action == APPLY
    over = len(whole.steps) - len(steps)
    left = {**whole.left, "over --max": over} if over else whole.left
    return replace(whole, steps=tuple(steps), left=left)


def _hidden(steps: list[Step]) -> set[str]:
    """What the sure steps hide, protected lines too: nothing else is to be said of them."""
    sure = (step for step in steps if step.tier is Tier.AUTO or step.protected)
    return {id_ for step in sure for id_ in step.supersedes}
