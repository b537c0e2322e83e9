"""The measure of recall, and recall measured."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from valor import recall, record
from valor.errors import UsageError
from valor.eval.recall import Engine, evaluate
from valor.gate import BAR
from valor.recall import Known
from valor.recall_index import Document, MemoryIndex
from valor.window import Query

SHARED = Path(os.environ.get("VALOR_SHARED") or Path(__file__).parents[1].parent / "shared") / "corpus"


def engine(documents: list[Document]) -> Engine:
    index = MemoryIndex(documents)
    gate = index.gate()

    def answer(
        query: Query, now: float, *, before: float | None, told: set[str], scale: float
    ) -> list[tuple[str, float]]:
        found = recall.recall(query, gate, index, now, before=before, told=told, scale=scale)
        return [(each.known.id, each.evidence) for each in found]

    return answer


def document(id_: str, summary: str, at: str) -> Document:
    return Document(known=Known(id_, "error", summary, created=record.seconds(at) or 0.0), summary=summary)


DOCUMENTS = [
    document("early", "flock on NFS returns before the lock is held", "2026-01-01T00:00:00Z"),
    document("late", "flock on NFS still returns before the lock is held", "2026-06-01T00:00:00Z"),
    *[document(f"b{n}", f"colour number{n} shade{n}", "2026-01-01") for n in range(30)],
]


def window(label: str, *patterns: str, **more: object) -> dict[str, object]:
    events = [{"tool_name": "Grep", "tool_input": {"pattern": pattern}} for pattern in patterns]
    return {"window": events, "label": label, **more}


HELPED = window("positive", "zebra", "flock NFS lock held", as_of="2026-03-01", relevant=["early"])


def test_rates_count_windows_and_all_that_a_window_was_told() -> None:
    items = [
        HELPED,
        window("positive", "zebra", relevant=["early"]),
        window("negative", "zebra"),
        window("negative", "flock NFS lock held", "flock NFS lock held"),
    ]
    report, rows = evaluate(engine(DOCUMENTS), items, 0.0)
    assert (report["hit_rate"], report["false_injection_rate"]) == (0.5, 0.5)
    assert (report["n"], report["positives"], report["negatives"]) == (4, 2, 2)
    assert [row.right for row in rows] == [True, False, True, False]
    assert len(rows[3].told) == len(set(rows[3].told))


def test_lines_made_later_do_not_count() -> None:
    _, rows = evaluate(engine(DOCUMENTS), [HELPED], 0.0)
    assert rows[0].told == ("early",)


def test_with_a_transcript_the_third_call_sees_the_three() -> None:
    item = window("positive", "flock NFS", "lock held", "otter stoat badger", relevant=["early"])
    assert evaluate(engine(DOCUMENTS), [item], 0.0, transcript=True)[0]["hit_rate"] == 1.0
    two = window("positive", "flock NFS", "lock held", relevant=["early"])
    assert evaluate(engine(DOCUMENTS), [two], 0.0, transcript=True)[0]["hit_rate"] == 0.0


def test_a_session_tells_the_engine_what_it_holds_already() -> None:
    heard: list[set[str]] = []
    inner = engine(DOCUMENTS)

    def spy(
        query: Query, now: float, *, before: float | None, told: set[str], scale: float
    ) -> list[tuple[str, float]]:
        heard.append(told)
        return inner(query, now, before=before, told=told, scale=scale)

    evaluate(spy, [HELPED | {"window": HELPED["window"] * 2}], 0.0, scales=())  # type: ignore[operator]
    assert heard == [set(), set(), {"early"}, {"early"}]


def test_the_curve_says_what_other_bars_give() -> None:
    report, _ = evaluate(engine(DOCUMENTS), [HELPED], 0.0, scales=(0.5, 1.0, 9.0))
    assert [point["bar"] for point in report["curve"]] == [BAR / 2, BAR, BAR * 9]
    assert [point["hit_rate"] for point in report["curve"]] == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"window": [], "label": "negative"},
        {"window": [3], "label": "negative"},
        window("maybe", "x"),
        window("negative", "x", as_of="yesterday"),
        window("positive", "x", relevant="early"),
    ],
)
def test_an_item_of_another_shape_is_named(item: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="item 2"):
        evaluate(engine(DOCUMENTS), [HELPED, item], 0.0)


def test_no_items_give_zeros() -> None:
    report, rows = evaluate(engine(DOCUMENTS), [], 0.0, scales=())
    assert (report["hit_rate"], report["false_injection_rate"], rows) == (0.0, 0.0, [])


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared corpus is not here")
def test_recall_keeps_quiet_in_foreign_windows_and_helps_in_its_own() -> None:
    documents = []
    for text in (SHARED / "commits.jsonl").read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        known = Known(
            line["id"],
            line["type"],
            line["summary"],
            created=record.moment(line),
            importance=record.default_importance("agent", line["type"]),
        )
        tags = tuple(line["tags"])
        documents.append(Document(known=known, summary=line["summary"], details=line["details"], tags=tags))
    items = [json.loads(text) for text in (SHARED / "toolcalls.jsonl").read_text().splitlines()]
    measured = engine(documents)
    for transcript, least in ((False, 0.85), (True, 0.8)):
        report, _ = evaluate(measured, items, 0.0, transcript=transcript, scales=())
        assert report["false_injection_rate"] <= 0.05
        assert report["hit_rate"] >= least
