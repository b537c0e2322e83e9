"""`valor consolidate` as people and CI run it: what it prints, what it writes, what it leaves alone."""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import LOG, VALOR, Repo, Result
from consolidating import (
    PORT,
    SAME,
    SAME_AGAIN,
    TOKEN,
    Judge,
    Person,
    add,
    line,
    live,
    marks,
    picture,
    said,
    sure,
    torn,
    undecided,
    unsure,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from valor import log
from valor.config import Config
from valor.consolidate.apply import apply
from valor.consolidate.plan import plan
from valor.workspace import Workspace

WRAPPER = Path(__file__).parents[1] / ".claude/scripts/memory-consolidate.sh"


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    return Judge(tmp_path / "judge")


@pytest.fixture
def full(repo: Repo, tmp_path: Path) -> Repo:
    """A committed log with something for each tier, in a home where all folders are named."""
    repo.env |= {
        "VALOR_RUNTIME_DIR": str(tmp_path / "run"),
        "TMPDIR": str(tmp_path / "tmp"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    (tmp_path / "tmp").mkdir()
    repo.write(*sure(), *unsure(), *torn())
    repo.git("add", "-A")
    repo.git("commit", "-qm", "start")
    return repo


DRY = [
    ["--dry-run"],
    ["--dry-run", "--yes"],
    ["--dry-run", "--table", "--explain"],
    ["--dry-run", "--format", "github", "--include-protected"],
    ["--dry-run", "--judge", "cat"],
    ["--dry-run", "--judge", "no-such-command"],
    ["--dry-run", "--undo", "sup-1"],
]


@pytest.mark.parametrize("flags", DRY, ids=lambda flags: " ".join(flags[1:]))
def test_a_dry_run_writes_nothing_and_dials_nobody(full: Repo, tmp_path: Path, flags: list[str]) -> None:
    add(full, {"id": "sup-1", "type": "supersession", "supersedes": ["none"], "by": "a"})
    with tempfile.TemporaryDirectory(prefix="v") as folder:
        for listener, address in listening(Path(folder)):
            before = picture(tmp_path)
            result = full.valor("consolidate", *flags, VALOR_REDIS_URL=address)
            assert result.code == 1, result.err
            assert picture(tmp_path) == before
            with pytest.raises(BlockingIOError):
                listener.accept()


def listening(folder: Path) -> Iterator[tuple[socket.socket, str]]:
    """Where a server might be that would never answer."""
    for family, place in ((socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_UNIX, str(folder / "s"))):
        with socket.socket(family) as listener:
            listener.bind(place)
            listener.listen()
            listener.setblocking(False)
            at = listener.getsockname()
            yield listener, f"redis://127.0.0.1:{at[1]}" if family == socket.AF_INET else f"unix://{at}"


def test_a_dry_run_opens_nothing_for_writing_and_no_socket(full: Repo, tmp_path: Path) -> None:
    strace = shutil.which("strace")
    if not strace:
        pytest.skip("no strace is installed here")
    trace = tmp_path / "trace"
    done = subprocess.run(
        [strace, "-f", "-qq", "-o", trace, "-e", "trace=%file,connect", VALOR, "consolidate", "--dry-run"],
        cwd=full.root,
        env=full.env,
        capture_output=True,
    )
    if done.returncode != 1:
        pytest.skip("processes may not be traced here")
    calls = [row.split(None, 1)[1] for row in trace.read_text().splitlines()]
    assert any(LOG in call for call in calls)
    writing = ("O_WRONLY", "O_RDWR", "O_CREAT", "mkdir", "rename", "unlink", "chmod", "symlink", "connect(")
    assert [call for call in calls if any(each in call for each in writing) and '"/dev/' not in call] == []


def test_a_dry_run_works_where_nothing_may_be_written(full: Repo, tmp_path: Path) -> None:
    """Root may write everywhere, so there it is run without that privilege."""
    plain = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    if plain and not shutil.which("setpriv"):
        pytest.skip("root may write everywhere, and there is no setpriv")
    (tmp_path / "run").mkdir()
    everything = [tmp_path, *tmp_path.rglob("*")]
    for path in everything:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        attempt = subprocess.run([*plain, "sh", "-c", f"echo >>{full.log}"], capture_output=True)
        if attempt.returncode == 0:
            pytest.skip("whoever runs this may write everywhere")
        before = picture(tmp_path)
        for flags in DRY[:5]:
            done = subprocess.run(
                [*plain, VALOR, "consolidate", *flags], cwd=full.root, env=full.env, capture_output=True
            )
            assert done.returncode == 1, done.stderr
            assert done.stdout.count(b"\n") >= 3
        assert picture(tmp_path) == before
    finally:
        for path in everything:
            path.chmod(0o755)


def test_the_plan_depends_neither_on_the_order_of_the_lines_nor_on_the_hash_seed(full: Repo) -> None:
    lines = [json.dumps(one).encode() + b"\n" for one in full.lines()]
    lines += [json.dumps(line(f"z{n}", 7 + n, SAME, tags=[f"t{n % 2}"])).encode() + b"\n" for n in range(6)]
    plans = set()
    for seed in range(4):
        random.Random(seed).shuffle(lines)
        full.write(*lines)
        plans.add(full.valor("consolidate", "--dry-run", "--explain", PYTHONHASHSEED=str(seed)).out)
    assert len(plans) == 1
    assert len(plans.pop().splitlines()) >= 3


@pytest.mark.parametrize(
    ("lines", "code"), [([], 0), ([line("a")], 0), (sure(), 1), (unsure(), 1), (torn(), 1)]
)
def test_a_dry_run_exits_with_1_where_there_is_anything_to_say(
    repo: Repo, lines: list[dict[str, Any]], code: int
) -> None:
    repo.write(*lines)
    result = repo.valor("consolidate", "--dry-run")
    assert (result.code, bool(result.out)) == (code, bool(code))


def test_without_a_log_there_is_nothing_to_do_and_none_is_made(repo: Repo) -> None:
    for flags in (["--dry-run"], ["--yes"], []):
        result = repo.valor("consolidate", *flags)
        assert result.code == 0
        assert "there is nothing to compare" in said(result, "nothing to do")
    assert not repo.log.exists()


def test_annotations_stand_at_the_lines_that_would_be_hidden(repo: Repo) -> None:
    odd = "100%, yes: the \x1b[31mred\x1b[0m cache\r\nis cold\u2028and"
    repo.write(
        b"<<<<<<< HEAD\n\n",
        *torn(),
        line("a", 1, f"{odd} {TOKEN}"),
        *unsure(),
        line("b", 2, f"{odd} {TOKEN}"),
    )
    result = repo.valor("consolidate", "--dry-run", "--format", "github")
    assert result.code == 1
    where = "file=" + LOG
    auto, suggest, conflict = result.out.splitlines()
    assert auto.startswith(
        f"::warning {where},line=8,title=valor consolidate%3A said twice::b says the same as a: "
        "identical text (“100%25, yes: the \\x1b[31mred\\x1b[0m cache  is cold\\x2028and"
    )
    assert suggest.startswith(f"::notice {where},line=7,title=valor consolidate%3A perhaps said twice::")
    assert "q perhaps says the same as p: " in suggest
    assert conflict.startswith(f"::warning {where},line=3,title=valor consolidate%3A perhaps contradicting::")
    assert "x may contradict y: " in conflict
    assert TOKEN not in result.out + result.err
    assert "[redacted:" in auto
    assert "\x1b" not in result.out


def test_an_id_cannot_forge_an_annotation(repo: Repo) -> None:
    repo.write(line("a"), line("b\n::error file=x::%0Aowned", 2))
    result = repo.valor("consolidate", "--dry-run", "--format", "github")
    (row,) = result.out.splitlines()
    assert row.partition(",title")[0] == f"::warning file={LOG},line=2"
    assert "b ::error file=x::%250Aowned says the same as a" in row


@pytest.mark.parametrize(
    ("flags", "hint"),
    [
        (["--format", "githb"], "did you mean github?"),
        (["--format", "JSON"], "did you mean json?"),
        (["--tier", "sugest"], "did you mean suggest?"),
        (["--tier", "auto", "--tier", "conflicts"], "did you mean conflict?"),
        (["--format", "xyz"], "json, table, github"),
        (["--tier", "xyz"], "auto, suggest, conflict"),
        (["--json", "--table"], "pass one of them"),
        (["--format", "json", "--table"], "pass one of them"),
        (["--format", "github", "--json"], "pass one of them"),
        (["--undo", "sup-1", "--undo-last"], "pass one of them"),
        (["--max", "-1"], "--max"),
        (["--dry-rum"], "did you mean --dry-run?"),
        (["--judge", "cat", "--judge-timeout", "nan"], "--judge-timeout"),
        (["--judge", "cat", "--judge-timeout", "inf"], "--judge-timeout"),
        (["--judge", "cat", "--judge-timeout", "0"], "--judge-timeout"),
        (["--judge", "cat", "--judge-timeout=-1"], "--judge-timeout"),
        (["--judge", "cat", "--judge-timeout", "soon"], "--judge-timeout"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
def test_a_slip_is_a_usage_error_that_says_what_was_meant(full: Repo, flags: list[str], hint: str) -> None:
    before = full.log.read_bytes()
    for more in ([], ["--yes"]):
        result = full.valor("consolidate", *more, *flags)
        assert (result.code, result.out) == (2, "")
        assert hint in result.err
    assert full.log.read_bytes() == before


def test_a_table_and_json_lines_tell_the_same_steps(full: Repo) -> None:
    rows = full.valor("consolidate", "--dry-run", "--format", "json").rows
    table = full.valor("consolidate", "--dry-run", "--format", "table").out.splitlines()
    assert full.valor("consolidate", "--dry-run", "--json").rows == rows
    assert [row["action"] for row in rows] == ["apply", "propose", "decide"]
    for row, drawn in zip(rows, table[2:], strict=True):
        assert drawn.startswith(f"| {row['action']} | {row['by']} | {row['supersedes'][0]} |")


def test_the_wrapper_passes_flags_through(full: Repo) -> None:
    def call(*flags: str) -> Result:
        env = full.env | {"VALOR": str(VALOR)}
        done = subprocess.run([WRAPPER, *flags], cwd=full.root, env=env, capture_output=True, text=True)
        return Result(done.returncode, done.stdout, done.stderr)

    assert [row["tier"] for row in call("--dry-run", "--tier", "conflict").rows] == ["conflict"]
    assert call("--dry-run", "--format", "github").out.count("::warning") == 2
    assert call("--fromat", "github").code == 2
    assert "Exit codes" in call("--help").out
    assert call("--yes").code == 0
    assert live(full) == {"a", "p", "q", "x", "y"}
    assert call("--undo-last").code == 0
    assert live(full) == {"a", "b", "p", "q", "x", "y"}


def test_a_person_who_says_yes_gets_the_marks(full: Repo) -> None:
    person = Person(full, "consolidate")
    person.read_until("Append 1 mark?")
    person.type("y\n")
    assert person.leave() == 0
    assert live(full) == {"a", "p", "q", "x", "y"}
    assert "attempted 1, changed 1, skipped 0" in person.seen


@pytest.mark.parametrize(("typed", "code"), [("n\n", 1), ("\n", 1), ("\x03", 130), ("\x04", 130)])
def test_a_person_who_does_not_say_yes_gets_none(full: Repo, typed: str, code: int) -> None:
    before = full.log.read_bytes()
    person = Person(full, "consolidate")
    person.read_until("Append 1 mark?")
    person.type(typed)
    assert person.leave() == code
    assert full.log.read_bytes() == before
    assert ("nothing was written" if code == 1 else "interrupted") in person.seen


def test_nobody_is_asked_about_what_would_not_be_written(repo: Repo) -> None:
    repo.write(*unsure(), *torn())
    person = Person(repo, "consolidate")
    assert person.leave() == 0
    assert "Append" not in person.seen


def test_an_observation_lands_while_a_person_makes_up_their_mind(full: Repo) -> None:
    person = Person(full, "consolidate")
    person.read_until("Append 1 mark?")
    text = "the index of the search service is rebuilt on Sundays"
    assert full.valor("observe", text, "--owner", "observations", VALOR_LOCK_TIMEOUT="1").code == 0
    person.type("y\n")
    assert person.leave() == 0
    assert text in [one.get("summary") for one in full.lines()]
    assert len(marks(full)) == 1


def test_only_proposals_are_no_reason_to_fail_a_run_that_applies(repo: Repo) -> None:
    repo.write(*unsure(), line("h", 7), line("i", 8, source="human"))
    result = repo.valor("consolidate", "--yes")
    assert result.code == 0
    assert [row["action"] for row in result.rows] == []
    assert "proposed: 2" in said(result, "looked at")
    assert marks(repo) == []


def test_a_mark_says_who_why_how_sure_and_in_which_run(full: Repo) -> None:
    add(full, line("a2", 8, "Remove the query planner cache"), line("a1", 7, "Add the query planner cache"))
    result = full.valor("consolidate", "--yes", LOA_SESSION_ID="night")
    found = marks(full)
    assert result.rows == found
    assert [(one["relation"], one["by"], one["supersedes"]) for one in found] == [
        ("duplicate", "a", ["b"]),
        ("supersedes", "a2", ["a1"]),
    ]
    for one in found:
        assert one["id"].startswith("sup-")
        assert (one["type"], one["tool"], one["session_id"]) == ("supersession", "consolidate", "night")
        assert one["reason"]
        assert 0 < one["score"] <= 1
    assert len({one["run"] for one in found}) == 1
    assert "attempted 2, changed 2, skipped 0" in said(result, "attempted")
    later = full.valor("consolidate", "--yes")
    assert later.code == 0
    assert marks(full) == found


def test_all_marks_of_a_run_are_one_write(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    groups = [f"the {word} cache must be warmed" for word in ("page", "query", "image", "font")]
    repo.write(*(line(f"{text[4]}{day}", day, text) for text in groups for day in (1, 2, 3)))
    here = Workspace(Config(root=repo.root, state=tmp_path / "state"))
    written: list[bytes] = []
    write = os.write
    monkeypatch.setattr(log.os, "write", lambda fd, data: (written.append(data), write(fd, data))[1])
    done = apply(here, plan(here.view()).steps)
    assert len(done.marks) == 4
    assert len(written) == 1
    assert written[0].count(b"\n") == 4


def test_a_reader_meanwhile_sees_all_marks_or_none(repo: Repo) -> None:
    """They are few enough for a page of memory, so that even the kernel has no half of them to show."""
    repo.write(*sure(), line("c", 1, PORT.format("9").replace("metrics", "log")))
    add(repo, line("d", 2, repo.lines()[-1]["summary"]))
    before = repo.log.read_bytes()
    seen: set[bytes] = set()
    stop = threading.Event()

    def watch() -> None:
        while not stop.is_set():
            seen.add(repo.log.read_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        assert repo.valor("consolidate", "--yes").code == 0
    finally:
        stop.set()
        watcher.join()
    after = repo.log.read_bytes()
    assert after.startswith(before)
    assert after[len(before) :].count(b"\n") == 2
    assert seen <= {before, after}


def test_max_counts_what_is_applied_and_not_what_is_asked(repo: Repo) -> None:
    repo.write(
        *torn(),
        *unsure(),
        *sure(),
        line("twin", 8, "the lease is renewed"),
        line("twins", 9, "The lease is renewed"),
    )
    result = repo.valor("consolidate", "--yes", "--max", "1")
    assert [row["supersedes"] for row in result.rows] == [["b"]]
    assert "to apply: 1, hiding 1; proposed: 1; to decide: 1; 1 over --max" in said(result, "looked at")


def test_lines_a_person_wrote_are_hidden_only_where_that_is_asked_for(repo: Repo) -> None:
    repo.write(line("a"), line("b", 2, SAME_AGAIN, source="human"), line("c", 3, SAME))
    assert repo.valor("consolidate", "--yes").code == 0
    assert live(repo) == {"a", "b"}
    assert repo.valor("consolidate", "--yes", "--include-protected").code == 0
    assert live(repo) == {"a"}


def test_observations_of_different_components_are_not_merged_by_any_flag(repo: Repo) -> None:
    repo.write(
        line("web", 1, tags=["web"]),
        line("db", 2, tags=["db"]),
        line("front", 3, "frontend: the session key is renewed each hour"),
        line("back", 4, "backend: the session key is renewed each hour"),
        line("file1", 5, "the loader retries three times", references=["web/load.py:3"]),
        line("file2", 6, "the loader retries three times", references=["db/load.py:3"]),
    )
    before = live(repo)
    assert repo.valor("consolidate", "--yes", "--include-protected").code == 0
    assert live(repo) == before


def test_a_run_that_has_nothing_to_do_says_why(repo: Repo) -> None:
    repo.write(line("a"), line("b", 2, "the index is rebuilt on Sundays"))
    result = repo.valor("consolidate", "--yes")
    assert (result.code, result.out) == (0, "")
    assert "none are the same, replaced or contradicting" in said(result, "nothing to do: 2 lines looked at")


def edited(name: str, text: str) -> dict[str, Any]:
    """A later line of the same id, as a merge may bring it."""
    return line(name, 20, text)


CHANGES = {
    "the hidden one was edited": (edited("b", "something else entirely"), "1 changed meanwhile"),
    "the survivor was edited": (edited("a", "something else entirely"), "1 changed meanwhile"),
    "the hidden one was hidden": (
        {"id": "sup-9", "type": "supersession", "supersedes": ["b"], "by": "p"},
        "1 hidden meanwhile",
    ),
    "the survivor was retracted": (
        {"id": "sup-9", "type": "supersession", "supersedes": ["a"], "by": None},
        "1 hidden meanwhile",
    ),
    "the survivor became private": (line("a", 20, SAME, private=True), "1 changed meanwhile"),
    "the hidden one became private": (line("b", 20, SAME_AGAIN, private=True), "1 changed meanwhile"),
    "the hidden one became a person's": (line("b", 20, SAME_AGAIN, source="human"), "1 changed meanwhile"),
    "another component was named": (line("b", 20, SAME_AGAIN, tags=["db"]), "1 changed meanwhile"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_step_that_no_longer_holds_is_skipped_and_said(full: Repo, judge: Judge, change: str) -> None:
    if change == "another component was named":
        full.write(line("a", tags=["web"]), line("b", 2, SAME_AGAIN, tags=["web"]), *unsure(), *torn())
    new, reason = CHANGES[change]
    with undecided(full, judge, "--yes") as go_on:
        add(full, new)
        before = full.log.read_bytes()
        result = go_on()
    assert result.code == 0
    assert said(result, "attempted").endswith(f"attempted 1, changed 0, skipped 1; {reason}")
    assert full.log.read_bytes() == before


def test_a_pair_that_was_told_apart_meanwhile_is_skipped(full: Repo, judge: Judge) -> None:
    with undecided(full, judge, "--yes") as go_on:
        add(full, {"id": "sup-9", "type": "supersession", "supersedes": ["b"], "by": "a"})
        add(full, {"id": "rei-9", "type": "reinstatement", "of": "sup-9"})
        result = go_on()
    assert "1 told apart meanwhile" in said(result, "attempted")
    assert live(full) == {"a", "b", "p", "q", "x", "y"}


def test_of_a_group_only_what_no_longer_holds_is_skipped(full: Repo, judge: Judge) -> None:
    add(full, line("c", 8), line("d", 9))
    with undecided(full, judge, "--yes") as go_on:
        add(full, edited("c", "something else entirely"))
        result = go_on()
    assert "skipped 1; 1 changed meanwhile" in said(result, "attempted")
    assert {id_ for mark in marks(full) for id_ in mark["supersedes"]} == {"b", "d"}
    assert "c" in live(full)


def test_the_survivor_takes_over_tags_and_references_and_is_found_by_them(repo: Repo) -> None:
    repo.write(
        line("a", 1, tags=["Web"], references=["web/cache.py:3"]),
        line("b", 2, SAME_AGAIN, tags=["web", "deploy"], references=["web/cache.py:9", "web/cache.py:3"]),
        line("c", 3, tags=["web", "Deploy"], references=["docs/deploy.md", "web/cache.py:9"]),
    )
    for mark in repo.valor("consolidate", "--yes").rows:
        assert [tag.casefold() for tag in mark["inherits"]["tags"]] == ["deploy"]
    (row,) = repo.valor("memory-query", "--tags", "deploy", "--summary").rows
    assert row["id"] == "a"
    assert [tag.casefold() for tag in row["tags"]] == ["web", "deploy"]
    assert set(row["references"]) == {"web/cache.py:3", "web/cache.py:9", "docs/deploy.md"}
    repo.valor("consolidate", "--undo-last")
    assert {row["id"] for row in repo.valor("memory-query", "--tags", "deploy").rows} == {"b", "c"}


def test_neither_private_nor_secret_values_are_inherited(repo: Repo) -> None:
    repo.write(
        line("a"),
        line("b", 2, tags=[f"key {TOKEN}", "<private>payroll</private>", "web"], references=[TOKEN, "a.py"]),
        line("c", 3, tags=["hush"], private=True),
    )
    (mark,) = repo.valor("consolidate", "--yes").rows
    assert mark["inherits"] == {"tags": ["web"], "references": ["a.py"]}


def test_a_survivor_does_not_inherit_references_to_itself_and_to_what_it_hides(repo: Repo) -> None:
    first, second = "obs-1790000000-00000000000a", "obs-1790000001-00000000000b"
    repo.write(
        line(first),
        line(second, 2, references=[first, "a.py"]),
        line("obs-1790000002-00000000000c", 3, references=[second]),
    )
    (mark,) = repo.valor("consolidate", "--yes").rows
    assert mark["inherits"] == {"references": ["a.py"]}


def test_what_replaces_another_does_not_inherit_from_it(repo: Repo) -> None:
    repo.write(
        line("a", 1, "Enable the query planner cache", tags=["db", "slow"]),
        line("b", 2, "Disable the query planner cache", tags=["db"]),
    )
    (mark,) = repo.valor("consolidate", "--yes").rows
    assert mark["relation"] == "supersedes"
    assert "inherits" not in mark


def test_the_last_run_is_taken_back_whole_then_the_one_before_it_then_there_is_none(repo: Repo) -> None:
    repo.write(*sure(), line("c", 3, "x y z"), line("d", 4, "X y z"))
    assert len(repo.valor("consolidate", "--yes").rows) == 2
    add(repo, line("e", 5, "the index is rebuilt"), line("f", 6, "the index is rebuilt"))
    assert len(repo.valor("consolidate", "--yes").rows) == 1
    before = repo.log.read_bytes()
    dry = repo.valor("consolidate", "--undo-last", "--dry-run")
    assert (dry.code, len(dry.rows)) == (1, 1)
    assert "would be void" in dry.err
    assert repo.log.read_bytes() == before
    assert repo.valor("consolidate", "--undo-last").code == 0
    assert live(repo) == {"a", "c", "e", "f"}
    assert len(repo.valor("consolidate", "--undo-last").rows) == 2
    assert live(repo) == {"a", "b", "c", "d", "e", "f"}
    before = repo.log.read_bytes()
    for flags in ([], ["--dry-run"]):
        result = repo.valor("consolidate", "--undo-last", *flags)
        assert (result.code, result.out) == (2, "")
        assert "--undo SUP-ID" in result.err
    assert repo.log.read_bytes() == before
    assert repo.valor("consolidate", "--dry-run").code == 0, "what was told apart is not proposed again"


def test_the_last_run_is_known_though_all_runs_fell_into_one_second(repo: Repo) -> None:
    at = {"timestamp": "2026-10-01T00:00:00Z", "type": "supersession", "tool": "consolidate"}
    repo.write(
        *sure(),
        line("c", 3, "x y z"),
        {"id": "sup-2", "supersedes": ["b"], "by": "a", "run": "run-1790812800-b"} | at,
        {"id": "sup-1", "supersedes": ["c"], "by": "a", "run": "run-1790812800-a"} | at,
    )
    (first,) = repo.valor("consolidate", "--undo-last").rows
    (second,) = repo.valor("consolidate", "--undo-last").rows
    assert (first["of"], second["of"]) == ("sup-1", "sup-2")
    assert live(repo) == {"a", "b", "c"}


def test_a_mark_of_the_last_run_that_was_undone_alone_is_not_undone_again(repo: Repo) -> None:
    repo.write(*sure(), line("c", 3, "x y z"), line("d", 4, "X y z"))
    one, other = repo.valor("consolidate", "--yes").rows
    repo.valor("consolidate", "--undo", one["id"])
    (row,) = repo.valor("consolidate", "--undo-last").rows
    assert row["of"] == other["id"]


def test_undoing_the_newest_run_after_a_merge_takes_all_of_its_marks(repo: Repo) -> None:
    """Its marks may carry two seconds, and those of another branch's run may lie between."""
    mark = {"type": "supersession", "tool": "consolidate"}
    repo.write(
        *sure(),
        line("c", 3, "x y z"),
        line("d", 4, "u v w"),
        {"id": "sup-1", "timestamp": "2026-10-01T00:00:01Z", "supersedes": ["b"], "by": "a", "run": "r1"}
        | mark,
        {"id": "sup-2", "timestamp": "2026-10-01T00:00:02Z", "supersedes": ["c"], "by": "a", "run": "r2"}
        | mark,
        {"id": "sup-3", "timestamp": "2026-10-01T00:00:03Z", "supersedes": ["d"], "by": "a", "run": "r1"}
        | mark,
    )
    assert {row["of"] for row in repo.valor("consolidate", "--undo-last").rows} == {"sup-1", "sup-3"}


RUNS = st.sampled_from(
    [
        ["--yes"],
        ["--yes", "--max", "1"],
        ["--yes", "--include-protected"],
        ["--yes", "--tier", "conflict"],
        ["--dry-run"],
        [],
        ["--undo-last"],
        ["--undo-last", "--dry-run"],
        ["--undo", "sup-"],
        ["--undo", "rei-"],
    ]
)


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(RUNS, min_size=3, max_size=6))
def test_whatever_is_run_the_log_only_grows(full: Repo, runs: list[list[str]]) -> None:
    full.git("checkout", "-q", "--", LOG)
    add(full, line("h", 9, source="human"), line("i", 10, "x y z"), line("j", 11, "X y z"))
    for flags in runs:
        before = full.log.read_bytes()
        assert full.valor("consolidate", *flags).code in (0, 1, 2)
        assert full.log.read_bytes().startswith(before)
    kept = {one["id"] for one in full.lines()}
    assert {"a", "b", "p", "q", "x", "y", "h", "i", "j"} <= kept


def test_two_branches_that_consolidate_at_once_leave_one_live_survivor_a_fact(
    full: Repo, make_repo: Callable[[str], Repo]
) -> None:
    """Near-duplicates, replacements and what is handed on: one branch sees a line more than the other."""
    (full.root / ".gitattributes").write_text("grimoires/loa/memory/*.jsonl merge=union\n")
    full.write(
        line("a", 2, tags=["cache"]),
        line("b", 3, SAME_AGAIN, tags=["cache", "deploy"]),
        line("on", 3, "Enable the query planner cache"),
        line("off", 4, "Disable the query planner cache"),
    )
    full.git("add", "-A")
    full.git("commit", "-qm", "base")
    full.git("switch", "-qc", "side")
    add(
        full,
        line("older", 1, SAME, tags=["cache"], references=["night.md"]),
        line("again", 5, "Enable the query planner cache"),
    )
    assert full.valor("consolidate", "--yes").code == 0
    full.git("commit", "-qam", "side")
    full.git("switch", "-q", "main")
    richer = "Without it the first requests of a node time out, because the database answers them all."
    add(full, line("richer", 6, SAME, details=richer, tags=["cache"]))
    assert full.valor("consolidate", "--yes").code == 0
    full.git("commit", "-qam", "main")
    full.git("merge", "-q", "side", "-m", "merge")
    for _ in range(2):  # a second run may still join the two survivors, and has then nothing left
        assert full.valor("consolidate", "--yes").code == 0
    assert full.valor("consolidate", "--dry-run", "--tier", "auto").code == 0
    assert live(full) == {"richer", "again"}
    for tag in ("cache", "deploy"):
        (row,) = full.valor("memory-query", "--tags", tag, "--summary").rows
        assert (row["id"], row["references"]) == ("richer", ["night.md"])
