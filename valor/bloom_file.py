"""The gate's filter, written: pybloom-live makes the bits, ``valor.bloom`` says how they lie in the file."""

from __future__ import annotations

from collections.abc import Iterable

from valor import bloom

LEAST_CAPACITY = 32_768  # terms; pybloom-live hashes smaller filters with another function
ROOM = 1.5  # capacity for each term there is, so that appended lines find place


def build(terms: Iterable[str], lines: int, stamp: bytes = b"") -> bytes:
    """A file's bytes: the filter over ``terms``, each a term of the view that is not too common.

    ``lines`` is the number of live lines, ``stamp`` at most 32 bytes that name the view.
    """
    from pybloom_live import BloomFilter

    every = {clean(term) for term in terms}
    made = BloomFilter(max(LEAST_CAPACITY, int(len(every) * ROOM)), bloom.ERROR_RATE)
    for term in every:
        made.add(term, skip_check=True)
    return bloom.pack(made.bits_per_slice, lines, len(every), stamp, made.bitarray.tobytes())


def extend(data: bytes, terms: Iterable[str], lines: int, stamp: bytes = b"") -> bytes | None:
    """The file's bytes with more terms, for appended lines; None where the file cannot be trusted or has
    no room left: build it anew.

    A term that was too common to be in the file, and no longer is, has to be among ``terms``.
    """
    old = bloom.parse(data)
    if old is None:
        return None
    bits = bytearray(data[bloom.HEADER : -bloom.CHECK])
    count = old.count
    for term in {clean(term) for term in terms}:
        if term in old:
            continue
        count += 1
        for at in bloom.positions(term, old.slice_bits):
            bits[at >> 3] |= 1 << (at & 7)
    if count > old.slice_bits * _TERMS_A_BIT:
        return None
    return bloom.pack(old.slice_bits, lines, count, stamp, bytes(bits))


def clean(term: str) -> str:
    """The term as the reader hashes it: a lone surrogate is no letter."""
    return term.encode("utf-8", "replace").decode("utf-8")


_TERMS_A_BIT = 0.6931  # ln 2: a slice with as many terms is half full, where the error rate holds
