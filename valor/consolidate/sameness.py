"""Do two statements say the same in the same words? Only that is merged without asking."""

from __future__ import annotations

from collections import Counter

from rapidfuzz.distance import Indel

from valor.consolidate.clauses import sentences
from valor.consolidate.lexicon import DENIALS, GENERIC, LIMITS, NEGATIONS, PLATFORMS
from valor.consolidate.statement import Statement
from valor.consolidate.tokenizing import Kind, Token, tokenize
from valor.consolidate.typo import is_typo
from valor.digests import normalise

LONG = 6  # content words from which a text is known by its words alone
EXPLAINED = 10  # content words of details that nobody writes twice by chance
_NEARLY_AS_LONG = 0.8  # of texts that can still be the same word for word: white space differs
_SAID_AGAIN, _SAID_IN_PART = 0.9, 0.5  # shares of the headlines' words


def same_text(one: Statement, other: Statement) -> str:
    """Why both say the same in the same words; "" where they do not."""
    if not one.content or not other.content:
        return ""
    if _asks(one) is not _asks(other):
        return ""
    if _equal(one.tokens, other.tokens):
        left, right = one.body_exact, other.body_exact
        if one.label != other.label and one.label and other.label:
            return ""
        if left == right:
            return "the same words" if one.exact == other.exact else "the same words but for a typo"
        if _adds_a_condition(left, right) or _goes_on_with_a_limit(one.details, other.details):
            return ""
        if not left or not right:
            return "the same summary, one without details" if _is_telling(one) else ""
        if _within(left, right):
            return "the same summary, the details of one within those of the other"
        return ""
    for short, long in ((one, other), (other, one)):
        alike = not short.details and len(short.exact) >= LONG and len(long.details) < 2 * len(short.summary)
        if alike and short.exact == long.body_exact:
            return "the summary of one is the details of the other" if _heads(long, short) else ""
    return ""


def _asks(statement: Statement) -> bool:
    return statement.summary.rstrip(" \"'”’)").endswith(("?", "？"))


def same_explanation(one: Statement, other: Statement) -> bool:
    """Whether a long explanation stands in both word for word, under headlines of which one has
    nearly nothing that the other observation lacks, and neither a condition."""
    shorter, longer = sorted((len(one.details), len(other.details)))
    if shorter < _NEARLY_AS_LONG * longer:
        return False
    details = one.body_exact
    if len(details) < EXPLAINED or details != other.body_exact:
        return False
    if not (LIMITS | DENIALS | NEGATIONS | PLATFORMS).isdisjoint(one.said ^ other.said):
        return False
    said = [len(a.said & b.vocabulary) / max(len(a.said), 1) for a, b in ((one, other), (other, one))]
    return max(said) >= _SAID_AGAIN and min(said) >= _SAID_IN_PART


def _heads(statement: Statement, details: Statement) -> bool:
    """Whether its summary is a headline of these details, and does not deny them."""
    words = frozenset(statement.content)
    return (DENIALS | NEGATIONS | LIMITS).isdisjoint(words - frozenset(details.content))


def _adds_a_condition(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether what the longer details have in addition takes the statement back, or is a short condition
    or denial (`only on staging`): then they are two facts. A paragraph more is an explanation."""
    more = Counter(one)
    more.subtract(other)
    added = [word for word, count in more.items() if count]
    if not DENIALS.isdisjoint(added):
        return True
    return len(added) < EXPLAINED and not (LIMITS | NEGATIONS | PLATFORMS).isdisjoint(added)


def _goes_on_with_a_limit(one: str, other: str) -> bool:
    """Whether a sentence that only one of the details has begins with a word that limits: `But …`."""
    told = [{normalise(each).strip(): each for each in sentences(details)} for details in (one, other)]
    alone = [each for text, each in (told[0] | told[1]).items() if not (text in told[0] and text in told[1])]
    return any(token.key in LIMITS for each in alone for token in tokenize(each)[:1])


def _is_telling(statement: Statement) -> bool:
    """Whether the summary alone says what it is about: three words that are no mere `fix` or `update`,
    or a name or number and one word more."""
    specific = any(token.kind is not Kind.WORD for token in statement.tokens)
    return len(statement.said - GENERIC) >= (2 if specific else 3)


def _equal(one: tuple[Token, ...], other: tuple[Token, ...]) -> bool:
    """Whether both are the same words in the same order, but for fillers and at most one typo."""
    left, right = ([token for token in each if not token.is_filler] for each in (one, other))
    if len(left) != len(right):
        return False
    pairs = list(zip(left, right, strict=True))
    if any(_in_another_tense(a, b) for a, b in pairs):
        return False
    odd = [(a, b) for a, b in pairs if a.exact != b.exact]
    return not odd or (len(odd) == 1 and len(left) >= LONG - 1 and _is_misspelt(*odd[0]))


def _in_another_tense(one: Token, other: Token) -> bool:
    """Whether one is being done and the other is done: locking, locked."""
    ends = {one.text[-3:].lower(), other.text[-3:].lower()}
    return one.kind is Kind.WORD and "ing" in ends and any(end.endswith("ed") for end in ends)


def _is_misspelt(one: Token, other: Token) -> bool:
    return one.kind is other.kind is Kind.WORD and is_typo(one.text, other.text)


def _within(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether the words of the shorter stand in the longer in their order."""
    short, long = sorted((one, other), key=len)
    return len(short) >= LONG and Indel.distance(short, long) == len(long) - len(short)
