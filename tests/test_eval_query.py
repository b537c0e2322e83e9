"""Measuring search: the arithmetic on a tiny log, the bar on the shared corpus."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from valor.errors import UsageError
from valor.eval.query import Labelled, evaluate

SHARED = Path(os.environ.get("VALOR_SHARED") or Path(__file__).parents[1].parent / "shared")

LOG: list[Labelled] = [
    ("obs-1", "the queue drops jobs on restart", "", []),
    ("obs-2", "the queue keeps jobs", "", []),
    ("obs-3", "jobs", "the queue of the printer is slow to drain and needs a longer time-out", []),
    ("obs-4", "unrelated words", "", []),
]


def rank_of(item: dict[str, Any]) -> int:
    _, rows = evaluate(LOG, [item])
    return rows[0].rank


def test_the_report_averages_over_all_items() -> None:
    items = [
        {"query": "queue drops jobs on restart", "relevant": ["obs-1"]},  # rank 1
        {"query": "queue drops jobs on restart", "relevant": ["obs-2"]},  # rank 2
        {"query": "zzzzz", "relevant": ["obs-4"]},  # missed
    ]
    report, rows = evaluate(LOG, items)
    assert [row.rank for row in rows] == [1, 2, 0]
    assert report == {
        "n": 3,
        "mrr": pytest.approx(0.5),
        "hit@1": pytest.approx(1 / 3),
        "hit@5": pytest.approx(2 / 3),
        "hit@10": pytest.approx(2 / 3),
        "relevant_absent": 0,
    }
    assert rows[0].top[:2] == ("obs-1", "obs-2")


def test_the_first_of_several_relevant_lines_counts() -> None:
    assert rank_of({"query": "queue drops jobs on restart", "relevant": ["obs-3", "obs-1"]}) == 1


def test_lines_labelled_maybe_leave_the_ranking() -> None:
    asked = {"query": "queue drops jobs on restart", "relevant": ["obs-3"]}
    assert rank_of(asked) == 3
    assert rank_of({**asked, "maybe": ["obs-1"]}) == 2
    assert rank_of({**asked, "maybe": ["obs-1", "obs-2"]}) == 1
    assert rank_of({**asked, "maybe": ["obs-3"]}) == 3  # relevant wins over maybe


def test_a_line_below_the_hundredth_rank_is_missed() -> None:
    log: list[Labelled] = [(f"obs-{n}", "same words", "", []) for n in range(150)]
    _, rows = evaluate(log, [{"query": "words", "relevant": [each]} for each in ("obs-50", "obs-49")])
    assert [row.rank for row in rows] == [100, 0]
    _, rows = evaluate(log, [{"query": "words", "relevant": ["obs-49"], "maybe": ["obs-absent"]}])
    assert rows[0].rank == 0


def test_a_relevant_id_that_is_not_in_the_log_is_counted() -> None:
    report, _ = evaluate(LOG, [{"query": "jobs", "relevant": ["obs-9", "obs-1"]}])
    assert report["relevant_absent"] == 1


def test_no_items_give_an_empty_report() -> None:
    report, rows = evaluate(LOG, [])
    assert (report["n"], report["mrr"], rows) == (0, 0.0, [])


@pytest.mark.parametrize(
    "item",
    [
        {"relevant": ["obs-1"]},
        {"query": " ", "relevant": ["obs-1"]},
        {"query": "jobs"},
        {"query": "jobs", "relevant": []},
        {"query": "jobs", "relevant": "obs-1"},
        {"query": "jobs", "relevant": ["obs-1"], "maybe": [7]},
    ],
)
def test_an_item_of_another_shape_is_named_by_number(item: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="item 2") as caught:
        evaluate(LOG, [{"query": "jobs", "relevant": ["obs-1"]}, item])
    assert caught.value.hint


@pytest.mark.shared
def test_search_stays_above_its_bar_on_the_shared_corpus() -> None:
    folder = SHARED / "corpus"
    if not folder.is_dir():
        pytest.skip(f"no shared corpus at {folder}")
    records = [json.loads(line) for line in (folder / "commits.jsonl").read_text("utf-8").splitlines()]
    items = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]
    report, _ = evaluate(((r["id"], r["summary"], r["details"], r["tags"]) for r in records), items)
    assert report["relevant_absent"] == 0
    assert report["mrr"] >= 0.84
    assert report["hit@5"] >= 0.93
