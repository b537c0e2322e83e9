"""Compile a routing table: what it teaches as plain data, which a Model is made from and a file can hold.

rows       scope, owner, store, signals and line of each row; its examples are below
signals    row number, then the parts of a ``signals.Signal``
examples   row number, text and how rare its words are together; an owner's follow each other
owners     name, how many examples it has, how many features these have together
features   how many there are
shelves    lines of a feature and the numbers of the examples that have it, spread over so many
           texts (``shelf`` tells where a feature stands) that a reader unpacks what it asks for only
"""

from __future__ import annotations

import math
import zlib
from typing import Any

from valor.routing.features import Reading
from valor.routing.signals import SECRET, read
from valor.routing.table import Table

SHELVES = 512
SIMILAR = ("W:", "B:", "J:")  # the families of features that make two texts alike


def learn(table: Table) -> dict[str, Any]:
    """What ``table`` teaches. Reads every example once; JSON goes there and back."""
    owners = list(dict.fromkeys(row.owner for row in table.rows))
    told = [
        (at, example, Reading(example).features())
        for owner in owners
        for at, row in enumerate(table.rows)
        if row.owner == owner
        for example in row.examples
    ]
    where: dict[str, list[int]] = {}
    for number, (_, _, found) in enumerate(told):
        for feature in found:
            where.setdefault(feature, []).append(number)
    return {
        "rows": [[row.scope, row.owner, row.store, row.signals, row.line] for row in table.rows],
        "signals": [
            [at, *read(said)] for at, row in enumerate(table.rows) for said in row.signals if said != SECRET
        ],
        "examples": "\n".join(
            f"{at} {_rarity_of(found, where, len(told))} {text}" for at, text, found in told
        ),
        "owners": [_owner(owner, table, told) for owner in owners],
        "features": len(where),
        "shelves": _shelves(where),
    }


def rarity(seen: int, examples: int) -> float:
    """How much a feature that ``seen`` of ``examples`` have sets a text apart."""
    return math.log((examples + 1) / (seen + 0.5))


def shelf(feature: str) -> int:
    """The number of the shelf that ``feature`` stands on."""
    return zlib.crc32(feature.encode("utf-8", "surrogatepass")) % SHELVES


def unpack(held: str) -> dict[str, str]:
    """What a shelf holds: features, and the numbers of the examples that have them, rising."""
    return dict(each.split("=") for each in held.split("|")) if held else {}


def _shelves(where: dict[str, list[int]]) -> list[str]:
    shelves: list[list[str]] = [[] for _ in range(SHELVES)]
    for feature, numbers in where.items():
        shelves[shelf(feature)].append(f"{feature}={','.join(map(str, numbers))}")
    return ["|".join(each) for each in shelves]


def _rarity_of(found: set[str], where: dict[str, list[int]], examples: int) -> float:
    return math.fsum(rarity(len(where[each]), examples) for each in found if each.startswith(SIMILAR))


def _owner(owner: str, table: Table, told: list[tuple[int, str, set[str]]]) -> tuple[str, int, int]:
    own = [found for at, _, found in told if table.rows[at].owner == owner]
    return owner, len(own), sum(map(len, own))
