"""Which pairs of texts are worth judging: those that share what few others say.

An inverted index, read and written in one sweep: each text looks up its rarest features among the
texts before it, adds up their weights, and keeps the best partners. A feature is a term, or two terms
that follow one another in a summary: those tell short texts of common words apart. A feature weighs
``log(1 + texts / texts with it)``, twice that for a term of a summary.

Time and memory grow with the number of texts, whatever they share: a text is indexed under
``_FEATURES`` features and looks at ``_LOOK`` entries, rarest features first. Texts of the same terms are
one entry of the index, which stands for the latest of them.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

Text = tuple[Sequence[str], Sequence[str]]

_FEATURES = 60  # of a text, heaviest first: what it is indexed under and asks for
_LOOK = 1000  # entries of the index that one text reads; half of it loses a hundredth of the partners
_SUMMARY, _DETAILS, _ADJACENT = 2.0, 1.0, 1.0  # what the rarity of a feature counts by where it stands
_SHARE = 0.25  # of the lighter text's weight that partners share at least
_SAME = 3  # latest texts of the very same terms that others are paired with: what terms leave out may differ
_BUCKETS = 22  # bits of a bucket's number, at most; pairs of terms in one bucket pass for the same
_STEP = 256  # texts between two calls of ``progress``


def candidates(
    texts: Iterable[Text], *, most: int = 16, progress: Callable[[int], None] | None = None
) -> Iterator[tuple[int, int]]:
    """Pairs (i, j), i < j, of texts that may tell the same fact, each once; j ascends, best i first.

    A text is the terms of its summary and those of its details, in their order. It is paired with at
    most ``most`` (1 or more) earlier texts. Texts of the same terms are always connected, each with the one
    before it. Texts are read once, all before the first pair; ``progress`` is told how many are searched.
    """
    index = _Index(texts)
    for j, entry in enumerate(index.entries):
        same = index.same(entry, min(most, _SAME))
        for i in same:
            yield i, j
        for i in index.near(entry, most - len(same)):
            yield i, j
        index.newest(entry, j)
        if progress is not None and (j + 1) % _STEP == 0:
            progress(j + 1)
    if progress is not None:
        progress(len(index.entries))


class _Index:
    """The texts as numbers, one entry for those of the same terms, and which entries hold a feature."""

    def __init__(self, texts: Iterable[Text]) -> None:
        self.entries = array("I")  # of each text, in order
        self._codes: list[bytes] = []  # of each entry: length of the summary, its terms, those of the details
        self._read(texts)
        # _members[entry]: its latest texts, newest first; none before the sweep has come to its first.
        self._members: list[tuple[int, ...]] = [()] * len(self._codes)
        self._buckets = 1 << min(_BUCKETS, (32 * len(self._codes)).bit_length())
        self._holders = self._count()  # of each feature: the number of entries that have it
        self._rarity = _rarities(len(self._codes))
        self._holding: dict[int, list[int]] = {}  # feature -> entries so far, oldest first
        self._weights = array("d", [0.0]) * len(self._codes)

    def same(self, entry: int, most: int) -> tuple[int, ...]:
        """The latest texts of this entry so far, newest first."""
        return self._members[entry][:most]

    def newest(self, entry: int, text: int) -> None:
        """Let the entry stand for this text."""
        self._members[entry] = (text, *self._members[entry][: _SAME - 1])

    def near(self, entry: int, most: int) -> list[int]:
        """The texts that share most with this entry, best first; the entry is in the index afterwards."""
        features = self._features(entry)
        shared = self._shared(features)
        if not self._members[entry]:
            self._add(entry, features)
        shared.pop(entry, None)
        # Shared weight alone favours long texts, which hold a little of everything.
        weights, least = self._weights, _SHARE * self._weights[entry]
        found = [
            (weight / math.sqrt(weights[other]), other)
            for other, weight in shared.items()
            if weight >= least or weight >= _SHARE * weights[other]
        ]
        found.sort(reverse=True)
        partners = [text for _, other in found[:most] for text in self._members[other]]
        return partners[:most]

    def _shared(self, features: list[tuple[float, int]]) -> dict[int, float]:
        """Entries that hold some of the features, and what those weigh; of long lists their newest part."""
        weights: dict[int, float] = {}
        known = weights.get
        left = _LOOK
        lists = [(holding, weight) for weight, feature in features if (holding := self._holding.get(feature))]
        lists.sort(key=lambda one: len(one[0]))
        for holding, weight in lists:
            for other in holding if len(holding) <= left else holding[-left:]:
                weights[other] = known(other, 0.0) + weight
            left -= len(holding)
            if left <= 0:
                break
        return weights

    def _add(self, entry: int, features: list[tuple[float, int]]) -> None:
        for _, feature in features:
            self._holding.setdefault(feature, []).append(entry)
        self._weights[entry] = sum(weight for weight, _ in features)

    def _read(self, texts: Iterable[Text]) -> None:
        numbers: dict[str, int] = {}
        known: dict[bytes, int] = {}
        for summary, details in texts:
            codes = array("I", [len(summary)])
            for terms in (summary, details):
                codes.extend([numbers.setdefault(term, len(numbers)) for term in terms])
            key = codes.tobytes()
            entry = known.setdefault(key, len(known))
            if entry == len(self._codes):
                self._codes.append(key)
            self.entries.append(entry)
        self._terms = len(numbers)

    def _count(self) -> array[int]:
        holders = array("I", [0]) * (self._terms + self._buckets)
        for entry in range(len(self._codes)):
            for feature in self._counted(entry):
                holders[feature] += 1
        return holders

    def _features(self, entry: int) -> list[tuple[float, int]]:
        """The heaviest features of an entry that others share, as (weight, feature)."""
        rarity, holders = self._rarity, self._holders
        weighed = [
            (count * rarity[shared], feature)
            for feature, count in self._counted(entry).items()
            if (shared := holders[feature]) > 1
        ]
        weighed.sort(reverse=True)
        return weighed[:_FEATURES]

    def _counted(self, entry: int) -> dict[int, float]:
        """All features of an entry, each with what its rarity counts by."""
        codes = array("I")
        codes.frombytes(self._codes[entry])
        end = codes[0] + 1
        summary = codes[1:end]
        counted = dict.fromkeys(codes[end:], _DETAILS)
        counted |= dict.fromkeys(summary, _SUMMARY)
        for one, following in pairwise(summary):
            counted[self._terms + (one * 1_000_003 + following) % self._buckets] = _ADJACENT
        return counted


def _rarities(entries: int) -> list[float]:
    """The weight of a feature by how many of the entries have it."""
    return [0.0, *(math.log(1 + entries / holders) for holders in range(1, entries + 1))]
