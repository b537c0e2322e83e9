"""What a text states: plain words by their stems, names as names, numbers as numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor.consolidate.statement import Statement, keys, speaks_of
from valor.consolidate.tokenizing import Kind, tokenize
from valor.tokens import stem


def kinds(text: str) -> list[Kind]:
    return [token.kind for token in tokenize(text)]


def spelt(text: str) -> list[str]:
    return [token.key for token in tokenize(text)]


@pytest.mark.parametrize(
    "name",
    [
        "load_settings",
        "parseHeader",
        "HTTPServer",
        "a.b",
        "a/b",
        "src/app.py",
        "--flag",
        "-f",
        "$HOME",
        "@scope/pkg",
        "%d",
        "C++",
        "C#",
        "foo()",
        "std::vec",
        "JSON",
        "E0502",
        "x=1",
        "_private",
        "user@host",
    ],
)
def test_a_name_is_told_by_its_form(name: str) -> None:
    assert kinds(f"the {name} here") == [Kind.WORD, Kind.NAME, Kind.WORD]


@pytest.mark.parametrize("word", ["cache", "Cache", "naïve", "Straße", "(cache)", "“cache”,", "cache:", "I"])
def test_a_plain_word_is_a_word(word: str) -> None:
    assert kinds(word) == [Kind.WORD]


@pytest.mark.parametrize(
    "number",
    [
        "5",
        "-1",
        "1.20",
        "v2",
        "V2.0.1",
        "30s",
        "30ms",
        "64MiB",
        "5%",
        "1,000",
        "1_000",
        ">=100",
        "<5",
        "~5",
        "2nd",
        "4x",
        "1080",
        "$5",
        "two",
        "Twelve",
        "12,",
        "(7)",
    ],
)
def test_a_number_is_a_number_with_its_unit_version_and_comparison(number: str) -> None:
    assert kinds(number) == [Kind.NUMBER]


@pytest.mark.parametrize(
    "date", ["2026-03-01", "2026-03", "2026-03-01T10:00:00Z", "12:30", "12:30:05", "3/1/2026"]
)
def test_a_date_is_a_date(date: str) -> None:
    assert kinds(f"{date}.") == [Kind.DATE]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,000", "1000"),
        ("1_000_000", "1000000"),
        ("v1.2", "1.2"),
        (">=v2.1", ">=2.1"),
        ("two", "2"),
        ("Caches", "cache"),
        ("foo()", "foo"),
        ("don’t", "don't"),
        ("read-only", "read only"),
        ("ＡＢＣ", "ABC"),
        ("the pool’s size", "the pool's size"),
    ],
)
def test_two_spellings_of_one_thing_have_one_key(one: str, other: str) -> None:
    assert spelt(one) == spelt(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.2", "1.20"),
        ("1,5", "15"),
        ("1.000", "1000"),
        ("30s", "30m"),
        ("5", "5%"),
        ("-1", "1"),
        (">5", "<5"),
        ("2", "2nd"),
        ("foo.py", "foo.ts"),
        ("-f", "--f"),
        ("a_b", "a.b"),
        ("can", "cannot"),
        ("v3", "3"),
        ("250 ms", "250 s"),
        ("10Mb", "10MB"),
        ("do", "don't"),
        ("index", "indices_of"),
        ("==", "!="),
    ],
)
def test_two_things_have_two_keys(one: str, other: str) -> None:
    assert spelt(one) != spelt(other)


@pytest.mark.parametrize("text", ["", " ", "\n", "…", "— – -", "?!;.", "``", "` `"])
def test_a_text_without_words_has_no_tokens(text: str) -> None:
    assert tokenize(text) == ()
    statement = Statement(text, text)
    assert (statement.content, statement.body_content, statement.said) == ((), (), frozenset())


def test_what_stands_between_ticks_is_a_name_blanks_or_not() -> None:
    assert kinds("`make` it") == [Kind.NAME, Kind.WORD]
    assert kinds("run `make it now` twice") == [Kind.WORD, Kind.NAME, Kind.NAME, Kind.NAME, Kind.WORD]


def test_a_tick_that_is_never_closed_does_not_break_the_text() -> None:
    assert spelt("run `make it") == ["run", "make", "it"]


@pytest.mark.parametrize("sign", ["==", "=>", "+", "→", "✅", "*"])
def test_a_sign_that_stands_alone_is_a_name(sign: str) -> None:
    assert kinds(f"a {sign} b") == [Kind.WORD, Kind.NAME, Kind.WORD]


@pytest.mark.parametrize("dash", ["-", "--", "—", "!", "…"])
def test_a_dash_that_stands_alone_is_punctuation(dash: str) -> None:
    assert kinds(f"a {dash} b") == [Kind.WORD, Kind.WORD]


@pytest.mark.parametrize("negation", ["not", "No", "never", "WITHOUT", "unless"])
def test_a_negation_is_a_word_of_its_own(negation: str) -> None:
    assert spelt(f"it {negation} so")[1] == stem(negation.casefold())


@pytest.mark.parametrize(("short", "long"), [("isn’t", "is not"), ("can't", "cannot"), ("won't", "will not")])
def test_a_contraction_is_what_it_stands_for(short: str, long: str) -> None:
    assert spelt(f"it {short} so") == spelt(f"it {long} so")


@pytest.mark.parametrize(
    ("name", "is_path"),
    [
        ("src/app.py", True),
        ("app.py", True),
        ("/etc", True),
        ("load_it", False),
        ("--flag", False),
        ("JSON", False),
        ("v1.2", False),
    ],
)
def test_a_path_has_a_folder_or_an_extension(name: str, is_path: bool) -> None:
    assert any(token.is_path for token in tokenize(name)) is is_path


@pytest.mark.parametrize(
    ("summary", "label", "rest"),
    [
        ("api: the pool leaks", {"api"}, ["the", "pool", "leak"]),
        ("[api] the pool leaks", {"api"}, ["the", "pool", "leak"]),
        ("\\[api] the pool leaks", {"api"}, ["the", "pool", "leak"]),
        ("fix: the pool leaks", set(), ["the", "pool", "leak"]),
        ("fix(api): the pool leaks", {"api"}, ["the", "pool", "leak"]),
        ("api,web: the pool leaks", {"api", "web"}, ["the", "pool", "leak"]),
        ("the pool leaks", set(), ["the", "pool", "leak"]),
        ("std::pool leaks", set(), ["std::pool", "leak"]),
        ("12:30 the pool leaks", set(), ["12:30", "the", "pool", "leak"]),
    ],
)
def test_a_label_in_front_is_the_scope(summary: str, label: set[str], rest: list[str]) -> None:
    statement = Statement(summary, "")
    assert statement.label == label
    assert [token.key for token in statement.tokens] == rest


@pytest.mark.parametrize("summary", ["api:", "[api]", "[api] ", "api: "])
def test_a_label_with_nothing_behind_it_is_the_statement(summary: str) -> None:
    statement = Statement(summary, "")
    assert (statement.label, statement.content) == (frozenset(), ("api",))


def test_fillers_are_no_content_but_a_name_that_is_spelt_like_one_is() -> None:
    assert Statement("the pool really leaks", "").content == ("pool", "leak")
    assert keys(tokenize("use `the` method")) == ("use", "the", "method")


def test_said_leaves_out_the_words_that_every_sentence_has_and_takes_in_the_label() -> None:
    assert Statement("api: the pool is for the worker", "").said == {"api", "pool", "worker"}


@pytest.mark.parametrize(
    ("asked", "statement", "known"),
    [
        ("task::JoinError", Statement("a JoinError is lost", ""), True),
        ("src/app.py", Statement("the app leaks", ""), True),
        ("src/app.py", Statement("every py file leaks", ""), False),
        ("load_settings", Statement("it leaks", "because of load_settings()"), True),
        ("load_settings", Statement("it leaks", ""), False),
        ("8080", Statement("port 8080", ""), True),
        ("8080", Statement("port 8081", ""), False),
    ],
)
def test_a_statement_speaks_of_a_name_by_its_last_part(asked: str, statement: Statement, known: bool) -> None:
    (token,) = tokenize(asked)
    assert speaks_of(statement.vocabulary, token) is known


@pytest.mark.parametrize(
    ("summary", "details", "may"),
    [
        ("it no longer leaks", "", True),
        ('Revert "x"', "", True),
        ("use a instead of b", "", True),
        ("moved from a to b", "", True),
        ("the pool leaks", "This reverts commit 0123abc.", True),
        ("the pool leaks", "it no longer leaks", False),
        ("the pool leaks", "", False),
        ("", "", False),
    ],
)
def test_a_statement_may_replace_only_where_it_has_a_word_for_it(
    summary: str, details: str, may: bool
) -> None:
    assert Statement(summary, details).may_replace is may


def test_a_long_text_is_read_whole() -> None:
    assert len(tokenize("word " * 20_000 + "end")) == 20_001
    assert len(tokenize("x" * 200_000)) == 1


@given(st.text(max_size=200))
def test_any_text_is_a_statement(text: str) -> None:
    statement = Statement(text, text)
    assert set(statement.content) <= {token.key for token in statement.tokens}
    assert all(token.key and token.text for token in (*statement.tokens, *statement.body))
    assert tokenize(text) == tokenize(text)


@given(
    st.lists(
        st.sampled_from(["the", "pool", "leaks", "8080", "--flag", "src/a.py", "not", "JSON", "`x`"]),
        max_size=12,
    )
)
def test_white_space_says_nothing(words: list[str]) -> None:
    assert tokenize(" ".join(words)) == tokenize("\n\t ".join(words)) == tokenize(f"  {'  '.join(words)} ")
