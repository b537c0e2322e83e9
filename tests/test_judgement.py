"""What two observations are to each other, and what no judgement may ever do."""

from __future__ import annotations

import re
from typing import Any

import pytest
from claims import EARLIER, between, earlier, later, verdict
from hypothesis import assume, given
from hypothesis import strategies as st

from valor.consolidate.judgement import Judgement, Relation, Tier, judge, likeness, same_text
from valor.consolidate.statement import Statement

SAME, LIKE, CONFLICT = "auto:duplicate", "suggest:duplicate", "conflict:conflict"
REPLACED, MAYBE = "auto:supersedes", "suggest:supersedes"
WHY = "The lock is taken by the first worker while the second waits for the pool of the third."


def judged(one: str, other: str, details: str = "", more: str = "") -> Judgement | None:
    return judge(earlier(one, details), later(other, more), lambda term: 1.0)


# auto: the same words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The plugin host loads each module twice.", "The plugin host loads each module twice."),
        ("the router caches misses", "The router caches misses."),
        ("Worker drops job when lease expires", "The worker drops the job when the lease expires."),
        ("The parser breaks a long line", "The parser breaks long lines"),
        ("The pool of the worker is duplicated on exit", "The pool of the worker is dupilcated on exit"),
        ("Call `db.dispose()` in the hook", "Call db.dispose() in the hook"),
        ("The buffer holds 10000 events", "The buffer holds 10,000 events"),
        ("The read-only mount breaks it", "The read only mount breaks it"),
        ("fix: escape the name", "Fix: escape the name"),
        ("Der Linter übersieht Umlaute.", "der Linter übersieht Umlaute"),
    ],
)
def test_the_same_words_are_merged(one: str, other: str) -> None:
    assert between(one, other) == SAME
    assert between(other, one) == SAME


@pytest.mark.parametrize("details", ["", WHY])
def test_one_observation_written_twice_is_merged_with_its_reason(details: str) -> None:
    found = judged("The pool of the worker leaks", "The pool of the worker leaks", details, details)
    assert found is not None
    assert (found.tier, found.relation, found.rule, found.score) == (
        Tier.AUTO,
        Relation.DUPLICATE,
        "same_text",
        1.0,
    )
    assert found.why == "the same words"
    assert found.differs == ()


@pytest.mark.parametrize(
    ("summaries", "details", "result"),
    [
        (("The pool of the worker leaks", "The pool of the worker leaks"), (WHY, ""), SAME),
        (("The pool of the worker leaks", "The pool of the worker leaks"), ("", WHY), SAME),
        (
            ("The pool of the worker leaks", "The pool of the worker leaks"),
            (WHY, f"{WHY} It is so on CI."),
            SAME,
        ),
        (("A pool leaks", "A pool leaks"), (WHY, ""), LIKE),
        (("The pool of the worker leaks", "The pool of the worker leaks"), ("Only on staging.", ""), LIKE),
        (("The pool of the worker leaks", "The pool of the worker leaks"), ("", "Not on CI."), LIKE),
        (
            ("The pool of the worker leaks", "Pool of worker"),
            ("", "The pool of the worker leaks jobs on exit"),
            LIKE,
        ),
        (
            ("The worker pool leaks jobs on each exit", "Worker pool exit"),
            ("", "The worker pool leaks jobs on each exit"),
            SAME,
        ),
    ],
)
def test_details_of_one_side_explain_or_limit(
    summaries: tuple[str, str], details: tuple[str, str], result: str
) -> None:
    one, other = earlier(summaries[0], details[0]), later(summaries[1], details[1])
    assert verdict(one, other) == result


@pytest.mark.parametrize(
    ("details", "more"),
    [
        ("It depends on the wall clock around midnight.", "A thread of the module before is left behind."),
        ("It is 10s for reads of the file.", "It is 20s for reads of the file."),
        ("The vacuum holds a lock.", "The copy drops an index."),
    ],
)
def test_a_headline_over_two_explanations_is_never_merged(details: str, more: str) -> None:
    one, other = earlier("Flaky test in the suite", details), later("Flaky test in the suite", more)
    assert not verdict(one, other).startswith("auto")


def test_a_long_explanation_in_both_is_merged_under_headlines_that_say_the_same() -> None:
    found = judged("Deadlock of the worker pool", "Fix the deadlock of the worker pool", WHY, WHY)
    assert found is not None and (found.tier, found.rule) == (Tier.AUTO, "same_details")
    other = judged("Deadlock of the worker pool", "Slow start of the importer", WHY, WHY)
    assert other is None or other.tier is not Tier.AUTO


@pytest.mark.parametrize("text", ["", " ", "…", "a the", "?"])
def test_texts_that_say_nothing_are_not_the_same(text: str) -> None:
    assert between(text, text) == "none"
    assert between(text, "The pool leaks") == "none"
    assert same_text(Statement(text, ""), Statement(text, "")) == ""


@pytest.mark.parametrize(
    ("fields", "others", "result"),
    [
        ({"tags": ["api"]}, {"tags": ["web"]}, "none"),
        ({"references": ["src/a.py"]}, {"references": ["src/b.py"]}, "none"),
        ({"tags": ["api"]}, {"tags": ["API", "pool"]}, SAME),
        ({"tags": ["api"]}, {}, SAME),
        ({"references": ["src/a.py:4"]}, {"references": ["src/a.py:9"]}, SAME),
    ],
)
def test_the_same_words_about_another_thing_are_another_fact(
    fields: dict[str, Any], others: dict[str, Any], result: str
) -> None:
    text = "The release script tags before it pushes"
    assert verdict(earlier(text, **fields), later(text, **others)) == result


# suggest: what is alike


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The gateway strips the trace header", "The trace header is stripped by the gateway"),
        ("The pool of the worker leaks jobs", "Jobs are leaked, the pool of the worker does it"),
        ("The load test needs more file handles", "The load test needs more file handles: raise the limit"),
    ],
)
def test_other_words_for_the_same_are_proposed(one: str, other: str) -> None:
    assert between(one, other) == LIKE


def test_a_proposal_says_how_much_is_in_the_other() -> None:
    found = judged("The gateway strips the trace header", "The trace header is stripped by the gateway")
    assert found is not None and found.rule == "covered"
    assert re.search(r"\d+%", found.why)
    assert 0 < found.score <= 1


def test_an_addition_is_proposed_with_what_is_added() -> None:
    found = judged(
        "The load test needs file handles", "The load test needs file handles: set `ulimit` to 4096"
    )
    assert found is not None and found.tier is Tier.SUGGEST
    assert {each.guard for each in found.differs} >= {"identifiers", "numbers"}
    assert not any(each.is_exchange for each in found.differs)


# conflict: the same but for a critical token


@pytest.mark.parametrize(
    ("one", "other", "guard"),
    [
        ("The metrics endpoint listens on port 9102", "The metrics endpoint listens on port 9120", "numbers"),
        ("The v2 client sends the cursor", "The v3 client sends the cursor", "numbers"),
        ("The lease of a job is 30s", "The lease of a job is 300s", "numbers"),
        ("The watcher follows links", "The watcher does not follow links", "polarity"),
        ("The hook runs before the commit", "The hook runs after the commit", "polarity"),
        ("A start succeeds with a file", "A start succeeds without a file", "polarity"),
    ],
)
def test_a_changed_number_or_polarity_is_a_contradiction(one: str, other: str, guard: str) -> None:
    for found in (judged(one, other), judged(other, one)):
        assert found is not None
        assert (found.tier, found.relation, found.rule) == (Tier.CONFLICT, Relation.CONFLICT, "contradiction")
        assert guard in {each.guard for each in found.differs}
        assert "which holds" in found.why


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The billing service loses its connection on restart",
            "The mailing service loses its connection on restart",
        ),
        ("parse_header() swallows the error", "parse_trailer() swallows the error"),
        ("Commas in tsconfig.json break the build", "Commas in jsconfig.json break the build"),
        ("Set UV_CACHE in the runner", "Set PIP_CACHE in the runner"),
        ("Temp files stay locked on Windows", "Temp files stay locked on macOS"),
        ("The job copies rows from heron to marlin", "The job copies rows from marlin to heron"),
        ("The proxy trusts the gateway", "The gateway trusts the proxy"),
        ("api: the pool leaks jobs", "web: the pool leaks jobs"),
        ("The certificate expires on 2026-03-01", "The certificate expires on 2026-04-01"),
        ("The pool leaks jobs", "Nothing here is alike"),
    ],
)
def test_another_name_place_or_order_is_another_fact(one: str, other: str) -> None:
    assert between(one, other) in ("none", CONFLICT)
    assert between(other, one) in ("none", CONFLICT)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The endpoint listens on port 9102", "The endpoint of all the metrics listens on port 9120"),
        ("api: the endpoint listens on port 9102", "the endpoint listens on port 9120"),
        ("port 9102", "port 9120"),
    ],
)
def test_another_number_in_another_sentence_is_no_contradiction(one: str, other: str) -> None:
    assert between(one, other) == between(other, one) == "none"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("api, web: the pool leaks jobs on exit", "web: the pool leaks jobs on exit"),
        (
            "A connection of the scheduler leaks jobs of the pool on exit",
            "A conection of the schedduler leaks jobs of the pool on exit",
        ),
    ],
)
def test_a_label_more_and_a_second_typo_are_left_to_a_person(one: str, other: str) -> None:
    assert not between(one, other).startswith("auto")
    assert not between(other, one).startswith("auto")


# supersedes


def test_an_explicit_replacement_is_applied_and_a_likely_one_proposed() -> None:
    assert between("Add headers to the calls", "Remove the headers from the calls") == REPLACED
    assert between("Add headers to the calls", "Remove most headers from the calls") == MAYBE
    assert between("The pool grows.", f"This replaces {EARLIER}.") == REPLACED


def test_a_replacement_goes_before_likeness() -> None:
    one, other = (
        earlier("The cluster shares the registry"),
        later("The cluster no longer shares the registry"),
    )
    assert verdict(one, other) == REPLACED
    assert judge(one, other, lambda term: 1.0) is not None
    assert verdict(other, one) != REPLACED  # what came first takes nothing back


# likeness


@pytest.mark.parametrize(
    ("one", "other", "score"),
    [
        ("the pool leaks", "pool leaks", 1.0),
        ("pool", "cache", 0.0),
        ("", "pool", 0.0),
        ("pool leaks", "pool", 0.667),
    ],
)
def test_likeness_is_the_share_of_words_in_the_same_order(one: str, other: str, score: float) -> None:
    assert likeness(Statement(one, ""), Statement(other, "")) == pytest.approx(score)


# what holds for all


NOUNS = [
    "scheduler",
    "importer",
    "gateway",
    "linter",
    "resolver",
    "exporter",
    "tailer",
    "watcher",
    "crawler",
    "sampler",
]
VERBS = ["drops", "keeps", "rewrites", "signs", "merges", "skips", "copies"]
THINGS = ["manifest", "cursor", "snapshot", "header", "journal", "ledger", "certificate"]
PLACES = ["on exit", "during the backup", "for guests", "in the nightly job", "under memory pressure"]
CHANGED = {
    "after 3 retries": ["after 4 retries", "after 30 retries", "after 3.0 retries"],
    "on port 8080": ["on port 8081", "on port 80"],
    "with `--strict`": ["with `--lenient`", "with `--strict-mode`"],
    "in src/core/app.py": ["in src/core/api.py", "in src/lib/app.py", "in src/core/app.ts"],
    "via read_rows()": ["via read_cols()", "via read_row()"],
    "from v2": ["from v3", "from v2.0"],
}
SENTENCE = st.builds(
    "The {} {} the {} {} {}".format,
    st.sampled_from(NOUNS),
    st.sampled_from(VERBS),
    st.sampled_from(THINGS),
    st.sampled_from(PLACES),
    st.sampled_from(sorted(CHANGED)),
)
TEXT = st.one_of(SENTENCE, st.text(max_size=120))


@given(TEXT, TEXT, TEXT, TEXT)
def test_a_judgement_depends_on_the_two_alone(one: str, other: str, details: str, more: str) -> None:
    first = judged(one, other, details, more)
    assert first == judged(one, other, details, more)
    if first is not None:
        assert 0 <= first.score <= 1
        assert first.rule and first.why


@given(TEXT, TEXT)
def test_an_observation_written_twice_is_a_duplicate_wherever_it_says_anything(
    summary: str, details: str
) -> None:
    assume(Statement(summary, "").said)
    assume("revert" not in summary.casefold())
    assert verdict(earlier(summary, details), later(summary, details)) == SAME
    assert verdict(earlier(summary, details, tags=["a"]), later(summary, details, tags=["b"])) != SAME
    assert (
        verdict(earlier(summary, details, references=["a.py"]), later(summary, details, references=["b.py"]))
        != SAME
    )


@given(SENTENCE, st.sampled_from(["", WHY]), st.data())
def test_another_number_or_name_is_never_merged(one: str, details: str, data: st.DataObject) -> None:
    tail = next(tail for tail in CHANGED if one.endswith(tail))
    other = f"{one.removesuffix(tail)}{data.draw(st.sampled_from(CHANGED[tail]))}"
    assert not verdict(earlier(one, details), later(other, details)).startswith("auto")
    assert not verdict(earlier(other, details), later(one, details)).startswith("auto")


@given(SENTENCE, st.sampled_from(["", WHY]), st.sampled_from(["does not", "never", "cannot", "doesn't"]))
def test_a_negation_is_never_merged(one: str, details: str, negation: str) -> None:
    words = one.split()
    other = " ".join((*words[:2], negation, *words[2:]))
    assert not verdict(earlier(one, details), later(other, details)).startswith("auto")
    assert not verdict(earlier(other, details), later(one, details)).startswith("auto")


@given(SENTENCE, SENTENCE)
def test_two_sentences_of_one_template_are_merged_only_where_they_are_one(one: str, other: str) -> None:
    assert (between(one, other) == SAME) is (one == other)


@given(SENTENCE, st.data())
def test_two_words_in_each_others_place_are_never_merged(one: str, data: st.DataObject) -> None:
    words = one.split()
    at = data.draw(st.integers(0, len(words) - 2))
    there = data.draw(st.integers(at + 1, len(words) - 1))
    assume(words[at].casefold() != words[there].casefold())
    fillers = {"the", "a"}
    assume(not fillers & {words[at].casefold(), words[there].casefold()})
    words[at], words[there] = words[there], words[at]
    assert not between(one, " ".join(words)).startswith("auto")


@pytest.mark.parametrize("size", [1_000, 20_000])
def test_very_long_lines_are_judged(size: int) -> None:
    text = " ".join(f"word{number % 97}" for number in range(size))
    assert between(text, text) == SAME
    assert not between(text, f"{text} 8080").startswith("auto")
