"""Nothing is lost to recall while lines are marked: a survivor is found before its duplicates are hidden."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import servers
from conftest import Repo
from consolidating import SAME_AGAIN, TOKEN, Judge, add, line, live, marks, said, unsure
from hooks import Agent, wait_for_background
from mirrored import line as filler

from valor import answer, config, follow
from valor.consolidate import apply as applying
from valor.consolidate.plan import plan
from valor.errors import Unavailable
from valor.window import prompt_query
from valor.workspace import Workspace

ASKED = "how is the page cache warmed after a deploy"
DETAILS = "Without it the first requests of a node time out, because the database answers them all."
OLDEST = "obs-1790000000-00000000000a"


@pytest.fixture
def mirrored(repo: Repo, url: str) -> Repo:
    """A checkout among whose lines few speak of caches, mirrored."""
    repo.env["VALOR_REDIS_URL"] = url
    return repo


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    return Judge(tmp_path / "judge")


def fill(repo: Repo, *lines: dict[str, Any], others: int = 60) -> None:
    repo.write(*map(filler, range(others)), *lines)
    assert repo.valor("sync").code == 0


def workspace(repo: Repo) -> Workspace:
    return Workspace(config.resolve(repo.env, repo.root))


def recalled(repo: Repo, asked: str = ASKED) -> list[str]:
    """What hooks would tell now."""
    view = answer.find_view(str(repo.root), str(repo.state))
    assert view is not None
    found = answer.answer(view, prompt_query(asked), set(), time.time(), time.monotonic() + 10)
    return [each.id for each in found]


@contextmanager
def watched(repo: Repo) -> Iterator[list[tuple[set[str], list[str]]]]:
    """What is told all the while, each answer with the lines that were live before or after it."""
    seen: list[tuple[set[str], list[str]]] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.is_set():
            before = live(repo)
            told = recalled(repo)
            seen.append((before | live(repo), told))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        stop.set()
        watcher.join()
    assert len(seen) > 3


@contextmanager
def frozen(monkeypatch: pytest.MonkeyPatch, look: Callable[[], None]) -> Iterator[None]:
    """Look at what is told when the marks are written and the mirror does not know yet."""
    calls: list[str] = []
    update = applying._mirrored

    def mirrored(here: Workspace) -> str:
        if calls:
            look()
        calls.append("")
        return update(here)

    monkeypatch.setattr(applying, "_mirrored", mirrored)
    yield
    assert len(calls) == 2


def test_a_survivor_that_is_mirrored_is_told_all_the_while(mirrored: Repo) -> None:
    fill(mirrored, line("a"), line("b", 2, SAME_AGAIN), line("c", 3))
    assert set(recalled(mirrored)) == {"a", "b", "c"}
    with watched(mirrored) as seen:
        assert mirrored.valor("consolidate", "--yes").code == 0
    for alive, told in seen:
        assert told, "there was an instant at which the fact was not found"
        assert alive.issuperset(told)
    assert recalled(mirrored) == ["a"]


def test_a_survivor_that_the_mirror_does_not_know_yet_is_told_all_the_while(mirrored: Repo) -> None:
    fill(mirrored, line("a"), line("b", 2, SAME_AGAIN))
    add(mirrored, line("richer", 3, details=DETAILS))
    with watched(mirrored) as seen:
        result = mirrored.valor("consolidate", "--yes")
    assert {row["by"] for row in result.rows} == {"richer"}
    for alive, told in seen:
        assert told, "there was an instant at which the fact was not found"
        assert alive.issuperset(told)
    assert recalled(mirrored) == ["richer"]


@pytest.mark.parametrize("fresh", [False, True], ids=["mirrored before", "mirrored on the way"])
def test_the_survivor_is_told_between_its_marks_and_the_mirror(
    mirrored: Repo, monkeypatch: pytest.MonkeyPatch, fresh: bool
) -> None:
    fill(mirrored, line("a"), line("b", 2, SAME_AGAIN))
    if fresh:
        add(mirrored, line("richer", 3, details=DETAILS))
    here = workspace(mirrored)
    seen: list[list[str]] = []
    with frozen(monkeypatch, lambda: seen.append(recalled(mirrored))):
        applying.apply(here, plan(here.view()).steps)
    assert seen == [["richer" if fresh else "a"]]


def test_the_survivor_of_many_younger_lines_is_told_between_its_marks_and_the_mirror(
    mirrored: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that the mirror proposes first is hidden by then."""
    fill(mirrored, *(line(f"o{n:02}", n) for n in range(1, 29)), others=1500)
    here = workspace(mirrored)
    seen: list[list[str]] = []
    with frozen(monkeypatch, lambda: seen.append(recalled(mirrored))):
        applying.apply(here, plan(here.view()).steps)
    assert seen == [["o01"]]
    assert recalled(mirrored) == ["o01"]


def test_the_survivor_is_told_though_other_lines_speak_of_it(
    mirrored: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reason, a reference or a text names it: that hides nothing."""
    fill(
        mirrored,
        line(OLDEST),
        line("b", 2, SAME_AGAIN, references=[OLDEST]),
        line("c", 3, f"the image cache has the same trouble as {OLDEST}"),
        {
            "id": "sup-1",
            "type": "supersession",
            "supersedes": ["none"],
            "by": OLDEST,
            "reason": f"see {OLDEST}",
        },
    )
    here = workspace(mirrored)
    seen: list[list[str]] = []
    with frozen(monkeypatch, lambda: seen.append(recalled(mirrored))):
        applying.apply(here, plan(here.view()).steps)
    assert OLDEST in seen[0]
    assert "b" not in seen[0]


def test_the_survivor_is_told_though_the_judges_reason_names_it(mirrored: Repo, judge: Judge) -> None:
    fill(mirrored, *unsure())
    asked = "does the nightly backup skip open files"

    def told() -> list[str]:
        return recalled(mirrored, asked)

    assert set(told()) == {"p", "q"}
    command = judge.command("for row in rows: say(row, 'duplicate', 'q says what \"p\" says, keep p')\n")
    assert (
        mirrored.valor("consolidate", "--yes", "--judge", command, VALOR_REDIS_URL="unix:///nowhere").code
        == 0
    )
    assert "p" in marks(mirrored)[0]["reason"]
    assert told() == ["p"], "the mirror knows of no mark, the file tells"


def test_a_hook_tells_the_survivor_between_its_marks_and_the_mirror(
    mirrored: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mirrored.valor("init").code == 0
    fill(mirrored, line("a"), line("b", 2, SAME_AGAIN))
    here = workspace(mirrored)
    told: list[list[str]] = [Agent(mirrored, "before").prompt(ASKED)]
    with frozen(monkeypatch, lambda: told.append(Agent(mirrored, "between").prompt(ASKED))):
        applying.apply(here, plan(here.view()).steps)
    told.append(Agent(mirrored, "after").prompt(ASKED))
    wait_for_background(mirrored)
    assert [sorted(each) for each in told] == [["a", "b"], ["a"], ["a"]]


def test_the_survivor_is_found_by_what_it_inherits_once_the_mirror_knows(mirrored: Repo) -> None:
    fill(mirrored, line("a"), line("b", 2, SAME_AGAIN, tags=["zeppelin"]))
    assert recalled(mirrored, "zeppelin") == ["b"]
    assert mirrored.valor("consolidate", "--yes").code == 0
    assert recalled(mirrored, "zeppelin") == ["a"]
    assert mirrored.valor("sync", "--verify").code == 0
    assert mirrored.valor("consolidate", "--undo-last").code == 0
    assert mirrored.valor("sync").code == 0
    assert recalled(mirrored, "zeppelin") == ["b"]


def test_the_mirror_is_up_to_date_after_a_run(mirrored: Repo) -> None:
    fill(mirrored, line("a"), line("b", 2, SAME_AGAIN))
    assert mirrored.valor("consolidate", "--yes").code == 0
    view = answer.find_view(str(mirrored.root), str(mirrored.state))
    assert view is not None
    assert view.stale == answer.FRESH
    assert mirrored.valor("sync", "--verify").code == 0


def test_a_mirror_that_is_down_holds_nothing_up(repo: Repo) -> None:
    with servers.running("wheel") as server:
        repo.env["VALOR_REDIS_URL"] = f"unix://{server.path}"
        fill(repo, line("a"), line("b", 2, SAME_AGAIN))
    result = repo.valor("consolidate", "--yes")
    assert result.code == 0
    assert live(repo) >= {"a"}
    assert len(marks(repo)) == 1
    assert said(result, "the mirror was skipped (")


def test_a_mirror_that_hangs_holds_nothing_up_for_longer_than_its_patience(repo: Repo) -> None:
    with servers.running("wheel") as server:
        repo.env["VALOR_REDIS_URL"] = f"unix://{server.path}"
        fill(repo, line("a"), line("b", 2, SAME_AGAIN))
        server.process.send_signal(signal.SIGSTOP)
        start = time.monotonic()
        result = repo.valor("consolidate", "--yes")
        assert time.monotonic() - start < 15
        assert result.code == 0
        assert len(marks(repo)) == 1
        assert said(result, "the mirror was skipped (")
        server.process.send_signal(signal.SIGCONT)
        assert repo.valor("sync").code == 0
        assert recalled(repo) == ["a"]


def test_a_mirror_that_stops_answering_half_way_costs_its_patience_and_no_mark(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(applying, "_PATIENCE", 0.5)
    with servers.running("wheel") as server:
        repo.env["VALOR_REDIS_URL"] = f"unix://{server.path}"
        fill(repo, line("a"), line("b", 2, SAME_AGAIN))
        add(repo, line("c", 3))
        here = workspace(repo)
        found = plan(here.view()).steps
        run = follow.Follower.run

        def stop_then_run(self: follow.Follower, rebuild: bool) -> follow.Outcome:
            os.kill(server.process.pid, signal.SIGSTOP)
            return run(self, rebuild)

        monkeypatch.setattr(follow.Follower, "run", stop_then_run)
        start = time.monotonic()
        done = applying.apply(here, found)
        assert time.monotonic() - start < 10
        server.process.send_signal(signal.SIGCONT)
    assert {mark["by"] for mark in done.marks} == {"a"}
    assert done.mirror.startswith("the mirror was skipped (")


def test_a_server_without_room_for_the_marks_is_no_reason_to_fail(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: follow.Follower, rebuild: bool) -> follow.Outcome:
        raise Unavailable("the mirror's server is full")

    with servers.running("wheel") as server:
        repo.env["VALOR_REDIS_URL"] = f"unix://{server.path}"
        fill(repo, line("a"), line("b", 2, SAME_AGAIN))
        monkeypatch.setattr(follow.Follower, "run", full)
        here = workspace(repo)
        done = applying.apply(here, plan(here.view()).steps)
    assert len(done.marks) == 1
    assert done.mirror == "the mirror was skipped (the mirror's server is full)"


def test_where_there_is_no_mirror_none_is_made(repo: Repo) -> None:
    repo.write(line("a"), line("b", 2, SAME_AGAIN))
    result = repo.valor("consolidate", "--yes")
    assert result.code == 0
    assert "mirror" not in result.err
    assert not (repo.state / "views").exists()


def test_an_address_that_is_none_is_a_usage_error_before_anything_is_written(repo: Repo) -> None:
    repo.write(line("a"), line("b", 2, SAME_AGAIN))
    before = repo.log.read_bytes()
    result = repo.valor("consolidate", "--yes", VALOR_REDIS_URL=f"foo://{TOKEN}")
    assert result.code == 2
    assert TOKEN not in result.err
    assert repo.log.read_bytes() == before


TAIL = {
    "a mark for it": ({"type": "supersession", "supersedes": ["b"], "by": OLDEST}, True),
    "a mark whose reason quotes it": (
        {"type": "supersession", "supersedes": ["b"], "by": None, "reason": f'"{OLDEST}", [{OLDEST}]'},
        True,
    ),
    "a line that refers to it": ({"type": "learning", "summary": "see", "references": [OLDEST]}, True),
    "a longer id": ({"type": "supersession", "supersedes": [OLDEST + "1"], "by": None}, False),
    "a mark of it": ({"type": "supersession", "supersedes": ["b", OLDEST], "by": "b"}, False),
    "a mark of it as a text": ({"type": "supersession", "supersedes": f"b,{OLDEST}", "by": None}, False),
    "a line that replaces it": ({"type": "learning", "summary": "new", "supersedes": [OLDEST]}, False),
    "another line of its id": ({"id": OLDEST, "type": "learning", "summary": "new"}, False),
    "a private line of its id": (line(OLDEST, 20, private=True), False),
}


@pytest.mark.parametrize("tail", TAIL)
def test_a_line_that_speaks_of_another_hides_it_only_where_it_marks_it(mirrored: Repo, tail: str) -> None:
    """Where it is not clear (a longer id), the file is taken to hide it until the next sync."""
    fill(mirrored, line(OLDEST), line("c", 3, "the index is rebuilt on Sundays"))
    new, stays = TAIL[tail]
    add(mirrored, {"id": "sup-9", "timestamp": "2026-09-09T00:00:00Z"} | new)
    assert recalled(mirrored) == [OLDEST] * stays


def test_a_torn_line_that_names_another_is_taken_to_hide_it(mirrored: Repo) -> None:
    fill(mirrored, line(OLDEST))
    with mirrored.log.open("ab") as file:
        file.write(b'{"id":"sup-9","supersedes":["%b"' % OLDEST.encode())
    assert recalled(mirrored) == []
