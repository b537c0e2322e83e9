"""Does the later statement say that it replaces the earlier? One small rule a way of saying so.

A rule gets the earlier and the later claim and returns a ``Ground``. What is asked, supposed, denied
or said of something else is no ground, or none to act on.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from valor.consolidate.claim import Claim
from valor.consolidate.clauses import clauses, is_denied, is_hedged, sentences
from valor.consolidate.ground import Ground
from valor.consolidate.guards import are_apart
from valor.consolidate.lexicon import LIMITS, NEGATIONS
from valor.consolidate.reverting import does_again, reverts_by_title, reverts_the_commit, takes_back
from valor.consolidate.statement import Statement, keys, speaks_of
from valor.consolidate.tokenizing import Kind, tokenize
from valor.tokens import STOP_WORDS

Rule = Callable[[Claim, Claim], "Ground | None"]

_LINE = (
    r"(?:(?:the|this|that|our)\s+)?"
    r"(?:(?:earlier|older|line|observation|note|entry|claim|memory|statement)\s+){0,2}"
)
_BEFORE_ID = re.compile(
    r"\b(?:replac(?:es|ed|ing)|supersed(?:es|ed|ing)|revert(?:s|ed|ing)?|obsoletes|withdraw(?:s|n)"
    r"|correct(?:s|ed|ing|ion (?:of|to|for))|retract(?:s|ed)|overrid(?:es|den)|instead of"
    rf"|undo(?:es|ne)|disproves|invalidates|contradicts)\s*:?\s+{_LINE}[`(\"']?$",
    re.IGNORECASE,
)
_BEHIND_ID = re.compile(
    r"^[`)\"']?\s*(?:,|:)?\s*(?:(?:is|was|has been|turned out|proved|proves)\s+)?"
    r"(?:(?:to be|plain|simply|now)\s+){0,2}"
    r"(?:wrong|false|incorrect|mistaken|obsolete|outdated|superseded|withdrawn|reverted|void"
    r"|no longer (?:true|valid|right|so|holds|applies)|(?:not|isn't|wasn't) (?:true|right|so|valid)"
    r"|does not hold|doesn't hold|replaced by this)\b",
    re.IGNORECASE,
)
_WAS_WRONG = re.compile(
    r"\b(?:earlier|older|previous|that|this|other) "
    r"(?:line|observation|note|entry|claim|memory|statement)\b.{0,20}"
    r"\b(?:wrong|false|incorrect|mistaken|outdated|obsolete)\b",
    re.IGNORECASE,
)
_AS_IT_SAYS = re.compile(r"(?:\bnot\b|n't\b)[^.;]*\bas $", re.IGNORECASE)
_SAYS = re.compile(r"^\s*(?:says|said|claims|claimed|states|stated|has it)\b", re.IGNORECASE)

_NO_LONGER = re.compile(
    r"\bno longer\b|(?:\bnot\b|n't\b)[^,;:.]{0,60}\bany ?more\b|\bnicht mehr\b"
    r"|\bkeine?[nmrs]? .{0,30}\bmehr\b|\bn(?:e |'|’).{0,40}\bplus\b|\bya no\b|不再|もう.{0,20}ない",
    re.IGNORECASE,
)
_GONE = re.compile(
    r"\b(?:is|are|was|were|has been|have been) (?:now )?"
    r"(?:deprecated|obsolete|gone|superseded|outdated|rolled back|reverted)\b"
    r"|(?:\b(?:is|are|was|were) not|\b(?:is|are|was|were)n't) (?:needed|necessary|required)\b"
    r"|\brolled back\b|\bstopped\b",
    re.IGNORECASE,
)
_OLD = r"[^.;,:]+?"
_INSTEAD = re.compile(
    r"\b(?:instead of|rather than|in place of|anstatt|statt|au lieu de|en lugar de|en vez de) "
    r"(?P<a>[^.;,:]+)"
    rf"|\breplac(?:e|es|ed|ing) (?P<b>{_OLD}) (?:with|by)\b|\b(?:replaces|supersedes) (?P<c>[^.;,:]+)"
    rf"|^(?P<d>{_OLD}) (?:is|was|are|were|has been|have been|got) (?:now )?"
    r"(?:replaced by|superseded by|renamed (?:to|into))\b"
    rf"|\brenam(?:e|es|ed|ing) (?:from )?(?P<e>{_OLD}) (?:to|into)\b"
    r"|\b(?:switch|migrate|move|raise|lower|change|bump|increase|reduce|decrease)(?:e?d|e?s|ing)? "
    rf"from (?P<f>{_OLD}) to\b",
    re.IGNORECASE,
)
_CORRECTING = re.compile(
    r"^\W*correction\b|\bwas wrong\b|\bcontrary to\b|\bturns? out\b|\bturned out\b|\bin fact\b", re.IGNORECASE
)
_NOT_THAT = re.compile(r"(?P<new>[^,;]+), (?:and )?not (?P<old>[^.;,]+)", re.IGNORECASE)


def _cues(words: str) -> frozenset[str]:
    return frozenset(keys(tokenize(words)))


# The words of the phrases above: what is left of a statement without them is what it is about.
_NO_LONGER_CUES = _cues("""
    no longer not any more anymore nicht mehr kein keine ne plus ya is are was were has been now
    deprecated obsolete gone superseded outdated rolled back reverted needed necessary required
    stopped do does did
    """)
_INSTEAD_CUES = _cues("""
    instead of rather than in place statt anstatt replace replaced replaces by with supersedes
    superseded is was now renamed rename to into switch switched migrate migrated move moved raise
    raised lower lowered change changed bump bumped increase increased reduce reduced decrease
    decreased from use used
    """)
_CORRECTION_CUES = _cues("""
    correction i we was were wrong about contrary to what noted earlier turns out turned in fact at
    is are
    """)
_FEWEST = 3  # words with meaning that a statement needs before a later one can be seen to take it back


def names_the_line(earlier: Claim, later: Claim) -> Ground | None:
    """It names the id of the earlier line and says of it that it is replaced, wrong or reverted."""
    texts = later.statement.openings
    if not any(earlier.id in text for text in (*texts, *later.references)):
        return None
    why = f"it names {earlier.id} and says that this no longer holds"
    for sentence in (each for text in texts if earlier.id in text for each in sentences(text)):
        before, named, behind = sentence.partition(earlier.id)
        if not named:
            continue
        cue = _BEFORE_ID.search(before)
        said = (
            (cue is not None and not is_denied(before[: cue.start()]))
            or bool(_BEHIND_ID.match(behind))
            or bool(_AS_IT_SAYS.search(before) and _SAYS.match(behind))
        )
        if said:
            limited = not LIMITS.isdisjoint(keys(tokenize(behind)))
            return Ground("names_the_line", why, not limited and not is_hedged(before if cue else sentence))
    if later.type == "correction":
        says_so = any(_WAS_WRONG.search(text) and not is_hedged(text) for text in texts)
        return Ground("names_the_line", f"it is a correction and names {earlier.id}", says_so)
    return None


def no_longer(earlier: Claim, later: Claim) -> Ground | None:
    """It says of the same thing that it is no longer so."""
    told = _no_longer_in(later.statement.openings[0])
    if not told or _negated(earlier.statement) or are_apart(earlier, later):
        return None
    grounds = (_said_of_it(earlier, later, clause, sure) for clause, sure in told)
    return next((found for found in grounds if found is not None), None)


def instead_of(earlier: Claim, later: Claim) -> Ground | None:
    """It names what the earlier line says as what is replaced."""
    for phrase, replaced in _instead_in(later.statement.openings[0]):
        if not replaced <= frozenset(earlier.statement.content) or are_apart(earlier, later):
            continue
        if any(known == replaced for _, known in _instead_in(earlier.statement.openings[0])):
            continue  # that says the same
        new = later.statement.said - replaced - earlier.statement.vocabulary
        if new:
            cue = _INSTEAD_CUES | replaced | new
            ground = _covering("instead_of", f"it says {phrase!r}", earlier, later, cue)
            if ground is not None:
                # More new words than one value has say more than the value: where, when, for whom.
                return replace(ground, explicit=ground.explicit and len(new) <= len(replaced))
    return None


def corrects(earlier: Claim, later: Claim) -> Ground | None:
    """It gives another value for the earlier one: `…, not …`."""
    summary, _ = later.statement.openings
    for found in _NOT_THAT.finditer(summary):
        old = frozenset(keys(tokenize(found["old"]))) - STOP_WORDS
        if not old or not old <= earlier.statement.said or is_hedged(summary) or are_apart(earlier, later):
            continue
        new = later.statement.said - earlier.statement.vocabulary
        ground = _covering(
            "corrects", f"it says {found[0].strip()!r}", earlier, later, _CORRECTION_CUES | old | new
        )
        if ground is not None:
            return Ground(ground.rule, ground.why, ground.explicit and bool(_CORRECTING.search(summary)))
    return None


RULES: tuple[Rule, ...] = (
    names_the_line,
    reverts_the_commit,
    reverts_by_title,
    takes_back,
    does_again,
    corrects,
    no_longer,
    instead_of,
)
"""In the order in which they are asked; the first that finds a ground decides."""

_BY_NAME: tuple[Rule, ...] = (names_the_line, reverts_the_commit)
_PLAIN: tuple[Rule, ...] = (names_the_line, takes_back, does_again)
"""Those that need no word of replacement in the later statement."""


def ground(earlier: Claim, later: Claim) -> Ground | None:
    """Why the later claim replaces the earlier; None where nothing says so."""
    if earlier.statement.exact == later.statement.exact and NEGATIONS.isdisjoint(later.statement.label):
        rules: tuple[Rule, ...] = _BY_NAME  # who says the same again takes nothing back
    else:
        rules = RULES if later.statement.may_replace else _PLAIN
    for rule in rules:
        found = rule(earlier, later)
        if found is not None:
            return found
    return None


# A line is compared with many earlier ones, one after another: what it says is read once.


@lru_cache(maxsize=256)
def _no_longer_in(summary: str) -> tuple[tuple[str, bool], ...]:
    """The clauses that say that something is no longer so, and whether in so many words."""
    return tuple(
        (clause, sure)
        for clause in clauses(summary)
        for pattern, sure in ((_NO_LONGER, True), (_GONE, False))
        if pattern.search(clause) and not is_hedged(summary)
    )


@lru_cache(maxsize=256)
def _instead_in(summary: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The phrases that name what is replaced, and the words of that."""
    found = (
        (phrase[0], frozenset(keys(tokenize(next(filter(None, phrase.groups()))))) - STOP_WORDS)
        for sentence in sentences(summary)
        if not is_hedged(sentence)
        for phrase in _INSTEAD.finditer(sentence)
        if not is_denied(sentence[: phrase.start()])
    )
    return tuple((phrase, replaced) for phrase, replaced in found if replaced)


def _said_of_it(earlier: Claim, later: Claim, clause: str, sure: bool) -> Ground | None:
    """Whether the clause with the cue is about what the earlier line says, and about nothing else."""
    why = "it says that this no longer holds"
    words = [key for key in keys(tokenize(clause)) if key not in _NO_LONGER_CUES and key not in STOP_WORDS]
    old = [key for key in earlier.statement.content if key not in STOP_WORDS]
    more = len(words) - len(old)
    ends_alike = bool(old and words) and words[-1] == old[-1]
    if sure and len(old) >= _FEWEST - 1 and more == 0 and ends_alike and _in_order(old, words):
        limited = not LIMITS.isdisjoint(keys(tokenize(clause)))
        return Ground("no_longer", why, not limited)
    if not frozenset(old[:2]) <= later.statement.vocabulary:
        return None  # another subject
    found = _covering("no_longer", why, earlier, later, _NO_LONGER_CUES)
    return Ground(found.rule, found.why, False) if found else None


def _covering(rule: str, why: str, earlier: Claim, later: Claim, cue: frozenset[str]) -> Ground | None:
    """Whether the later claim speaks of all that the earlier says, and of little else."""
    old = earlier.statement.said
    rest = later.statement.said - cue - NEGATIONS
    if len(old) < 2:
        return None
    vocabulary = later.statement.vocabulary
    covered = len(old & vocabulary) / len(old)
    back = len(rest & earlier.statement.vocabulary) / len(rest) if rest else 1.0
    exchanged = any(
        token.kind is not Kind.WORD and token.key not in cue and not speaks_of(vocabulary, token)
        for token in earlier.statement.tokens
    )
    if exchanged or covered < 0.6 or back < 0.5:
        return None
    words = frozenset(later.statement.content) - cue
    plain = (
        back == 1.0 and words.isdisjoint(LIMITS | NEGATIONS) and not is_hedged(later.statement.openings[0])
    )
    return Ground(rule, why, covered == 1.0 and len(old) >= _FEWEST and plain)


def _in_order(short: list[str], long: list[str]) -> bool:
    rest = iter(long)
    return all(word in rest for word in short)


def _negated(statement: Statement) -> bool:
    return not NEGATIONS.isdisjoint(statement.content)
