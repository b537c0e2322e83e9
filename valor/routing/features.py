"""A text as a set of features: its words, their classes, how it opens, the shape of its verbs.

Each feature is a short string with a family letter, ``W:cach`` or ``O:person``; ``describe`` turns
one into words for a person. Nothing here knows an owner.

    W  word (stemmed)           C  a word class occurs        S  shape: code, number, passive, past
    B  two neighbouring words   O  a class opens a sentence   F  what kind of word comes first
    J  two CJK characters       P  two classes in this order  V  the first auxiliary verb

"S:impersonal" says that no word is about a person, what a person says or wants. What stands in a fenced
block is no prose and gives nothing but the sign that there is code.

Compiling a table reads all its examples, so a token is looked at once and remembered.
"""

from __future__ import annotations

import re
from itertools import pairwise

from valor.routing.classes import NONE, classes_of, has_cjk, is_cjk, phrases, unspaced

_TOKEN = re.compile(r"`[^`]*`|--?\w[\w-]*|\w+(?:[._'/\\:@-]+\w+|\(\)|[{}]+)*|[.!?;:,。；！？\n]")
_CODE = re.compile(r"[`_(){}\\]|\w[./]\w|[a-z][A-Z]|^-")
_ENDS = frozenset(".!?;:。；！？\n")
_FENCE = "\n```"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OPENERS = _words(
    "the a an when if use no every each all never always don't this there after before in on for with by at "
    "once two one only our we its as while nothing nobody"
)
_AUXILIARIES = _words(
    "is are be was were has have had does do did must may can will would should need needs isn't aren't "
    "wasn't doesn't don't didn't can't cannot won't never only"
)
_ASIDES = _words("never not no only so and but which or")
_BE = frozenset(("is", "are", "be", "gets", "get"))
_WAS = frozenset(("was", "were", "had", "did", "been"))
_PERSONAL = frozenset(
    "C:" + kind
    for kind in _words("person somebody self they assistant wants upset talk consent means machine")
)
_ADVERBS = _words("never always only not also still then once first")
_IRREGULAR = _words("built cut done given kept made named put read run sent set shown taken written bound")

_Kinds = frozenset[str] | set[str]
_Seen = tuple[str, str, _Kinds, str, tuple[str, ...]]
"""A token in lower case, its word ("" for CJK and commas), its classes, its mark (the kind of verb it
may be: be, was, aux, ed or "") and the features it has wherever it stands."""


class Reading:
    """A text, read: its sentences as tokens."""

    __slots__ = ("_sentences", "text")

    def __init__(self, text: str) -> None:
        text = text if text.isascii() else _plain(text)
        self.text = _without_blocks(text) if "```" in text else text
        self._sentences: list[list[_Seen]] = []
        sentence: list[_Seen] = []
        for token in _TOKEN.findall(self.text):
            if token in _ENDS:
                if sentence:
                    self._sentences.append(sentence)
                    sentence = []
            else:
                sentence.append(_known.get(token) or _look_at(token))
        if sentence:
            self._sentences.append(sentence)

    def features(self) -> set[str]:
        """Its features; each counts once, however long the text is."""
        found: set[str] = set()
        for sentence in self._sentences:
            _add_sentence(found, sentence)
        if has_cjk(self.text):
            _add_unspaced(found, self.text)
        if found and _PERSONAL.isdisjoint(found):
            found.add("S:impersonal")
        return found

    def words(self) -> str:
        """It in lower case, a space around each word and ``^`` where a sentence opens."""
        return "".join(
            f" ^ {' '.join(seen[0] for seen in each if seen[0] != ',')} " for each in self._sentences
        )


def _without_blocks(text: str) -> str:
    """The text with "`code`" for each fenced block: what a program prints is nobody's prose."""
    parts = f"\n{text}".split(_FENCE)
    tail = [] if len(parts) % 2 else [parts.pop()]  # a fence that is never closed hides nothing
    return " `code` ".join(parts[::2] + tail)


def _plain(text: str) -> str:
    from unicodedata import normalize  # most texts need no table of all characters

    return normalize("NFKC", text).replace("’", "'")


def _add_sentence(found: set[str], sentence: list[_Seen]) -> None:
    lows = [seen[0] for seen in sentence]
    add = found.add
    verb = "none"
    before = "^"
    placed: list[tuple[int, _Kinds]] = []
    for place, (low, word, kinds, mark, own) in enumerate(sentence):
        if word:
            found.update(own)
            add(f"B:{before} {word}")
            before = word
            if kinds:
                placed.append((place, kinds))
            if mark:
                verb = low if verb == "none" and mark != "ed" else verb
                _add_tense(found, mark, lows[place + 1 : place + 3])
        elif low == "," and place + 1 < len(lows) and lows[place + 1] in _ASIDES:
            add("S:, " + lows[place + 1])
    add("V:" + verb)
    add("F:" + _opening(lows[0], sentence[0][2]))
    if not phrases().keys().isdisjoint(lows):
        placed = _with_phrases(found, lows, dict(placed))
    if placed:
        _add_classes(found, placed)


def _add_classes(found: set[str], placed: list[tuple[int, _Kinds]]) -> None:
    last: _Kinds = NONE
    for place, kinds in placed:
        if place < 3:
            found.update(["O:" + kind for kind in kinds])
        if last:
            found.update([f"P:{old} > {kind}" for kind in kinds for old in last if kind != old])
        last = kinds


def _with_phrases(found: set[str], lows: list[str], kinds: dict[int, _Kinds]) -> list[tuple[int, _Kinds]]:
    known = phrases()
    for place, low in enumerate(lows):
        for parts, kind in known.get(low, ()):
            if lows[place : place + len(parts)] == parts:
                found.add("C:" + kind)
                kinds[place] = kinds.get(place, NONE) | {kind}
    return sorted(kinds.items())


def _add_tense(found: set[str], mark: str, after: list[str]) -> None:
    if mark == "ed" or mark == "was":
        found.add("S:past")
    if mark == "be" or mark == "was":
        if len(after) == 2 and after[0] in _ADVERBS:
            after = after[1:]
        if after and (after[0].endswith("ed") or after[0] in _IRREGULAR):
            found.add("S:present passive" if mark == "be" else "S:past passive")


def _opening(word: str, kinds: _Kinds) -> str:
    if word in _OPENERS:
        return word
    if "order" in kinds:
        return "order"
    if "<code>" in kinds:
        return "<code>"
    if word.endswith("ing"):
        return "-ing"
    return "plural" if word.endswith("s") else "other"


def stem(word: str) -> str:
    """``word`` without a common English ending, where at least four letters stay."""
    if word.endswith(("s", "d", "g")):
        for ending in ("ing", "ed", "es", "s"):
            if word.endswith(ending) and len(word) - len(ending) >= 4:
                return word[: -len(ending)]
    return word


# --- tokens -----------------------------------------------------------------------------------------

_NUMBER, _CODES = frozenset(("<number>",)), frozenset(("<code>",))
_REMEMBERED = 50_000  # tokens, then it starts over: a server must not grow with all it ever read
_known: dict[str, _Seen] = {}


def _look_at(token: str) -> _Seen:
    if len(_known) >= _REMEMBERED:
        _known.clear()
    low = token.lower()
    if token.isascii() and token.isalpha() and (token == low or token[1:].islower()):
        seen: _Seen = _entry(low, stem(low), classes_of(low))
    elif has_cjk(token):
        latin = "".join(each for each in token if not is_cjk(each))  # "CIで" holds a word of another script
        seen = _look_at(latin) if latin else (low, "", NONE, "", ())
    elif token == ",":
        seen = (low, "", NONE, "", ())
    elif token[0].isdigit() and not _CODE.search(token):
        seen = _entry(low, "<number>", _NUMBER)
    elif not (token.isalpha() and token[1:].islower()) and _CODE.search(token):
        seen = _entry(low, "<code>", _CODES)
    else:
        seen = _entry(low, stem(low), classes_of(low))
    _known[token] = seen
    return seen


def _entry(low: str, word: str, kinds: frozenset[str]) -> _Seen:
    own = ("W:" + word, *["C:" + kind for kind in kinds]) if kinds else ("W:" + word,)
    return (low, word, kinds, _mark(low), own)


def _mark(low: str) -> str:
    if low in _AUXILIARIES:
        return "be" if low in _BE else "was" if low in _WAS else "aux"
    return "ed" if low.endswith("ed") and len(low) > 4 else ""


def _add_unspaced(found: set[str], text: str) -> None:
    flat = "".join(text.split())
    hits = sorted((flat.find(word), kind) for word, kind in unspaced() if word in flat)
    for place, (_, kind) in enumerate(hits):
        found.add("C:" + kind)
        if place == 0:
            found.add("O:" + kind)
        elif hits[place - 1][1] != kind:
            found.add(f"P:{hits[place - 1][1]} > {kind}")
    found.update(["J:" + one + two for one, two in pairwise(flat) if is_cjk(one) and is_cjk(two)])


_SAY = {
    "W": "word “{}”",
    "B": "words “{}”",
    "J": "characters “{}”",
    "C": "cue {}",
    "O": "opens with {}",
    "P": "cues {}",
    "S": "shape: {}",
    "F": "first word: {}",
    "V": "first verb: {}",
}


def describe(feature: str) -> str:
    """A feature in words for a person."""
    return _SAY[feature[0]].format(feature[2:])
