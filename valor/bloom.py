"""The gate's filter: pybloom-live's bits in a file, read without importing pybloom-live.

The reader is part of the hot ring. It answers exactly as ``pybloom_live.BloomFilter`` does (a property
test holds it to that): at error rate 0.001 a key sets one bit in each of ten slices, and the bits are
the first ten 32-bit words, in the machine's order, of ``sha384(salt + key)`` modulo the slice's
length, with ``salt = sha384(four zero bytes)``. Slices of 2^15 bits and more hash so; the writer
never makes smaller ones.

The file: magic with version (8 bytes), bits in a slice (8), live lines (8), terms (8), stamp (32,
padded with zeros: which view this is, the writer's choice), the bits, a checksum (16: the beginning of
the sha384 of all before it). Numbers are little-endian; the word order is the machine's own, so the
file belongs to the machine. A filter that is missing, damaged, of another version or of another view
is no filter, and the gate stands open: it may err towards yes, never towards no.
"""

from __future__ import annotations

import posix
import sys

try:
    from _sha512 import sha384 as sha384
except ImportError:  # Python 3.12 and later
    try:
        from _sha2 import sha384 as sha384
    except ImportError:
        from hashlib import sha384 as sha384

ERROR_RATE = 0.001
SLICES = 10  # ceil(log2(1 / ERROR_RATE))

MAGIC = b"VBLOOM\x01" + (b"<" if sys.byteorder == "little" else b">")
MOST_BYTES = 256 << 20  # of a file: room for all the terms of a view that is full
HEADER = 64
STAMP = 32
CHECK = 16
SALT = sha384(b"\0\0\0\0").digest()


class Gate:
    """The open gate, for want of a filter: every term may be known, and to any number of lines."""

    __slots__ = ("lines",)

    def __init__(self, lines: int = 1 << 40) -> None:
        self.lines = lines

    def __contains__(self, term: str) -> bool:
        return True


class Filter(Gate):
    """``term in filter``: maybe, or surely not. ``lines`` live lines held ``count`` terms; ``stamp``
    names their view."""

    __slots__ = ("_bits", "_salted", "count", "slice_bits", "stamp")

    def __init__(self, data: bytes) -> None:
        self.slice_bits = _number(data, 8)
        super().__init__(_number(data, 16))
        self.count = _number(data, 24)
        self.stamp = data[STAMP:HEADER].rstrip(b"\0")
        self._bits = memoryview(data)[HEADER:-CHECK]
        self._salted = sha384(SALT)

    def __contains__(self, term: str) -> bool:
        hashed = self._salted.copy()
        hashed.update(term.encode("utf-8", "replace"))
        bits, length, offset = self._bits, self.slice_bits, 0
        for word in memoryview(hashed.digest()).cast("I")[:SLICES]:
            at = offset + word % length
            if not bits[at >> 3] >> (at & 7) & 1:
                return False
            offset += length
        return True


def load(path: str, stamp: bytes | None = None, sound: bool = False) -> Filter | None:
    """The filter in the file; None where there is none to trust, or it is of another view than ``stamp``.
    ``sound`` says that the bytes are known to be those that were written, so that they need no checking."""
    return parse(read(path), stamp, sound)


def read(path: str) -> bytes:
    """The file's bytes; none where it is no plain file, which might never end, or not readable."""
    try:
        facts = posix.stat(path)
        if facts.st_mode & 0o170000 != 0o100000 or facts.st_size > MOST_BYTES:
            return b""
        with open(path, "rb") as file:  # noqa: PTH123  (pathlib costs more than the whole gate)
            return file.read()
    except OSError:
        return b""


def parse(data: bytes, stamp: bytes | None = None, sound: bool = False) -> Filter | None:
    """As ``load``, from the file's bytes."""
    if len(data) < HEADER + CHECK or data[:8] != MAGIC:
        return None
    if len(data) != HEADER + (_number(data, 8) * SLICES + 7) // 8 + CHECK:
        return None
    if not sound and sha384(memoryview(data)[:-CHECK]).digest()[:CHECK] != data[-CHECK:]:
        return None
    found = Filter(data)
    return found if stamp is None or found.stamp == stamp else None


def pack(slice_bits: int, lines: int, count: int, stamp: bytes, bits: bytes) -> bytes:
    """The file's bytes, checksum and all; ``bits`` as a little-endian bitarray gives them."""
    head = MAGIC + b"".join([number.to_bytes(8, "little") for number in (slice_bits, lines, count)])
    body = head + stamp[:STAMP].ljust(STAMP, b"\0") + bits
    check: bytes = sha384(body).digest()[:CHECK]
    return body + check


def positions(term: str, length: int) -> list[int]:
    """The bits of a term in slices of ``length`` bits, one a slice."""
    hashed = sha384(SALT)
    hashed.update(term.encode("utf-8", "replace"))
    words = memoryview(hashed.digest()).cast("I")[:SLICES]
    return [part * length + word % length for part, word in enumerate(words)]


def _number(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")
