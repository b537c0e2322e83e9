"""Room for an embedding in the mirror: filled from outside, never compared across spaces."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from mirrored import Checkout, id_of, line, mark

from valor import server, vectors
from valor.place import place_of


class Letters:
    """An embedder that counts letters: what a model does, without one."""

    def __init__(self, model: str = "letters", dimension: int = 3) -> None:
        self.model = model
        self.dimension = dimension
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked += texts
        return [[float(text.count(letter)) for letter in "aeiou"[: self.dimension]] for text in texts]


def test_each_live_observation_gets_a_vector_once(checkout: Checkout) -> None:
    checkout.write(*map(line, range(4)), line(9, private=True), mark(1, [id_of(2)], None))
    embedder = Letters()
    assert vectors.fill(checkout.workspace, embedder) == vectors.Filled(made=3, kept=0, replaced=0)
    assert len(embedder.asked) == 3
    assert vectors.fill(checkout.workspace, embedder).made == 0
    found = vectors.vectors(checkout.workspace, "letters", 3)
    assert set(found.by_id) == {id_of(0), id_of(1), id_of(3)}
    assert found.by_id[id_of(0)].vector() == tuple(float(embedder.asked[0].count(each)) for each in "aei")
    assert checkout.differences() == []


def test_vectors_of_another_space_are_left_out_and_counted(checkout: Checkout) -> None:
    checkout.write(*map(line, range(3)))
    vectors.fill(checkout.workspace, Letters())
    assert vectors.vectors(checkout.workspace, "letters", 5) == vectors.Vectors(by_id={}, ignored=3)
    assert vectors.vectors(checkout.workspace, "other", 3).ignored == 3
    assert vectors.fill(checkout.workspace, Letters("other", 5)).replaced == 3


def test_a_changed_line_loses_its_vector_and_a_rebuild_does_not(checkout: Checkout) -> None:
    checkout.write(*map(line, range(3)))
    vectors.fill(checkout.workspace, Letters())
    checkout.sync(rebuild=True)
    assert vectors.vectors(checkout.workspace, "letters", 3).ignored == 0
    checkout.write(line(0), line(1, summary="quite another text"), line(2))
    checkout.sync()
    found = vectors.vectors(checkout.workspace, "letters", 3)
    assert (set(found.by_id), found.ignored) == ({id_of(0), id_of(2)}, 1)
    assert vectors.fill(checkout.workspace, Letters()).made == 1


def test_an_embedder_that_fails_loses_no_record_and_no_earlier_vector(checkout: Checkout) -> None:
    class Failing(Letters):
        def embed(self, texts: Sequence[str]) -> list[list[float]]:
            if self.asked:
                raise TimeoutError
            return super().embed(texts)

    checkout.write(*map(line, range(100)))
    with pytest.raises(TimeoutError):
        vectors.fill(checkout.workspace, Failing())
    assert len(vectors.vectors(checkout.workspace, "letters", 3).by_id) == 64
    assert len(checkout.recalled()) == 100


@pytest.mark.parametrize("rebuild", [False, True])
def test_a_line_that_left_the_log_takes_its_vector_along(checkout: Checkout, rebuild: bool) -> None:
    checkout.write(*map(line, range(3)))
    vectors.fill(checkout.workspace, Letters())
    checkout.write(line(0), line(1))
    checkout.sync(rebuild=rebuild)
    with server.client(server.address(checkout.workspace.config)) as client:
        key = place_of(checkout.workspace).names.embeddings
        assert client.hlen(key) == 2
        assert client.ttl(key) > 86_400
