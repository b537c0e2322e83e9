from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Repo

from valor import record

BIG = 2**70 + 1  # no float is equal to it


def line(number: int, **facts: Any) -> dict[str, Any]:
    return {
        "id": f"obs-179000000{number}-00000000000{number}",
        "timestamp": f"2026-09-0{number}T10:00:00Z",
        "session_id": "s-1",
        "type": "error",
        "summary": f"the worker number {number} leaks a descriptor on reload",
        "details": "",
        "tags": ["workers"],
        **facts,
    }


def token() -> str:
    return "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def text(*lines: dict[str, Any] | bytes) -> bytes:
    return b"".join(
        one if isinstance(one, bytes) else json.dumps(one, ensure_ascii=False).encode() + b"\n"
        for one in lines
    )


def ids(result: Any) -> list[str]:
    return [row["id"] for row in result.rows]


# export


def test_a_mistyped_type_is_an_error_in_an_export_too(repo: Repo) -> None:
    repo.write(line(1))
    slip = repo.valor("export", "--type", "lerning")
    assert slip.code == 2
    assert "learning" in slip.err


def test_lines_come_out_byte_for_byte(repo: Repo) -> None:
    odd = '{ "summary":"größer","id":"obs-1","x":123456789012345678901234567890, "y":1.50}'.encode()
    repo.write(b"\xef\xbb\xbf" + odd + b"\r\n", line(2))
    result = repo.valor("export")
    assert result.code == 0
    assert result.out.encode() == odd + b"\n" + text(line(2))


def test_filters_hold_together(repo: Repo) -> None:
    repo.write(
        line(1),
        line(2, type="pattern"),
        line(3, tags=["CI"]),
        line(4, session_id="s-2"),
        line(5, tags=["ci"]),
    )
    assert ids(repo.valor("export", "--type", "error", "--tags", "ci,web", "--since", "2026-09-04")) == [
        line(5)["id"]
    ]
    assert ids(repo.valor("export", "--session", "s-2")) == [line(4)["id"]]
    assert ids(repo.valor("export", "--until", "2026-09-01")) == [line(1)["id"]]


def test_private_lines_never_leave(repo: Repo) -> None:
    hidden = line(2, private=True)
    mark = {"id": "sup-1", "type": "supersession", "supersedes": [line(3)["id"]], "by": None, "private": True}
    repo.write(line(1), hidden, line(3), mark)
    assert ids(repo.valor("export", "--all")) == [line(1)["id"], line(3)["id"]]


def test_superseded_lines_and_marks_come_only_with_all(repo: Repo) -> None:
    mark = {"id": "sup-1", "type": "supersession", "supersedes": [line(1)["id"]], "by": line(2)["id"]}
    void = {"id": "rei-1", "type": "reinstatement", "of": "sup-9"}
    repo.write(line(1), mark, void, line(2), line(3, tags=["other"]))
    assert ids(repo.valor("export")) == [line(2)["id"], line(3)["id"]]
    assert ids(repo.valor("export", "--all")) == [
        line(1)["id"],
        "sup-1",
        "rei-1",
        line(2)["id"],
        line(3)["id"],
    ]
    assert ids(repo.valor("export", "--all", "--tags", "other")) == [line(3)["id"]]
    assert ids(repo.valor("export", "--all", "--tags", "workers")) == [line(1)["id"], "sup-1", line(2)["id"]]


def test_a_secret_that_an_older_tool_wrote_is_masked(repo: Repo) -> None:
    repo.write(line(1, details=f"cloned with {token()}", extra={"deep": [token()]}, big=BIG))
    result = repo.valor("export")
    assert result.code == 0
    [row] = result.rows
    assert (row["details"], row["big"]) == ("cloned with [redacted:github-token]", BIG)
    assert token() not in result.out + result.err
    assert "line 1" in result.err


def test_bad_lines_are_named_and_the_rest_comes_out(repo: Repo) -> None:
    repo.write(line(1), b"torn\n", line(2))
    result = repo.valor("export")
    assert (result.code, len(result.rows)) == (0, 2)
    assert "line 2" in result.err


def test_nothing_to_export_is_no_empty_success(repo: Repo, tmp_path: Path) -> None:
    old = tmp_path / "out.jsonl"
    old.write_bytes(b"kept\n")
    result = repo.valor("export", "--output", str(old), "--force")
    assert (result.code, result.out) == (1, "")
    assert old.read_bytes() == b"kept\n"


def test_a_file_that_exists_is_replaced_only_by_force(repo: Repo, tmp_path: Path) -> None:
    repo.write(line(1))
    target = tmp_path / "out.jsonl"
    assert repo.valor("export", "--output", str(target)).code == 0
    assert target.read_bytes() == text(line(1))
    repo.write(line(2))
    assert repo.valor("export", "-o", str(target)).code == 2
    assert target.read_bytes() == text(line(1))
    assert repo.valor("export", "-o", str(target), "--force").code == 0
    assert target.read_bytes() == text(line(2))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_the_log_is_never_an_export_s_target(repo: Repo, tmp_path: Path) -> None:
    repo.write(line(1), b"torn\n")
    before = repo.log.read_bytes()
    (tmp_path / "link.jsonl").symlink_to(repo.log)
    for target in (repo.log, tmp_path / "link.jsonl"):
        assert repo.valor("export", "-o", str(target), "--force").code == 2
    assert repo.log.read_bytes() == before


def test_a_file_that_cannot_be_written_is_unavailable(repo: Repo, tmp_path: Path) -> None:
    repo.write(line(1))
    assert repo.valor("export", "-o", str(tmp_path / "absent" / "out.jsonl")).code == 5


# import


def bring(repo: Repo, *lines: dict[str, Any] | bytes, options: tuple[str, ...] = ()) -> Any:
    return repo.valor("import", "-", *options, stdin=text(*lines))


def test_an_export_imported_twice_adds_nothing_the_second_time(
    repo: Repo, make_repo: Callable[[str], Repo], tmp_path: Path
) -> None:
    mark = {"id": "sup-1", "type": "supersession", "supersedes": [line(1)["id"]], "by": line(2)["id"]}
    unsigned = {"summary": "written by hand", "timestamp": "2026-01-01"}
    repo.write(line(1, x=[1, {"y": BIG}]), line(2), unsigned, mark, line(1))
    file = tmp_path / "export.jsonl"
    file.write_text(repo.valor("export", "--all").out)
    other = make_repo("other")
    first = other.valor("import", str(file))
    assert (first.code, first.rows[0]["written"]) == (0, 4)
    before = other.log.read_bytes()
    again = other.valor("import", str(file))
    assert (again.code, again.rows[0]["written"], again.rows[0]["already"]) == (0, 0, 4)
    assert other.log.read_bytes() == before
    assert repo.valor("import", str(file)).rows[0]["already"] == 4


def test_times_ids_and_unknown_fields_are_kept(repo: Repo) -> None:
    source = line(1, x=[1, {"y": BIG}], routed="override", source="merge", importance=7.5)
    assert bring(repo, source).code == 0
    assert repo.lines() == [source]


def test_lines_are_written_compact_in_the_documented_key_order(repo: Repo) -> None:
    bring(repo, b'{ "zeta": 1, "summary": "gr\\u00f6\\u00dfer", "id": "obs-1" }\n')
    assert repo.log.read_bytes() == '{"id":"obs-1","summary":"größer","zeta":1}\n'.encode()


def test_an_import_is_not_asked_for_route_junk_or_importance(repo: Repo) -> None:
    assert bring(repo, line(1, summary="The user prefers short answers"), line(2, summary="ok")).code == 0
    assert len(repo.lines()) == 2


def test_an_id_with_other_content_is_a_conflict_and_not_written(repo: Repo) -> None:
    repo.write(line(1))
    result = bring(repo, line(1, details="another"), line(2), line(2, details="again"))
    assert result.code == 1
    assert result.rows[0]["conflicts"] == [{"line": 1, "id": line(1)["id"]}, {"line": 3, "id": line(2)["id"]}]
    assert repo.lines() == [line(1), line(2)]


def test_the_same_content_spelled_otherwise_is_there_already(repo: Repo) -> None:
    repo.write(line(1, importance=8.0))
    spelled = json.dumps(
        dict(reversed(line(1, importance=8).items())), indent=None, separators=(" , ", " : ")
    )
    result = bring(repo, spelled.encode() + b"\n")
    assert (result.code, result.rows[0]["already"]) == (0, 1)


def test_without_an_id_the_content_decides(repo: Repo) -> None:
    repo.write(line(1, summary="The pool is shared"))
    unsigned = [
        {"summary": text}
        for text in ("the  pool is SHARED", "the pool is not shared", "The pool is NOT shared")
    ]
    result = bring(repo, *unsigned)
    assert (result.code, result.rows[0]["written"], result.rows[0]["already"]) == (0, 1, 2)
    assert bring(repo, *unsigned).rows[0]["written"] == 0
    assert record.identifier(repo.lines()[1]) == repo.lines()[1]["id"]


def test_without_an_id_a_text_that_was_retracted_may_come_again_but_not_twice(repo: Repo) -> None:
    repo.write(line(1), {"id": "sup-1", "type": "supersession", "supersedes": [line(1)["id"]], "by": None})
    unsigned = {"summary": line(1)["summary"]}
    assert bring(repo, unsigned).rows[0]["written"] == 1
    assert bring(repo, unsigned).rows[0]["written"] == 0


def test_marks_are_imported_as_they_are(repo: Repo) -> None:
    marks = [
        {"id": "sup-1", "type": "supersession", "supersedes": [line(1)["id"]], "by": None, "reason": "wrong"},
        {"id": "rei-1", "type": "reinstatement", "of": "sup-1"},
        {"type": "supersession", "supersedes": ["a"], "by": "b"},
        {"type": "supersession", "supersedes": ["c"], "by": "d"},
    ]
    assert bring(repo, *marks).rows[0]["written"] == 4
    assert repo.lines()[:2] == marks[:2]
    assert bring(repo, *marks).rows[0]["already"] == 4


def test_a_secret_is_refused_with_its_line_and_the_rest_lands(repo: Repo) -> None:
    result = bring(
        repo,
        line(1),
        line(2, details=f"cloned with {token()}"),
        line(3, extra={"deep": [token()]}),
        b"torn\n",
        line(4),
    )
    assert result.code == 4
    [row] = result.rows
    assert row["refused_secret"] == [
        {"line": 2, "kind": "github-token", "field": "details"},
        {"line": 3, "kind": "github-token", "field": "extra"},
    ]
    assert [one["line"] for one in row["bad"]] == [4]
    assert (row["read"], row["written"]) == (5, 2)
    assert token() not in result.out + result.err + repo.log.read_text()
    assert not repo.state.exists()


def test_a_key_named_field_that_valor_does_not_know_is_looked_at(repo: Repo) -> None:
    assert bring(repo, line(1, db_password="Tr0ub4dor&3xK!")).code == 4
    assert bring(repo, line(2, component="billing")).code == 0


def test_private_parts_are_taken_out_before_anything_is_written(repo: Repo) -> None:
    hidden = line(
        1,
        details="said <private>by Bob</private> twice",
        notes=["<private>x</private>", {"a": "<private>y</private>"}],
    )
    assert bring(repo, hidden, line(2, summary="<private>all of it</private>")).code == 1
    [written] = repo.lines()
    assert "private>" not in json.dumps(written)
    assert "Bob" not in repo.log.read_text()
    again = bring(repo, hidden)
    assert (again.rows[0]["already"], again.rows[0]["conflicts"]) == (1, [])


def test_bad_lines_are_reported_with_number_and_reason(repo: Repo) -> None:
    result = bring(repo, b'{"id":"obs-1","summ\n', b"\n", line(1), b"<<<<<<< HEAD\n", b"\xff\xfe\n")
    assert result.code == 1
    assert [(row["line"], row["reason"]) for row in result.rows[0]["bad"]] == [
        (1, "torn: the line ends in the middle"),
        (4, "merge conflict marker"),
        (5, "not UTF-8"),
    ]
    assert "line 4: merge conflict marker" in result.err
    assert repo.lines() == [line(1)]


def test_a_line_longer_than_a_line_may_be_is_reported(repo: Repo) -> None:
    result = bring(repo, line(1, details="word " * 20_000), line(2))
    assert result.code == 1
    assert "a line has at most 65,536" in result.rows[0]["bad"][0]["reason"]
    assert repo.lines() == [line(2)]


def test_a_line_nested_too_deep_is_reported(repo: Repo) -> None:
    deep = b'{"id":"obs-1","summary":"deep","x":' + b"[" * 1_100 + b"]" * 1_100 + b"}\n"
    result = bring(repo, deep, line(2))
    assert result.code == 1
    assert result.rows[0]["bad"] == [{"line": 1, "reason": "nested too deep"}]


def test_everything_read_is_accounted_for(repo: Repo) -> None:
    repo.write(line(1), line(2))
    [row] = bring(
        repo, line(1), line(2, details="x"), line(3), line(4, details=token()), b"torn\n", {"type": "error"}
    ).rows
    lists = sum(len(row[key]) for key in ("refused_secret", "bad", "conflicts"))
    assert row["read"] == 6 == row["written"] + row["already"] + lists


def test_a_dry_run_says_the_same_and_writes_nothing(repo: Repo) -> None:
    result = bring(repo, line(1), line(1, details="x"), options=("--dry-run",))
    assert result.code == 1
    assert (result.rows[0]["written"], result.rows[0]["dry_run"]) == (1, True)
    assert not repo.log.exists()
    assert not repo.state.exists()


def test_an_import_that_adds_nothing_leaves_the_log_alone(repo: Repo) -> None:
    assert bring(repo, b"torn\n", options=("--from", "jsonl")).code == 1
    assert not repo.log.exists()
    repo.write(text(line(1)).rstrip())
    bring(repo, line(1))
    assert repo.log.read_bytes() == text(line(1)).rstrip()


def test_an_empty_source_is_no_empty_success(repo: Repo) -> None:
    result = bring(repo)
    assert result.code == 1
    assert "there is nothing in -" in result.err


def test_a_torn_end_of_the_log_does_not_swallow_the_first_line(repo: Repo) -> None:
    repo.write(line(1), b'{"id":"obs-9')
    bring(repo, line(2))
    assert repo.log.read_bytes().splitlines()[2] == record.encode(line(2)).rstrip()


def test_what_does_not_exist_or_fit_is_said(repo: Repo) -> None:
    assert repo.valor("import", "absent.jsonl").code == 5
    result = bring(repo, line(1), options=("--from", "jsonlines"))
    assert result.code == 2
    assert "did you mean jsonl" in result.err


def test_an_import_stages_nothing_and_sets_no_flag(repo: Repo) -> None:
    repo.write(line(1))
    repo.git("add", "-A")
    repo.git("commit", "-qm", "start")
    bring(repo, line(2))
    assert repo.git("diff", "--cached", "--name-only") == ""
    assert all(row.startswith("H ") for row in repo.git("ls-files", "-v").splitlines())
    assert repo.git("diff", "--numstat").split()[:2] == ["1", "0"]


@pytest.mark.shared
def test_the_corpus_lands_whole_and_once(repo: Repo, shared: Path) -> None:
    source = shared / "corpus" / "commits.jsonl"
    [first] = repo.valor("import", str(source)).rows
    assert first["read"] == 10_018
    assert first["written"] + len(first["refused_secret"]) == 10_018
    assert len(first["refused_secret"]) <= 5
    before = repo.log.read_bytes()
    [again] = repo.valor("import", str(source)).rows
    assert (again["written"], again["already"]) == (0, first["written"])
    assert repo.log.read_bytes() == before
