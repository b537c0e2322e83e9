"""What sync notes beside the view that it mirrored, to know next time what has changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from valor.covered import Covered

FORMAT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """``covered`` is the content mirrored. ``common`` counts the lines of each term that the gate's filter
    lacks for being too common; ``awaited`` are ids that marks name and no line has; ``settled`` says that
    no mark speaks of a live line or an absent one; ``inherited`` has a digest of the tags that a line was
    indexed by and has not itself, by id; ``brief`` holds the rows of the strongest observations."""

    covered: Covered
    common: dict[str, int] = field(default_factory=dict)
    awaited: frozenset[str] = frozenset()
    settled: bool = False
    inherited: dict[str, str] = field(default_factory=dict)
    brief: list[bytes] = field(default_factory=list)

    def dump(self) -> bytes:
        """As JSON."""
        covered = self.covered
        return orjson.dumps(
            {
                "format": FORMAT,
                "identity": covered.identity,
                "size": covered.size,
                "read": covered.read,
                "blocks": covered.blocks,
                "end": covered.end,
                "common": self.common,
                "awaited": sorted(self.awaited),
                "settled": self.settled,
                "inherited": self.inherited,
                "brief": [each.hex() for each in self.brief],
            }
        )


def load(raw: bytes) -> Notes | None:
    """The notes; None where they are another version's."""
    try:
        found: dict[str, Any] = orjson.loads(raw)
        if found["format"] != FORMAT:
            return None
        covered = Covered(**{name: found[name] for name in ("identity", "size", "read", "blocks", "end")})
        return Notes(
            covered=covered,
            common=found["common"],
            awaited=frozenset(found["awaited"]),
            settled=found["settled"],
            inherited=found["inherited"],
            brief=[bytes.fromhex(each) for each in found["brief"]],
        )
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return None
