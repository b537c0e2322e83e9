"""The Python interface, on real checkouts."""

from __future__ import annotations

import inspect
import subprocess
import sys
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from conftest import Repo

from valor.errors import JunkRefused, NotAProject, OwnedElsewhere, SecretRefused, UsageError
from valor.lazy_query import Query, SkippedLines
from valor.memory import Memory

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "python-api.md"
POOL = "The socket pool hands out a dead connection after a fork"


def line(number: int, summary: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"obs-179000000{number}-{number:012x}",
        "timestamp": f"2026-11-0{number}T12:00:00Z",
        "type": "error",
        "summary": summary,
        **fields,
    }


LINES = (
    line(1, "The socket pool leaks", tags=["ci", "Net"], importance=3),
    line(2, "The parser eats a socket", type="decision", tags=["ci"], session_id="s-1"),
    line(3, "The cache forgets", tags=["net"], session_id="s-1", colour={"deep": [1]}),
    line(4, "Nobody may read this", private=True),
)
ONE, TWO, THREE, PRIVATE = (one["id"] for one in LINES)


def bind(repo: Repo, **options: Any) -> type[Memory]:
    return Memory.at(repo.root, env=repo.env, **options)


@pytest.fixture
def bound(repo: Repo) -> type[Memory]:
    repo.write(*LINES)
    return bind(repo)


def ids(query: Query[Memory]) -> list[str]:
    return [memory.id for memory in query]


def test_a_record_has_ordinary_attributes(bound: type[Memory]) -> None:
    memory = bound.get(THREE)
    assert (memory.id, memory.type, memory.summary) == (THREE, "error", "The cache forgets")
    assert (memory.tags, memory.references, memory.session_id) == (["net"], [], "s-1")
    assert (memory.source, memory.importance, memory.private) == ("agent", 1.0, False)
    assert memory.extra == {"colour": {"deep": [1]}}
    assert memory.timestamp == "2026-11-03T12:00:00Z"
    assert (memory.live, memory.superseded_by) == (True, None)
    assert bound.get(ONE).importance == 3.0
    assert not hasattr(memory, "colour")


def test_filters_hold_together_and_search_ranks(bound: type[Memory]) -> None:
    assert ids(bound.query) == [THREE, TWO, ONE]
    assert ids(bound.query.filter(type="error", tags="ci").search("socket")) == [ONE]
    assert ids(bound.query.filter(tags="ci, net")) == [THREE, TWO, ONE]
    assert ids(bound.query.filter(tags=["NET"])) == [THREE, ONE]
    assert ids(bound.query.filter(tags="ci").filter(tags="net")) == [ONE]
    assert ids(bound.query.filter(session="s-1").filter(type="error")) == [THREE]
    assert ids(bound.query.filter(type="error").filter(type="decision")) == []
    assert ids(bound.query.search("socket parser")) == [TWO, ONE]
    assert not bound.query.search("qqqq zxzx")


@pytest.mark.parametrize(
    "when",
    ["2026-11-02", "2026-11-02T12:00:00Z", datetime(2026, 11, 2), datetime(2026, 11, 2, 12, tzinfo=UTC)],
)
def test_times_come_as_texts_and_datetimes(bound: type[Memory], when: str | datetime) -> None:
    assert ids(bound.query.filter(since=when)) == [THREE, TWO]
    assert ids(bound.query.filter(until=1_793_620_800.0)) == [TWO, ONE]
    assert ids(bound.query.filter(until="2026-11-01")) == [ONE]


def test_a_query_is_a_sequence_that_each_step_leaves_as_it_was(bound: type[Memory]) -> None:
    everything = bound.query
    errors = everything.filter(type="error")
    assert (len(everything), len(errors), len(errors.limit(1))) == (3, 2, 1)
    assert errors[0].id == THREE
    assert errors[-1].id == ONE
    assert [memory.id for memory in errors[:1]] == [THREE]
    first = errors.first()
    assert first is not None
    assert first.id == THREE
    assert everything.filter(tags="nowhere").first() is None
    assert list(errors) == list(errors)


def test_a_query_reads_at_its_first_use_and_then_stays(repo: Repo, bound: type[Memory]) -> None:
    before, after = bound.query, bound.query
    assert len(before) == 3
    repo.write(*LINES, line(5, "A new one"))
    assert (len(before), len(after), len(before.limit(0))) == (3, 4, 4)


def test_slips_in_a_query_are_errors(bound: type[Memory]) -> None:
    with pytest.raises(UsageError, match="eror"):
        len(bound.query.filter(tags="ci").filter(type="eror").filter(session="s-1"))
    with pytest.raises(UsageError, match="no time"):
        bound.query.filter(since="soon")
    with pytest.raises(UsageError):
        bound.query.limit(-1)


def test_a_near_word_is_suggested(bound: type[Memory]) -> None:
    query = bound.query.search("zocketzz")
    assert len(query) == 0
    assert isinstance(query.suggestions, tuple)


def test_bad_lines_are_passed_over_with_a_warning(repo: Repo, bound: type[Memory]) -> None:
    repo.write(LINES[0], b'{"torn\n', LINES[1])
    with pytest.warns(SkippedLines, match="line 2: torn") as told:
        assert len(bound.query) == 2
        assert len(list(bound.query)) == 2
        bound.get(ONE)
    assert [warning.filename for warning in told] == [__file__] * 3


def test_private_lines_answer_to_their_whole_id_alone(bound: type[Memory]) -> None:
    assert PRIVATE not in ids(bound.query.all_versions())
    assert bound.get(PRIVATE).private
    with pytest.raises(UsageError, match="no observation"):
        bound.get(PRIVATE[:-1])


def test_get_takes_a_prefix_that_only_one_id_has(bound: type[Memory]) -> None:
    assert bound.get(TWO[:-3]).id == TWO
    with pytest.raises(UsageError, match="begins 3 ids"):
        bound.get("obs-")


def test_a_secret_that_is_in_the_log_reads_masked(repo: Repo) -> None:
    secret = "AKIA" + "Q7RZ2LMNP4TV6WXY"
    repo.write(line(1, f"The key {secret} was used"))
    assert secret not in bind(repo).get("obs-").summary


def test_saving_is_observing(repo: Repo) -> None:
    bound = bind(repo, session_id="s-9")
    memory = bound(POOL, type="error", tags="ci, redis", references=["pool.py:42"], extra={"colour": "red"})
    assert (memory.id, memory.live) == ("", False)
    memory.details = "It was opened before the fork. <private>the boss said so</private>"
    memory.tags.append("fork")
    assert memory.save() == memory.id != ""
    [stored] = repo.lines()
    assert stored["id"] == memory.id
    assert (stored["type"], stored["tags"], stored["colour"]) == ("error", ["ci", "redis", "fork"], "red")
    assert (stored["source"], stored["importance"], stored["session_id"]) == ("intentional", 8.0, "s-9")
    assert stored["details"] == memory.details == "It was opened before the fork."
    assert (memory.live, memory.timestamp) == (True, stored["timestamp"])
    assert memory.save() == memory.id
    assert len(repo.lines()) == 1
    assert ids(bound.query.search("dead sockets")) == [memory.id]


def test_the_same_text_becomes_the_observation_that_is_there(repo: Repo) -> None:
    bound = bind(repo)
    first, second = bound(POOL, type="error"), bound(POOL.upper(), type="decision")
    assert first.save() == second.save()
    assert (second.type, second.summary) == ("error", POOL)
    assert second.notes == ("already in the log",)
    assert len(repo.lines()) == 1


@pytest.mark.parametrize(
    ("draft", "error"),
    [
        ({"summary": "AWS key " + "AKIA" + "Q7RZ2LMNP4TV6WXY"}, SecretRefused),
        ({"summary": "ok thanks"}, JunkRefused),
        ({"summary": "The user wants short answers without headings"}, OwnedElsewhere),
        ({"summary": POOL, "type": "eror"}, UsageError),
        ({"summary": POOL, "importance": 11}, UsageError),
        ({"summary": POOL, "supersedes": "obs-nobody"}, UsageError),
    ],
)
def test_what_observe_refuses_save_refuses_and_the_draft_stays_one(
    repo: Repo, draft: dict[str, Any], error: type[Exception]
) -> None:
    memory = bind(repo)(**draft)
    with pytest.raises(error):
        memory.save()
    assert memory.id == ""
    assert not repo.log.exists()


def test_a_refusal_can_be_overruled_as_on_the_command_line(repo: Repo) -> None:
    bound = bind(repo)
    wish = bound("The user wants short answers without headings")
    wish.save(owner="observations")
    assert wish.routed == "override"
    key = "AKIA" + "Q7RZ2LMNP4TV6WXY"
    leak = bound(f"The deploy script prints the key {key} in its log")
    leak.save(redact=True)
    assert key not in leak.summary
    assert leak.notes


def test_a_memory_that_is_switched_off_writes_nothing(repo: Repo) -> None:
    memory = Memory.at(repo.root, env=repo.env | {"LOA_MEMORY_ENABLED": "false"})(POOL)
    assert memory.save() == memory.id == ""
    assert "off" in memory.notes[0]
    assert not repo.log.exists()


def test_what_is_in_the_log_cannot_be_changed(bound: type[Memory]) -> None:
    memory = bound.get(ONE)
    with pytest.raises(UsageError, match="no line is changed"):
        memory.importance = 9.0
    with pytest.raises(AttributeError):
        memory.imprtance = 9.0  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        bound("A draft").id = "obs-1"
    with pytest.raises(UsageError, match="extra holds id"):
        bound("A draft", extra={"id": "obs-1"})


def test_a_new_memory_replaces_an_old_one(bound: type[Memory]) -> None:
    new = bound(POOL, supersedes=ONE[:-2])
    new.save()
    old = bound.get(ONE)
    assert (old.live, old.superseded_by, new.supersedes) == (False, new.id, [ONE])
    assert ONE not in ids(bound.query)
    assert ONE in ids(bound.query.all_versions())
    assert old.supersede(by=new) == new.id


def test_superseding_adds_one_mark_however_often_it_is_said(repo: Repo, bound: type[Memory]) -> None:
    before = repo.log.read_bytes()
    old, new = bound.get(ONE), bound.get(TWO)
    mark = old.supersede(by=new, reason="the pool is gone <private>and so is Bob</private>")
    assert (old.live, old.superseded_by) == (False, TWO)
    assert repo.log.read_bytes().startswith(before)
    added = repo.lines()[-1]
    assert added["id"] == mark
    assert (added["supersedes"], added["by"], added["reason"]) == ([ONE], TWO, "the pool is gone")
    assert old.supersede(by=TWO[:-2]) == bound.get(ONE).supersede(by=new) == mark
    assert len(repo.lines()) == len(LINES) + 1
    assert ids(bound.query) == [THREE, TWO]
    assert repo.valor("consolidate", "--undo", mark).code == 0
    assert bound.get(ONE).live
    again = bound.get(ONE).supersede(by=new)
    assert again != mark


def test_retracting_leaves_nothing_in_its_place(repo: Repo, bound: type[Memory]) -> None:
    memory = bound.get(ONE)
    memory.supersede(by=None)
    assert repo.lines()[-1]["by"] is None
    assert (memory.live, memory.superseded_by) == (False, None)
    assert not bound.get(ONE).live


def test_marks_that_make_no_sense_are_refused_and_nothing_is_written(repo: Repo, bound: type[Memory]) -> None:
    one, two, three = bound.get(ONE), bound.get(TWO), bound.get(THREE)
    one.supersede(by=two)
    before = repo.log.read_bytes()
    for memory, by, says in (
        (one, None, "already"),
        (one, three, "already"),
        (two, one, f"superseded by {TWO}"),
        (two, two, "itself"),
        (two, "obs-nobody", "no observation"),
        (two, bound("A draft"), "draft"),
        (bound("A draft"), two, "draft"),
    ):
        with pytest.raises(UsageError, match=says):
            memory.supersede(by=by)
    with pytest.raises(SecretRefused):
        two.supersede(by=three, reason="key " + "AKIA" + "Q7RZ2LMNP4TV6WXY")
    with pytest.raises(UsageError, match="Unicode"):
        two.supersede(by=three, reason="\udc80")
    assert repo.log.read_bytes() == before
    assert two.live


def test_a_past_view_does_not_know_later_marks(bound: type[Memory]) -> None:
    bound.get(ONE).supersede(by=TWO)
    assert ids(bound.query.as_of("2026-11-02")) == [TWO, ONE]


def test_without_a_checkout_the_class_says_how_to_bind_it(tmp_path: Path) -> None:
    for use in (lambda: Memory.query, lambda: Memory.get("obs-1"), Memory(POOL).save):
        with pytest.raises(UsageError) as caught:
            use()
        assert "Memory.at(" in caught.value.hint
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(NotAProject):
            Memory.at(place)


def test_two_checkouts_never_see_each_other(make_repo: Callable[[str], Repo]) -> None:
    one, two = make_repo("a/api"), make_repo("b/api")
    one.write(LINES[0])
    here, there = bind(one), bind(two)
    assert len(here.query) == 1
    assert len(there.query) == 0
    with pytest.raises(UsageError):
        there.get(ONE)


def test_only_what_is_handed_in_counts(make_repo: Callable[[str], Repo], monkeypatch: Any) -> None:
    repo, other = make_repo("one"), make_repo("two")
    monkeypatch.setenv("PROJECT_ROOT", str(other.root))
    monkeypatch.setenv("LOA_MEMORY_ENABLED", "false")
    monkeypatch.chdir(other.root)
    env = repo.env | {"PROJECT_ROOT": str(other.root)}
    assert Memory.at(repo.root / ".", env=env)(POOL).save()
    assert repo.log.exists()
    assert not other.log.exists()
    assert Memory.at(repo.root).workspace().config.enabled


def test_a_class_of_ones_own_stays_what_it_is(repo: Repo) -> None:
    class Finding(Memory):
        def short(self) -> str:
            return self.summary[:10]

    bound = Finding.at(repo.root, env=repo.env)
    bound(POOL).save()
    assert bound.query[0].short() == "The socket"
    assert issubclass(bound, Finding)


def test_a_draft_and_a_record_show_what_they_are(bound: type[Memory]) -> None:
    assert repr(bound.get(ONE)) == f"<Memory {ONE} [error] The socket pool leaks>"
    assert "draft" in repr(bound("A thought"))
    assert "Query of" in repr(bound.query)


def test_reading_many_masks_none_before_it_is_looked_at(repo: Repo) -> None:
    repo.write(*(line(1, "The pool", id=f"obs-{number}") for number in range(50)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = list(bind(repo).query)
    assert all("summary" not in vars(memory) for memory in found)
    assert found[0].summary == "The pool"
    assert "summary" in vars(found[0])


def test_every_name_of_the_interface_is_documented() -> None:
    page = PAGE.read_text("utf-8")
    attributes = [name for name in Memory.__annotations__ if not name.startswith("_") and name != "query"]
    assert len(attributes) > 15
    for name in attributes:
        assert f"| `{name}` |" in page, name
    for made in (Memory, Query):
        for name in vars(made):
            if not name.startswith("_") and name not in attributes:
                assert f"`{name}" in page or f".{name}" in page, name
    for function in (Memory.__init__, Memory.at, Memory.save, Memory.supersede, Query.filter):
        for name in inspect.signature(function).parameters:
            assert name in ("self", "cls") or f"`{name}" in page, name


def test_a_typed_program_checks(tmp_path: Path) -> None:
    good = """
from valor.memory import Memory

Notes = Memory.at("/somewhere")
for memory in Notes.query.filter(type="error", tags="ci").search("socket"):
    weight: float = memory.importance
    tags: list[str] = memory.tags
first = Notes.query.first()
if first is not None:
    mark: str = first.supersede(by=None)
made: str = Notes("A finding", tags=["ci"]).save()
"""
    bad = good + "\nprint(Notes.query[0].imprtance)\nprint(first.summary)\n"
    for name, text, expected in (("good", good, 0), ("bad", bad, 2)):
        (tmp_path / f"{name}.py").write_text(text)
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "mypy",
                "--strict",
                "--cache-dir",
                tmp_path / "cache",
                tmp_path / f"{name}.py",
            ],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert done.stdout.count(": error:") == expected, done.stdout
