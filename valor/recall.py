"""Which observations leave as stubs, and what a stub looks like.

Part of the hot ring. ``docs/explanation/recall.md`` says how the numbers were found.

    evidence(q, d) = sum over terms t of  weight(t) * idf(t) * share(t, d)   /   size(q) ** POWER
    score(q, d)    = evidence * strength * decay * type weight

``share`` is BM25's saturation (``valor.rank``) against a line of fixed ordinary length, so it never
changes once a line is written. Evidence alone decides whether a line is told at all, the score
decides which go first. Chance agreement grows with the number of terms asked, slower than
agreement that means something: hence the power. ``size`` counts every term of the window, known or
not, so work on something that the log has never heard of needs more.

A line needs a rare term besides: nonsense returns nothing, common words alone return nothing, and
in a short prompt one rare word is enough.
"""

from __future__ import annotations

from valor.bloom import Gate
from valor.rank import K1, B, idf
from valor.window import Query

BAR = 6.0  # least evidence, in nats
POWER = 0.4
NEAR_BEST = 0.6  # a line with less than this share of the best line's evidence stays untold
MOST_STUBS = 3
MOST_CHARACTERS = 1_200  # of all stubs together, line ends included

LEAST_LINES = 1_000  # a smaller log says too little about which words are rare: idf as in one of these
ALWAYS_RARE = 3  # lines that may hold a term in a log of any size without making it common
COMMON = 0.2  # share of the lines beyond which a term carries no weight
RARE = 0.02  # share of the lines up to which a term is evidence
ORDINARY_LENGTH = 100.0  # terms, the summary's twice
LONGEST = 5.0  # times the ordinary length; a longer line counts as this long

TYPE_WEIGHTS = {"correction": 1.5, "decision": 1.3}
DECAY_RATE = 0.02
LEAST_STRENGTH = 0.3  # a line graded below this is no longer offered

_DAY = 86_400.0
_LONGEST_ID = 128
_LONGEST_TYPE = 24
_STUB_LIMIT = (MOST_CHARACTERS - (MOST_STUBS - 1)) // MOST_STUBS


class Known:
    """What the engine keeps of a line beside its terms: ``created`` in unix seconds; ``strength`` is
    learned from outcomes, 1 where nothing was; ``text`` the summary, or what stands in for it."""

    __slots__ = ("created", "id", "importance", "strength", "text", "type")

    def __init__(
        self,
        id: str,
        type: str,
        text: str,
        *,
        created: float = 0.0,
        importance: float = 1.0,
        strength: float = 1.0,
    ) -> None:
        self.id = id
        self.type = type
        self.text = text
        self.created = created
        self.importance = importance
        self.strength = strength


class Index:
    """What recall asks of an engine; a subclass holds the view.

    ``lines`` is the number of live lines that may be recalled. ``postings`` gives, for each line that
    holds the term, its number and its share (``share`` below); ``known`` what is kept of a line.
    """

    lines: int = 0

    def postings(self, term: str) -> list[tuple[int, float]]:
        raise KeyError(term)

    def known(self, number: int) -> Known:
        raise KeyError(number)


class Found:
    """A line that answers: its evidence, its score and what is kept of it."""

    __slots__ = ("evidence", "known", "score")

    def __init__(self, known: Known, evidence: float, score: float) -> None:
        self.known = known
        self.evidence = evidence
        self.score = score


def share(tf: float, length: float) -> float:
    """The share, in [0, 1), of a term's idf that a line earns: ``tf`` its weighted count there,
    ``length`` the line's weighted number of terms (``valor.rank``'s field weights)."""
    return tf / (tf + K1 * (1.0 - B + B * min(length / ORDINARY_LENGTH, LONGEST)))


def is_common(holding: int, lines: int) -> bool:
    """Whether a term that ``holding`` of ``lines`` hold carries no weight."""
    return holding > ALWAYS_RARE and holding > COMMON * lines


def is_rare(holding: int, lines: int) -> bool:
    """Whether such a term is evidence by itself."""
    return holding <= ALWAYS_RARE or holding <= RARE * lines


def information(holding: int, lines: int) -> float:
    """A term's idf in nats, as in a log of at least ``LEAST_LINES``."""
    return idf(max(lines, LEAST_LINES), holding)


def bar(query: Query, scale: float = 1.0) -> float:
    """The least sum of ``weight * idf * share`` with which a line is told, ``scale`` times the usual."""
    return 0.0 if query.short else scale * BAR * float(max(query.size, 1.0) ** POWER)


def known_terms(query: Query, gate: Gate, scale: float = 1.0) -> dict[str, float]:
    """The query's terms that the gate lets through, with their weights; {} where no line can answer.

    Exact where the gate errs only towards yes: no line gets more than all these terms' full idf.
    """
    weights = {term: weight for term, weight in query.weights.items() if term in gate}
    if sum(weights.values()) * information(1, gate.lines) < bar(query, scale):
        return {}
    return weights


def evidence(weights: dict[str, float], index: Index, before: float | None = None) -> dict[int, float]:
    """Each line's sum of ``weight * idf * share``, for lines that hold a rare term.

    Rarest terms first: they name the candidates, the others only add to them. Where ``before`` is
    given, only lines made earlier count.
    """
    lines = index.lines
    lists = [(index.postings(term), weight) for term, weight in weights.items()]
    lists.sort(key=lambda pair: len(pair[0]))
    sums: dict[int, float] = {}
    for postings, weight in lists:
        holding = len(postings)
        if not holding or is_common(holding, lines):
            continue
        gain = weight * information(holding, lines)
        if is_rare(holding, lines):
            for number, part in postings:
                sums[number] = sums.get(number, 0.0) + gain * part
        else:
            for number, part in postings:
                if number in sums:
                    sums[number] += gain * part
    if before is not None:
        sums = {number: total for number, total in sums.items() if index.known(number).created < before}
    return sums


def decay(days: float, importance: float) -> float:
    """What age takes, in (0, 1]: ``max(days, 1) ** -(DECAY_RATE / importance)``.

    After popoto's ``importance * max(days, 0.01) ** -rate``, with importance in the exponent: it slows
    forgetting and does not outweigh what was asked. A year leaves an agent's note 0.89, a commit's
    lesson 0.98.
    """
    return float(max(days, 1.0) ** -(DECAY_RATE / max(importance, 0.1)))


def static_factor(known: Known, now: float) -> float:
    """``strength * decay * type weight`` at ``now``, unix seconds."""
    age = (now - known.created) / _DAY
    return known.strength * decay(age, known.importance) * TYPE_WEIGHTS.get(known.type, 1.0)


def choose(
    sums: dict[int, float],
    query: Query,
    index: Index,
    now: float,
    told: frozenset[str] | set[str] = frozenset(),
    scale: float = 1.0,
) -> list[Found]:
    """The at most three lines to tell, best first; none whose id is in ``told``."""
    divisor = max(query.size, 1.0) ** POWER
    enough = max(max(sums.values(), default=0.0) * NEAR_BEST, bar(query, scale))
    found = []
    for number, total in sums.items():
        if total < enough or not total:
            continue
        known = index.known(number)
        if known.strength < LEAST_STRENGTH or known.id in told or not stub(known):
            continue
        found.append(Found(known, total / divisor, total / divisor * static_factor(known, now)))
    found.sort(key=lambda each: (each.score, each.known.created, each.known.id), reverse=True)
    return found[:MOST_STUBS]


def recall(
    query: Query,
    gate: Gate,
    index: Index,
    now: float,
    *,
    before: float | None = None,
    told: frozenset[str] | set[str] = frozenset(),
    scale: float = 1.0,
) -> list[Found]:
    """The lines to tell an agent whose work makes this query: gate, evidence, choice.

    ``before``: only lines made earlier (unix seconds). ``told``: ids the session holds already.
    ``scale`` moves the bar, for measuring.
    """
    weights = known_terms(query, gate, scale)
    if not weights:
        return []
    return choose(evidence(weights, index, before), query, index, now, told, scale)


def stub(known: Known) -> str:
    """``<thought id="…">[type] summary</thought>`` on one line of at most 399 characters; "" where the
    id is too long to be of use or nothing printable is left to say."""
    id_ = escape(known.id, _LONGEST_ID + 1)
    text = plain(known.text)
    if not id_ or len(id_) > _LONGEST_ID or not text:
        return ""
    head = f'<thought id="{id_}">[{escape(known.type, _LONGEST_TYPE)}] '
    tail = "</thought>"
    return head + escape(text, _STUB_LIMIT - len(head) - len(tail)) + tail


def block(found: list[Found]) -> str:
    """The stubs, one a line, at most 1,200 characters."""
    return "\n".join([stub(each.known) for each in found])


def plain(text: str) -> str:
    """One line without control, format or ANSI characters, white space squeezed."""
    text = _without_ansi(text[:8_000])
    if not text.isascii() or not text.isprintable():
        text = "".join([c if c.isprintable() else " " for c in text])
    return " ".join(text.split())


def escape(text: str, limit: int) -> str:
    """``text`` made plain, markup written as entities, cut to ``limit`` characters with an ellipsis."""
    parts = []
    left = limit
    text = plain(text)
    for place, c in enumerate(text):
        part = _ENTITIES.get(c, c)
        last = place == len(text) - 1
        if len(part) + (not last) > left:
            parts.append("…" if left > 0 else "")
            break
        parts.append(part)
        left -= len(part)
    return "".join(parts)


_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


def _without_ansi(text: str) -> str:
    """``text`` without terminal sequences (ECMA-48: CSI up to its final byte, OSC up to its end)."""
    text = text.replace("\x9b", "\x1b[").replace("\x9d", "\x1b]")
    if "\x1b" not in text:
        return text
    first, *rest = text.split("\x1b")
    kept = [first]
    for part in rest:
        if part.startswith("["):
            end = next((i for i, c in enumerate(part) if i and "@" <= c <= "~"), len(part))
        elif part.startswith("]"):
            end = part.find("\x07") if "\x07" in part else len(part)
        else:
            end = 0
        kept.append(part[end + 1 :])
    return " ".join(kept)
