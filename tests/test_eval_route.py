"""Measuring the routing: the report's arithmetic, and the floors that routing must hold."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from valor.errors import UsageError
from valor.eval.route import LABELS, evaluate
from valor.routing.match import decide
from valor.routing.table import Table, load, parse

HERE = Path(__file__).parent
SHIPPED = HERE.parent / "valor" / "templates" / "memory-reference.md"
HELD_OUT = HERE / "fixtures" / "routing_held_out.jsonl"
SHARED = Path(os.environ.get("VALOR_SHARED", HERE.parents[1] / "shared"))
DEV = SHARED / "routing" / "dev.jsonl"

RIGHT = "The compiler drops the flag without a warning."
PERSON = "She wants short answers."
TABLE = f"""
| Scope | Owner | Storage | Signals | Examples |
|---|---|---|---|---|
| Tools | observations | log.jsonl | — | {RIGHT} |
| People | auto-memory | MEMORY.md | — | {PERSON} |
| Rest | nowhere | — | — | Continue with the menu tomorrow. |
"""


@pytest.fixture(scope="module")
def table() -> Table:
    return parse(TABLE)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_accuracy_counts_the_decided_and_coverage_the_owned(table: Table) -> None:
    report, rows = evaluate(
        table,
        [
            {"text": RIGHT, "label": "observations"},
            {"text": PERSON, "label": "instructions"},
            {"text": "Zxqv wvrk.", "label": "observations"},
            {"text": "Zxqv wvrk.", "label": "ambiguous"},
            {"text": PERSON, "label": "ambiguous"},
        ],
    )
    assert (report["n"], report["accuracy_decided"], report["coverage"]) == (5, 0.5, 0.6667)
    assert report["ambiguous_left"] == 0.5
    assert [row.right for row in rows] == [True, False, False, True, False]
    assert rows[0].verdict == "observations"
    assert rows[0].confidence > 0.9


def test_the_confusion_has_every_label_and_sums_to_the_items(table: Table) -> None:
    report, _ = evaluate(
        table, [{"text": PERSON, "label": "instructions"}, {"text": RIGHT, "label": "observations"}]
    )
    confusion = report["confusion"]
    assert set(confusion) == set(LABELS) == set(confusion["nowhere"])
    assert confusion["instructions"]["auto-memory"] == confusion["observations"]["observations"] == 1
    assert sum(sum(verdicts.values()) for verdicts in confusion.values()) == 2


def test_a_secret_that_reaches_a_store_is_counted(table: Table) -> None:
    noted = {"text": RIGHT, "label": "nowhere", "note": "secret value; composed"}
    told = {"text": "Database password is " + "Maple-Wood-" + "31", "label": "nowhere"}
    report, rows = evaluate(table, [noted, told, noted | {"note": "restates the code"}])
    assert report["secrets_routed"] == 1
    assert rows[1].verdict == "nowhere"


def test_no_items_make_an_empty_report_and_no_division(table: Table) -> None:
    report, rows = evaluate(table, [])
    assert (report["n"], report["accuracy_decided"], report["coverage"], report["ambiguous_left"]) == (
        0,
        0,
        0,
        0,
    )
    assert rows == []


@pytest.mark.parametrize(
    "item",
    [{"label": "nowhere"}, {"text": 3, "label": "nowhere"}, {"text": "a", "label": "vault"}, {"text": "a"}],
)
def test_an_item_of_another_shape_is_named_by_its_number(table: Table, item: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="item 2"):
        evaluate(table, [{"text": RIGHT, "label": "observations"}, item])


def test_the_shipped_table_holds_its_floor_on_sentences_it_has_not_seen() -> None:
    report, _ = evaluate(load(SHIPPED), read(HELD_OUT))
    assert report["accuracy_decided"] >= 0.94
    assert report["coverage"] >= 0.75
    assert report["ambiguous_left"] >= 0.75


def test_no_held_out_sentence_stands_in_the_table() -> None:
    page = SHIPPED.read_text("utf-8")
    assert not [item["text"] for item in read(HELD_OUT) if item["text"] in page]


@pytest.mark.shared
@pytest.mark.skipif(not DEV.is_file(), reason="the shared labelled sentences are not here")
def test_the_shipped_table_holds_the_bar_on_the_shared_sentences() -> None:
    report, _ = evaluate(load(SHIPPED), read(DEV))
    assert report["accuracy_decided"] >= 0.94
    assert report["coverage"] >= 0.84
    assert report["ambiguous_left"] > 0.5
    assert report["secrets_routed"] == 0


@pytest.mark.shared
def test_what_authors_say_of_their_changes_is_hardly_ever_refused(shared: Path) -> None:
    table = load(SHIPPED)
    verdicts: Counter[str] = Counter()
    for record in read(shared / "corpus" / "commits.jsonl")[::10]:
        verdicts[decide(table, f"{record['summary']}\n{record['details']}").owner] += 1
    assert verdicts.total() > 1000
    # No such text is a person's wish; some do say no more than the history does.
    assert verdicts["auto-memory"] <= 0.02 * verdicts.total()
    assert verdicts["nowhere"] <= 0.05 * verdicts.total()


@pytest.mark.shared
@pytest.mark.skipif(not DEV.is_file(), reason="the shared labelled sentences are not here")
def test_no_shared_sentence_stands_in_the_table() -> None:
    page = SHIPPED.read_text("utf-8")
    assert not [item["text"] for item in read(DEV) if item["text"] in page]
