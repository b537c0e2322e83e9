from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import LOG, Repo


def line(number: int, **facts: Any) -> dict[str, Any]:
    return {
        "id": f"obs-179000000{number}-00000000000{number}",
        "timestamp": f"2026-09-0{number}T10:00:00Z",
        "type": "error",
        "summary": f"the worker number {number} leaks a descriptor on reload",
        **facts,
    }


def token() -> str:
    return "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def commit(repo: Repo) -> None:
    repo.git("add", "-A")
    repo.git("commit", "-qm", "more memories")


@pytest.fixture
def grown(repo: Repo) -> Repo:
    """Three lines on main, a fourth behind them in the working tree."""
    repo.write(*map(line, (1, 2, 3)))
    commit(repo)
    repo.write(*map(line, (1, 2, 3, 4)))
    return repo


def test_a_log_that_only_grew_is_clean(grown: Repo) -> None:
    result = grown.valor("verify", "--against", "main")
    assert (result.code, result.out) == (0, "")
    assert "4 lines, nothing wrong; all 3 of main are there" in result.err


def test_a_line_that_is_gone_is_named_with_its_number_in_the_revision(grown: Repo) -> None:
    grown.write(*map(line, (1, 3, 4)))
    result = grown.valor("verify", "--against", "main")
    assert result.code == 1
    assert result.rows == [
        {"rule": "removed", "line": 2, "id": line(2)["id"], "message": "line 2 of main is gone"}
    ]


def test_a_line_that_was_changed_is_named_with_where_its_id_stands_now(grown: Repo) -> None:
    grown.write(line(1), line(3), line(2, summary="the worker never leaks"), line(4))
    [row] = grown.valor("verify", "--against", "main").rows
    assert (row["rule"], row["line"], row["id"], row["now"]) == ("changed", 2, line(2)["id"], 3)


def test_a_line_spelled_anew_is_a_changed_line(grown: Repo) -> None:
    compact = json.dumps(line(2), separators=(",", ":")).encode() + b"\n"
    grown.write(line(1), compact, line(3))
    [row] = grown.valor("verify", "--against", "main").rows
    assert (row["rule"], row["line"], row["now"]) == ("changed", 2, 2)


def test_a_correction_that_keeps_the_old_line_is_a_conflict_and_no_removal(grown: Repo) -> None:
    grown.write(*map(line, (1, 2, 3)), line(2, summary="the worker never leaks"))
    rows = grown.valor("verify", "--against", "main").rows
    assert [(row["rule"], row["line"], row["id"]) for row in rows] == [("conflicting-id", 4, line(2)["id"])]


def test_a_union_merge_that_reorders_and_repeats_lines_is_clean(grown: Repo) -> None:
    grown.write(*map(line, (4, 3, 1, 2, 1, 4)))
    assert grown.valor("verify", "--against", "main").code == 0


def test_one_of_two_equal_lines_that_is_gone_is_missed(repo: Repo) -> None:
    repo.write(line(1), line(2), line(1))
    commit(repo)
    repo.write(line(1), line(2))
    [row] = repo.valor("verify", "--against", "HEAD").rows
    assert (row["rule"], row["line"]) == ("removed", 3)


def test_a_line_that_was_no_record_may_be_mended(repo: Repo) -> None:
    repo.write(line(1), b"<<<<<<< HEAD\n", line(2), json.dumps(line(3)).encode() + b"{}\n")
    commit(repo)
    repo.write(*map(line, (1, 2, 3)))
    result = repo.valor("verify", "--against", "HEAD")
    assert (result.code, result.out) == (0, "")
    assert "line 2, 4 of HEAD" in result.err


def test_line_ends_and_a_byte_order_mark_are_no_change(grown: Repo) -> None:
    content = grown.log.read_bytes()
    grown.log.write_bytes(b"\xef\xbb\xbf" + content.replace(b"\n", b"\r\n\r\n"))
    assert grown.valor("verify", "--against", "main").code == 0


def test_a_log_that_is_gone_is_a_finding(grown: Repo) -> None:
    grown.log.unlink()
    result = grown.valor("verify", "--against", "main")
    assert result.code == 1
    assert "the log is gone; main has 3 lines of it" in result.rows[0]["message"]


def test_a_log_that_is_empty_now_misses_every_line(grown: Repo) -> None:
    grown.log.write_bytes(b"")
    rows = grown.valor("verify", "--against", "main").rows
    assert [(row["rule"], row["line"]) for row in rows] == [("removed", 1), ("removed", 2), ("removed", 3)]


def test_where_there_is_no_log_it_says_so(repo: Repo) -> None:
    result = repo.valor("verify")
    assert (result.code, result.out) == (0, "")
    assert "there is no log here" in result.err


def test_a_revision_without_a_log_holds_nothing_to_miss(repo: Repo) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "start")
    repo.write(line(1))
    result = repo.valor("verify", "--against", "HEAD")
    assert result.code == 0
    assert "HEAD has no log yet" in result.err


@pytest.mark.parametrize("revision", ["mian", "0" * 40, "--help-me", ""])
def test_a_revision_that_does_not_exist_is_a_usage_error(grown: Repo, revision: str) -> None:
    result = grown.valor("verify", f"--against={revision}")
    assert (result.code, result.out) == (2, "")
    assert "valor: " in result.err


def test_a_log_that_cannot_be_read_is_unavailable(repo: Repo) -> None:
    repo.log.mkdir(parents=True)
    assert repo.valor("verify").code == 5


def test_bad_lines_are_named_with_number_and_reason(repo: Repo) -> None:
    repo.write(line(1), b'{"id":"obs-1\n', b"\n", b"<<<<<<< HEAD\n", b'{"a":1}{"b":2}\n', line(2))
    result = repo.valor("verify")
    assert result.code == 1
    assert [(row["rule"], row["line"]) for row in result.rows] == [
        ("bad-line", 2),
        ("bad-line", 4),
        ("bad-line", 5),
    ]
    assert result.rows[1]["message"] == "merge conflict marker"


def test_one_id_on_lines_of_different_content_is_found_and_exact_repeats_are_not(repo: Repo) -> None:
    repo.write(line(1), line(2), line(1, details="another"), line(2))
    [row] = repo.valor("verify").rows
    assert (row["rule"], row["line"], row["id"]) == ("conflicting-id", 3, line(1)["id"])
    assert "lines 1, 3" in row["message"]


@pytest.mark.parametrize(
    "facts",
    [
        {"details": f"cloned with {token()} in CI"},
        {"tags": ["ci", token()]},
        {"extra": {"deep": [token()]}},
        {"private": True, "details": token()},
    ],
    ids=["details", "tags", "unknown field", "private line"],
)
def test_a_secret_is_found_wherever_it_stands_and_its_value_is_not_told(
    repo: Repo, facts: dict[str, Any]
) -> None:
    repo.write(line(1), line(2, **facts))
    result = repo.valor("verify")
    assert result.code == 1
    [row] = result.rows
    assert (row["rule"], row["line"], row["id"]) == ("secret", 2, line(2)["id"])
    assert "github-token in " in row["message"]
    assert token() not in result.out + result.err


def test_a_secret_on_a_line_that_does_not_read_is_found(repo: Repo) -> None:
    repo.write(line(1), b'{"summary":"cloned with ' + token().encode() + b'", "det\n')
    result = repo.valor("verify")
    assert [(row["rule"], row["line"]) for row in result.rows] == [("bad-line", 2), ("secret", 2)]
    assert token() not in result.out + result.err


def test_a_secret_in_an_id_does_not_leave_through_the_id(repo: Repo) -> None:
    repo.write(line(1, id=token()))
    result = repo.valor("verify")
    assert [row["id"] for row in result.rows] == [""]
    assert token() not in result.out + result.err


def test_only_new_leaves_out_what_the_revision_has_wrong_already(repo: Repo) -> None:
    old = [line(1, details=token()), line(2), line(2, details="another"), b"torn\n"]
    repo.write(*old)
    commit(repo)
    repo.write(*old, line(3), b"{torn too\n", line(1, details="a third"))
    everything = repo.valor("verify", "--against", "HEAD").rows
    fresh = repo.valor("verify", "--against", "HEAD", "--only-new").rows
    assert len(everything) == 5
    assert [(row["rule"], row["line"]) for row in fresh] == [("bad-line", 6), ("conflicting-id", 7)]
    assert repo.valor("verify", "--only-new").code == 2


def test_a_line_longer_than_valor_writes_is_a_notice(repo: Repo) -> None:
    repo.write(line(1, details="word " * 20_000))
    result = repo.valor("verify")
    assert result.code == 0
    assert "over 64 KiB" in result.err


def test_a_line_nested_deeper_than_the_interpreter_calls_is_looked_at(repo: Repo) -> None:
    deep = b'{"id":"obs-1","x":' + b"[" * 1_000 + b'"' + token().encode() + b'"' + b"]" * 1_000 + b"}\n"
    repo.write(deep)
    assert [row["rule"] for row in repo.valor("verify").rows] == ["secret"]


def test_a_table_can_be_asked_for_in_a_pipe(repo: Repo) -> None:
    repo.write(b"torn\n")
    result = repo.valor("verify", "--table")
    assert result.out.splitlines()[0] == "| rule | line | id | message |"


def test_verify_writes_nothing(grown: Repo) -> None:
    before = grown.log.read_bytes()
    grown.valor("verify", "--against", "main")
    assert grown.log.read_bytes() == before
    assert grown.git("status", "--porcelain").splitlines() == [f" M {LOG}"]
    assert not grown.state.exists()


@pytest.mark.shared
def test_the_corpus_is_clean_but_for_false_alarms(repo: Repo, shared: Path) -> None:
    repo.log.parent.mkdir(parents=True)
    repo.log.write_bytes((shared / "corpus" / "commits.jsonl").read_bytes())
    assert len(repo.valor("verify").rows) <= 5
