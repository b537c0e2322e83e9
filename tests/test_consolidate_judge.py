"""`valor consolidate --judge`: what a judge's word changes in the plan, and what it cannot change."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import servers
from conftest import Repo, Result
from consolidating import (
    PORT,
    SAME,
    TOKEN,
    Judge,
    Person,
    add,
    line,
    live,
    marks,
    picture,
    running,
    said,
    sure,
    torn,
    undecided,
    unsure,
)

ROUND = (("a", 8080), ("b", 8081), ("c", 8080))
ALL = "for row in rows: say(row, {!r}, {!r})\n"


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    return Judge(tmp_path / "judge")


@pytest.fixture
def open_(repo: Repo) -> Repo:
    """A log with one pair to suggest and one that may contradict."""
    repo.write(*unsure(), *torn())
    return repo


def ask(repo: Repo, judge: Judge, source: str, *flags: str) -> Result:
    return repo.valor("consolidate", "--judge", judge.command(source), *flags)


def test_suggestions_and_contradictions_are_asked_about_and_sure_steps_are_not(
    open_: Repo, judge: Judge
) -> None:
    add(open_, *sure(), line("hush", 9, SAME, private=True))
    result = ask(open_, judge, "", "--dry-run")
    asked = [(row["relation"], row["a"]["id"], row["b"]["id"]) for row in judge.questions()]
    assert asked == [("duplicate", "p", "q"), ("conflict", "x", "y")]
    assert [row["action"] for row in result.rows] == ["apply", "propose", "decide"]
    assert said(result, "the judge was") == "valor: the judge was asked about 2 pairs and answered 0"


@pytest.mark.parametrize(
    ("verdict", "first", "second"),
    [
        ("duplicate", ("duplicate", "p", ["q"]), ("duplicate", "y", ["x"])),
        ("supersedes", ("supersedes", "q", ["p"]), ("supersedes", "y", ["x"])),
    ],
)
def test_what_the_judge_is_sure_of_is_applied_with_its_reason(
    open_: Repo, judge: Judge, verdict: str, first: tuple[Any, ...], second: tuple[Any, ...]
) -> None:
    result = ask(open_, judge, ALL.format(verdict, "same fact"), "--yes")
    assert result.code == 0
    found = marks(open_)
    assert [(one["relation"], one["by"], one["supersedes"]) for one in found] == [first, second]
    assert {one["reason"] for one in found} == {"judge: same fact"}
    assert "answered 2" in said(result, "the judge was")
    assert open_.valor("consolidate", "--dry-run").code == 0


def test_what_the_judge_tells_apart_leaves_the_plan_and_is_counted(open_: Repo, judge: Judge) -> None:
    before = open_.log.read_bytes()
    result = ask(open_, judge, ALL.format("distinct", ""), "--dry-run")
    assert (result.code, result.out) == (0, "")
    assert "2 judged distinct" in said(result, "nothing to do")
    assert ask(open_, judge, ALL.format("distinct", ""), "--yes").code == 0
    assert open_.log.read_bytes() == before


FAILING = {
    "unsure": (ALL.format("unsure", "who knows"), ""),
    "silence": ("", ""),
    "garbage": ("print('x' * 100_000); print('{\"id\": '); print('null'); print([])\n", ""),
    "an unknown verdict": ("for row in rows: say(row, 'merge')\n", ""),
    "an unknown id": ("rows = [{'id': 'z'}]\n" + ALL.format("duplicate", ""), ""),
    "both": (ALL.format("duplicate", "") + ALL.format("distinct", ""), ""),
    "death": ("sys.stderr.write('no credit\\n'); sys.exit(3)\n", "no credit"),
    "a signal": ("import signal; os.kill(os.getpid(), signal.SIGSEGV)\n", "SIGSEGV"),
}


@pytest.mark.parametrize("failing", FAILING)
def test_a_judge_that_does_not_decide_leaves_the_plan_as_it_was(
    open_: Repo, judge: Judge, failing: str
) -> None:
    source, complaint = FAILING[failing]
    add(open_, *sure())
    plain = open_.valor("consolidate", "--dry-run")
    result = ask(open_, judge, source, "--dry-run")
    assert (result.code, result.out) == (1, plain.out)
    if complaint:
        assert said(result, complaint).endswith("what it did not answer stays proposed")
    assert ask(open_, judge, source, "--yes").code == 0
    assert [mark["supersedes"] for mark in marks(open_)] == [["b"]], "the sure step is applied all the same"


def test_what_was_answered_before_the_judge_died_counts(open_: Repo, judge: Judge) -> None:
    result = ask(open_, judge, "say(rows[0], 'duplicate'); os._exit(9)\n", "--yes")
    assert result.code == 0
    assert [mark["supersedes"] for mark in marks(open_)] == [["q"]]
    assert marks(open_)[0]["reason"] == "the judge says so"
    assert "answered 1" in said(result, "the judge was")
    assert said(result, "stays proposed")


def test_a_judge_that_hangs_is_ended_in_time_and_what_it_said_counts(open_: Repo, judge: Judge) -> None:
    start = time.monotonic()
    result = ask(
        open_, judge, "say(rows[0], 'duplicate'); time.sleep(600)\n", "--yes", "--judge-timeout", "2"
    )
    assert time.monotonic() - start < 60
    assert result.code == 0
    assert [mark["supersedes"] for mark in marks(open_)] == [["q"]]
    assert said(result, "stays proposed")


@pytest.mark.parametrize("command", ["no-such-command-at-all", "'", " "])
def test_a_judge_that_cannot_be_started_leaves_the_plan_as_it_was(open_: Repo, command: str) -> None:
    plain = open_.valor("consolidate", "--dry-run")
    result = open_.valor("consolidate", "--dry-run", "--judge", command)
    assert (result.code, result.out) == (1, plain.out)
    assert "could not be started" in said(result, "stays proposed")


@pytest.mark.parametrize("verdict", ["duplicate", "supersedes"])
def test_lines_a_person_wrote_stay_proposed_whatever_the_judge_says(
    repo: Repo, judge: Judge, verdict: str
) -> None:
    human = [one | {"source": "human"} for one in (*unsure(), *torn())]
    repo.write(*human)
    result = ask(repo, judge, ALL.format(verdict, "sure"), "--yes")
    assert marks(repo) == []
    assert "proposed: 2" in said(result, "looked at")
    assert ask(repo, judge, ALL.format(verdict, "sure"), "--yes", "--include-protected").code == 0
    assert len(marks(repo)) == 2


def test_a_dry_run_with_a_judge_writes_nothing_and_shows_what_would_be_applied(
    open_: Repo, judge: Judge, tmp_path: Path
) -> None:
    command = judge.command(ALL.format("duplicate", "the same"))
    judge.heard.touch()
    before = picture(open_.root, open_.home)
    result = open_.valor("consolidate", "--dry-run", "--judge", command)
    assert picture(open_.root, open_.home) == before
    assert result.code == 1
    assert [(row["action"], row["rule"], row["reason"]) for row in result.rows] == [
        ("apply", "judge", "judge: the same")
    ] * 2


def test_a_reason_with_a_secret_or_an_escape_is_not_stored_as_it_is(open_: Repo, judge: Judge) -> None:
    source = (
        f"say(rows[0], 'duplicate', {TOKEN!r}); say(rows[1], 'duplicate', 'a\\x1b[31m\\nb' + 'c' * 5000)\n"
    )
    result = ask(open_, judge, source, "--yes")
    first, second = marks(open_)
    assert first["reason"] == "the judge says so"
    assert second["reason"].startswith("judge: a")
    assert second["reason"].isprintable()
    assert len(second["reason"]) < 400
    assert TOKEN not in open_.log.read_text() + result.out + result.err


def test_the_judge_gets_no_secret_and_no_private_block(repo: Repo, judge: Judge) -> None:
    repo.write(*(one | {"details": f"{TOKEN} <private>payroll</private>"} for one in unsure()))
    ask(repo, judge, "", "--dry-run")
    heard = judge.heard.read_text()
    assert len(judge.questions()) == 1
    assert TOKEN not in heard
    assert "payroll" not in heard


def test_verdicts_that_would_make_a_circle_leave_one_out(repo: Repo, judge: Judge) -> None:
    """Said, contradicted, said again: the first over the third, the third over the second, the second over
    the first."""
    repo.write(*(line(name, day, PORT.format(port)) for day, (name, port) in enumerate(ROUND, 1)))
    source = ALL.format("duplicate", "")
    dry = ask(repo, judge, source, "--dry-run")
    assert [(row["a"]["id"], row["b"]["id"]) for row in judge.questions()] == [
        ("a", "c"),
        ("a", "b"),
        ("b", "c"),
    ]
    assert [row["action"] for row in dry.rows] == ["apply", "apply", "decide"]
    assert ask(repo, judge, source, "--yes").code == 0
    hidden = [id_ for mark in marks(repo) for id_ in mark["supersedes"]]
    assert len(hidden) == len(set(hidden)) == 2
    assert len(live(repo)) == 1


def test_an_observation_lands_at_once_while_the_judge_thinks(open_: Repo, judge: Judge) -> None:
    """Whatever the run waits for, it holds no lock: with a patience of a tenth of a second an observe
    would fail on one."""
    text = "the index of the search service is rebuilt on Sundays"
    add(open_, *sure())
    with undecided(open_, judge, "--yes", source="wait()\n" + ALL.format("duplicate", "")) as go_on:
        done = open_.valor("observe", text, "--owner", "observations", VALOR_LOCK_TIMEOUT="0.1")
        assert done.code == 0, done.err
        assert open_.lines()[-1]["summary"] == text
        assert marks(open_) == []
        result = go_on()
    assert result.code == 0
    assert text in [one.get("summary") for one in open_.lines()]
    assert [mark["supersedes"] for mark in marks(open_)] == [["b"], ["q"], ["x"]]
    assert len(live(open_)) == 4


def test_what_was_hidden_while_the_judge_thought_is_not_hidden_twice(open_: Repo, judge: Judge) -> None:
    with undecided(open_, judge, "--yes", source="wait()\n" + ALL.format("duplicate", "")) as go_on:
        add(open_, {"id": "sup-9", "type": "supersession", "supersedes": ["q"], "by": "y"})
        result = go_on()
    assert said(result, "attempted").endswith("attempted 2, changed 1, skipped 1; 1 hidden meanwhile")
    assert live(open_) == {"p", "y"}


def test_two_runs_whose_judges_disagree_leave_a_survivor(open_: Repo, tmp_path: Path) -> None:
    """One would keep the earlier, the other the later: whoever comes second finds the first one's mark."""
    one, other = Judge(tmp_path / "one"), Judge(tmp_path / "other")
    with (
        undecided(open_, one, "--yes", source="wait()\n" + ALL.format("duplicate", "")) as first,
        undecided(open_, other, "--yes", source="wait()\n" + ALL.format("supersedes", "")) as second,
    ):
        assert first().code == 0
        result = second()
    assert "skipped 2" in said(result, "attempted")
    assert live(open_) == {"p", "y"}


def test_ctrl_c_while_the_judge_thinks_writes_nothing(open_: Repo, judge: Judge) -> None:
    before = open_.log.read_bytes()
    person = Person(open_, "consolidate", "--yes", "--judge", judge.command("wait()\n"))
    servers.wait_for(judge.asked.exists, 60)
    person.type("\x03")
    assert person.leave() == 130
    assert open_.log.read_bytes() == before


def test_nothing_to_ask_starts_no_judge(repo: Repo, judge: Judge) -> None:
    repo.write(*sure())
    with running(repo, "consolidate", "--yes", "--judge", judge.command("")) as end:
        result = end()
    assert result.code == 0
    assert not judge.heard.exists()
    assert "asked about 0 pairs" in result.err
