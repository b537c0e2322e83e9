from __future__ import annotations

import fcntl
import json
import os
import pty
import subprocess
import threading
import time
from typing import Any

import pytest
from conftest import VALOR, Repo
from consolidating import line, live, view_of
from hypothesis import given
from hypothesis import strategies as st

from valor import log, record
from valor.consolidate.plan import plan
from valor.consolidate.step import APPLY, PROPOSE


def merges(*records: dict[str, Any], **options: Any) -> list[tuple[str, tuple[str, ...]]]:
    """What would be applied."""
    steps = plan(view_of(*records), **options).steps
    return [(step.by, step.supersedes) for step in steps if step.action == APPLY]


def test_the_oldest_of_equal_observations_survives() -> None:
    assert merges(line("c", 3), line("a", 2), line("b", 1)) == [("b", ("a", "c"))]
    assert merges(line("b"), line("a")) == [("b", ("a",))]  # of one second, the first line


def test_case_white_space_and_width_do_not_make_a_text_another() -> None:
    other = "The page  cache must be\nwarmed after each ｄｅｐｌｏｙ"
    assert merges(line("a"), line("b", 2, other)) == [("a", ("b",))]


@pytest.mark.parametrize(
    "other",
    [
        {"summary": "the cache must be warmed after each deploy to port 8081"},
        {"details": "only on staging"},
        {"private": True},
    ],
    ids=["another summary", "other details", "private"],
)
def test_what_is_not_the_same_is_not_merged(other: dict[str, Any]) -> None:
    assert merges(line("a"), line("b", 2, **other)) == []


def test_a_private_observation_never_survives_in_place_of_a_public_one() -> None:
    assert merges(line("a", private=True), line("b", 2), line("c", 3)) == [("b", ("c",))]


def test_lines_without_any_text_are_not_the_same() -> None:
    assert merges(line("a", summary=""), line("b", 2, summary=" ")) == []


@pytest.mark.parametrize(
    ("one", "other", "merged"),
    [
        ({"tags": ["web"]}, {"tags": ["db"]}, False),
        ({"tags": ["web", "cache"]}, {"tags": ["Cache"]}, True),
        ({"tags": ["web"]}, {}, True),
        ({"references": ["web/cache.py:10"]}, {"references": ["db/cache.py:10"]}, False),
        ({"references": ["web/cache.py:10"]}, {"references": ["web/cache.py:99-120"]}, True),
        ({"references": ["web/cache.py"]}, {"references": []}, True),
        ({"references": ["0d8ac75f3"]}, {"references": ["1b1e08ee2"]}, True),
    ],
)
def test_the_same_wording_about_different_components_is_not_merged(
    one: dict[str, Any], other: dict[str, Any], merged: bool
) -> None:
    assert bool(merges(line("a", **one), line("b", 2, **other))) is merged


def test_an_observation_of_no_component_does_not_join_two_components() -> None:
    assert merges(line("a", tags=["web"]), line("b", 2), line("c", 3, tags=["db"])) == [("a", ("b",))]


def test_lines_a_person_wrote_are_only_proposed() -> None:
    lines = (line("a"), line("b", 2, source="human"), line("c", 3))
    steps = [(step.action, step.by, step.supersedes) for step in plan(view_of(*lines)).steps]
    assert steps == [(APPLY, "a", ("c",)), (PROPOSE, "a", ("b",))]
    assert merges(*lines, include_protected=True) == [("a", ("b", "c"))]


def test_a_line_a_person_wrote_may_stay_in_place_of_another() -> None:
    [step] = plan(view_of(line("a", source="human"), line("b", 2))).steps
    assert (step.action, step.by) == (APPLY, "a")


def test_the_plan_says_what_differs() -> None:
    [step] = plan(view_of(line("a", tags=["x"]), line("b", 2, tags=["x", "y"], type="error"))).steps
    assert step.differs == ("type", "tags")
    assert (step.row()["reason"], step.row()["score"]) == ("identical text", 1.0)


def test_superseded_and_retracted_observations_take_no_part() -> None:
    mark = {"id": "sup-1", "type": "supersession", "supersedes": ["a"], "by": None}
    assert merges(line("a"), line("b", 2), mark) == []
    assert merges(line("a"), line("b", 2), line("c", 3), mark) == [("b", ("c",))]


def test_a_text_repeated_ten_thousand_times_is_planned_at_once() -> None:
    [(by, others)] = merges(*(line(f"o{number:05}") for number in range(10_000)))
    assert by == "o00000"
    assert len(others) == 9_999


@given(
    st.lists(
        st.tuples(st.sampled_from("xy"), st.sets(st.sampled_from("pqr")), st.booleans(), st.integers(1, 9)),
        max_size=12,
    ),
    st.randoms(),
)
def test_a_plan_does_not_depend_on_the_order_of_the_lines_and_leaves_a_survivor(
    drawn: list[tuple[str, set[str], bool, int]], random: Any
) -> None:
    lines = [
        line(f"o{number}", day, text, tags=sorted(tags), source="human" if human else "agent")
        | {"timestamp": f"2026-09-{day:02}T10:{number:02}:00Z"}
        for number, (text, tags, human, day) in enumerate(drawn)
    ]
    steps = plan(view_of(*lines)).steps
    shuffled = lines[:]
    random.shuffle(shuffled)
    assert plan(view_of(*shuffled)).steps == steps
    applied = [step for step in steps if step.action == APPLY]
    hidden = [id_ for step in applied for id_ in step.supersedes]
    assert len(hidden) == len(set(hidden))
    assert not {step.by for step in applied} & set(hidden)


def test_a_dry_run_prints_the_plan_and_writes_nothing_anywhere(repo: Repo) -> None:
    repo.write(line("a"), line("b", 2))
    before = repo.log.read_bytes()
    result = repo.valor("consolidate", "--dry-run")
    assert result.code == 1
    [row] = result.rows
    assert (row["by"], row["supersedes"], row["reason"], row["score"]) == ("a", ["b"], "identical text", 1.0)
    assert repo.log.read_bytes() == before
    assert not repo.state.exists()
    assert repo.valor("consolidate", "--dry-run", "--table").out.startswith("| action |")


def test_a_dry_run_with_nothing_to_do_says_so(repo: Repo) -> None:
    repo.write(line("a"))
    result = repo.valor("consolidate", "--dry-run")
    assert (result.code, result.out) == (0, "")
    assert "nothing to do" in result.err
    repo.log.unlink()
    assert repo.valor("consolidate", "--dry-run").code == 0
    assert not repo.log.exists()


def test_applying_appends_one_mark_a_group_and_changes_no_line(repo: Repo) -> None:
    repo.write(
        line("a"), line("b", 2), line("c", 3), line("d", 4, "another text"), line("e", 5, "Another text")
    )
    before = repo.log.read_bytes()
    result = repo.valor("consolidate", "--yes", LOA_SESSION_ID="s-1")
    assert result.code == 0
    assert repo.log.read_bytes().startswith(before)
    first, second = repo.lines()[5:]
    assert first["id"].startswith("sup-")
    assert (first["type"], first["by"], first["supersedes"]) == ("supersession", "a", ["b", "c"])
    assert (first["session_id"], first["tool"], first["score"]) == ("s-1", "consolidate", 1.0)
    assert second["supersedes"] == ["e"]
    assert result.rows == [first, second]
    assert live(repo) == {"a", "d"}


def test_consolidating_twice_marks_nothing_more(repo: Repo) -> None:
    repo.write(line("a"), line("b", 2))
    repo.valor("consolidate", "--yes")
    before = repo.log.read_bytes()
    result = repo.valor("consolidate", "--yes")
    assert (result.code, result.out) == (0, "")
    assert repo.log.read_bytes() == before


def test_two_clones_that_consolidate_alone_agree_after_the_merge(repo: Repo) -> None:
    repo.root.joinpath(".gitattributes").write_text("*.jsonl merge=union\n")
    repo.write(line("a"), line("b", 2))
    repo.git("add", "-A")
    repo.git("commit", "-qm", "start")
    repo.git("checkout", "-qb", "other")
    for branch in ("other", "main"):
        repo.git("checkout", "-q", branch)
        assert repo.valor("consolidate", "--yes").code == 0
        repo.git("commit", "-qam", "consolidate")
    repo.git("merge", "-q", "-m", "merge", "other")
    assert len(repo.lines()) == 4
    assert live(repo) == {"a"}


def test_without_a_terminal_and_without_yes_the_plan_is_shown_and_nothing_written(repo: Repo) -> None:
    repo.write(line("a"), line("b", 2))
    before = repo.log.read_bytes()
    result = repo.valor("consolidate")
    assert (result.code, result.rows[0]["supersedes"]) == (1, ["b"])
    assert "--yes" in result.err
    assert repo.log.read_bytes() == before


def test_max_caps_a_run(repo: Repo) -> None:
    texts = [f"the {name} must be warmed" for name in ("cache", "pool", "index")]
    repo.write(*(line(f"{text[4]}{day}", day, text) for text in texts for day in (1, 2)))
    assert len(repo.valor("consolidate", "--dry-run", "--max", "2").rows) == 2
    assert len(repo.valor("consolidate", "--yes", "--max", "2").rows) == 2
    assert len(repo.valor("consolidate", "--dry-run").rows) == 1


def test_undo_brings_back_what_a_mark_hid_and_it_is_not_marked_again(repo: Repo) -> None:
    repo.write(line("a"), line("b", 2))
    [mark] = repo.valor("consolidate", "--yes").rows
    result = repo.valor("consolidate", "--undo", mark["id"][:16])
    assert result.code == 0
    last = repo.lines()[-1]
    assert (last["type"], last["of"]) == ("reinstatement", mark["id"])
    assert last["id"].startswith("rei-")
    assert live(repo) == {"a", "b"}
    assert repo.valor("consolidate", "--dry-run").code == 0
    again = repo.valor("consolidate", "--undo", mark["id"])
    assert again.code == 0
    assert "void already" in again.err
    assert len(repo.lines()) == 4


def test_a_dry_undo_writes_nothing(repo: Repo) -> None:
    repo.write(line("a"), line("b", 2))
    [mark] = repo.valor("consolidate", "--yes").rows
    assert repo.valor("consolidate", "--undo", mark["id"], "--dry-run").code == 1
    assert len(repo.lines()) == 3


def test_undoing_an_id_that_no_mark_has_is_a_usage_error(repo: Repo) -> None:
    repo.write(line("a"), line("b", 2))
    assert repo.valor("consolidate", "--undo", "sup-1").code == 2
    repo.valor("consolidate", "--yes")
    result = repo.valor("consolidate", "--undo", "sup-0")
    assert result.code == 2
    assert "did you mean" in result.err or "memory-query" in result.err


def test_a_plan_is_looked_at_again_once_the_log_is_locked(repo: Repo) -> None:
    repo.write(line("a"), line("b", 2), line("c", 3, "another text"), line("d", 4, "another text"))
    taken = {"id": "sup-1", "type": "supersession", "supersedes": ["b"], "by": "a"}
    with repo.log.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        process = subprocess.Popen(
            [VALOR, "consolidate", "--yes"], cwd=repo.root, env=repo.env, stdout=subprocess.PIPE
        )
        time.sleep(1)  # it has planned by now, or plans later and sees the mark: right either way
        file.write(json.dumps(taken).encode() + b"\n")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_UN)
    out, _ = process.communicate(timeout=60)
    assert [json.loads(row)["supersedes"] for row in out.splitlines()] == [["d"]]


def test_an_observation_made_while_consolidating_survives(repo: Repo) -> None:
    repo.write(
        *(line(f"o{number:04}", 1, f"the pool number {number // 2} is shared") for number in range(400))
    )
    runs = [threading.Thread(target=repo.valor, args=("consolidate", "--yes")) for _ in range(2)]
    for run in runs:
        run.start()
    with log.appending(repo.log, 10) as end:
        end.write([record.encode(line("meanwhile", 2, "the index is rebuilt at night"))])
    for run in runs:
        run.join()
    lines = repo.lines()
    assert len([one for one in lines if one["type"] == "supersession"]) == 200
    assert "meanwhile" in live(repo)
    assert len(live(repo)) == 201


def test_a_group_of_many_is_marked_in_lines_of_a_bounded_length(repo: Repo) -> None:
    repo.write(*(line(f"obs-{1790000000 + number}-{number:012x}") for number in range(3_000)))
    assert repo.valor("consolidate", "--yes").code == 0
    assert all(len(raw) < record.MAX_LINE_BYTES for raw in repo.log.read_bytes().splitlines())
    assert len(live(repo)) == 1


def test_a_secret_in_the_log_is_masked_in_the_plan(repo: Repo) -> None:
    token = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    repo.write(line("a", 1, f"CI clones with {token}"), line("b", 2, f"CI clones with {token}"))
    result = repo.valor("consolidate", "--dry-run")
    assert result.code == 1
    assert token not in result.out + result.err


def test_consolidating_stages_nothing_and_sets_no_flag(repo: Repo) -> None:
    repo.write(line("a"), line("b", 2))
    repo.git("add", "-A")
    repo.git("commit", "-qm", "start")
    repo.valor("consolidate", "--yes")
    assert repo.git("diff", "--cached", "--name-only") == ""
    assert all(row.startswith("H ") for row in repo.git("ls-files", "-v").splitlines())
    assert len(repo.git("diff", "--numstat").splitlines()) == 1
    assert repo.git("diff", "--numstat").split()[:2] == ["1", "0"]


def test_two_lines_that_were_told_apart_both_stay_and_are_not_planned_again(repo: Repo) -> None:
    repo.write(
        line("obs-a", 1, "the server listens on port 8080"),
        line("obs-b", 2, "the server listens on port 8081"),
    )
    assert repo.valor("consolidate", "--dry-run").code == 1
    told = repo.valor("consolidate", "--apart", "obs-b", "obs-a")
    assert told.code == 0
    void, mark = repo.lines()[2:]
    assert (void["type"], void["of"]) == ("reinstatement", mark["id"])
    assert (mark["supersedes"], mark["by"]) == (["obs-a"], "obs-b")
    assert live(repo) == {"obs-a", "obs-b"}
    assert repo.valor("consolidate", "--dry-run").code == 0
    again = repo.valor("consolidate", "--apart", "obs-a", "obs-b")
    assert (again.code, len(repo.lines())) == (0, 4)
    assert "already" in again.err


@pytest.mark.parametrize("ids", [("obs-a", "obs-x"), ("obs-a", "obs-a"), ("obs-a", "")])
def test_what_cannot_be_told_apart_is_a_usage_error(repo: Repo, ids: tuple[str, str]) -> None:
    repo.write(line("obs-a"), line("obs-b", 2))
    result = repo.valor("consolidate", "--apart", *ids)
    assert (result.code, len(repo.lines())) == (2, 2)


def test_a_plan_on_a_terminal_shows_both_texts_and_for_a_contradiction_both_times(repo: Repo) -> None:
    repo.write(
        line("obs-a", 1, "the server listens on port 8080"),
        line("obs-b", 2, "the server listens on port 8081"),
    )
    shown = repo.on_a_terminal(60, "consolidate", "--dry-run").replace("\r", "")
    assert "decide (conflict): these two may contradict; which holds?\n" in shown
    assert "  or      obs-b  2026-09-02T10:00:00Z  the server listens on port 8081\n" in shown
    assert "  or      obs-a  2026-09-01T10:00:00Z  the server listens on port 8080\n" in shown
    assert "  differ  numbers: 8081 / 8080" in shown or "  differ  numbers: 8080 / 8081" in shown


def test_of_two_lines_of_one_second_the_first_is_the_earlier(repo: Repo) -> None:
    repo.write(
        line("obs-z", 1, "Enable the query planner cache"),
        line("obs-a", 1, "Disable the query planner cache"),
    )
    [row] = repo.valor("consolidate", "--dry-run").rows
    assert (row["by"], row["supersedes"]) == ("obs-a", ["obs-z"])


def answered(repo: Repo, answers: str, *arguments: str) -> str:
    """What the command prints on a terminal where somebody types these answers."""
    main, child = pty.openpty()
    process = subprocess.Popen(
        [VALOR, *arguments],
        cwd=repo.root,
        env=repo.env | {"TERM": "dumb"},
        stdin=child,
        stdout=child,
        stderr=child,
    )
    os.close(child)
    os.write(main, answers.encode())
    out = b""
    while True:
        try:
            chunk = os.read(main, 65536)
        except OSError:
            break
        out += chunk
    process.wait()
    os.close(main)
    return out.decode().replace("\r", "")


OPEN = (
    line("obs-a", 1, "the server listens on port 8080"),
    line("obs-b", 2, "the server listens on port 8081"),
    line("obs-c", 1, "Enable the query planner cache", source="human"),
    line("obs-d", 2, "Disable the query planner cache"),
)


@pytest.mark.parametrize(
    ("answers", "alive"),
    [
        ("m\nm\n", {"obs-b", "obs-d"}),
        ("o\ns\n", {"obs-a", "obs-b", "obs-c"}),
        ("s\no\n", {"obs-a", "obs-c", "obs-d"}),
        ("q\n", {"obs-a", "obs-b", "obs-c", "obs-d"}),
        ("x\nm\nq\n", {"obs-a", "obs-b", "obs-d"}),
    ],
)
def test_a_person_decides_what_is_open_one_at_a_time(repo: Repo, answers: str, alive: set[str]) -> None:
    repo.write(*OPEN)
    shown = answered(repo, answers, "consolidate", "--review")
    assert "a person wrote it" in shown
    assert live(repo) == alive


def test_what_a_person_tells_apart_in_a_review_is_not_asked_again(repo: Repo) -> None:
    repo.write(*OPEN)
    answered(repo, "a\na\n", "consolidate", "--review")
    assert len(live(repo)) == 4
    assert repo.valor("consolidate", "--dry-run").code == 0


def test_a_review_needs_somebody_to_ask(repo: Repo) -> None:
    repo.write(*OPEN)
    assert repo.valor("consolidate", "--review").code == 2
    assert len(repo.lines()) == 4
