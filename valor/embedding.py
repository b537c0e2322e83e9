"""A text's place in a model's space, as small as it can be stored.

valor embeds nothing by itself: a program hands in an ``Embedder``. Each vector knows the model it
came from and its dimension, and vectors of different spaces are never compared.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from operator import mul
from typing import NamedTuple, Protocol

from valor.errors import UsageError


class Embedder(Protocol):
    """Something that turns texts into vectors: its model's name, how many numbers a vector has."""

    @property
    def model(self) -> str:
        """The model's name; what another model made is not comparable."""

    @property
    def dimension(self) -> int:
        """How many numbers each vector has."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector of ``dimension`` numbers for each text, in their order."""


class Embedding(NamedTuple):
    """A vector as it is stored: ``data`` is ``dimension`` IEEE 754 half floats, little-endian.

    Make one with ``encode`` or, from what was stored, with ``decode``: both refuse what does not fit.
    """

    model: str
    dimension: int
    data: bytes

    def vector(self) -> tuple[float, ...]:
        """The numbers, to the precision of half floats (about three digits)."""
        return struct.unpack(f"<{self.dimension}e", self.data)

    def similarity(self, other: Embedding) -> float:
        """The cosine of the angle between the two, -1 to 1; 0 where one is all zeros.

        Raises UsageError for vectors of different models or dimensions.
        """
        if (self.model, self.dimension) != (other.model, other.dimension):
            raise UsageError(
                f"{self.model}/{self.dimension} and {other.model}/{other.dimension} are different spaces",
                "embed both texts with one model",
            )
        one, two = self.vector(), other.vector()
        lengths = math.hypot(*one) * math.hypot(*two)
        return math.fsum(map(mul, one, two)) / lengths if lengths else 0.0


def encode(model: str, dimension: int, numbers: Sequence[float]) -> Embedding:
    """The numbers as an Embedding. Raises UsageError where there are not ``dimension`` of them, or
    one is not finite or too large for a half float (65,504 is the most)."""
    if len(numbers) != dimension:
        raise UsageError(
            f"{model} gave {len(numbers)} numbers, not {dimension}", "say the model's own dimension"
        )
    if not all(map(math.isfinite, numbers)):
        raise UsageError(f"{model} gave a number that is not finite", "leave that text without a vector")
    try:
        data = struct.pack(f"<{dimension}e", *numbers)
    except OverflowError:
        raise UsageError(f"{model} gave a number above 65,504", "normalise the vectors") from None
    return decode(model, dimension, data)


def decode(model: str, dimension: int, data: bytes) -> Embedding:
    """What was stored, as an Embedding. Raises UsageError where the parts do not fit each other."""
    if not model or dimension < 1:
        raise UsageError(
            f"a vector of {dimension} by {model!r}", "a model has a name and a dimension above 0"
        )
    if len(data) != 2 * dimension:
        raise UsageError(
            f"{len(data)} bytes are no {dimension} half floats", "embed the text again with this model"
        )
    return Embedding(model, dimension, data)


def embed(embedder: Embedder, texts: Sequence[str]) -> list[Embedding]:
    """The texts' embeddings, in their order. Raises UsageError where the embedder gives another
    number of vectors, or vectors that are not of its dimension."""
    vectors = embedder.embed(texts)
    if len(vectors) != len(texts):
        raise UsageError(
            f"{embedder.model} gave {len(vectors)} vectors for {len(texts)} texts", "mend the embedder"
        )
    return [encode(embedder.model, embedder.dimension, vector) for vector in vectors]
