"""Does the later statement undo what the earlier did? Reverts, by commit and by words; opposite verbs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from rapidfuzz.distance import Indel

from valor.consolidate.claim import Claim
from valor.consolidate.clauses import is_denied, is_hedged
from valor.consolidate.ground import Ground
from valor.consolidate.guards import are_apart
from valor.consolidate.lexicon import LIMITS, NEGATIONS, PLATFORMS, QUANTIFIERS, REVERSALS
from valor.consolidate.statement import Statement
from valor.consolidate.tokenizing import Kind, Token
from valor.tokens import STOP_WORDS, normalise, stem

_PARTLY = re.compile(r"\bpart(?:ial|ially|ly)?\b", re.IGNORECASE)
_UNDOING = r"(?:revert(?:s|ed|ing)?|undo(?:es|ne|ing)?|(?:roll|back)(?:s|ed|ing)? (?:back|out))"
_REVERTED_COMMIT = re.compile(
    rf"\b{_UNDOING}\W+(?:the\W+)?(?:commit\W+)?\(?(?P<commit>[0-9a-f]{{7,40}})\b", re.IGNORECASE
)
_REPLACED_COMMIT = re.compile(
    r"\b(?:drop|remove|replace|supersede)s?\b[^.;]{0,60}?\bcommit\W+(?P<commit>[0-9a-f]{7,40})\b",
    re.IGNORECASE,
)
# What says that this very statement reverts: the verb comes first, or after a label or a subject.
_OPENING = (
    r"(?:^|[.!?;]\s+|\*\s+)(?:[\w./,+ -]{1,40}:\s*)?(?:\[[^\]]{1,40}\]\s*)?"
    r"(?:(?:this|it|that|we|i|commit|pr|change|partially|partly)\s+){0,3}"
)
_REVERTED_TITLE = re.compile(
    rf"(?P<opening>{_OPENING})?\brevert(?:s|ed|ing)?:?\s+"
    r"(?:\"(?P<double>.+)\"|“(?P<curly>[^”]+)”|'(?P<single>.+)'|`(?P<code>[^`]+)`)",
    re.IGNORECASE,
)
_UNQUOTED = re.compile(
    r"\s*(?:[\w./,+ -]{1,40}: *)?revert(?:s|ed|ing)?:? +(?![\"“'`])(?P<rest>.+)", re.IGNORECASE
)
_REASON = re.compile(r"[,;:]\s|\s(?:because|since|as|again)\b.*", re.IGNORECASE)
_PHRASAL = frozenset((stem("turn"), stem("switch")))  # … on, … off
_ARTICLES = frozenset(("a", "an", "the", "all", "our", "this", "that", "support", "new"))
_SHORT = 80  # characters of details that are rather a condition than a reason
_LONG = 5  # words from which two details can be the same by more than chance
_SAME_BODY = 0.7
_CUT = 100  # characters of a summary that may itself be the cut beginning of a longer title


def reverts_the_commit(earlier: Claim, later: Claim) -> Ground | None:
    """It says that it reverts a commit that the earlier line came from."""
    if not earlier.commits:
        return None
    for pattern, sure in ((_REVERTED_COMMIT, True), (_REPLACED_COMMIT, False)):
        for text in later.statement.openings:
            for found in pattern.finditer(text):
                commit, before = found["commit"].lower(), text[max(0, found.start() - 40) : found.start()]
                if is_denied(before) or not any(_same_commit(commit, each) for each in earlier.commits):
                    continue
                sure = sure and not _PARTLY.search(before) and not is_hedged(before)
                did = "reverts" if pattern is _REVERTED_COMMIT else "drops what was done in"
                return Ground("reverts_the_commit", f"it {did} {commit[:12]}", sure)
    return None


def reverts_by_title(earlier: Claim, later: Claim) -> Ground | None:
    """It quotes the earlier summary as what it reverts."""
    for title, sure in _reverted(later.statement):
        quoted = Statement(title, "")
        if quoted.label and earlier.statement.label and quoted.label.isdisjoint(earlier.statement.label):
            continue
        if _is_title_of(title, quoted, earlier.statement):
            return Ground("reverts_by_title", "it reverts the earlier line by its words", sure)
    return None


def reverted_titles(statement: Statement) -> Iterator[tuple[str, bool]]:
    """What a statement says it reverts, in its own words, and whether it says so plainly: wholly, and of
    itself."""
    for text in statement.openings:
        for line in text.splitlines() if "evert" in text else ():
            for found in _REVERTED_TITLE.finditer(line):
                title = next(filter(None, found.group("double", "curly", "single", "code")))
                before = line[: found.start() + len(found["opening"] or "")]
                if not is_denied(before):
                    sure = found["opening"] is not None and not is_hedged(before)
                    yield title.strip(), sure and not _PARTLY.search(before)
    unquoted = _UNQUOTED.match(statement.openings[0])
    if unquoted:
        yield unquoted["rest"], True


def takes_back(earlier: Claim, later: Claim) -> Ground | None:
    """Its verb undoes the verb of the earlier, of the same thing: add and remove, enable and disable.

    A reversal has a reason of its own. Where the details are the same word for word, one of the two
    is a mistake, and that is a contradiction.
    """
    done, undone = _verb(earlier.statement), _verb(later.statement)
    if undone not in REVERSALS.get(done, ()) or are_apart(earlier, later):
        return None
    one, other = earlier.statement.body_content, later.statement.body_content
    if min(len(one), len(other)) >= _LONG and Indel.normalized_similarity(one, other) >= _SAME_BODY:
        return None
    mine, theirs = _object(earlier.statement), _object(later.statement)
    if not mine or sorted(mine) != sorted(theirs) or not NEGATIONS.isdisjoint((*mine, *theirs)):
        return None
    part = {token.key for token in later.statement.tokens} & QUANTIFIERS
    whole = not part or bool({token.key for token in earlier.statement.tokens} & QUANTIFIERS)
    explicit = whole and mine == theirs and all(map(_is_plain, (earlier, later)))
    return Ground("takes_back", f"{_act(later)} takes back {_act(earlier)}", explicit)


def does_again(earlier: Claim, later: Claim) -> Ground | None:
    """It says what the earlier line reverted: that is done again."""
    if not earlier.statement.may_replace or not _reverted(earlier.statement) or are_apart(earlier, later):
        return None
    titles = (Statement(title, "").content for title, sure in _reverted(earlier.statement) if sure)
    if later.statement.content and later.statement.content in titles:
        return Ground("does_again", "it does again what the earlier line reverted", True)
    return None


@lru_cache(maxsize=4096)
def _reverted(statement: Statement) -> tuple[tuple[str, bool], ...]:
    return tuple(reverted_titles(statement))


def _same_commit(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _folded(text: str) -> str:
    return " ".join(normalise(text).casefold().split()).rstrip(".… ")


def _is_title_of(title: str, quoted: Statement, earlier: Statement) -> bool:
    """Whether the quotation is the earlier summary: all of it, its first sentence, or where either of
    the two was cut, the beginning of the other."""
    if not earlier.content:
        return False
    if quoted.content == earlier.content:
        return True
    known, said = (_folded(text) for text in (earlier.summary, title))
    if len(said) < _LONG * 4 or not known.startswith(said):
        return len(known) >= _CUT and said.startswith(known)
    return title.rstrip().endswith(("…", "...")) or known[len(said) : len(said) + 1] in (".", ";", "!", "?")


def _verb(statement: Statement) -> str:
    """The stem of the verb in front; "" where the statement is none of an act: `adding` is a subject."""
    tokens = statement.tokens
    if not tokens or tokens[0].text[-3:].lower() == "ing":
        return ""
    verb = tokens[0].key
    if verb not in _PHRASAL:
        return verb
    particle = _particle(tokens)
    return "" if particle is None else stem("enable" if particle.key == "on" else "disable")


def _particle(tokens: tuple[Token, ...]) -> Token | None:
    return next((token for token in tokens if token.key in ("on", "off")), None)


def _object(statement: Statement) -> list[str]:
    """What the verb acts on, in order."""
    rest = _without_reason(statement)
    particle = _particle(rest) if rest[0].key in _PHRASAL else None
    words = [
        token.key
        for token in rest[1:]
        if token is not particle and (token.key not in STOP_WORDS or token.key in NEGATIONS)
    ]
    return [word for word in words if word not in QUANTIFIERS and word not in ("new", "support")] or words


def _without_reason(statement: Statement) -> tuple[Token, ...]:
    """The tokens up to where the summary goes on to say why."""
    cut = _REASON.split(statement.summary_without_label, maxsplit=1)[0]
    return Statement(cut, "").tokens or statement.tokens


def _is_plain(claim: Claim) -> bool:
    """Whether the statement surely is of an act, done everywhere and for no purpose: `removed columns are
    ignored` speaks of columns, `disable it in CI` of a part, and `enable it to see traces` of a way."""
    tokens = claim.statement.tokens
    about = (*tokens, *(claim.statement.body if len(claim.statement.details) < _SHORT else ()))
    if is_hedged(claim.statement.openings[0]) or not LIMITS.isdisjoint(token.key for token in about):
        return False
    if any(token.key in PLATFORMS for token in claim.statement.body):
        return False
    for token, following in pairwise(tokens):
        if token.key == "to" and following.kind is Kind.WORD and following.text.lower() not in _ARTICLES:
            return False
    if not tokens[0].text.lower().endswith("ed") or len(tokens) < 2:
        return True
    return tokens[1].kind is not Kind.WORD or tokens[1].text.lower() in _ARTICLES


def _act(claim: Claim) -> str:
    tokens = claim.statement.tokens
    particle = _particle(tokens) if tokens[0].key in _PHRASAL else None
    return f"{tokens[0].text} {particle.text}" if particle else tokens[0].text
