"""Which lines are told: evidence, score, limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor import bloom, bloom_file, recall, recall_index
from valor.recall import Found, Known
from valor.recall_index import Document, MemoryIndex
from valor.window import Query, prompt_query, window_query

DAY = 86_400.0
NOW = 2_000_000_000.0
COLOURS = ("amber", "blue", "coral", "denim", "ebony", "fawn", "green", "hazel")
STRANGE = " ".join(first + second + "qu" for first in "bcdfghjklmnp" for second in "aeiouwxyz")


def line(id_: str, summary: str, details: str = "", **known: object) -> Document:
    made = Known(id_, str(known.pop("type", "error")), summary, created=NOW - DAY, **known)  # type: ignore[arg-type]
    return Document(known=made, summary=summary, details=details)


def background(count: int = 60) -> list[Document]:
    """Lines about other things, all of which speak of the server and, one in six, of the deploy script."""
    return [
        line(
            f"b{n}",
            f"server {COLOURS[n % 8]} {COLOURS[n // 8 % 8]} {n}",
            "the deploy script" if n % 6 == 0 else "",
        )
        for n in range(count)
    ]


def ask(query: Query, documents: list[Document], **how: object) -> list[str]:
    return [each.known.id for each in found(query, documents, **how)]


def found(query: Query, documents: list[Document], **how: object) -> list[Found]:
    index = MemoryIndex(documents)
    return recall.recall(query, index.gate(), index, NOW, **how)  # type: ignore[arg-type]


def tool(text: str) -> Query:
    return window_query([{"tool_input": {"pattern": text}}])


FLOCK = line("f", "flock on NFS returns before the lock is held", "seen with kernel 5.4")


def test_nonsense_returns_nothing() -> None:
    assert ask(prompt_query("QQQQ zxzx"), [*background(), FLOCK]) == []
    assert ask(prompt_query(""), [*background(), FLOCK]) == []
    assert ask(prompt_query("flock"), []) == []


@pytest.mark.parametrize(
    "prompt", ["flock", "why does flock hang?", "the flock of the server", "explain kernel 5.4"]
)
def test_one_rare_word_of_a_short_prompt_is_enough(prompt: str) -> None:
    assert ask(prompt_query(prompt), [*background(), FLOCK]) == ["f"]


def test_a_rare_word_deep_in_a_long_line_answers_a_short_prompt_too() -> None:
    deep = line("d", "umbrella", "then zstd " + STRANGE)
    assert ask(prompt_query("what broke zstd yesterday evening?"), [*background(), deep]) == ["d"]


def test_common_words_alone_return_nothing() -> None:
    documents = [*background(300), FLOCK]
    assert ask(prompt_query("server"), documents) == []
    assert ask(prompt_query("server deploy script"), documents) == []


def test_the_same_word_asked_in_a_tool_call_needs_company() -> None:
    others = STRANGE[:120]
    assert ask(tool(f"flock {others}"), [*background(), FLOCK]) == []
    assert ask(tool(f"flock NFS lock held kernel {others}"), [*background(), FLOCK]) == ["f"]


def test_work_on_what_the_log_never_heard_of_needs_more() -> None:
    near = tool("flock NFS lock")
    far = tool(f"flock NFS lock {STRANGE}")
    assert ask(near, [*background(), FLOCK]) == ["f"]
    assert ask(far, [*background(), FLOCK]) == []


def test_a_first_line_in_an_empty_log_is_recalled() -> None:
    assert ask(prompt_query("flock"), [FLOCK]) == ["f"]
    assert ask(tool("flock NFS lock held"), [FLOCK]) == ["f"]


def test_a_word_in_more_than_a_fifth_of_the_lines_carries_no_weight() -> None:
    assert recall.is_common(21, 100)
    assert not recall.is_common(20, 100)
    assert not recall.is_common(3, 3)  # too few lines to call anything common
    assert recall.is_common(4, 4)


def test_at_most_three_are_told_and_none_twice_in_a_session() -> None:
    alike = [line(f"f{n}", "flock on NFS returns early") for n in range(3)]
    more = [line(f"g{n}", f"flock on NFS returns early for client {n}") for n in range(2)]
    first = ask(prompt_query("nfs returns early"), [*background(), *alike, *more])
    assert len(first) == 3
    second = ask(prompt_query("nfs returns early"), [*background(), *alike, *more], told=set(first))
    assert len(second) == 2
    assert not set(first) & set(second)


def test_a_line_far_behind_the_best_stays_untold() -> None:
    weak = line("w", "umbrella of many words", "a lock " + " ".join(f"w{n}" for n in range(90)))
    assert ask(prompt_query("flock NFS lock held"), [*background(), FLOCK, weak]) == ["f"]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"type": "correction"}, {"type": "decision"}),
        ({"type": "decision"}, {"type": "error"}),
        ({"strength": 1.2}, {"strength": 1.0}),
        ({"strength": 1.0}, {"strength": 0.8}),
    ],
)
def test_type_and_learned_strength_decide_between_equals(
    better: dict[str, object], worse: dict[str, object]
) -> None:
    text = "flock on NFS"
    documents = [*background(), line("z", text, **worse), line("a", text, **better)]
    assert ask(prompt_query("flock"), documents) == ["a", "z"]


def test_what_kept_being_dismissed_is_no_longer_offered() -> None:
    assert ask(prompt_query("flock"), [*background(), line("f", "flock", strength=0.2)]) == []


def test_age_counts_less_the_more_a_line_matters() -> None:
    assert recall.decay(0.0, 1.0) == recall.decay(1.0, 1.0) == 1.0
    assert recall.decay(-5.0, 1.0) == 1.0
    assert recall.decay(400.0, 1.0) < recall.decay(40.0, 1.0)
    assert recall.decay(400.0, 1.0) < recall.decay(400.0, 8.0)


def test_only_lines_made_before_the_time_asked_count() -> None:
    documents = [*background(), FLOCK]
    assert ask(prompt_query("flock"), documents, before=NOW) == ["f"]
    assert ask(prompt_query("flock"), documents, before=NOW - DAY) == []


def test_one_huge_memory_makes_one_stub() -> None:
    huge = line("h", "zstd window log", "zstd " * 16_000)
    told = found(prompt_query("zstd"), [*background(), huge])
    assert [each.known.id for each in told] == ["h"]
    assert len(recall.block(told)) <= 1_200


def test_reading_changes_nothing() -> None:
    documents = [*background(), FLOCK]
    index = MemoryIndex(documents)
    query = prompt_query("flock")
    first = [each.score for each in recall.recall(query, index.gate(), index, NOW)]
    assert [each.score for each in recall.recall(query, index.gate(), index, NOW)] == first


def test_the_written_gate_never_says_no_where_the_lines_say_yes() -> None:
    index = MemoryIndex([*background(), FLOCK])
    read = bloom.parse(bloom_file.build(index.gate_terms(), index.lines))
    assert read is not None
    for text in ("flock", "flock NFS lock held", "server", "QQQQ zxzx", "amber blue coral"):
        for query in (prompt_query(text), tool(text)):
            opened = recall.recall(query, bloom.Gate(), index, NOW)
            gated = recall.recall(query, read, index, NOW)
            assert [each.known.id for each in gated] == [each.known.id for each in opened]


def test_the_gate_ends_what_could_never_reach_the_bar() -> None:
    index = MemoryIndex([*background(), FLOCK])
    assert recall.known_terms(tool(f"flock {STRANGE}"), index.gate()) == {}
    assert recall.known_terms(prompt_query("flock"), index.gate()) == {"flock": 2.0}


def test_a_share_is_a_whole_number_of_steps_and_never_none() -> None:
    shares = recall_index.term_shares(line("s", "zstd", "window " + "log " * 900))
    assert shares["window"] == 1 or shares["window"] < shares["log"] <= recall_index.SHARE_STEPS
    assert recall_index.share_steps(1e-9, 1e9) == 1
    assert MemoryIndex([FLOCK]).postings("flock") == [(0, recall_index.term_shares(FLOCK)["flock"] / 4095)]


TEXT = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from(["flock", "Flock,", "NFS", "a.b", "run_task", "the", "漢字"])).map(" ".join),
    st.just("zstd " * 600),
)
TEXTS = st.lists(st.tuples(TEXT, TEXT, st.lists(TEXT, max_size=3)), max_size=5)


@given(TEXTS, st.integers(0, 1 << 19))
def test_postings_made_in_bulk_are_those_of_each_line(
    texts: list[tuple[str, str, list[str]]], first: int
) -> None:
    postings, terms = recall_index.bulk_postings(texts, first)
    expected: dict[str, bytes] = {}
    for number, (summary, details, tags) in enumerate(texts, first):
        document = Document(
            known=Known("x", "error", summary), summary=summary, details=details, tags=tuple(tags)
        )
        shares = recall_index.term_shares(document)
        assert terms[number - first] == list(shares)
        for term, share in shares.items():
            expected[term] = expected.get(term, b"") + (number << 12 | share).to_bytes(4, "little")
    assert postings == expected


def test_a_line_beyond_what_a_posting_can_number_is_refused() -> None:
    recall_index.bulk_postings([("zstd", "", ())], (1 << 20) - 1)
    with pytest.raises(OverflowError):
        recall_index.bulk_postings([("zstd", "", ())], 1 << 20)
