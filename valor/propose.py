"""Ask the mirror which lines answer a query.

Part of the hot ring. What comes back is a proposal: ``valor.confirm`` asks the file.
"""

from __future__ import annotations

from valor import keys, recall
from valor.errors import ErrorReply
from valor.gate import LEAST_LINES, POWER, bar
from valor.keys import Row
from valor.wire import Connection, Script

TYPE_CHECKING = False  # typing costs half an interpreter start
if TYPE_CHECKING:
    from valor.keys import Keys
    from valor.window import Query

MOST_PROPOSALS = 8  # some may turn out to be gone from the file


class Proposal:
    """A row with its evidence and score (``valor.recall``)."""

    __slots__ = ("evidence", "row", "score")

    def __init__(self, evidence: float, score: float, row: Row) -> None:
        self.evidence = evidence
        self.score = score
        self.row = row


def propose(
    connection: Connection,
    names: Keys,
    query: Query,
    weights: dict[str, float],
    now: float,
    *,
    before: float | None = None,
    told: frozenset[str] | set[str] = frozenset(),
    scale: float = 1.0,
    all_near: bool = False,
    limit: int = MOST_PROPOSALS,
) -> list[Proposal] | None:
    """The best lines for the query, of which the gate let ``weights`` through; None where the mirror
    has no such view. ``all_near`` leaves out both bars, to explain. Raises WireError."""
    types = [part for pair in recall.TYPE_WEIGHTS.items() for part in pair]
    reply = connection.call(
        *Script(keys.RECALL).call(
            [names.terms, names.lines, names.strength, names.meta],
            [
                0.0 if all_near else bar(query, scale),
                0.0 if all_near else recall.NEAR_BEST,
                now,
                "" if before is None else before,
                limit,
                float(max(query.size, 1.0) ** POWER),
                recall.COMMON,
                recall.NEVER_COMMON,
                recall.RARE,
                recall.ALWAYS_RARE,
                LEAST_LINES,
                recall.DECAY_RATE,
                0.0 if all_near else recall.LEAST_STRENGTH,
                *recall.enough_alone(query),
                len(recall.TYPE_WEIGHTS),
                *types,
                len(told),
                *told,
                *[part for pair in weights.items() for part in pair],
            ],
        )
    )
    if reply is None:
        return None
    found = reply[2:]
    if len(found) % 3 or not all(isinstance(part, bytes) for part in found):
        raise ErrorReply("the mirror's answer has another shape", "run `valor sync --rebuild`")
    return [
        Proposal(float(found[at]), float(found[at + 1]), Row(found[at + 2])) for at in range(0, len(found), 3)
    ]
