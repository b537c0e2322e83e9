"""Each reason why two statements that read alike may be two facts."""

from __future__ import annotations

import pytest
from claims import earlier, later
from hypothesis import given
from hypothesis import strategies as st

from valor.consolidate import guards
from valor.consolidate.guards import Difference, differences, in_common
from valor.tokens import stem


def found(guard: guards.Guard, one: str, other: str) -> tuple[set[str], set[str]] | None:
    difference = guard(earlier(one), later(other))
    return (set(difference.one), set(difference.other)) if difference else None


# identifiers


@pytest.mark.parametrize(
    ("one", "other", "here", "there"),
    [
        ("pass --no-cache here", "pass --no-pull here", {"--no-cache"}, {"--no-pull"}),
        ("read_row() is slow", "read_col() is slow", {"read_row()"}, {"read_col()"}),
        ("HARBOR_TOKEN is set", "HARBOR_KEY is set", {"HARBOR_TOKEN"}, {"HARBOR_KEY"}),
        ("rustc says E0502", "rustc says E0499", {"E0502"}, {"E0499"}),
        ("the guard uses ==", "the guard uses !=", {"=="}, {"!="}),
        ("JSON is slow", "it is slow", {"JSON"}, set()),
    ],
)
def test_another_identifier_is_another_fact(one: str, other: str, here: set[str], there: set[str]) -> None:
    assert found(guards.identifiers, one, other) == (here, there)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("read_row() is slow", "slow: `read_row`"),
        ("task::JoinError is lost", "JoinError is lost"),
        ("the pool leaks", "a pool leaks"),
        ("src/a.py is slow", "src/b.py is slow"),
        ("", ""),
        ("", "the pool leaks"),
    ],
)
def test_the_same_identifiers_are_no_objection(one: str, other: str) -> None:
    assert found(guards.identifiers, one, other) is None


def test_an_identifier_that_stands_in_the_details_is_known() -> None:
    assert guards.identifiers(earlier("read_row is slow"), later("it is slow", "read_row reads all")) is None


# paths


@pytest.mark.parametrize(
    ("one", "other", "here", "there"),
    [
        ("fix src/a.py", "fix src/b.py", {"src/a.py"}, {"src/b.py"}),
        ("tsconfig.json breaks", "jsconfig.json breaks", {"tsconfig.json"}, {"jsconfig.json"}),
        ("the file /etc/hosts", "the file", {"/etc/hosts"}, set()),
    ],
)
def test_another_file_is_another_fact(one: str, other: str, here: set[str], there: set[str]) -> None:
    assert found(guards.paths, one, other) == (here, there)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/app.py leaks", "the app leaks"),
        ("src/a.py leaks", "`src/a.py` leaks"),
        ("--flag", "--other"),
        ("", ""),
    ],
)
def test_the_same_file_is_no_objection(one: str, other: str) -> None:
    assert found(guards.paths, one, other) is None


# numbers


@pytest.mark.parametrize(
    ("one", "other", "here", "there"),
    [
        ("port 8080", "port 8081", {"8080"}, {"8081"}),
        ("wait 30s", "wait 300s", {"30s"}, {"300s"}),
        ("pin 1.2", "pin 1.20", {"1.2"}, {"1.20"}),
        ("the v2 client", "the v3 client", {"v2"}, {"v3"}),
        ("two heartbeats", "three heartbeats", {"two"}, {"three"}),
        ("returns -1", "returns 1", {"-1"}, {"1"}),
        ("at >=100", "at <=100", {">=100"}, {"<=100"}),
        ("at 5%", "at 5", {"5%"}, {"5"}),
        ("after 3 retries", "after retries", {"3"}, set()),
    ],
)
def test_another_number_is_another_fact(one: str, other: str, here: set[str], there: set[str]) -> None:
    assert found(guards.numbers, one, other) == (here, there)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,000 rows", "1000 rows"),
        ("two rows", "2 rows"),
        ("v1.2", "1.2"),
        ("rows", "rows"),
        ("", ""),
        ("on 2026-03-01", "on 2026-04-01"),
    ],
)
def test_the_same_number_is_no_objection(one: str, other: str) -> None:
    assert found(guards.numbers, one, other) is None


def test_a_number_of_the_details_does_not_excuse_another_in_the_summary() -> None:
    difference = guards.numbers(earlier("waits 5s", "was 9s"), later("waits 9s", "was 5s"))
    assert difference is not None and difference.is_exchange


def test_a_number_that_only_the_others_details_know_is_known() -> None:
    assert guards.numbers(earlier("waits 5s"), later("waits", "for 5s")) is None


# dates


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("expires 2026-03-01", "expires 2026-04-01"),
        ("at 12:30", "at 13:30"),
        ("expires 2026-03-01", "expires"),
    ],
)
def test_another_date_is_another_fact(one: str, other: str) -> None:
    assert found(guards.dates, one, other) is not None


@pytest.mark.parametrize(("one", "other"), [("on 2026-03-01", "since 2026-03-01."), ("5", "6"), ("", "")])
def test_the_same_date_is_no_objection(one: str, other: str) -> None:
    assert found(guards.dates, one, other) is None


# polarity


@pytest.mark.parametrize(
    ("one", "other", "here", "there"),
    [
        ("add the header", "remove the header", "add", "remove"),
        ("it runs before the commit", "it runs after the commit", "before", "after"),
        ("enabled on the proxy", "disabled on the proxy", "enabled", "disabled"),
        ("the pool is closed on exit", "the pool is not closed on exit", "–", "not"),
        ("it can use the index", "it cannot use the index", "–", "cannot"),
        ("starts with the file", "starts without the file", "with", "without"),
        ("all workers share it", "some workers share it", "all", "some"),
        ("it is never read", "it is always read", "never", "always"),
    ],
)
def test_a_word_and_its_contrary_are_two_facts(one: str, other: str, here: str, there: str) -> None:
    difference = guards.polarity(earlier(one), later(other))
    assert difference is not None and difference.is_exchange
    told = [[stem(word) for word in side] for side in (difference.one, difference.other)]
    assert told == [[stem(here)], [stem(there)]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the pool is not closed", "the pool is never closed"),
        ("add the header", "adds a header"),
        ("add the header", "insert the header"),
        ("the pool leaks", "nothing of the broker works on that host"),
        ("before and after it", "after and before it"),
        ("", "not"),
        ("", ""),
    ],
)
def test_the_same_polarity_is_no_objection(one: str, other: str) -> None:
    assert found(guards.polarity, one, other) is None


def test_a_negation_that_the_others_details_have_too_is_no_objection() -> None:
    assert (
        guards.polarity(earlier("the pool is not closed"), later("the pool is closed", "no, it isn't"))
        is None
    )


def test_a_contrary_word_counts_where_the_other_stands_in_both() -> None:
    assert found(guards.polarity, "add and remove: add", "add and remove: remove") is not None


# scope


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("api: it leaks", "web: it leaks"),
        ("[api] it leaks", "[web] it leaks"),
        ("fix(api): it leaks", "fix(web): it leaks"),
    ],
)
def test_another_label_is_another_scope(one: str, other: str) -> None:
    assert found(guards.scope, one, other) is not None


@pytest.mark.parametrize(
    ("fields", "others"),
    [
        ({"tags": ["api"]}, {"tags": ["web"]}),
        ({"tags": ["project:heron"]}, {"tags": ["project:marlin"]}),
        ({"references": ["src/a.py"]}, {"references": ["src/b.py"]}),
        ({"references": ["src/a.py:4"]}, {"references": ["src/b.py:4"]}),
    ],
)
def test_tags_or_places_with_nothing_in_common_are_another_scope(
    fields: dict[str, list[str]], others: dict[str, list[str]]
) -> None:
    assert guards.scope(earlier("it leaks", **fields), later("it leaks", **others)) is not None


@pytest.mark.parametrize(
    ("fields", "others"),
    [
        ({}, {}),
        ({"tags": ["api"]}, {}),
        ({"tags": ["API"]}, {"tags": ["api"]}),
        ({"tags": ["api"]}, {"tags": ["api", "pool"]}),
        ({"references": ["src/a.py:4"]}, {"references": ["src/a.py:90-95"]}),
        ({"references": ["src/a.py#L4"]}, {"references": ["src/a.py"]}),
        ({"references": ["0123abc"]}, {"references": ["4567def"]}),
        ({"tags": ["api"]}, {"references": ["src/b.py"]}),
    ],
)
def test_a_side_that_names_no_scope_or_shares_one_agrees(
    fields: dict[str, list[str]], others: dict[str, list[str]]
) -> None:
    assert guards.scope(earlier("it leaks", **fields), later("it leaks", **others)) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("api: it leaks", "it leaks"),
        ("fix: it leaks", "bug: it leaks"),
        ("api, web: it leaks", "web: it leaks"),
        ("Rejected: it leaks", "it leaks"),
    ],
)
def test_a_label_of_one_side_alone_keeps_two_lines_from_being_merged_unseen(one: str, other: str) -> None:
    difference = guards.scope(earlier(one), later(other))
    assert difference is not None
    assert not difference.is_exchange


@pytest.mark.parametrize(
    ("one", "other"), [("api: it leaks", "API: it leaks"), ("", ""), ("it leaks", "it runs")]
)
def test_the_same_label_is_no_difference(one: str, other: str) -> None:
    assert found(guards.scope, one, other) is None


# wording


@pytest.mark.parametrize(
    ("one", "other", "here", "there"),
    [
        ("fix the build of heron", "fix the build of marlin", {"heron"}, {"marlin"}),
        ("the billing pool loses jobs", "the mailing pool loses jobs", {"billing"}, {"mailing"}),
        ("the parser drops the trial blocks", "the parser drops the trail blocks", {"trial"}, {"trail"}),
    ],
)
def test_one_word_in_the_place_of_another_is_another_fact(
    one: str, other: str, here: set[str], there: set[str]
) -> None:
    assert found(guards.wording, one, other) == (here, there)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the connection is lost on exit", "the conection is lost on exit"),
        ("the pool leaks jobs", "the pool leaks jobs on exit"),
        ("the pool leaks", "no word of this is alike"),
        ("fix the pool leak on exit", "handle the pool leak on exit"),
        ("the pool leaks", "the pool leaks"),
        ("", "the pool"),
        ("", ""),
    ],
)
def test_an_addition_a_typo_and_another_sentence_are_no_exchange(one: str, other: str) -> None:
    assert found(guards.wording, one, other) is None


def test_a_word_that_the_others_details_know_is_no_exchange() -> None:
    one, other = (
        earlier("the billing pool loses jobs"),
        later("the mailing pool loses jobs", "billing as well"),
    )
    assert guards.wording(one, other) is None


# order


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("copy from heron to marlin", "copy from marlin to heron"),
        ("the proxy trusts the gateway", "the gateway trusts the proxy"),
        ("`a` is `b`", "`b` is `a`"),
    ],
)
def test_the_same_words_in_another_order_are_another_fact(one: str, other: str) -> None:
    assert found(guards.order, one, other) is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [("the pool leaks", "pool leaks"), ("the pool leaks", "leaks of the pool"), ("a the", "the a"), ("", "")],
)
def test_other_words_or_fillers_alone_are_no_other_order(one: str, other: str) -> None:
    assert found(guards.order, one, other) is None


# all of them


def test_every_guard_is_listed_once_under_its_name() -> None:
    listed = [guard.__name__ for guard in guards.GUARDS]
    assert len(listed) == len(set(listed)) == len(guards.GUARDS)
    asked = {guard.__name__ for guard in guards.GUARDS}
    assert asked == {"identifiers", "paths", "numbers", "dates", "polarity", "scope", "wording", "order"}


def test_a_difference_carries_the_name_of_the_guard_that_found_it() -> None:
    one = earlier("heron: add --flag of src/a.py at 12:30, 5 rows from the old pool")
    other = later("marlin: remove --no of src/b.py at 12:31, 6 rows from the new pool")
    found = [difference for guard in guards.GUARDS if (difference := guard(one, other))]
    assert [each.guard for each in found][:6] == [
        "identifiers",
        "paths",
        "numbers",
        "dates",
        "polarity",
        "scope",
    ]
    assert [each.guard for each in differences(one, other)] == ["identifiers"]  # that makes two facts already


def test_an_addition_is_no_exchange_and_both_are_told_in_words() -> None:
    assert not Difference("numbers", ("5",), ()).is_exchange
    assert str(Difference("numbers", ("5", "6"), ())) == "numbers: 5, 6 / –"
    assert Difference("numbers", ("5",), ("6",)).is_exchange


def test_a_claim_does_not_differ_from_itself() -> None:
    text = "api: do not add --flag to src/a.py before 2026-03-01, 5 rows, JSON or `x`"
    assert differences(earlier(text, text, tags=["a"]), later(text, text, tags=["a"])) == ()


@pytest.mark.parametrize(
    ("one", "other", "share"), [("", "", 0.0), ("pool", "", 0.0), ("pool", "the Pools", 1.0)]
)
def test_words_in_common_are_a_share_of_the_longer(one: str, other: str, share: float) -> None:
    assert in_common(earlier(one).statement, later(other).statement) == share


WORDS = [
    "the",
    "pool",
    "api:",
    "leaks",
    "not",
    "never",
    "add",
    "remove",
    "5",
    "6",
    "v2",
    "--flag",
    "--no",
    "src/a.py",
    "src/b.py",
    "connection",
    "conection",
]
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)


@given(SENTENCES, SENTENCES, SENTENCES, SENTENCES)
def test_what_guards_object_to_is_the_same_from_both_sides(
    one: str, other: str, more: str, less: str
) -> None:
    there = differences(earlier(one, more), later(other, less))
    back = differences(earlier(other, less), later(one, more))
    mirrored = [(each.guard, set(each.other), set(each.one)) for each in back]
    if "wording" in {each.guard for each in there} | {guard for guard, _, _ in mirrored}:
        # which of several exchanged words is named may depend on the side, whether there is one may not
        names = ([each.guard for each in there], [guard for guard, _, _ in mirrored])
        assert names[0] == names[1]
        return
    assert [(each.guard, set(each.one), set(each.other)) for each in there] == mirrored
