"""Which observations leave as stubs, and what a stub looks like.

Part of the hot ring. ``docs/explanation/recall.md`` says how the numbers were found.

    evidence(q, d) = sum over terms t of  weight(t) * idf(t) * share(t, d)   /   size(q) ** POWER
    score(q, d)    = evidence * strength * decay * type weight

``share`` is BM25's saturation (``valor.rank``) against a line of fixed ordinary length, so it never
changes once a line is written. Evidence alone decides whether a line is told at all, the score
decides which go first. Chance agreement grows with the number of terms asked, slower than
agreement that means something: hence the power. ``size`` counts every term of the window, known or
not, so work on something that the log has never heard of needs more.

A line needs a rare term besides: nonsense returns nothing, common words alone return nothing. In a
short prompt, where each word was chosen, one that is rare enough will do, whatever the bar.
"""

from __future__ import annotations

from valor.bloom import Gate
from valor.gate import POWER, bar, information, known_terms
from valor.rank import K1, B
from valor.stub import MOST_STUBS, stub
from valor.window import Query

NEAR_BEST = 0.6  # a line with less than this share of the best line's evidence stays untold

COMMON = 0.2  # share of the lines beyond which a term carries no weight,
NEVER_COMMON = 3  # but a term of so many lines does in a log of any size
RARE = 0.02  # share of the lines up to which a term is evidence by itself,
ALWAYS_RARE = 5  # and so is a term of so many lines
# In a prompt of one word it is enough that this is rare; of a few, it has to be rare indeed.
RARE_INDEED = 0.002
ALWAYS_RARE_INDEED = 2
ORDINARY_LENGTH = 100.0  # terms, the summary's twice
LONGEST = 5.0  # times the ordinary length; a longer line counts as this long

TYPE_WEIGHTS = {"correction": 1.5, "decision": 1.3}
DECAY_RATE = 0.02
LEAST_STRENGTH = 0.3  # a line graded below this is no longer offered

_DAY = 86_400.0


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

    def stub(self) -> str:
        """The line as the agent sees it; "" where it cannot be told."""
        return stub(self.id, self.type, self.text)


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
    return holding > NEVER_COMMON and holding > COMMON * lines


def is_rare(holding: int, lines: int) -> bool:
    """Whether such a term is evidence by itself."""
    return holding <= ALWAYS_RARE or holding <= RARE * lines


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


def enough_alone(query: Query) -> tuple[float, int]:
    """Of how many lines a word is enough by itself: up to a share of the lines, or so many whatever the
    log; (0, 0) where none is."""
    if not query.short:
        return 0.0, 0
    return (RARE, ALWAYS_RARE) if len(query.weights) == 1 else (RARE_INDEED, ALWAYS_RARE_INDEED)


def said_enough(query: Query, index: Index) -> set[int]:
    """The lines that hold a word which is enough by itself."""
    if not query.short:
        return set()
    share, least = enough_alone(query)
    most = max(least, share * index.lines)
    lists = [index.postings(term) for term in query.weights]
    return {number for postings in lists if len(postings) <= most for number, _ in postings}


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
    least, enough_said = bar(query, scale), said_enough(query, index)
    sums = {number: total for number, total in sums.items() if total >= least or number in enough_said}
    enough = max(sums.values(), default=0.0) * NEAR_BEST
    found = []
    for number, total in sums.items():
        if total < enough or not total:
            continue
        known = index.known(number)
        if known.strength < LEAST_STRENGTH or known.id in told or not known.stub():
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


def block(found: list[Found]) -> str:
    """The stubs, one a line, at most 1,200 characters."""
    return "\n".join([each.known.stub() for each in found])
