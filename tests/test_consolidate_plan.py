from __future__ import annotations

from typing import Any

import pytest
from consolidating import PORT, SAME, line, view_of
from hypothesis import given
from hypothesis import strategies as st

from valor.consolidate.judgement import Relation, Tier
from valor.consolidate.plan import Plan, capped, plan
from valor.consolidate.step import APPLY, DECIDE, PROPOSE, Step


def planned(*records: dict[str, Any], **options: Any) -> Plan:
    return plan(view_of(*records), **options)


def short(step: Step) -> tuple[str, str, tuple[str, ...]]:
    return step.action, step.by, step.supersedes


def shorts(*records: dict[str, Any], **options: Any) -> list[tuple[str, str, tuple[str, ...]]]:
    return [short(step) for step in planned(*records, **options).steps]


def test_words_that_only_fill_do_not_make_a_fact_another() -> None:
    other = "Page cache must really be warmed after each deploy."
    [step] = planned(line("a"), line("b", 2, other)).steps
    assert short(step) == (APPLY, "a", ("b",))
    assert (step.tier, step.relation, step.rule) == (Tier.AUTO, Relation.DUPLICATE, "same_text")


def test_the_newer_stays_where_it_says_more() -> None:
    told = "Without it the first requests of a node time out, because the database answers them all."
    assert shorts(line("a"), line("b", 2, details=told)) == [(APPLY, "b", ("a",))]
    assert shorts(line("a", details=told), line("b", 2)) == [(APPLY, "a", ("b",))]


def test_a_condition_makes_another_fact_of_the_same_summary() -> None:
    steps = planned(line("a"), line("b", 2, details="only on staging")).steps
    assert [step.action for step in steps if step.tier is Tier.AUTO] == []


@pytest.mark.parametrize("second", [PORT.format(8081), "the metrics server never listens on port 8080"])
def test_a_critical_word_makes_a_contradiction_that_a_person_decides(second: str) -> None:
    [step] = planned(line("a", 1, PORT.format(8080)), line("b", 2, second)).steps
    assert (step.tier, step.action, step.relation) == (Tier.CONFLICT, DECIDE, Relation.CONFLICT)
    assert (step.by, step.supersedes) == ("b", ("a",))
    assert step.reason == "these two may contradict; which holds?"
    assert step.dates == ("2026-09-02T10:00:00Z", "2026-09-01T10:00:00Z")
    assert step.differs


def test_each_value_contradicts_its_neighbour_in_time_alone() -> None:
    lines = [line(f"p{port}", port - 8079, PORT.format(port)) for port in range(8080, 8084)]
    assert [(step.by, step.supersedes) for step in planned(*lines).steps] == [
        ("p8081", ("p8080",)),
        ("p8082", ("p8081",)),
        ("p8083", ("p8082",)),
    ]


def test_what_was_said_again_after_a_contradiction_is_only_proposed() -> None:
    lines = line("a", 1, PORT.format(8080)), line("b", 2, PORT.format(8081)), line("c", 3, PORT.format(8080))
    steps = planned(*lines).steps
    [same] = [step for step in steps if step.relation is Relation.DUPLICATE]
    assert (same.tier, same.action) == (Tier.SUGGEST, PROPOSE)
    assert "in between" in same.reason


def test_a_reversal_and_its_reversal_make_a_chain_that_ends_in_the_last() -> None:
    add, remove = "Add the nightly deploy workflow", "Remove the nightly deploy workflow"
    lines = line("a", 1, add), line("b", 2, remove), line("c", 3, add)
    assert shorts(*lines) == [(APPLY, "b", ("a",)), (APPLY, "c", ("b",))]
    marks = [
        {"id": f"sup-{n}", "type": "supersession", "supersedes": list(step.supersedes), "by": step.by}
        for n, step in enumerate(planned(*lines).steps)
    ]
    view = view_of(*lines, *marks)
    assert [one.record["id"] for one in view.live()] == ["c"]
    assert view.survivor("a") == "c"


def test_a_line_that_names_another_and_takes_it_back_supersedes_it_whatever_its_words() -> None:
    named = "obs-1790000000-3f9a1c2b7d04"
    later = line("b", 2, f"Turns out {named} is wrong: workers are not reloaded", type="correction")
    assert shorts(line(named, 1, "SIGHUP makes gunicorn reload its workers"), later) == [
        (APPLY, "b", (named,))
    ]


def test_a_line_that_merely_mentions_another_leaves_it_alone() -> None:
    named = "obs-1790000000-3f9a1c2b7d04"
    later = line("b", 2, f"The staging database has the same problem, see {named}")
    assert shorts(line(named, 1, "SIGHUP makes gunicorn reload its workers"), later) == []


def test_a_revert_supersedes_every_copy_that_is_older_and_none_that_is_newer() -> None:
    text = "Use the shared token bucket for uploads"
    lines = (
        line("a1", 1, text),
        line("a2", 2, text),
        line("r", 3, f'Revert "{text}"'),
        line("a3", 4, text),
    )
    steps = planned(*lines).steps
    assert (APPLY, "r", ("a1", "a2")) in [short(step) for step in steps]
    assert "a3" not in [id_ for step in steps for id_ in step.supersedes]


def test_a_line_a_person_wrote_is_proposed_when_a_later_one_replaces_it() -> None:
    lines = (
        line("a", 1, "Enable the query planner cache", source="human"),
        line("b", 2, "Disable the query planner cache"),
    )
    assert shorts(*lines) == [(PROPOSE, "b", ("a",))]
    assert shorts(*lines, include_protected=True) == [(APPLY, "b", ("a",))]


def test_members_of_a_group_are_all_the_same_and_not_only_each_like_its_neighbour() -> None:
    steps = planned(
        line("a", 1, details="The balancer sends a node traffic before its health check has passed twice."),
        line("b", 2),
        line("c", 3, details="The store forgets which pages were hot when it is written anew by the build."),
    ).steps
    hidden = [step.supersedes for step in steps if step.action == APPLY]
    assert hidden == [("b",)]


def test_a_pair_that_was_told_apart_is_not_proposed_again() -> None:
    marks = (
        {"id": "sup-1", "type": "supersession", "supersedes": ["b"], "by": "a"},
        {"id": "rei-1", "type": "reinstatement", "of": "sup-1"},
    )
    for summary in (SAME, "Page cache must really be warmed after each deploy."):
        found = planned(line("a"), line("b", 2, summary), *marks)
        assert found.steps == ()


def test_only_the_tiers_that_were_asked_for_are_planned() -> None:
    lines = (line("a"), line("b", 2), line("c", 1, PORT.format(8080)), line("d", 2, PORT.format(8081)))
    assert [step.tier for step in planned(*lines).steps] == [Tier.AUTO, Tier.CONFLICT]
    assert [step.tier for step in planned(*lines, tiers=[Tier.CONFLICT]).steps] == [Tier.CONFLICT]


def test_the_plan_counts_what_it_looked_at_and_what_it_left_out() -> None:
    lines = (
        *(line("a"), line("b", 2), line("c", 1, "x y z"), line("d", 2, "X y z")),
        *(line("e", 1, PORT.format(8080)), line("f", 2, PORT.format(8081))),
    )
    found = capped(planned(*lines), 1)
    assert found.lines == 6
    assert [step.action for step in found.steps] == [APPLY, DECIDE]
    assert found.left == {"over --max": 1}


def test_every_guard_is_named_in_the_explanation_of_a_step() -> None:
    [step] = planned(line("a", 1, PORT.format(8080)), line("b", 2, PORT.format(8081))).steps
    row = step.row(explain=True)
    assert list(row["guards"]) == [
        *("identifiers", "paths", "numbers", "dates", "polarity", "scope", "wording", "order")
    ]
    assert row["guards"]["numbers"] == "8080 / 8081"
    assert row["guards"]["polarity"] == "agree"
    assert "guards" not in step.row()


WORDS = st.sampled_from(
    ["Add", "Remove", "Enable", "Disable", "the", "cache", "port", "8080", "8081", "not", "`run`", "Revert"]
)
DRAWN = st.lists(
    st.tuples(st.lists(WORDS, min_size=1, max_size=5), st.integers(1, 5), st.booleans()), max_size=14
)


@given(DRAWN, st.randoms())
def test_any_plan_is_a_function_of_the_set_of_lines_and_leaves_live_survivors(
    drawn: list[tuple[list[str], int, bool]], random: Any
) -> None:
    lines = [
        line(f"o{n}", day, " ".join(words), source="human" if human else "agent")
        | {"timestamp": f"2026-09-{day:02}T10:{n:02}:00Z"}
        for n, (words, day, human) in enumerate(drawn)
    ]
    steps = planned(*lines).steps
    shuffled = lines[:]
    random.shuffle(shuffled)
    assert planned(*shuffled).steps == steps
    applied = [step for step in steps if step.action == APPLY]
    hidden = [id_ for step in applied for id_ in step.supersedes]
    assert len(hidden) == len(set(hidden))
    marks = [
        {"id": f"sup-{n}", "type": "supersession", "supersedes": list(step.supersedes), "by": step.by}
        for n, step in enumerate(applied)
    ]
    view = view_of(*lines, *marks)
    assert view.superseded == set(hidden)
    for id_ in hidden:
        survivor = view.survivor(id_)
        assert survivor is not None
        assert view.is_live(survivor)
    again = plan(view)
    assert not [
        step
        for step in again.steps
        if step.action == APPLY and step.tier is Tier.AUTO and set(step.supersedes) & set(hidden)
    ]


def test_any_number_of_lines_with_one_text_and_different_tags_is_planned_in_bounded_time() -> None:
    lines = [line(f"o{n:04}", 1, tags=[f"team-{n}"]) for n in range(1500)]
    assert planned(*lines).steps == ()
