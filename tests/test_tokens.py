"""Terms: names whole and split, stems that are prefixes, CJK in bigrams, any text survived."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor.tokens import STOP_WORDS, Words, normalise, pieces, query_terms, stem, terms, word_terms

MIXED = st.text(
    st.sampled_from("aAbZzé ßİſ漢字かな한ก12_-.:/+#\"'(\n\t\x1c\u2028\u0301\u200b’—"), max_size=60
)
ANY_TEXT = st.one_of(st.text(max_size=200), MIXED)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("agent-crew", ["agent-crew", "agent", "crew"]),
        ("crew:run", ["crew:run", "crew", "run"]),
        ("task_tools", ["task_tools", "task", "tool"]),
        ('say "hi', ["say", "hi"]),
        ("(python", ["python"]),
        ("C++,", ["c++"]),
        ("[C#]", ["c#"]),
        (".env.", [".env", "env"]),
        ("`--no-verify`", ["--no-verify", "no-verify", "verif"]),
        ("-e", ["-e"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("runTask2", ["runtask2", "run", "task"]),
        ("URLs", ["url"]),
        ("py311", ["py311", "py", "311"]),
        ("E501", ["e501"]),
        ("v1.2.3", ["v1.2.3", "v1"]),
        ("3.6+", ["3.6+", "3.6"]),
        ("__init__.py", ["__init__.py", "__init__", "init", "py"]),
        ("self.task_tools.run()", ["self.task_tools.run", "task_tools", "self", "task", "tool", "run"]),
        ("src/lock.rs:42", ["src/lock.rs:42", "src", "lock", "rs", "42"]),
        ("x=foo_bar(baz)", ["x", "foo_bar", "foo", "bar", "baz"]),
    ],
)
def test_a_name_is_kept_whole_and_split(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("しりとり", ["しり", "りと", "とり"]),
        ("成语接龙", ["成语", "语接", "接龙"]),
        ("설정", ["설정"]),
        ("猫", ["猫"]),
        ("redis設定", ["redis", "設定"]),
        ("ｆｉｘ　Ｂｕｇ", ["fix", "bug"]),
    ],
)
def test_a_query_in_an_unspaced_script_asks_by_bigrams(text: str, expected: list[str]) -> None:
    assert query_terms(text) == expected


def test_a_document_in_an_unspaced_script_answers_to_single_characters_too() -> None:
    assert set(query_terms("猫")) <= set(terms("黒猫が好き"))


def test_stop_words_are_left_out_unless_a_query_holds_nothing_else() -> None:
    assert terms("what is the lock") == ["lock"]
    assert query_terms("what is the lock") == ["lock"]
    assert query_terms("what is it") == ["what", "is", "it"]


def test_a_document_repeats_its_terms_and_a_query_does_not() -> None:
    assert terms("lock the lock") == ["lock", "lock"]
    assert query_terms("lock the lock") == ["lock"]


@pytest.mark.parametrize(
    "family",
    [
        "cache caches cached caching",
        "policy policies",
        "run runs running",
        "apply applies applied applying",
        "add adds added adding",
        "proper properly",
        "safe safely",
        "possible possibly",
        "family families",
        "assembly assemblies",
        "class classes",
        "install installs installed installing",
    ],
)
def test_inflections_of_a_word_meet_at_one_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(
    "pair", ["status stat", "string str", "thing th", "user us", "server serv", "this thi"]
)
def test_words_that_only_look_inflected_stay_apart(pair: str) -> None:
    left, right = pair.split()
    assert stem(left) != stem(right)


def test_letters_that_fold_to_several_are_spelt_out() -> None:
    assert terms("Straße") == terms("STRASSE") == terms("strasse")


def test_a_combining_mark_belongs_to_the_letter_before_it_and_to_nothing_else() -> None:
    assert terms("x\u0301y हिन्दी") == ["x\u0301y", "हिन्दी"]
    assert terms("(\u0301xy") == ["xy"]


def test_the_memory_of_words_starts_afresh_when_full(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Words(2)
    monkeypatch.setattr("valor.tokens._known", known)
    monkeypatch.setattr("valor.tokens._REMEMBERED", 2)
    text = "one two. (three) four five a-six"
    expected = [term for word in text.split() for term in word_terms(word) if term not in STOP_WORDS]
    assert terms(text) == terms(text) == expected
    assert len(known) <= 2


ASCII = st.text(st.sampled_from("aBzing12_-.:/+#\"'(),= "), max_size=40)


@given(st.one_of(ANY_TEXT, ASCII))
def test_what_is_remembered_of_words_is_what_each_word_says_for_itself(text: str) -> None:
    plain = [term for word in normalise(text).split() for term in word_terms(word) if term not in STOP_WORDS]
    remembered = Words(1000)
    assert terms(text) == plain == [term for piece in pieces(text) for term in remembered[piece]]


@given(ANY_TEXT)
def test_any_text_gives_the_same_folded_unspaced_terms_twice(text: str) -> None:
    found = terms(text)
    assert found == terms(text)
    assert query_terms(text) == query_terms(text)
    for term in found:
        assert term
        assert term == term.casefold()
        assert not any(c.isspace() for c in term)
        assert term not in STOP_WORDS


@given(ANY_TEXT)
def test_every_term_is_a_substring_of_the_folded_text(text: str) -> None:
    normal = normalise(text)
    folded = normal.casefold()
    assert len(folded) == len(normal)
    assert all(term in folded for term in [*terms(text), *query_terms(text)])


@given(ANY_TEXT)
def test_every_content_term_of_a_query_is_a_term_of_the_same_text(text: str) -> None:
    content = [term for term in query_terms(text) if term not in STOP_WORDS]
    assert set(content) <= set(terms(text))


@given(ANY_TEXT)
def test_white_space_separates_wherever_the_text_is_cut(text: str) -> None:
    normal = normalise(text)
    apart = [term for word in normal.split() for term in word_terms(word)]
    assert list(word_terms(normal)) == apart


@given(st.text(st.sampled_from("abcdeginlsty"), max_size=14))
def test_a_stem_is_a_prefix_of_its_word_and_never_empty(word: str) -> None:
    assert word.startswith(stem(word))
    assert bool(stem(word)) == bool(word)


def test_the_module_imports_nothing_heavy() -> None:
    heavy = {
        "re",
        "typing",
        "dataclasses",
        "collections",
        "functools",
        "json",
        "unicodedata",
        "enum",
        "pathlib",
    }
    root = str(Path(__file__).parents[1])
    code = (
        f"import sys; sys.path.insert(0, {root!r})\nimport valor.rank, valor.tokens\n"
        "valor.tokens.terms('plain ASCII text, HTTPServer.run_task()')\nprint(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert not heavy & set(done.stdout.split())
