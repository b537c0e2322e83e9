from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from conftest import VALOR, Repo


def line(n: int, summary: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"obs-{1760000000 + n}-{n:012x}",
        "timestamp": f"2026-01-{n + 1:02}T00:00:00Z",
        "session_id": "s1",
        "type": "learning",
        "summary": summary,
    } | more


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


def test_a_list_is_newest_first_and_limited(repo: Repo) -> None:
    repo.write(*(line(n, f"note {n}") for n in (2, 0, 1)))
    assert [row["summary"] for row in repo.valor("memory-query").rows] == ["note 2", "note 1", "note 0"]
    assert len(repo.valor("memory-query", "--limit", "2").rows) == 2
    assert len(repo.valor("memory-query", "--limit", "0").rows) == 3


def test_three_levels_disclose_more_and_more(repo: Repo) -> None:
    one = line(1, "s" * 500, details="d" * 900, tags=["ci"], references=["a.py:1"], extra={"kept": True})
    repo.write(one)
    index, summary = (
        repo.valor("memory-query", "--index").rows[0],
        repo.valor("memory-query", "--summary").rows[0],
    )
    full = repo.valor("memory-query", "--full", one["id"]).rows[0]
    assert set(index) == {"id", "type", "timestamp", "summary"}
    assert len(json.dumps(index)) <= 50 * 5
    assert 400 < len(json.dumps(summary)) <= 200 * 5
    assert full == one


def test_filters_hold_together(repo: Repo) -> None:
    repo.write(
        line(1, "redis pings", tags=["ci"]),
        line(2, "redis pongs", tags=["ci"], type="error"),
        line(3, "redis pings again", tags=["dev"]),
        line(4, "valkey", tags=["ci"]),
        line(5, "redis once more", tags=["CI", "dev"]),
        line(6, "redis elsewhere", tags=["ci"], session_id="s2"),
    )
    found = repo.valor(
        "memory-query",
        "--type",
        "learning",
        "--tags",
        "ci",
        "--since",
        "2026-01-03",
        "--session",
        "s1",
        "redis",
    )
    assert ids(found.rows) == [line(5, "")["id"]]
    assert len(repo.valor("memory-query", "--tags", "ci,dev").rows) == 6
    assert ids(repo.valor("memory-query", "--until", "2026-01-03").rows) == [
        line(n, "")["id"] for n in (2, 1)
    ]


@pytest.mark.parametrize(
    ("typed", "meant"), [("lerning", "learning"), ("Error", "error"), ("desicion", "decision")]
)
def test_a_mistyped_type_is_an_error_and_never_an_empty_answer(repo: Repo, typed: str, meant: str) -> None:
    repo.write(line(1, "note"))
    result = repo.valor("memory-query", "--type", typed)
    assert result.code == 2
    assert f"did you mean {meant}?" in result.err
    assert "surprise" in result.err


def test_a_type_that_another_tool_wrote_can_be_asked_for(repo: Repo) -> None:
    repo.write(line(1, "note", type="insight"))
    assert len(repo.valor("memory-query", "--type", "insight").rows) == 1


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("agent-crew", "the agent-crew starts late"),
        ("crew:run", "call crew:run twice"),
        ("task_tools", "task_tools leaks handles"),
        ('say "hi', 'it must say "hi" first'),
        ("(python", "the (python) shim"),
        ("C++", "C++ headers drift"),
        (".env", "the .env file is read late"),
        ("--no-verify", "hooks need --no-verify there"),
        ("しりとり", "しりとりの遊び方を直した"),
        ("成语接龙", "修复了成语接龙的规则"),
        ("설정", "설정 파일을 두 번 읽는다"),
        ("fork", "sockets die after forking"),
    ],
)
def test_a_query_of_any_script_or_symbol_finds_its_line(repo: Repo, query: str, target: str) -> None:
    others = ["nothing to see", "another note entirely", "plain words only", "the last resort"]
    repo.write(*(line(n, text) for n, text in enumerate([*others, target])))
    arguments = ["--", query] if query.startswith("-") else [query]
    assert repo.valor("memory-query", *arguments).rows[0]["summary"] == target


def test_a_long_question_of_common_words_still_ranks_the_right_line_first(repo: Repo) -> None:
    noise = [f"we do know why the test of the build in the release {n} is what it is" for n in range(12)]
    repo.write(*(line(n, text) for n, text in enumerate([*noise, "workers deadlock on the sqlite journal"])))
    question = (
        "what do we know about why the workers in the test of the build are in a deadlock on the journal?"
    )
    assert "deadlock" in repo.valor("memory-query", question).rows[0]["summary"]


def test_nonsense_finds_nothing_and_says_so(repo: Repo) -> None:
    repo.write(line(1, "sockets die after forking"))
    result = repo.valor("memory-query", "QQQQ zxzx")
    assert (result.code, result.out) == (1, "")
    assert "nothing found" in result.err


def test_a_typo_is_helped(repo: Repo) -> None:
    repo.write(line(1, "kubernetes evicts the pod"), line(2, "unrelated"))
    result = repo.valor("memory-query", "kubernets")
    assert ids(result.rows) == [line(1, "")["id"]]
    short = repo.valor("memory-query", "evct")
    assert short.code == 1
    assert "did you mean evict" in short.err


def test_times_of_every_form_sort_and_filter_alike_in_every_time_zone(repo: Repo) -> None:
    times = [
        "2026-03-01T12:00:00Z",
        "2026-03-01T23:00:00+09:00",
        "2026-03-01T13:00:00",
        "2026-02-28",
        "garbage",
    ]
    repo.write(*(line(n, f"note {n}") | {"id": f"note-{n}", "timestamp": at} for n, at in enumerate(times)))
    for zone in ("UTC", "Pacific/Kiritimati", "America/Los_Angeles"):
        assert ids(repo.valor("memory-query", TZ=zone).rows) == [
            "note-1",
            "note-2",
            "note-0",
            "note-3",
            "note-4",
        ]
        since = repo.valor("memory-query", "--since", "2026-03-01", TZ=zone)
        assert ids(since.rows) == ["note-1", "note-2", "note-0"]
    slip = repo.valor("memory-query", "--since", "yesterdy")
    assert slip.code == 2
    assert "--since" in slip.err


def test_bad_lines_are_named_and_never_an_empty_success(repo: Repo) -> None:
    lines = [line(n, f"note {n}") for n in range(10)]
    repo.write(*lines[:2], json.dumps(lines[2]).encode()[:40] + b"\n", *lines[3:], b'{"a":1}{"b":2}\n')
    result = repo.valor("memory-query", "--limit", "0")
    assert result.code == 0
    assert len(result.rows) == 9
    assert "line 3: torn" in result.err
    assert "line 11: two objects" in result.err
    repo.write(b"<<<<<<< HEAD\n")
    empty = repo.valor("memory-query")
    assert (empty.code, empty.out) == (1, "")
    assert "line 1: merge conflict marker" in empty.err


def test_a_private_line_is_shown_by_full_with_its_whole_id_alone(repo: Repo) -> None:
    repo.write(line(1, "the hidden handshake", private=True), line(2, "the open handshake"))
    hidden = line(1, "")["id"]
    assert ids(repo.valor("memory-query", "--all", "handshake").rows) == [line(2, "")["id"]]
    assert len(repo.valor("memory-query").rows) == 1
    assert repo.valor("memory-query", "--full", hidden).rows[0]["summary"] == "the hidden handshake"
    assert repo.valor("memory-query", "--full", hidden[:-1]).code == 1
    assert "hidden" not in repo.valor("memory-query", "--stats").out


def test_full_takes_a_unique_prefix_and_an_ambiguous_one_lists_candidates(repo: Repo) -> None:
    repo.write(line(1, "one"), line(2, "two"))
    assert repo.valor("memory-query", "--full", "obs-1760000001").rows[0]["summary"] == "one"
    result = repo.valor("memory-query", "--full", "obs-17600")
    assert (result.code, result.out) == (2, "")
    assert line(1, "")["id"] in result.err
    assert line(2, "")["id"] in result.err
    assert "did you mean" in repo.valor("memory-query", "--full", line(1, "")["id"] + "x").err


def test_superseded_lines_are_hidden_unless_asked_for_and_marked_with_their_successor(repo: Repo) -> None:
    old, new, gone = line(1, "old pool"), line(2, "new pool"), line(3, "wrong pool")
    repo.write(
        old, new, gone,
        {"id": "sup-1", "type": "supersession", "supersedes": [old["id"]], "by": new["id"]},
        {"id": "sup-2", "type": "supersession", "supersedes": [gone["id"]], "by": None},
    )  # fmt: skip
    assert ids(repo.valor("memory-query", "pool").rows) == [new["id"]]
    rows = {row["id"]: row.get("superseded_by", "live") for row in repo.valor("memory-query", "--all").rows}
    assert rows == {old["id"]: new["id"], new["id"]: "live", gone["id"]: None}
    assert repo.valor("memory-query", "--full", old["id"]).rows[0]["superseded_by"] == new["id"]


def test_as_of_answers_what_was_known_then(repo: Repo) -> None:
    old, new = line(1, "old pool"), line(9, "new pool")
    mark = {"id": "sup-1", "type": "supersession", "supersedes": [old["id"]], "by": new["id"]}
    repo.write(old, new, mark | {"timestamp": "2026-01-20T00:00:00Z"})
    assert ids(repo.valor("memory-query", "--as-of", "2026-01-05").rows) == [old["id"]]
    assert len(repo.valor("memory-query", "--as-of", "2026-01-15").rows) == 2
    assert ids(repo.valor("memory-query").rows) == [new["id"]]
    assert ids(repo.valor("memory-query", "--as-of", "2026-01-02").rows) == [old["id"]]


def test_explain_gives_the_terms_that_ranked_a_hit(repo: Repo) -> None:
    repo.write(line(1, "sockets die after forking"), line(2, "unrelated"))
    row = repo.valor("memory-query", "--explain", "socket fork").rows[0]
    assert row["score"] > 0
    assert {term["term"] for term in row["terms"]} >= {"socket"}


def test_blame_says_who_added_a_line_and_when(repo: Repo) -> None:
    repo.write(line(1, "committed"))
    repo.git("add", "-A")
    repo.git("commit", "-qm", "Remember one thing")
    with repo.log.open("a") as file:
        file.write(json.dumps(line(2, "not yet")) + "\n")
    fresh, old = repo.valor("memory-query", "--blame").rows
    assert (old["author"], old["subject"]) == ("Ada", "Remember one thing")
    assert repo.git("rev-parse", "HEAD").startswith(old["commit"])
    assert fresh["commit"] == "not committed yet"


def test_blame_without_any_commit_is_no_error(repo: Repo) -> None:
    repo.write(line(1, "never committed"))
    assert repo.valor("memory-query", "--blame").rows[0]["commit"] == "not committed yet"


def test_a_secret_that_an_older_tool_wrote_is_masked_on_read(repo: Repo) -> None:
    secret = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    one = line(1, f"CI used {secret} here", details=f"and {secret} there", extra=[secret])
    repo.write(one, line(2, "CI used another", type=secret, timestamp=secret))
    repo.git("add", "-A")
    repo.git("commit", "-qm", f"Remember {secret}")
    for arguments in (["--index"], ["--summary"], ["--full", one["id"]], ["--blame"]):
        result = repo.valor("memory-query", *arguments)
        assert secret not in result.out + result.err
        assert "CI used" in result.out
    for arguments in (["--stats"], ["--type", "lerning"]):
        result = repo.valor("memory-query", *arguments)
        assert secret not in result.out + result.err


def test_a_line_of_15_megabytes_is_read_and_cut_in_output(repo: Repo) -> None:
    big = line(1, "big one", details="word " * 3_000_000)
    repo.write(big, line(2, "small one"))
    result = repo.valor("memory-query", "--summary", "big")
    assert result.rows[0]["id"] == big["id"]
    assert len(result.out) < 2000
    assert len(repo.valor("memory-query", "--full", big["id"]).out) < 100_000


def test_a_line_nested_as_deep_as_the_parser_allows_is_shown(repo: Repo) -> None:
    deep = b'{"id":"obs-1","summary":"deep","x":' + b"[" * 1000 + b"]" * 1000 + b"}\n"
    repo.write(deep, line(2, "flat"))
    assert len(repo.valor("memory-query").rows) == 2
    assert repo.valor("memory-query", "--full", "obs-1").code == 0


def test_stats_count_the_log(repo: Repo) -> None:
    repo.write(line(1, "a"), line(2, "b", type="error"), line(3, "c", session_id="s2"), b"torn{\n")
    [facts] = repo.valor("memory-query", "--stats").rows
    assert (facts["total_observations"], facts["sessions"], facts["bad_lines"]) == (3, 2, 1)
    assert facts["date_range"] == {"oldest": "2026-01-02", "newest": "2026-01-04"}
    assert {one["type"]: one["count"] for one in facts["by_type"]} == {"learning": 2, "error": 1}


def test_an_empty_or_missing_log_finds_nothing(repo: Repo) -> None:
    assert repo.valor("memory-query").code == 1
    repo.write()
    result = repo.valor("memory-query", "--stats")
    assert (result.code, result.out) == (1, "")
    assert "valor observe" in result.err


def test_a_pipe_gets_json_lines_and_a_terminal_a_table(repo: Repo) -> None:
    repo.write(line(1, "sockets | die \x1b[31mred\x1b[0m"))
    assert json.loads(repo.valor("memory-query").out)["type"] == "learning"
    table = repo.valor("memory-query", "--table").out
    assert table.startswith("| id | type |")
    assert "\\|" in table
    assert "\x1b" not in table
    shown = repo.on_a_terminal(200, "memory-query")
    assert line(1, "")["id"] in shown
    assert "\x1b[31m" not in shown
    assert json.loads(repo.on_a_terminal(200, "memory-query", "--json"))["type"] == "learning"
    assert "\x1b" not in repo.on_a_terminal(200, "memory-query", NO_COLOR="1")


@pytest.mark.parametrize(
    "env", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "cp1252"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}]
)
def test_narrow_encodings_are_safe(repo: Repo, env: dict[str, str]) -> None:
    repo.write(line(1, "설정 … → ✓"))
    assert repo.valor("memory-query", **env).rows[0]["summary"] == "설정 … → ✓"
    assert "✓" in repo.valor("memory-query", "--table", **env).out
    assert repo.valor("memory-query", "zzzz …→✓", **env).code == 1


def test_flags_that_exclude_each_other_say_so(repo: Repo) -> None:
    repo.write(line(1, "note"))
    assert repo.valor("memory-query", "--json", "--table").code == 2
    assert repo.valor("memory-query", "--index", "--summary").code == 2
    slip = repo.valor("memory-query", "--limt", "3")
    assert slip.code == 2
    assert "did you mean --limit" in slip.err


def test_reading_changes_nothing(repo: Repo) -> None:
    repo.write(line(1, "note"))
    before = repo.log.read_bytes(), repo.log.stat().st_mtime_ns
    for arguments in ([], ["note"], ["--stats"], ["--full", line(1, "")["id"]]):
        repo.valor("memory-query", *arguments)
    assert (repo.log.read_bytes(), repo.log.stat().st_mtime_ns) == before
    assert not repo.state.exists()


def test_a_command_that_is_misspelt_names_the_nearest(repo: Repo) -> None:
    result = repo.valor("memory-qury")
    assert result.code == 2
    assert "memory-query" in result.err


def test_a_reader_that_stops_early_is_no_error(repo: Repo) -> None:
    repo.write(*(line(n % 28, f"note {n}") | {"id": f"obs-{n}"} for n in range(5000)))
    done = subprocess.run(
        f"'{VALOR}' memory-query --limit 0 | head -1",
        shell=True,
        cwd=repo.root,
        env=repo.env,
        capture_output=True,
    )
    assert done.stderr == b""
    assert done.stdout.count(b"\n") == 1
