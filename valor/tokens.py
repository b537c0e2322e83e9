"""Text to search terms: names kept whole and split, words stemmed, CJK in bigrams.

Part of the hot ring: no import at the top, ``unicodedata`` only once non-ASCII text comes by.

The pipeline of a text: NFKC, split at white space, then each word on its own (so words can be
remembered). ``HTTPServer.run_task()`` gives ``httpserver.run_task run_task httpserver http server
run task``; ``--no-verify`` gives itself, ``no-verify``, ``no`` and ``verify``.

One property carries the lazy search in ``valor.search``: every term is a substring of
``fold(normalise(text))``. So a stem only ever cuts letters off the end of a word, never rewrites
them (``policy`` and ``policies`` meet at ``polic``).
"""

from __future__ import annotations

_STOP_WORDS = """
a an and are as at be been but by can could did do does doesn don for from had has have having he her his how
i if in into is isn it its itself me my no nor not of on or our out she should so some such t s than that the
their them then there these they this those to too up was wasn we were what when where which while who why
will with would you your"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

_VOWELS = frozenset("aeiouy")  # a word has one; what is left of "string" has none

_JOINERS = "._-:/+#"  # what may stand inside a name: a.b, a_b, a-b, a::b, a/b, c++, A#b
_LONGEST_NAME = 80  # characters; nobody asks for a longer name as one word
_REMEMBERED = 50_000  # words whose terms are kept at hand; then the memory starts afresh

_KEEP_NAMES = "".join(c if c.isalnum() or c in _JOINERS else " " for c in map(chr, range(128)))
_KEEP_IDENTIFIERS = "".join(c if c.isalnum() or c in "_-" else " " for c in map(chr, range(128)))
KEEP_RUNS = "".join(c if c.isalnum() else " " for c in map(chr, range(128)))  # for str.translate

# Scripts written without spaces: Thai and Lao, kana and Han, Hangul, the Han planes.
_UNSPACED = ((0x0E00, 0x0EFF), (0x3005, 0x3007), (0x3040, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF),
             (0x4E00, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0x20000, 0x323AF))  # fmt: skip

# What an ASCII word may lose at its ends and keep its terms: of the joiners, a dot, a dash and a "_"
# can begin a name, a "+", a "#" and a "_" can end one.
_BEFORE_NAME = "".join(c for c in map(chr, range(128)) if not c.isalnum() and c not in "._-")
_BEHIND_NAME = "".join(c for c in map(chr, range(128)) if not c.isalnum() and c not in "+#_")


class Words(dict[str, tuple[str, ...]]):
    """Each of the ``pieces`` of a text and its terms, stop words left out, made at the first question;
    of a full memory of ``limit`` pieces nothing stays."""

    __slots__ = ("limit",)

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def __missing__(self, word: str) -> tuple[str, ...]:
        bare = word.lstrip(_BEFORE_NAME).rstrip(_BEHIND_NAME) if word.isascii() else word
        if bare != word:
            found = self[bare]  # made once for all the punctuation that goes around it
        else:
            found = word_terms(word)
            if not STOP_WORDS.isdisjoint(found):
                found = tuple([term for term in found if term not in STOP_WORDS])
        if len(self) >= self.limit:
            self.clear()
        self[word] = found
        return found


_known = Words(_REMEMBERED)
_known_runs: dict[str, tuple[str, ...]] = {}


def terms(text: str) -> list[str]:
    """The terms of a document in text order, with repeats, stop words left out."""
    return [term for piece in pieces(text) for term in _known[piece]]


def pieces(text: str) -> list[str]:
    """The text cut where no term goes across: of ASCII text its names, of other text its words."""
    text = normalise(text)
    return text.translate(_KEEP_NAMES).split() if text.isascii() else text.split()


def query_terms(text: str) -> list[str]:
    """The terms of a query, each once, in text order.

    Stop words are left out unless the query holds nothing else. A character of an unspaced script
    asks for itself only where it stands alone; inside a run its bigrams ask.
    """
    found: dict[str, None] = {}
    for word in normalise(text).split():
        parts = word_terms(word)
        paired = {c for term in parts if len(term) == 2 and not term.isascii() for c in term}
        for term in parts:
            if term not in paired:
                found[term] = None
    return [term for term in found if term not in STOP_WORDS] or list(found)


def normalise(text: str) -> str:
    """NFKC, with letters that fold to several (``ß``) spelt out: folding then keeps every offset."""
    if text.isascii():
        return text
    import unicodedata

    text = unicodedata.normalize("NFKC", text)
    if len(text.casefold()) != len(text):
        text = "".join(c if len(c.casefold()) == 1 else c.casefold() for c in text)
    return text


def word_terms(word: str) -> tuple[str, ...]:
    """All terms of a piece of normalised text, stop words too; white space only separates."""
    if word.isascii():
        if word.isalpha() and (word.islower() or word[1:].islower()):
            return (stem(word.lower()),)
    else:
        word = _blank_symbols(word)
    found: list[str] = []
    if word.isalnum():
        _run_terms(word, found)
        return tuple(found)
    for piece in word.translate(_KEEP_NAMES).split():
        _name_terms(piece, found)
    return tuple(found)


def stem(word: str) -> str:
    """A prefix of a lower-case English word that its inflections share; other words come back whole.

    Light on purpose: plural, -ing, -ed, -ly, a final e or y, a doubled consonant. Stripping more
    (-er, -ation, -ment, …) measured worse. ``stem`` need not be a word: cache, caching -> cach.
    """
    if len(word) < 4 or word in STOP_WORDS or not (word.isascii() and word.isalpha()):
        return word
    root = word
    if root[-1] == "s" and root[-2] not in "sui":
        root = root[:-1]
    if (
        root[-1] == "y" and root[-2] == "l" and len(root) > 5 and root[-3] not in "bip"
    ):  # not supply, assembly, family
        root = root[:-2]
    if root[-1] == "g":
        if root[-3:] == "ing" and len(root) > 5 and not _VOWELS.isdisjoint(root[:-3]):
            root = root[:-3]
    elif root[-1] == "d" and root[-2] == "e" and len(root) > 4 and not _VOWELS.isdisjoint(root[:-2]):
        root = root[:-2]
    if len(root) > 3 and root[-1] == "e":
        root = root[:-1]
    if len(root) > 3 and root[-1] in "yi":
        root = root[:-1]
    if len(root) > 3 and root[-1] == root[-2] and root[-1] not in "aeious":
        root = root[:-1]
    return root


def _name_terms(piece: str, found: list[str]) -> None:
    """Terms of a run of letters, digits and joiners: the whole, its identifiers, their parts."""
    whole = piece.lstrip(":/+#").rstrip(".-:/")
    runs = whole.translate(KEEP_RUNS).split()
    if len(runs) == 1 and len(runs[0]) == len(whole):
        _run_terms(whole, found)
        return
    if not runs:
        return
    core = whole.strip(".-+#")
    names = {whole: None, core: None}
    for identifier in core.translate(_KEEP_IDENTIFIERS).split():
        names[identifier.strip("-")] = None
    alone = set(runs)
    for name in names:
        if len(name) <= _LONGEST_NAME and name not in alone and name.strip("_"):
            found.append(name.casefold())
    for run in runs:
        if len(run) > 1 or not run.isascii():
            known = _known_runs.get(run)
            if known is None:
                known = _remember_run(run)
            found += known


def _remember_run(run: str) -> tuple[str, ...]:
    """The run's terms, remembered: names share their parts far more often than they are the same."""
    if len(_known_runs) >= _REMEMBERED:
        _known_runs.clear()
    found: list[str] = []
    _run_terms(run, found)
    known = _known_runs[run] = tuple(found)
    return known


def _run_terms(run: str, found: list[str]) -> None:
    """Terms of a run of letters and digits: itself, and what case, digits and scripts separate."""
    if run.isascii():
        if run.isalpha() and (run.islower() or run[1:].islower()):
            found.append(stem(run.lower()))
            return
    else:
        spans = _by_script(run)
        if len(spans) > 1 or spans[0][0]:
            for unspaced, span in spans:
                if unspaced:
                    found += span
                    found += [span[i : i + 2] for i in range(len(span) - 1)]
                else:
                    _run_terms(span, found)
            return
    found.append(stem(run.casefold()))
    pieces = _by_case(run)
    if len(pieces) > 1:
        found += [stem(piece.casefold()) for piece in pieces if len(piece) > 1]


def _by_case(run: str) -> list[str]:
    """``HTTPServer`` -> HTTP Server, ``runTask2`` -> run Task 2, ``utf8`` -> utf 8; ``URLs`` stays."""
    pieces: list[str] = []
    start = 0
    last = len(run) - 1
    for i in [i for i, c in enumerate(run) if i and not "a" <= c <= "z"]:  # no small letter is cut from
        before, here = run[i - 1], run[i]
        if here.isupper():
            # The last capital of a row starts a word (HTTP|Server), unless a plural s follows (URLs).
            opens_word = i < last and run[i + 1].islower() and run[i + 1 :] != "s"
            cut = not before.isupper() or opens_word
        else:
            # Two letters before a digit make a name (py|311); one makes a code (E501, a hash).
            cut = here.isdigit() and before.isalpha() and i > 1 and run[i - 2].isalpha()
        if cut:
            pieces.append(run[start:i])
            start = i
    pieces.append(run[start:])
    return pieces


def _by_script(run: str) -> list[tuple[bool, str]]:
    """The run cut where unspaced script begins or ends: pairs of (unspaced?, characters)."""
    kinds = [c > "\u0dff" and any(low <= ord(c) <= high for low, high in _UNSPACED) for c in run]
    cuts = [i for i in range(1, len(run)) if kinds[i] != kinds[i - 1]]
    return [(kinds[i], run[i:j]) for i, j in zip([0, *cuts], [*cuts, len(run)], strict=True)]


def _blank_symbols(word: str) -> str:
    """Non-ASCII characters that are neither letters, digits nor marks on one become spaces."""
    import unicodedata

    kept: list[str] = []
    on_letter = False
    for c in word:
        on_letter = c.isalnum() or (on_letter and unicodedata.category(c)[0] == "M")
        kept.append(c if on_letter or c.isascii() else " ")
    return "".join(kept)
