"""Pairs worth judging: what shares rare terms is found, and no log makes it slow or large."""

from __future__ import annotations

import json
import os
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor.consolidate.candidates import Text, candidates
from valor.tokens import terms

SHARED = Path(os.environ.get("VALOR_SHARED") or Path(__file__).parents[1].parent / "shared")
MOST = 16  # partners of a text

WORDS = st.lists(st.sampled_from("abcdefghij"), max_size=5)
TEXTS = st.lists(st.tuples(WORDS, WORDS), max_size=40)


def text(summary: str, details: str = "") -> Text:
    return terms(summary), terms(details)


def common(count: int, seed: int = 1) -> list[Text]:
    """Texts of five words each, none of which is rare."""
    chance = random.Random(seed)
    words = [f"word{n}" for n in range(120)]
    return [(chance.choices(words, k=5), []) for _ in range(count)]


def groups(count: int, pairs: list[tuple[int, int]]) -> list[int]:
    """Of each text, the first that it is connected with."""
    head = list(range(count))
    for i, j in pairs:
        one, other = sorted((head[i], head[j]))
        head = [one if now == other else now for now in head]
    return head


@given(TEXTS, st.integers(1, 5))
def test_pairs_are_ordered_distinct_and_bounded(texts: list[Text], most: int) -> None:
    pairs = list(candidates(texts, most=most))
    assert all(0 <= i < j < len(texts) for i, j in pairs)
    assert len(set(pairs)) == len(pairs)
    later = [j for _, j in pairs]
    assert later == sorted(later)
    assert all(later.count(j) <= most for j in later)


@given(TEXTS)
def test_the_same_texts_give_the_same_pairs(texts: list[Text]) -> None:
    assert list(candidates(texts)) == list(candidates(iter(texts)))


@given(TEXTS, st.integers(1, 3))
def test_texts_of_the_same_terms_are_connected(texts: list[Text], most: int) -> None:
    head = groups(len(texts), list(candidates(texts, most=most)))
    alike: dict[str, set[int]] = defaultdict(set)
    for number, (summary, details) in enumerate(texts):
        alike[json.dumps([summary, details])].add(head[number])
    assert all(len(heads) == 1 for heads in alike.values())


def test_the_words_of_a_summary_are_not_those_of_the_details() -> None:
    assert list(candidates([(["lock", "held"], []), ([], ["lock", "held"])])) == [(0, 1)]
    assert list(candidates([(["lock"], ["held"]), (["lock", "held"], []), (["lock"], ["held"])]))[-2:] == [
        (0, 2),
        (1, 2),
    ]


def test_nothing_shared_gives_nothing() -> None:
    assert list(candidates([])) == []
    assert list(candidates([text("one socket"), text("another lock"), text("third queue")])) == []


@pytest.mark.parametrize(
    "again",
    [
        text("gateway drops the handshake when the proxy is slow"),
        text("when the proxy is slow, the handshake is dropped by the gateway"),
        text("Revert: drops the handshake of the gateway"),
        text("handshake lost", "It is the gateway: a slow proxy makes it drop what it has."),
    ],
    ids=["near-verbatim", "another order", "revert", "told in the details"],
)
def test_a_fact_told_again_among_many_others_is_found(again: Text) -> None:
    texts = common(2000)
    texts[700] = text("The gateway drops a handshake if the proxy is slow", "Seen twice.")
    texts[1500] = again
    assert (700, 1500) in set(candidates(texts))


@pytest.mark.parametrize("change", ["filler", "dropped"])
def test_short_texts_of_common_words_are_found_but_for_a_word(change: str) -> None:
    texts = common(5000)
    chance = random.Random(2)
    planted = []
    for later in range(4500, 5000, 10):
        earlier = chance.randrange(4500)
        words = list(texts[earlier][0])
        if change == "filler":
            words.insert(chance.randrange(6), "word7")
        else:
            del words[chance.randrange(5)]
        texts[later] = (words, [])
        planted.append((earlier, later))
    found = set(candidates(texts))
    assert sum(pair in found for pair in planted) >= 0.96 * len(planted)


def test_the_best_partner_comes_first() -> None:
    texts = [*common(300), text("gateway drops handshake"), text("gateway drops handshake, proxy slow")]
    texts.append(text("gateway drops handshake, proxy slow again"))
    assert [i for i, j in candidates(texts) if j == 302][:2] == [301, 300]


def test_a_text_that_returns_meets_what_was_said_in_between() -> None:
    texts = [*common(300), text("enable the zstd cache"), text("disable the zstd cache")]
    texts.append(text("enable the zstd cache"))
    assert {(300, 301), (301, 302), (300, 302)} <= set(candidates(texts))


def test_what_terms_leave_out_hides_no_copy() -> None:
    """ "do not" is no term: the text between the copies has their terms and another meaning."""
    texts = [text("do retry the upload"), text("do not retry the upload"), text("do retry the upload")]
    assert (0, 2) in set(candidates(texts))


def test_every_partner_of_the_same_terms_is_offered() -> None:
    texts = [*common(300), text("zstd cache on"), text("the zstd cache is on"), text("revert zstd cache on")]
    assert {(300, 302), (301, 302)} <= set(candidates(texts))


@pytest.mark.parametrize(
    "lines",
    [
        [text(f"worker {n % 97} failed with code {n % 13}") for n in range(4000)],
        [text("the socket closes before the reply was read", "seen twice")] * 4000,
        [([], [])] * 4000,
        [text(f"job {'abcdefgh'[n % 8] * 3} closes the pool before the reply") for n in range(4000)],
    ],
    ids=["one template", "identical", "empty", "few texts in turn"],
)
def test_a_log_that_repeats_itself_gives_a_bounded_number_of_pairs(lines: list[Text]) -> None:
    assert len(lines) - 1 <= len(list(candidates(lines))) <= MOST * len(lines)


def test_a_text_reads_a_bounded_part_of_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[Text] = [([*"abcdefgh", f"n{n}"], []) for n in range(100)]
    assert len(list(candidates(texts))) > 3 * len(texts)
    monkeypatch.setattr("valor.consolidate.candidates._LOOK", 3)
    assert len(list(candidates(texts))) <= 3 * len(texts)


def test_a_very_long_text_finds_its_copy() -> None:
    long = [f"name{n}" for n in range(2000)]
    texts: list[Text] = [
        (["heap", "dump"], long),
        *common(200),
        (["heap", "dump"], [*long[:900], *long[901:]]),
    ]
    assert (0, 201) in set(candidates(texts))


def test_texts_are_read_once_and_progress_is_told() -> None:
    told: list[int] = []

    def once() -> Iterator[Text]:
        yield from common(600)

    list(candidates(once(), progress=told.append))
    assert told[-1] == 600
    assert told == sorted(told)
    assert len(told) > 1


@pytest.mark.shared
def test_labelled_pairs_are_kept_among_ten_thousand_records() -> None:
    corpus = SHARED / "corpus" / "commits.jsonl"
    if not corpus.is_file():
        pytest.skip("the shared corpus is not beside this checkout")
    texts: list[Text] = []
    numbers: dict[tuple[str, str, str], int] = {}

    def number(record: dict[str, str]) -> int:
        key = (record["id"], record["summary"], record.get("details", ""))
        if key not in numbers:
            numbers[key] = len(texts)
            texts.append(text(*key[1:]))
        return numbers[key]

    for line in corpus.read_text().splitlines():
        number(json.loads(line))
    wanted: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for pair in map(json.loads, (SHARED / "corpus" / "pairs.jsonl").read_text().splitlines()):
        if pair["label"] != "distinct":
            one, other = sorted((number(pair["a"]), number(pair["b"])))
            wanted[pair["subtype"]].append((one, other))
    pairs = set(candidates(texts))
    kept = {kind: sum(pair in pairs for pair in each) / len(each) for kind, each in wanted.items()}
    for kind in ("cherry_pick", "squash_vs_original", "revert", "state_reversal"):
        assert kept[kind] >= 0.95, kept
    for kind in ("changelog_vs_commit", "pr_title_vs_commit"):
        assert kept[kind] >= 0.90, kept
    assert len(pairs) <= 8 * len(texts)
