"""Does the later statement say that it replaces the earlier? One small rule a way of saying so.

A rule gets the earlier and the later claim and returns a ``Ground``: why, and whether the statement
is explicit (then it is marked without asking) or only likely.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rapidfuzz.distance import Indel

from valor.consolidate.claim import Claim
from valor.consolidate.guards import scope
from valor.consolidate.lexicon import FILLERS, NEGATIONS, QUANTIFIERS, REVERSALS
from valor.consolidate.statement import Kind, Statement, keys, speaks_of, tokenize
from valor.tokens import STOP_WORDS


@dataclass(frozen=True, slots=True)
class Ground:
    """``rule`` names the rule, ``why`` says it for the person who reviews the mark."""

    rule: str
    why: str
    explicit: bool


Rule = Callable[[Claim, Claim], "Ground | None"]

_CUE = re.compile(
    r"\b(replac\w+|supersed\w+|revert\w*|obsolet\w+|outdated|correct(?:s|ed|ion)|no longer|instead of"
    r"|overrid\w+|withdraw\w*|was wrong|is wrong|(?:not|isn't|wasn't) (?:true|right|so)|disproves?)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|n't|never|without|doesn't|didn't|don't|nor)\W+(?:\w+\W+){0,2}$", re.IGNORECASE
)
_REVERT = re.compile(r"\brevert(?:s|ed|ing)?\b", re.IGNORECASE)
_PARTLY = re.compile(r"\bpart(?:ial|ially|ly)?\b", re.IGNORECASE)
_REVERTED_COMMIT = re.compile(r"\brevert\w*\W+(?:the\W+)?(?:commit\W+)?\(?([0-9a-f]{7,40})\b", re.IGNORECASE)
_REVERTED_TITLE = re.compile(
    r"\brevert(?:s|ed|ing)?:?\s+(?:\"(?P<double>.+)\"|“(?P<curly>[^”]+)”|'(?P<single>.+)'|`(?P<code>[^`]+)`)",
    re.IGNORECASE,
)
_UNQUOTED = re.compile(
    r"\s*(?:[\w./,+ -]{1,40}: *)?revert(?:s|ed|ing)?:? +(?![\"“'`])(?P<rest>.+)", re.IGNORECASE
)
_NO_LONGER = re.compile(r"\b(?:no longer|not\b.{0,60}\bany ?more|stopped|has ceased to)\b", re.IGNORECASE)
_INSTEAD = re.compile(
    r"\binstead of (?P<a>[^.;,]+)|\breplac(?:e|es|ed|ing) (?P<b>[^.;,]+?) (?:with|by)\b"
    r"|\b(?:switch(?:ed|es|ing)?|migrate[ds]?|move[ds]?) from (?P<c>[^.;,]+?) to\b"
    r"|\brather than (?P<d>[^.;,]+)|\bin place of (?P<e>[^.;,]+)",
    re.IGNORECASE,
)
_FEWEST = 3  # words with meaning that a statement needs before a later one can be seen to take it back
_LONG = 5  # words from which two details can be the same by more than chance
_SAME_BODY = 0.7


def names_the_line(earlier: Claim, later: Claim) -> Ground | None:
    """It names the id of the earlier line and says that this is replaced, wrong or reverted."""
    texts = later.statement.summary, later.statement.details
    if not any(earlier.id in text for text in (*texts, *later.references)):
        return None
    text = "\n".join(texts)
    if later.type == "correction" or _cue(text):
        return Ground("names_the_line", f"it names {earlier.id} and says that this no longer holds", True)
    return None


def reverts_the_commit(earlier: Claim, later: Claim) -> Ground | None:
    """It says that it reverts a commit that the earlier line came from."""
    for text in (later.statement.summary, later.statement.details):
        for found in _REVERTED_COMMIT.finditer(text):
            commit = found[1].lower()
            if any(commit.startswith(known) or known.startswith(commit) for known in earlier.commits):
                partly = bool(_PARTLY.search(text[max(0, found.start() - 20) : found.start()]))
                return Ground("reverts_the_commit", f"it reverts {commit[:12]}", not partly)
    return None


def reverts_by_title(earlier: Claim, later: Claim) -> Ground | None:
    """It quotes the earlier summary as what it reverts."""
    if not earlier.statement.content:
        return None
    for title, partly in reverted_titles(later.statement):
        quoted = Statement(title, "")
        if quoted.label and earlier.statement.label and quoted.label.isdisjoint(earlier.statement.label):
            continue
        if _begins(quoted.content, earlier.statement.content):
            return Ground("reverts_by_title", "it reverts the earlier line by its words", not partly)
    return None


def reverted_titles(statement: Statement) -> Iterator[tuple[str, bool]]:
    """What a statement says it reverts, in its own words, and whether only in part."""
    for text in (statement.summary, statement.details):
        for line in text.splitlines():
            for found in _REVERTED_TITLE.finditer(line):
                title = next(filter(None, found.groups()))
                yield title.strip(), bool(_PARTLY.search(line[: found.start()]))
    unquoted = _UNQUOTED.match(statement.summary)
    if unquoted:
        yield unquoted["rest"], False


def takes_back(earlier: Claim, later: Claim) -> Ground | None:
    """Its verb undoes the verb of the earlier, of the same thing: add and remove, enable and disable.

    A reversal has a reason of its own. Where the details are the same word for word, one of the two
    is a mistake, and that is a contradiction.
    """
    first, second = earlier.statement.tokens, later.statement.tokens
    if not first or not second or second[0].key not in REVERSALS.get(first[0].key, ()):
        return None
    if scope(earlier, later) is not None:
        return None
    one, other = earlier.statement.body_content, later.statement.body_content
    if min(len(one), len(other)) >= _LONG and Indel.normalized_similarity(one, other) >= _SAME_BODY:
        return None
    things, same = _object(earlier.statement), _object(later.statement)
    if not things or not same:
        return None
    part = {token.key for token in second} & QUANTIFIERS
    if things == same:
        why = f"{second[0].text} takes back {first[0].text}"
        return Ground("takes_back", why, not part or bool({token.key for token in first} & QUANTIFIERS))
    return None


def does_again(earlier: Claim, later: Claim) -> Ground | None:
    """It says what the earlier line reverted: that is done again."""
    if not earlier.statement.may_replace or scope(earlier, later) is not None:
        return None
    titles = (Statement(title, "").content for title, _ in reverted_titles(earlier.statement))
    if later.statement.content and later.statement.content in titles:
        return Ground("does_again", "it does again what the earlier line reverted", True)
    return None


def no_longer(earlier: Claim, later: Claim) -> Ground | None:
    """It says of the same thing that it is no longer so."""
    if not _NO_LONGER.search(later.statement.summary) or scope(earlier, later) is not None:
        return None
    cue = frozenset(keys(tokenize("no longer stopped anymore any more has ceased to not")))
    return _covering("no_longer", "it says that this is no longer so", earlier, later, cue)


def instead_of(earlier: Claim, later: Claim) -> Ground | None:
    """It names what the earlier line says as what is replaced."""
    if scope(earlier, later) is not None:
        return None
    for found in _INSTEAD.finditer(later.statement.summary):
        replaced = frozenset(keys(tokenize(next(filter(None, found.groups()))))) - STOP_WORDS
        said = frozenset(earlier.statement.content)
        new = later.statement.said - replaced - earlier.statement.vocabulary
        if replaced and new and replaced <= said:
            cue = frozenset(
                keys(tokenize("instead of replace replaced by with switch from to rather than in place use"))
            )
            return _covering("instead_of", f"it replaces {found[0]!r}", earlier, later, cue | replaced | new)
    return None


RULES: tuple[Rule, ...] = (
    names_the_line,
    reverts_the_commit,
    reverts_by_title,
    takes_back,
    does_again,
    no_longer,
    instead_of,
)
"""In the order in which they are asked; the first that finds a ground decides."""


_PLAIN: tuple[Rule, ...] = (names_the_line, takes_back, does_again)
"""Those that need no word of replacement in the later statement."""


def ground(earlier: Claim, later: Claim) -> Ground | None:
    """Why the later claim replaces the earlier; None where nothing says so."""
    for rule in RULES if later.statement.may_replace else _PLAIN:
        found = rule(earlier, later)
        if found is not None:
            return found
    return None


def _covering(rule: str, why: str, earlier: Claim, later: Claim, cue: frozenset[str]) -> Ground | None:
    """Whether the later claim speaks of all that the earlier says, and of little else."""
    old = earlier.statement.said
    rest = later.statement.said - cue - NEGATIONS
    if len(old) < 2 or not rest:
        return None
    vocabulary = later.statement.vocabulary
    covered = len(old & vocabulary) / len(old)
    back = len(rest & earlier.statement.vocabulary) / len(rest)
    exchanged = [
        token
        for token in earlier.statement.tokens
        if token.kind is not Kind.WORD and token.key not in cue and not speaks_of(vocabulary, token)
    ]
    if exchanged or covered < 0.6:
        return None
    explicit = covered == 1.0 and len(old) >= _FEWEST and back >= 0.5
    return Ground(rule, why, explicit) if explicit or back >= 0.5 else None


def _object(statement: Statement) -> frozenset[str]:
    """What the verb acts on: the other words that carry meaning, in any order."""
    words = frozenset(token.key for token in statement.tokens[1:])
    return words - STOP_WORDS - FILLERS - QUANTIFIERS - {"new", "support"} | (
        words & {"support"} if len(words - STOP_WORDS) < 2 else frozenset()
    )


def _begins(quoted: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    """Whether the quotation is the whole text or a beginning of it long enough to know it by."""
    return quoted == whole or (len(quoted) >= _LONG and whole[: len(quoted)] == quoted)


def _cue(text: str) -> bool:
    return any(not _DENIED.search(text[: found.start()]) for found in _CUE.finditer(text))
