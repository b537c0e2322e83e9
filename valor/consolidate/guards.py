"""Why two statements that read alike may be two facts: one small predicate a reason.

A guard compares two claims and returns what each says that the other nowhere does; nothing where it
has no objection. What only one side says is an *addition*; what each says in place of the other's is
an *exchange*. An exchange keeps two statements apart; an addition only keeps them from being merged
without a person.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass

from rapidfuzz.distance import Indel

from valor.consolidate.claim import Claim
from valor.consolidate.lexicon import GENERIC, NEGATIONS, OPPOSITES
from valor.consolidate.statement import Statement, speaks_of
from valor.consolidate.tokenizing import Kind, Token
from valor.consolidate.typo import is_typo
from valor.tokens import STOP_WORDS

_ALIKE = 0.6  # share of words in common from which one exchanged word is a slot of a template


@dataclass(frozen=True, slots=True)
class Difference:
    """What ``guard`` found: the words of the one claim, and of the other."""

    guard: str
    one: tuple[str, ...]
    other: tuple[str, ...]
    is_mild: bool = False

    @property
    def is_exchange(self) -> bool:
        """Whether each side says something in place of the other's; a mild difference is none."""
        return bool(self.one and self.other) and not self.is_mild

    def __str__(self) -> str:
        return f"{self.guard}: {_listed(self.one)} / {_listed(self.other)}"


Tokens = tuple[Token, ...]
Guard = Callable[[Claim, Claim], "Difference | None"]


def identifiers(one: Claim, other: Claim) -> Difference | None:
    """Names: identifiers, flags, codes, acronyms."""
    return _missing("identifiers", one, other, lambda token: token.kind is Kind.NAME and not token.is_path)


def paths(one: Claim, other: Claim) -> Difference | None:
    """Names of files and folders."""
    return _missing("paths", one, other, lambda token: token.is_path)


def numbers(one: Claim, other: Claim) -> Difference | None:
    """Numbers, versions, ports, quantities. Where both summaries have some, those are compared: a
    number somewhere in the details says little."""
    left, right = (
        {token.key: token.text for token in each.statement.tokens if token.kind is Kind.NUMBER}
        for each in (one, other)
    )
    here = tuple(left[key] for key in left if key not in right)
    there = tuple(right[key] for key in right if key not in left)
    if here and there:
        return Difference("numbers", here, there)
    return _missing("numbers", one, other, lambda token: token.kind is Kind.NUMBER)


def dates(one: Claim, other: Claim) -> Difference | None:
    """Dates and times of day."""
    return _missing("dates", one, other, lambda token: token.kind is Kind.DATE)


def polarity(one: Claim, other: Claim) -> Difference | None:
    """Words that exclude one another (add and remove, before and after), and negations that only
    one of two otherwise alike statements has."""
    left, right = (Counter(each.statement.content) for each in (one, other))
    here, there = (left - right).keys(), (right - left).keys()  # a word that stands once more counts too
    excluded = {word for word in here if not OPPOSITES.get(word, _NONE).isdisjoint(there)}
    if excluded:
        excluding = {word for word in there if not OPPOSITES.get(word, _NONE).isdisjoint(here)}
        return Difference(
            "polarity", _as_written(one.statement, excluded), _as_written(other.statement, excluding)
        )
    denied = (left.keys() | one.statement.label) & NEGATIONS if not other.statement.negates else _NONE
    also = (right.keys() | other.statement.label) & NEGATIONS if not one.statement.negates else _NONE
    if bool(denied) is not bool(also) and in_common(one.statement, other.statement) >= _ALIKE:
        return Difference(
            "polarity",
            _as_written(one.statement, denied) or _NOTHING,
            _as_written(other.statement, also) or _NOTHING,
        )
    return None


def scope(one: Claim, other: Claim) -> Difference | None:
    """Components: labels in front of the summary, tags, referenced paths.

    Sides that name none, or that share one, agree. But two lines are not merged unseen where one has a
    label that the other has not (`windows:` limits, `rejected:` denies), nor where each has tags of its own.
    """
    labels = one.statement.label, other.statement.label
    for left, right in (labels, (one.tags, other.tags), (one.places, other.places)):
        if left and right and left.isdisjoint(right):
            return Difference("scope", tuple(sorted(left)), tuple(sorted(right)))
    left, right = labels
    if left != right and left and right:
        alone = left - other.statement.vocabulary, right - one.statement.vocabulary
        if all(alone):
            return Difference("scope", tuple(sorted(alone[0])), tuple(sorted(alone[1])))
    here, there = one.tags - other.tags, other.tags - one.tags
    if here and there:
        return Difference("scope", tuple(sorted(here)), tuple(sorted(there)), is_mild=True)
    told, also = one.statement.label_text, other.statement.label_text
    if told != also:
        return Difference("scope", (told,) if told else (), (also,) if also else (), is_mild=True)
    return None


def are_apart(one: Claim, other: Claim) -> bool:
    """Whether the two are about different components."""
    found = scope(one, other)
    return found is not None and found.is_exchange


def wording(one: Claim, other: Claim) -> Difference | None:
    """One word in the place of another in an otherwise alike sentence: `fix the build for X`."""
    if Indel.normalized_similarity(one.statement.content, other.statement.content) < _ALIKE:
        return None
    for left, right in _exchanged(one.statement.tokens, other.statement.tokens):
        if (left[0] is one.statement.tokens[0] or right[0] is other.statement.tokens[0]) and _is_generic(
            left[0], right[0]
        ):
            continue
        gone, come = _only(left, other.statement), _only(right, one.statement)
        if gone and come and not (len(gone) == len(come) == 1 and is_typo(gone[0], come[0])):
            return Difference("wording", gone, come)
    return None


def order(one: Claim, other: Claim) -> Difference | None:
    """The same words in another order: from A to B is not from B to A."""
    left, right = one.statement.content, other.statement.content
    if left != right and sorted(left) == sorted(right):
        return Difference("order", left, right)
    return None


CONTRADICTING = ("numbers", "polarity", "wording")
"""Guards whose exchanges may be a contradiction: the others' make two facts."""

GUARDS: tuple[Guard, ...] = (identifiers, paths, numbers, dates, polarity, scope, wording, order)
_NONE = frozenset[str]()
_NOTHING = ("–",)


def differences(one: Claim, other: Claim) -> tuple[Difference, ...]:
    """What the guards object to; all that they do, or those up to the first exchange after which the
    two are two facts whatever the others say."""
    found: list[Difference] = []
    for guard in GUARDS:
        difference = guard(one, other)
        if difference is not None:
            found.append(difference)
            if difference.is_exchange and difference.guard not in CONTRADICTING:
                break
    return tuple(found)


def _missing(name: str, one: Claim, other: Claim, asked: Callable[[Token], bool]) -> Difference | None:
    here = _unspoken(one.statement, other.statement, asked)
    there = _unspoken(other.statement, one.statement, asked)
    return Difference(name, here, there) if here or there else None


def _unspoken(statement: Statement, other: Statement, asked: Callable[[Token], bool]) -> tuple[str, ...]:
    """The tokens of the summary that the other statement nowhere speaks of, each once; also a name that
    it writes in another case (`-f` and `-F`)."""
    tokens = [token for token in statement.tokens if asked(token)]
    if not tokens:
        return ()
    vocabulary = other.vocabulary
    names = {token.exact for token in other.tokens if token.kind is Kind.NAME}
    cases = {token.key for token in other.tokens if token.kind is Kind.NAME}
    found = (
        token.text
        for token in tokens
        if (token.exact not in names if token.key in cases else not speaks_of(vocabulary, token))
    )
    return tuple(dict.fromkeys(found))


def _is_generic(*verbs: Token) -> bool:
    """Whether one of the words in front only says that something was done."""
    return any(verb.key in GENERIC for verb in verbs)


def _as_written(statement: Statement, found: Set[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(token.text for token in statement.tokens if token.key in found))


def _exchanged(one: Tokens, other: Tokens) -> Iterator[tuple[Tokens, Tokens]]:
    """The runs of tokens that stand in each other's place between what both have in order."""
    at = there = 0
    blocks = Indel.editops([token.key for token in one], [token.key for token in other]).as_matching_blocks()
    for block in blocks:  # the last is the empty one at both ends
        if block.a > at and block.b > there:
            yield one[at : block.a], other[there : block.b]
        at, there = block.a + block.size, block.b + block.size


def _only(tokens: Tokens, other: Statement) -> tuple[str, ...]:
    vocabulary = other.vocabulary | STOP_WORDS
    return tuple(token.text for token in tokens if token.key not in vocabulary and not token.is_filler)


def in_common(one: Statement, other: Statement) -> float:
    """The share of the longer summary's words that stand in the other's as well."""
    return len(one.said & other.said) / max(len(one.said), len(other.said), 1)


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(words) or "–"
