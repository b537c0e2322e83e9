"""What a judge of the user's own says about the open questions of a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from valor import record
from valor.consolidate.claim import age
from valor.consolidate.external_judge import DISTINCT, DUPLICATE, SUPERSEDES, Question, Verdict, ask
from valor.consolidate.judgement import Relation, Tier
from valor.consolidate.plan import Plan
from valor.consolidate.step import APPLY, PROPOSE, Step
from valor.fold import View


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondOpinion:
    """The plan with the answers in it; how many questions were ``asked`` and ``answered``, how many
    lines told nothing; and how the judge failed, "" where it did not."""

    plan: Plan
    asked: int
    answered: int
    ignored: int
    ended: str


def asked(
    plan: Plan,
    view: View,
    command: str,
    *,
    timeout: float,
    cwd: Path,
    environment: Mapping[str, str],
    include_protected: bool = False,
) -> SecondOpinion:
    """Have the command decide what the plan only proposes or asks.

    What it calls a duplicate or superseded is applied, but for lines whose source is human, which stay
    proposed; what it calls distinct leaves the plan; all else stays as it was.
    """
    questions: list[Question] = []
    split: list[tuple[Step, str]] = []  # each open step a target, and its question's id
    for step in plan.steps:
        if step.tier is Tier.AUTO or step.protected:
            continue
        for one in _single(step):
            question = _question(one, view, str(len(questions) + 1))
            questions.append(question)
            split.append((one, question.id))
    answers = ask(
        command, (each.row() for each in questions), timeout=timeout, cwd=cwd, environment=environment
    )
    steps = [step for step in plan.steps if step.tier is Tier.AUTO or step.protected]
    leads = {id_: step.by for step in steps if step.action == APPLY for id_ in step.supersedes}
    left = dict(plan.left)
    for step, id_ in split:
        told = _told(step, view, answers.verdicts.get(id_), include_protected)
        if told is None:
            left["judged distinct"] = left.get("judged distinct", 0) + 1
            continue
        if told.action == APPLY:
            if told.supersedes[0] in leads or _end(told.by, leads) == told.supersedes[0]:
                told = step  # hidden already, or it would hide its own successor
            else:
                leads[told.supersedes[0]] = told.by
        steps.append(told)
    return SecondOpinion(
        plan=replace(plan, steps=tuple(steps), left=left),
        asked=len(questions),
        answered=len(questions) - answers.unanswered,
        ignored=answers.ignored,
        ended=answers.ended,
    )


def _single(step: Step) -> Iterator[Step]:
    """The step as one step a target."""
    for id_, digest in zip(step.supersedes, step.digests[1:], strict=True):
        yield replace(step, supersedes=(id_,), digests=(step.digests[0], digest))


def _question(step: Step, view: View, id_: str) -> Question:
    earlier, later = sorted((step.by, step.supersedes[0]), key=lambda id_: age(view.observations[id_]))
    return Question(
        id=id_,
        relation=step.relation.value,
        why="; ".join((step.reason, *step.differs)),
        a=view.observations[earlier].record,
        b=view.observations[later].record,
    )


def _told(step: Step, view: View, verdict: Verdict | None, include_protected: bool) -> Step | None:
    """The step as the verdict has it; None where the two are distinct."""
    if verdict is None or verdict.verdict not in (DUPLICATE, SUPERSEDES, DISTINCT):
        return step
    if verdict.verdict == DISTINCT:
        return None
    relation = Relation(verdict.verdict)
    by, target = step.by, step.supersedes[0]
    digests = step.digests
    if relation is Relation.SUPERSEDES and age(view.observations[by]) < age(view.observations[target]):
        by, target, digests = target, by, digests[::-1]
    human = record.text(view.observations[target].record, "source") == "human"
    swapped = by != step.by
    return replace(
        step,
        action=PROPOSE if human and not include_protected else APPLY,
        relation=relation,
        by=by,
        supersedes=(target,),
        rule="judge",
        reason=f"judge: {verdict.reason}" if verdict.reason else "the judge says so",
        digests=digests,
        summary=step.other if swapped else step.summary,
        other=step.summary if swapped else step.other,
        dates=step.dates[::-1] if swapped else step.dates,
    )


def _end(id_: str, leads: dict[str, str]) -> str:
    """Where the marks lead from this line: to one that no mark hides."""
    while id_ in leads:
        id_ = leads[id_]
    return id_
