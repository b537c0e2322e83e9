"""Scores: BM25's shape and value, trigrams by hand."""

from __future__ import annotations

from math import isclose, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor import rank


def test_bm25_gives_the_value_worked_out_by_hand() -> None:
    # 10 documents, 2 hold the term; it stands 3 times in one that is twice the average length.
    norm = rank.length_norm(200.0, 100.0)
    assert isclose(norm, 1.2 * (0.25 + 0.75 * 2))
    score = rank.idf(10, 2) * rank.saturation(3.0, norm)
    assert isclose(score, log(1 + 8.5 / 2.5) * 3 / (3 + 2.1))


@given(st.integers(1, 10_000), st.data())
def test_a_rarer_term_weighs_more_and_none_weighs_nothing(documents: int, data: st.DataObject) -> None:
    holding = data.draw(st.integers(1, documents))
    assert rank.idf(documents, holding) > 0
    assert rank.idf(documents, holding - 1) > rank.idf(documents, holding)


@given(st.floats(0.5, 500), st.floats(0, 10_000), st.floats(1, 5_000))
def test_repeats_raise_a_share_below_one_and_length_lowers_it(
    tf: float, length: float, average: float
) -> None:
    norm = rank.length_norm(length, average)
    share = rank.saturation(tf, norm)
    assert 0 < share < 1
    assert rank.saturation(tf + 1, norm) > share
    assert rank.saturation(tf, rank.length_norm(length + average, average)) < share


def test_an_empty_corpus_has_a_norm() -> None:
    assert rank.length_norm(0.0, 0.0) == rank.K1


def test_squeezing_leaves_folded_letters_and_single_spaces() -> None:
    assert rank.squeeze("  Fix `HTTPServer`\n--now! ") == " fix httpserver now "
    assert rank.squeeze("ＡＢ—é。漢") == " ab é 漢 "
    assert rank.squeeze("…!") == "  "


def test_containment_is_the_share_of_the_asked_trigrams() -> None:
    asked = rank.trigrams(" lock ")
    assert asked == {" lo", "loc", "ock", "ck "}
    assert rank.containment(asked, " lock ") == 1.0
    assert rank.containment(asked, " locking ") == 0.75
    assert rank.containment(asked, " queue ") == 0.0
    assert rank.containment(rank.trigrams("  "), " queue ") == 0.0


@pytest.mark.parametrize(("shares", "factor"), [((0.0, 0.0), 1.0), ((0.5, 1.0), 3.0), ((1.0, 1.0), 4.0)])
def test_reranking_only_ever_raises_a_score(shares: tuple[float, float], factor: float) -> None:
    assert rank.rerank_factor(*shares) == factor
