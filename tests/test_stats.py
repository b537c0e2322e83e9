"""What there is, what the hooks did, and a loud word where they stopped."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
import servers
from conftest import Repo, Result
from hooks import FACTS, Agent, facts
from wards import SETTINGS, about, examine, set_up

from valor import record

DAY = 86_400


@pytest.fixture
def ward(repo: Repo, url: str) -> Repo:
    return set_up(repo, url)


def stats(repo: Repo, **env: str) -> tuple[dict[str, Any], str]:
    done: Result = repo.valor("stats", **env)
    assert done.code == 0, done.err
    (row,) = done.rows
    return row, done.err


def wired_days_ago(repo: Repo, days: float) -> None:
    os.utime(repo.root / SETTINGS, (time.time() - days * DAY,) * 2)


def journal(repo: Repo, *entries: tuple[float, str, list[str]]) -> None:
    """Entries of so many days ago."""
    (view,) = repo.state.glob("views/*/view")
    with view.with_name("journal.jsonl").open("a") as file:
        for days, session, ids in entries:
            entry = {"at": int(time.time() - days * DAY), "session": session, "event": "Stop", "ids": ids}
            file.write(json.dumps(entry) + "\n")


def test_the_record_and_the_mirror_are_counted(ward: Repo) -> None:
    ward.write(
        *facts(),
        {"id": "obs-1-a", "type": "pattern", "summary": "private", "private": True},
        {"id": "sup-1-a", "type": "supersession", "supersedes": [facts()[0]["id"]], "by": None},
        b"{torn\n",
    )
    ward.valor("sync")
    row, said = stats(ward)
    assert said == ""
    assert (row["observations"], row["live"], row["superseded"]) == (11, 10, 1)
    assert (row["private"], row["bad_lines"]) == (1, 1)
    assert row["by_type"] == [{"type": "error", "count": 10}, {"type": "pattern", "count": 1}]
    assert row["log_bytes"] == ward.log.stat().st_size
    assert row["last_written"] == "2026-11-30T18:00:00Z"
    assert (row["mirror"], row["mirror_lines"], row["bytes_behind"]) == ("fresh", 9, 0)
    assert row["wired"] == [str(ward.root / SETTINGS)]


def test_injections_are_counted_from_what_the_hooks_journal(ward: Repo) -> None:
    agent = Agent(ward, "ada")
    assert agent.prompt(FACTS["socket"]) == ["socket"]
    agent.fire("Stop")
    journal(ward, (3, "bob", ["a", "b"]), (30, "eve", ["c"]))
    row, _ = stats(ward)
    assert (row["hook_events_24h"], row["injections_24h"], row["ids_told_24h"]) == (2, 1, 1)
    assert (row["hook_events_7d"], row["injections_7d"], row["ids_told_7d"]) == (3, 2, 3)
    assert (row["sessions_24h"], row["sessions_7d"]) == (1, 2)
    assert row["last_injection"] is not None
    assert row["last_hook_event"] >= row["last_injection"]


def test_a_torn_line_of_the_journal_costs_itself_alone(ward: Repo) -> None:
    journal(ward, (0, "ada", []))
    (view,) = ward.state.glob("views/*/view")
    with view.with_name("journal.jsonl").open("a") as file:
        file.write('{"at": "x"}\n[]\n{"at": 1, "session"')
    assert stats(ward)[0]["hook_events_24h"] == 1


def test_hooks_that_were_never_heard_of_while_someone_observed_are_loud(ward: Repo) -> None:
    wired_days_ago(ward, 4)
    ward.write(*facts(), {"id": "obs-2-b", "summary": "Fresh", "timestamp": record.stamp(time.time() - 60)})
    ward.valor("sync")
    _, said = stats(ward)
    assert "no event of a hook was ever seen, though something was observed" in said
    assert "valor doctor" in said
    assert any("the hooks may have stopped" in what for what in about(examine(ward), "silence"))


def test_hooks_that_fell_silent_days_ago_are_loud(ward: Repo) -> None:
    wired_days_ago(ward, 40)
    journal(ward, (9, "ada", []))
    ward.write({"id": "obs-2-b", "summary": "Fresh", "timestamp": record.stamp(time.time() - 60)})
    ward.valor("sync")
    assert "the last event of a hook was 9 days ago" in stats(ward)[1]


def test_commits_without_any_hook_are_loud(ward: Repo) -> None:
    wired_days_ago(ward, 4)
    ward.write({"id": "obs-2-b", "summary": "Old", "timestamp": "2020-01-01T00:00:00Z"})
    ward.valor("sync")
    assert "something was committed" in stats(ward)[1]


def test_quiet_hooks_are_no_alarm_where_nobody_worked(ward: Repo) -> None:
    wired_days_ago(ward, 40)
    ward.write({"id": "obs-2-b", "summary": "Old", "timestamp": "2020-01-01T00:00:00Z"})
    ward.valor("sync")
    journal(ward, (1, "ada", []))
    assert stats(ward)[1] == ""


def test_hooks_that_are_at_work_are_no_alarm(ward: Repo) -> None:
    wired_days_ago(ward, 40)
    journal(ward, (0.01, "ada", []))
    ward.valor("observe", "The upload needs a larger multipart boundary", "--type", "error")
    ward.valor("sync")  # on a busy machine the 50 ms that observe gives it may not do
    assert stats(ward)[1] == ""


def test_freshly_wired_hooks_are_no_alarm(ward: Repo) -> None:
    assert stats(ward)[1] == ""


def test_a_stale_mirror_is_loud(ward: Repo) -> None:
    with ward.log.open("ab") as log:
        log.write(b'{"id":"obs-3-c","summary":"Later"}\n')
    row, said = stats(ward)
    assert (row["mirror"], row["bytes_behind"]) == ("stale", 35)
    assert "the mirror is stale: 1 line (35 bytes) behind" in said


def test_a_server_that_does_not_answer_is_loud(ward: Repo) -> None:
    row, said = stats(ward, VALOR_REDIS_URL="redis://127.0.0.1:1/0")
    assert row["mirror"] == "unreachable"
    assert "does not answer" in said


def test_an_own_server_that_sleeps_is_no_alarm(repo: Repo, tmp_path: Path) -> None:
    runtime = Path(servers.tempfile.mkdtemp(prefix="v"))
    repo.env["VALOR_RUNTIME_DIR"] = str(runtime)
    try:
        set_up(repo, "")
        assert stats(repo)[0]["mirror"] == "fresh"
    finally:
        repo.valor("server", "stop")
    row, said = stats(repo)
    assert (row["mirror"], said) == ("asleep", "")
    runtime.rmdir()


def test_a_checkout_without_any_of_it_is_all_zeros(repo: Repo, url: str) -> None:
    row, said = stats(repo, VALOR_REDIS_URL=url)
    assert (row["observations"], row["mirror"], row["wired"], said) == (0, "missing", [], "")


def test_a_terminal_gets_a_table(ward: Repo) -> None:
    shown = ward.on_a_terminal(100, "stats")
    assert "error 10" in shown
    assert "{" not in shown
