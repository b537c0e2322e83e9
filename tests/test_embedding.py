"""Embeddings: what goes in comes out to three digits, and spaces are never mixed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor.embedding import Embedder, Embedding, decode, embed, encode
from valor.errors import UsageError

numbers = st.lists(st.floats(-60_000, 60_000, width=16), min_size=1, max_size=20)


class Lengths:
    """An embedder that knows how long a text is."""

    model = "lengths-1"

    def __init__(self, dimension: int = 2, spare: int = 0) -> None:
        self.dimension = dimension
        self.spare = spare

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[float(len(text)), 1.0] for text in texts] + [[0.0, 0.0]] * self.spare


@given(numbers)
def test_what_half_floats_can_hold_comes_back_as_it_was(vector: list[float]) -> None:
    made = encode("m", len(vector), vector)
    assert len(made.data) == 2 * len(vector)
    assert decode("m", len(vector), made.data).vector() == tuple(vector)


def test_the_bytes_are_little_endian_half_floats() -> None:
    assert encode("m", 2, [1.0, -2.0]).data == bytes.fromhex("003c00c0")


def test_an_embedder_fills_embeddings_in_the_order_of_the_texts() -> None:
    embedder: Embedder = Lengths()
    assert [one.vector() for one in embed(embedder, ["a", "bcd"])] == [(1.0, 1.0), (3.0, 1.0)]
    assert embed(embedder, []) == []


@pytest.mark.parametrize("embedder", [Lengths(dimension=3), Lengths(spare=1)])
def test_an_embedder_that_does_not_keep_its_word_is_refused(embedder: Lengths) -> None:
    with pytest.raises(UsageError, match="lengths-1"):
        embed(embedder, ["a", "b"])


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 70_000.0])
def test_a_number_that_no_half_float_holds_is_refused(number: float) -> None:
    with pytest.raises(UsageError):
        encode("m", 1, [number])


@pytest.mark.parametrize(("model", "dimension", "data"), [("", 1, b"00"), ("m", 0, b""), ("m", 2, b"00")])
def test_stored_parts_that_do_not_fit_are_refused(model: str, dimension: int, data: bytes) -> None:
    with pytest.raises(UsageError):
        decode(model, dimension, data)


def test_similarity_is_the_cosine_and_zero_is_like_nothing() -> None:
    one, other = encode("m", 2, [3.0, 0.0]), encode("m", 2, [3.0, 3.0])
    assert one.similarity(other) == pytest.approx(0.5**0.5, abs=1e-3)
    assert one.similarity(encode("m", 2, [0.0, 0.0])) == 0.0


@pytest.mark.parametrize("other", [encode("n", 2, [1.0, 1.0]), encode("m", 1, [1.0])])
def test_vectors_of_two_spaces_are_not_compared(other: Embedding) -> None:
    with pytest.raises(UsageError, match="different spaces"):
        encode("m", 2, [1.0, 1.0]).similarity(other)
