"""Which content of the log was read: its identity, and a checksum for each MiB.

The identity answers at once whether anything can have changed. Where it has, the checksums say from which
byte on: a ``touch`` changes nothing, an append nothing before its start.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass

from valor.confirm import END, digest
from valor.viewfile import identity

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """``size`` bytes of the file of this ``identity`` (``valor.viewfile``), the end of its last whole line;
    ``read`` bytes were read, with what stood behind that; a checksum a block of the first ``size``, and
    ``end``, a digest of the last of these (``valor.confirm``)."""

    identity: list[int]
    size: int
    read: int
    blocks: list[int]
    end: str

    @property
    def is_torn(self) -> bool:
        """Whether something stood behind the last whole line: a line that may become another one."""
        return self.read > self.size

    def is_prefix_of(self, descriptor: int) -> bool:
        """Whether the open file still begins with this content."""
        if os.fstat(descriptor).st_size < self.size:
            return False
        for number, known in enumerate(self.blocks):
            start = number * BLOCK
            if zlib.crc32(os.pread(descriptor, min(BLOCK, self.size - start), start)) != known:
                return False
        return True


def read(descriptor: int, known: Covered | None = None) -> tuple[Covered, bytes]:
    """What the open file holds now, and its bytes: all of them, or, where it is known to begin with
    ``known``, those behind. Bytes that a writer adds meanwhile are left to the next time."""
    facts = identity(os.fstat(descriptor))
    start = known.size if known else 0
    data = _bytes(descriptor, start, facts[2])
    whole = data.rfind(b"\n") + 1
    size = start + whole
    full = start // BLOCK  # blocks that stay as they are
    blocks = known.blocks[:full] if known else []
    for at in range(full * BLOCK, size, BLOCK):
        blocks.append(zlib.crc32(_bytes(descriptor, at, min(at + BLOCK, size))))
    facts[2] = start + len(data)
    end = digest(_bytes(descriptor, max(0, size - END), size)).hex()
    return Covered(identity=facts, size=size, read=facts[2], blocks=blocks, end=end), data


def _bytes(descriptor: int, start: int, end: int) -> bytes:
    pieces = []
    while start < end and (piece := os.pread(descriptor, end - start, start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)
