"""Whether one word is a misspelling of another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor.consolidate.lexicon import CONFUSABLE
from valor.consolidate.typo import is_typo


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("duplicate", "duplciate"),
        ("connection", "conection"),
        ("consumer", "consummer"),
        ("Occurrence", "occurence"),
        ("scheduler", "schedduler"),
        ("repository", "reopsitory"),
        ("synchronous", "synchrronous"),
    ],
)
def test_a_doubled_letter_and_two_swapped_ones_are_typos(right: str, wrong: str) -> None:
    assert is_typo(right, wrong)
    assert is_typo(wrong, right)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("duplicate", "duplicate"),
        ("from", "form"),
        ("loose", "lose"),
        ("server", "fserver"),
        ("pending", "spending"),
        ("parser", "parsers"),
        ("enabled", "disabled"),
        ("adapted", "adopted"),
        ("message", "massage"),
        ("polling", "pooling"),
        ("connection", "conecton"),
        ("größere", "größeree"),
        ("migración", "migracion"),
        ("read_only", "read_onyl"),
        ("region1", "region11"),
        ("", ""),
        ("", "a"),
        ("缓存目录缓存目录", "缓存目录缓存录目"),
    ],
)
def test_anything_else_is_another_word(one: str, other: str) -> None:
    assert not is_typo(one, other)
    assert not is_typo(other, one)


@pytest.mark.parametrize("pair", sorted(sorted(pair) for pair in CONFUSABLE if len(pair) == 2))
def test_two_words_that_are_known_to_be_confused_are_two_words(pair: list[str]) -> None:
    assert not is_typo(*pair)
    assert not is_typo(*(word.upper() for word in reversed(pair)))


@given(st.text(max_size=12), st.text(max_size=12))
def test_no_two_texts_break_it_and_the_order_says_nothing(one: str, other: str) -> None:
    assert is_typo(one, other) is is_typo(other, one)
    assert not is_typo(one, one)


@given(st.text("abcdefghij", min_size=6, max_size=12), st.integers(1, 10))
def test_a_letter_exchanged_for_another_is_never_a_typo(word: str, at: int) -> None:
    at %= len(word)
    assert not is_typo(word, f"{word[:at]}z{word[at + 1 :]}")
