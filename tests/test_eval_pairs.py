"""Measuring consolidation: the arithmetic on a few pairs, the command, the bars on a labelled set."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import Repo

from valor.errors import UsageError
from valor.eval.pairs import evaluate

FIXTURE = Path(__file__).parent / "fixtures" / "pairs.jsonl"
RATES = (
    "false_merge_rate",
    "suggest_false_rate",
    "duplicates_auto",
    "duplicates_found",
    "supersedes_found",
    "supersedes_suggested",
)


def observed(
    name: str, summary: str, timestamp: str = "2026-05-01T10:00:00Z", **fields: Any
) -> dict[str, Any]:
    return {"id": f"obs-{name}", "timestamp": timestamp, "summary": summary, "details": "", **fields}


def pair(one: str, other: str, label: str, **fields: Any) -> dict[str, Any]:
    return {
        "a": observed("a", one),
        "b": observed("b", other, "2026-05-02T10:00:00Z"),
        "label": label,
        **fields,
    }


SAME = ("The gateway strips the trace header", "the gateway strips the trace header.")
LIKE = ("The gateway strips the trace header", "The trace header is stripped by the gateway")
REPLACED = ("Add a mutex around the refresh", "Remove the mutex around the refresh")
LIKELY = ("Add mutexes around the refresh", "Remove most mutexes around the refresh")
CONTRARY = ("The proxy listens on port 8080", "The proxy listens on port 8081")
FOREIGN = ("The gateway strips the trace header", "A thread of the importer is left behind")


def test_the_report_has_its_keys_and_counts_fractions_of_the_label() -> None:
    report, rows = evaluate(
        [
            pair(*FOREIGN, "distinct"),
            pair(*CONTRARY, "distinct"),
            pair(*SAME, "distinct"),
            pair(*LIKE, "distinct"),
            pair(*SAME, "duplicate"),
            pair(*LIKE, "duplicate"),
            pair(*FOREIGN, "duplicate"),
            pair(*REPLACED, "supersedes"),
            pair(*LIKELY, "supersedes"),
            pair(*FOREIGN, "supersedes"),
            pair(*SAME, "supersedes"),
        ]
    )
    assert list(report) == ["n", *RATES, "matrix"]
    assert {key: report[key] for key in ("n", *RATES)} == {
        "n": 11,
        "false_merge_rate": 0.25,
        "suggest_false_rate": 0.5,
        "duplicates_auto": pytest.approx(1 / 3, abs=1e-4),
        "duplicates_found": pytest.approx(2 / 3, abs=1e-4),
        "supersedes_found": 0.25,
        "supersedes_suggested": 0.5,
    }
    assert [row.right for row in rows] == [
        True,
        True,
        False,
        False,
        True,
        True,
        False,
        True,
        True,
        False,
        False,
    ]
    json.dumps(report)


def test_the_matrix_counts_each_verdict_by_label_and_subtype() -> None:
    report, _ = evaluate(
        [
            pair(*CONTRARY, "distinct", subtype="port"),
            pair(*CONTRARY, "distinct", subtype="port"),
            pair(*FOREIGN, "distinct", subtype="port"),
            pair(*FOREIGN, "distinct", subtype=7),
            pair(*SAME, "duplicate"),
        ]
    )
    assert report["matrix"] == {
        "distinct": {"none": 1},
        "distinct:port": {"conflict:conflict": 2, "none": 1},
        "duplicate": {"auto:duplicate": 1},
    }


def test_a_row_says_what_was_judged_by_which_rule_and_why() -> None:
    _, (merged, foreign) = evaluate([pair(*SAME, "duplicate", subtype="case"), pair(*FOREIGN, "distinct")])
    assert (merged.a, merged.b, merged.label, merged.subtype) == ("obs-a", "obs-b", "duplicate", "case")
    assert (merged.verdict, merged.rule, merged.why) == ("auto:duplicate", "same_text", "the same words")
    assert (foreign.verdict, foreign.rule, foreign.why, foreign.right) == ("none", "", "", True)


@pytest.mark.parametrize(
    ("texts", "label", "accept", "right"),
    [
        (SAME, "distinct", ["duplicate"], True),
        (SAME, "distinct", ["supersedes"], False),
        (REPLACED, "distinct", ["supersedes"], True),
        (REPLACED, "duplicate", ["supersedes"], True),
        (FOREIGN, "duplicate", ["distinct"], True),
        (CONTRARY, "supersedes", ["distinct"], True),
        (LIKE, "distinct", ["duplicate"], True),
        (SAME, "distinct", [], False),
        (SAME, "distinct", None, False),
    ],
)
def test_another_label_that_can_be_defended_is_right_too(
    texts: tuple[str, str], label: str, accept: list[str] | None, right: bool
) -> None:
    report, (row,) = evaluate([pair(*texts, label, accept=accept)])
    assert row.right is right
    if label == "distinct":
        assert report["suggest_false_rate"] == (0.0 if right else 1.0)


def test_a_pair_is_judged_in_the_order_of_its_times() -> None:
    first, second = observed("a", REPLACED[0]), observed("b", REPLACED[1], "2026-05-02T10:00:00Z")
    for one, other in ((first, second), (second, first)):
        _, (row,) = evaluate([{"a": one, "b": other, "label": "supersedes"}])
        assert (row.a, row.b, row.verdict) == ("obs-a", "obs-b", "auto:supersedes")


@pytest.mark.parametrize(
    "times",
    [
        ("", ""),
        ("2026-05-01T10:00:00Z", ""),
        ("soon", "2026-05-01T10:00:00Z"),
        ("2026-05-01T10:00:00Z", "2026-05-01T10:00:00Z"),
    ],
)
def test_the_second_is_the_later_where_the_times_do_not_say(times: tuple[str, str]) -> None:
    a, b = (observed(name, text, time) for name, text, time in zip("ab", REPLACED, times, strict=True))
    _, (row,) = evaluate([{"a": a, "b": b, "label": "supersedes"}])
    assert (row.a, row.b) == ("obs-a", "obs-b")


def test_no_items_give_an_empty_report() -> None:
    report, rows = evaluate([])
    assert report == {"n": 0, **dict.fromkeys(RATES, 0.0), "matrix": {}}
    assert rows == []


def test_records_without_text_or_id_are_two_facts() -> None:
    _, (row,) = evaluate([{"a": {}, "b": {}, "label": "distinct"}])
    assert row.verdict == "none"


def test_a_log_may_say_how_rare_a_word_is() -> None:
    texts = ("The gateway strips header zeta of it", "The gateway strips header kappa and more of it")
    log = [observed(str(number), "The gateway strips a header of it") for number in range(50)]
    item = pair(*texts, "distinct")
    assert evaluate([item])[0]["n"] == evaluate([item], log)[0]["n"] == 1


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"b": {}, "label": "distinct"}, "no two records"),
        ({"a": {}, "label": "distinct"}, "no two records"),
        ({"a": "x", "b": {}, "label": "distinct"}, "no two records"),
        ({"a": {}, "b": [], "label": "distinct"}, "no two records"),
        ({"a": {}, "b": {}}, "is no label"),
        ({"a": {}, "b": {}, "label": "same"}, "is no label"),
        ({"a": {}, "b": {}, "label": "distinct", "accept": "duplicate"}, "accept"),
        ({"a": {}, "b": {}, "label": "distinct", "accept": [7]}, "accept"),
        ({}, "no two records"),
    ],
)
def test_an_item_of_another_shape_is_named_by_number(item: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match="item 2") as caught:
        evaluate([pair(*SAME, "duplicate"), item])
    assert message in str(caught.value)
    assert caught.value.hint


# the command


def written(path: Path, *rows: object) -> str:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_the_command_prints_the_report_and_a_row_an_item(repo: Repo, tmp_path: Path) -> None:
    items = written(tmp_path / "pairs.jsonl", pair(*SAME, "duplicate"), pair(*FOREIGN, "distinct"))
    before = sorted(repo.home.rglob("*"))
    done = repo.valor("eval", "pairs", items)
    assert (done.code, len(done.rows)) == (0, 1), done.err
    assert done.rows[0]["duplicates_auto"] == 1.0
    *rows, report = repo.valor("eval", "pairs", items, "--items").rows
    assert [row["verdict"] for row in rows] == ["auto:duplicate", "none"]
    assert report == done.rows[0]
    assert sorted(repo.home.rglob("*")) == before


def test_the_command_reads_standard_input_and_needs_no_project(repo: Repo, tmp_path: Path) -> None:
    done = repo.valor("eval", "pairs", "-", stdin=json.dumps(pair(*SAME, "duplicate")), cwd=tmp_path)
    assert (done.code, done.rows[0]["n"]) == (0, 1), done.err


def test_a_log_is_read_and_one_that_is_not_there_is_named(repo: Repo, tmp_path: Path) -> None:
    items = written(tmp_path / "pairs.jsonl", pair(*SAME, "duplicate"))
    log = written(tmp_path / "log.jsonl", *(observed(str(n), "The gateway strips") for n in range(3)))
    assert repo.valor("eval", "pairs", items, "--log", log).rows[0]["n"] == 1
    done = repo.valor("eval", "pairs", items, "--log", str(tmp_path / "absent.jsonl"))
    assert (done.code, done.out) == (5, "")
    assert "absent.jsonl" in done.err


@pytest.mark.parametrize(
    ("row", "word"),
    [
        ({"a": {}, "b": {}, "label": "perhaps"}, "item 2"),
        ({"a": {}, "label": "distinct"}, "item 2"),
        ([1, 2], ""),
        ("text", ""),
    ],
)
def test_a_malformed_item_is_a_matter_of_usage(repo: Repo, tmp_path: Path, row: object, word: str) -> None:
    done = repo.valor("eval", "pairs", written(tmp_path / "pairs.jsonl", pair(*SAME, "duplicate"), row))
    assert (done.code, done.out) == (2, ""), done.err
    assert word in done.err
    assert "Traceback" not in done.err


def test_a_file_that_is_not_there_is_unavailable(repo: Repo, tmp_path: Path) -> None:
    assert repo.valor("eval", "pairs", str(tmp_path / "absent.jsonl")).code == 5


# the labelled set


def labelled() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FIXTURE.read_text(encoding="utf-8").splitlines()]


def test_the_labelled_set_is_half_hard_negatives_of_many_kinds() -> None:
    items = labelled()
    labels = Counter(item["label"] for item in items)
    assert len(items) >= 160
    assert labels["distinct"] >= 0.45 * len(items)
    assert min(labels["duplicate"], labels["supersedes"]) >= 40
    assert len({(item["label"], item["subtype"]) for item in items}) >= 60
    ends = [item[side]["id"] for item in items for side in "ab"]
    assert len(set(ends)) == len(ends)
    texts = [
        tuple(item[side][key] for side in "ab" for key in ("summary", "details", "timestamp"))
        for item in items
    ]
    assert len(set(texts)) == len(texts)


def test_the_labelled_set_stays_within_its_bars() -> None:
    report, rows = evaluate(labelled())
    wrong = [row for row in rows if row.verdict.startswith("auto") and not row.right]
    assert report["false_merge_rate"] == 0, wrong
    assert report["suggest_false_rate"] <= 0.06
    assert report["duplicates_auto"] >= 0.45
    assert report["duplicates_found"] >= 0.7
    assert report["supersedes_found"] >= 0.45
    assert report["supersedes_suggested"] >= 0.75


def test_no_pair_of_the_labelled_set_is_replaced_by_its_earlier_line() -> None:
    turned = []
    for item in labelled():
        a, b = dict(item["a"]), dict(item["b"])
        a["timestamp"], b["timestamp"] = b["timestamp"], a["timestamp"]
        turned.append({**item, "a": a, "b": b})
    report, rows = evaluate(turned)
    kinds = [row.subtype for row in rows if row.verdict == "auto:supersedes" and row.label == "distinct"]
    assert report["n"] == len(turned)
    assert set(kinds) <= {"antonym", "earlier-replaces", "id-mention"}
