"""Search: any word may match, the right line comes first, the score explains itself."""

from __future__ import annotations

import subprocess
import sys
from math import isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valor import rank
from valor.search import MOST_TERMS, Corpus, Document
from valor.tokens import normalise, word_terms

LINES: list[Document] = [
    ("agent-crew starts before its broker is up", "the unit file orders them wrongly", ["startup"]),
    ("crew:run swallows the exit code", "wrap it and pass the code on", []),
    ("task_tools caches the schema per process", "a stale schema survives a reload", ["cache"]),
    ('the greeter must say "hi" once', "it greeted on every reconnect", []),
    ("pin the interpreter (python 3.11) in the image", "3.12 lacks a wheel we need", ["ci"]),
    ("the C++ bindings need -fno-rtti", "else the linker drops a vtable", []),
    ("the C# client sends dates without a zone", "treat them as UTC", []),
    (".env is read before the defaults", "so an empty value wins", ["config"]),
    ("releases are made with --no-verify", "the hook formats the changelog twice", []),
    ("しりとりの辞書は起動時に読む", "遅い", []),
    ("成语接龙的词库需要预热", "否则第一次查询超时", []),
    ("설정을 바꾸면 서버를 다시 시작", "캐시가 남는다", []),
    ("the nightly backup holds the database lock for a minute", "writers wait and time out", ["backup"]),
    ("writers retry with jitter", "a fixed delay made them collide", []),
    ("HTTPServer drops keep-alive after an upload", "the body was not drained", []),
]

WORDS = (
    "lock locks locking Lock dataLock data_lock re-lock é naïve 漢字 字漢 ß the is C++ x .env İx a\u0301 "
    "—lock— 12lock blocked"
)
TEXTS = st.lists(st.sampled_from([*WORDS.split(), "\n", "\t", "\u2028", "漢", "Loc"]), max_size=8).flatmap(
    lambda words: st.sampled_from([" ", "", ".", "\x1c"]).map(lambda gap: gap.join(words))
)
DOCUMENTS = st.lists(st.tuples(TEXTS, TEXTS, st.lists(TEXTS, max_size=2)), max_size=8)


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus(LINES)


def best(corpus: Corpus, query: str) -> str:
    return LINES[corpus.search(query)[0].index][0]


@pytest.mark.parametrize(
    ("query", "start"),
    [
        ("agent-crew", "agent-crew"),
        ("crew:run", "crew:run"),
        ("task_tools", "task_tools"),
        ('say "hi', "the greeter"),
        ("(python", "pin the interpreter"),
        ("C++", "the C++"),
        ("C#", "the C#"),
        (".env", ".env"),
        ("--no-verify", "releases"),
        ("http server", "HTTPServer"),
        ("httpserver", "HTTPServer"),
        ("dataBase_lock", "the nightly backup"),
    ],
)
def test_a_name_with_signs_finds_its_line(corpus: Corpus, query: str, start: str) -> None:
    assert best(corpus, query).startswith(start)


@pytest.mark.parametrize("query", ["しりとり", "成语接龙", "설정", "词库", "猫のしりとり"])
def test_a_query_in_an_unspaced_script_finds_its_line(corpus: Corpus, query: str) -> None:
    assert set(query) & set(best(corpus, query))


def test_a_long_question_of_common_words_still_ranks_the_right_line_first(corpus: Corpus) -> None:
    question = (
        "Why is it that, when the server is started and the writers are up, they wait for so long and then "
        "time out every night, and what holds the database while the backup is made?"
    )
    assert best(corpus, question).startswith("the nightly backup")


def test_one_rare_word_is_enough(corpus: Corpus) -> None:
    assert [LINES[hit.index][0] for hit in corpus.search("vtable")] == ["the C++ bindings need -fno-rtti"]


def test_common_words_alone_still_give_ranked_lines(corpus: Corpus) -> None:
    assert len(corpus.search("what is it")) > 1


@pytest.mark.parametrize("query", ["QQQQ zxzx", "", "   ", "?!", "++", "\x00", "漢"])
def test_nonsense_finds_nothing(corpus: Corpus, query: str) -> None:
    assert corpus.search(query) == []


def test_a_word_in_the_summary_outweighs_the_same_word_in_the_details() -> None:
    corpus = Corpus([("about queues", "pools here", []), ("about pools", "queue here", [])])
    hits = corpus.search("queue")
    assert [hit.index for hit in hits] == [0, 1]
    assert hits[0].terms[0].contribution > hits[1].terms[0].contribution
    assert [hit.index for hit in corpus.search("pool")] == [1, 0]


def test_a_tag_is_found_like_a_word(corpus: Corpus) -> None:
    assert best(corpus, "startup").startswith("agent-crew")


def test_equal_lines_come_newest_first() -> None:
    corpus = Corpus([("same words", "", [])] * 4)
    assert [hit.index for hit in corpus.search("words")] == [3, 2, 1, 0]


def test_a_smaller_limit_gives_the_head_of_the_same_list() -> None:
    corpus = Corpus([(f"lock {'again ' * (n % 7)}", f"queue {n}", []) for n in range(120)])
    everything = corpus.search("lock again queue", 500)
    assert len(everything) == 120
    for limit in (0, 1, 5, 50, 60):
        assert corpus.search("lock again queue", limit) == everything[:limit]


def test_the_explanation_adds_up_to_the_score(corpus: Corpus) -> None:
    hit = corpus.search("the database lock of the bakcup")[0]
    assert {each.asked for each in hit.terms} == {"databas", "lock", "bakcup"}
    total = sum(each.contribution for each in hit.terms)
    assert isclose(hit.score, total * rank.rerank_factor(hit.in_summary, hit.in_text))
    assert 0 < hit.in_summary <= hit.in_text <= 1
    backup = next(each for each in hit.terms if each.asked == "bakcup")
    assert backup.tf == rank.SUMMARY_WEIGHT + rank.TAGS_WEIGHT


def test_an_unknown_word_stands_for_the_nearest_known_one_and_says_so(corpus: Corpus) -> None:
    hit = corpus.search("databsae")[0]
    (only,) = hit.terms
    assert (only.asked, only.term, only.mapped) == ("databsa", "databas", True)
    assert 0.8 <= only.similarity < 1
    assert hit.score < corpus.search("database")[0].score


@pytest.mark.parametrize("query", ["zatabase", "lokc", "interlocutor"])
def test_an_unknown_word_too_far_from_any_known_one_finds_nothing(corpus: Corpus, query: str) -> None:
    assert corpus.search(query) == []


def test_a_miss_suggests_words_of_the_corpus(corpus: Corpus) -> None:
    assert corpus.search("bacup lokc") != []
    assert corpus.search("lokc") == []
    assert "lock" in corpus.suggest("lokc")
    assert corpus.suggest("lock") == []
    assert corpus.suggest("QQQQ zxzx") == []


def test_an_empty_corpus_answers() -> None:
    corpus = Corpus([])
    assert len(corpus) == 0
    assert corpus.search("anything") == []
    assert corpus.suggest("anything") == []


def test_a_pasted_page_asks_by_its_first_words_only() -> None:
    corpus = Corpus([("needle", "", [])])
    page = " ".join(f"w{number}x" for number in range(MOST_TERMS * 20))
    assert corpus.search(page + " needle") == []
    assert corpus.search("needle " + page)[0].index == 0


@settings(max_examples=150, deadline=None)
@given(DOCUMENTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_a_corpus_asked_before_answers_like_a_fresh_one(
    documents: list[Document], queries: list[str]
) -> None:
    shared = Corpus(documents)
    for query in queries + queries[::-1]:
        assert shared.search(query) == Corpus(documents).search(query)
        assert shared.suggest(query) == Corpus(documents).suggest(query)


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS)
def test_the_scan_counts_what_reading_every_word_counts(documents: list[Document]) -> None:
    weights = (rank.SUMMARY_WEIGHT, rank.DETAILS_WEIGHT, rank.TAGS_WEIGHT)
    expected: dict[str, dict[int, float]] = {}
    for index, (summary, details, tags) in enumerate(documents):
        for weight, text in zip(weights, (summary, details, " ".join(tags)), strict=True):
            for word in normalise(text).split():
                for term in word_terms(word):
                    counts = expected.setdefault(term, {})
                    counts[index] = counts.get(index, 0.0) + weight
    corpus = Corpus(documents)
    assert {term: corpus._scan(term) for term in expected} == expected


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(), st.text(), st.lists(st.text(), max_size=2)), max_size=4), st.text())
def test_no_text_breaks_a_search(documents: list[Document], query: str) -> None:
    corpus = Corpus(documents)
    assert all(hit.terms and hit.score > 0 for hit in corpus.search(query))
    corpus.suggest(query)


def test_rapidfuzz_is_imported_only_for_a_word_nobody_wrote() -> None:
    code = (
        "import sys\nfrom valor.search import Corpus\ncorpus = Corpus([('database lock', '', [])])\n"
        "corpus.search('the lock'); print('rapidfuzz' in sys.modules)\n"
        "corpus.search('databsae'); print('rapidfuzz' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["False", "True"]
