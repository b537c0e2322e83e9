"""What a survivor takes over from its duplicates: in the fold, in answers, in the mirror."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Repo
from hypothesis import given
from hypothesis import strategies as st
from mirrored import Checkout, id_of
from mirrored import line as line_of
from mirrored import mark as mark_of

from valor import log, record
from valor.fold import View, fold
from valor.follow import CHANGED
from valor.inherit import Inheritance
from valor.mcp.calls import Calls
from valor.memory import Memory

IDS = [f"obs-{n}" for n in range(5)]
TAGS = st.lists(st.sampled_from(["ci", "CI", "net", "", "fork", 7, None]), max_size=3)
OBSERVATIONS = st.fixed_dictionaries(
    {"id": st.sampled_from(IDS), "timestamp": st.sampled_from([1, 2])},
    optional={
        "tags": TAGS | st.just("ci, net"),
        "private": st.booleans(),
        "supersedes": st.lists(st.sampled_from(IDS), max_size=1),
    },
)
WILLS = (
    st.none()
    | TAGS
    | st.fixed_dictionaries({}, optional={"tags": TAGS | st.just("ci"), "references": TAGS, "x": TAGS})
)
MARKS = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["sup-1", "sup-2", "sup-3", "sup-4", "sup-5"]),
        "type": st.just("supersession"),
        "supersedes": st.lists(st.sampled_from(IDS), min_size=1, max_size=2),
        "by": st.sampled_from([*IDS, None, 7]) | st.just(["obs-1"]),
        "inherits": WILLS,
    },
    optional={"timestamp": st.sampled_from([1, 2]), "private": st.booleans()},
)
REINSTATEMENTS = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["rei-1", "rei-2"]),
        "type": st.just("reinstatement"),
        "of": st.sampled_from(["sup-1", "sup-2", "obs-1"]),
    }
)
LOGS = st.lists(OBSERVATIONS | MARKS | REINSTATEMENTS, max_size=14)


def fold_of(data: list[dict[str, Any]], keep: Callable[[Any], bool] | None = None) -> View:
    return fold(log.split(json.dumps(one).encode() + b"\n" for one in data), keep)


def observation(id_: str, **more: Any) -> dict[str, Any]:
    return {"id": id_, "timestamp": "2026-01-01T00:00:00Z", "type": "error", "summary": f"about {id_}"} | more


def mark(id_: str, target: str | list[str], by: str | None, inherits: Any, **more: Any) -> dict[str, Any]:
    targets = [target] if isinstance(target, str) else target
    said = {"id": id_, "type": "supersession", "supersedes": targets, "by": by, "inherits": inherits}
    return said | more


def undo(id_: str) -> dict[str, Any]:
    return {"id": f"rei-of-{id_}", "type": "reinstatement", "of": id_}


def taken(*data: dict[str, Any]) -> dict[str, Inheritance]:
    return fold_of(list(data)).inherited


A, B, C = observation("a", tags=["ci"]), observation("b", tags=["net"]), observation("c")
NET = {"tags": ["net"], "references": ["b.py:3"]}


@given(LOGS, st.randoms(), st.integers(0, 14))
def test_what_is_inherited_is_a_function_of_the_set_of_lines(
    data: list[dict[str, Any]], chance: random.Random, repeats: int
) -> None:
    shuffled = data + [chance.choice(data) for _ in range(repeats) if data]
    chance.shuffle(shuffled)
    view, other = fold_of(data), fold_of(shuffled, lambda _: False)
    assert view.inherited == other.inherited
    for id_ in view.observations:
        one, same = (each.shown(each.observations[id_]) for each in (view, other))
        assert record.dumps(one, sort_keys=True) == record.dumps(same, sort_keys=True)


@given(LOGS)
def test_only_live_lines_inherit_and_each_value_comes_from_a_mark_that_stands(
    data: list[dict[str, Any]],
) -> None:
    view = fold_of(data)
    void = {line.record.get("of") for line in view.marks.values() if line.record["type"] == "reinstatement"}
    for id_, values in view.inherited.items():
        assert view.is_live(id_)
        own = view.observations[id_].record
        for key, found in zip(("tags", "references"), values, strict=True):
            fold_case = str.casefold if key == "tags" else str
            fresh = {fold_case(one) for one in found}
            assert len(fresh) == len(found)
            assert fresh.isdisjoint(map(fold_case, record.texts(own, key)))
            for value in found:
                assert any(
                    isinstance(will := line.record.get("inherits"), dict)
                    and value in will.get(key, [])
                    and mark_id not in void
                    and not line.record.get("private")
                    for mark_id, line in view.marks.items()
                )


@given(LOGS)
def test_one_walk_finds_the_survivors_that_many_do(data: list[dict[str, Any]]) -> None:
    view = fold_of(data)
    each = {id_: view.survivor(id_) for id_ in view.superseded}
    assert view.survivors() == {id_: end for id_, end in each.items() if end}


def test_a_survivor_is_shown_with_the_values_of_its_duplicate_behind_its_own() -> None:
    view = fold_of([A, B, mark("sup-1", "b", "a", NET)])
    line = view.observations["a"]
    assert view.shown(line) == A | {"tags": ["ci", "net"], "references": ["b.py:3"]}
    assert line.record == A
    assert view.shown(view.observations["b"]) == B


def test_a_tag_is_inherited_once_however_it_is_spelled_and_not_where_it_is_there() -> None:
    one = mark("sup-1", "b", "a", {"tags": ["Net", "CI"]}, timestamp=2)
    two = mark("sup-2", "c", "a", {"tags": ["net", "fork", "fork"]}, timestamp=1)
    assert taken(A, B, C, one, two) == {"a": (("net", "fork"), ())}
    assert taken(A, B, mark("sup-1", "b", "a", {"tags": ["CI"]})) == {}


def test_a_chain_hands_on_to_its_live_end() -> None:
    assert taken(A, B, C, mark("sup-1", "b", "a", NET), mark("sup-2", "a", "c", {"tags": ["ci"]})) == {
        "c": (("net", "ci"), ("b.py:3",))
    }


def test_of_two_survivors_the_younger_takes_all() -> None:
    younger = C | {"timestamp": "2026-02-01T00:00:00Z"}
    for one, two in ((A, younger), (younger, A)):
        wills = mark("sup-1", "b", one["id"], {"tags": ["x"]}), mark("sup-2", "b", two["id"], {"tags": ["y"]})
        over = mark("sup-3", "d", "b", {"tags": ["z"]})
        found = taken(A, B, younger, observation("d"), *wills, over)
        assert "z" in found["c"][0]
        assert "z" not in found["a"][0]


def test_a_long_chain_of_heirs_is_one_walk() -> None:
    """A walk for each mark would take 200 million steps."""
    ids = [f"obs-{n:05}" for n in range(20_000)]
    marks = [mark(f"sup-{n:05}", ids[n], ids[n + 1], {"tags": [f"t{n:05}"]}) for n in range(len(ids) - 1)]
    ((heir, (tags, _)),) = taken(*map(observation, ids), *marks).items()
    assert heir == ids[-1]
    assert list(tags) == [f"t{n:05}" for n in range(len(ids) - 1)]


def test_a_voided_mark_takes_its_values_back() -> None:
    standing = [A, B, C, mark("sup-1", "b", "a", NET), mark("sup-2", "c", "a", {"tags": ["fork"]})]
    assert taken(*standing, undo("sup-1")) == {"a": (("fork",), ())}
    assert taken(*standing, undo("sup-1"), undo("sup-2")) == {}


def test_marks_that_point_at_each_other_hand_on_to_the_one_that_stays() -> None:
    one, two = mark("sup-1", "b", "a", NET), mark("sup-2", "a", "b", {"tags": ["ci"]})
    assert taken(A, B, one, two) == {"a": (("net",), ("b.py:3",))}


def test_what_a_private_line_holds_shows_nowhere_else() -> None:
    hidden = B | {"private": True}
    assert taken(A, hidden, mark("sup-1", "b", "a", NET)) == {}
    assert taken(A, hidden, C, mark("sup-1", ["b", "c"], "a", NET)) == {}, "whose they are is not said"
    assert taken(A, B, mark("sup-1", "b", "a", NET, private=True)) == {}
    assert taken(A, hidden, C, mark("sup-1", "c", "b", {"tags": ["fork"]}), mark("sup-2", "b", "a", NET)) == {
        "a": (("fork",), ())
    }


def test_a_mark_that_hides_nothing_hands_on_nothing() -> None:
    assert taken(A, mark("sup-1", "gone", "a", NET)) == {}
    assert taken(A, mark("sup-1", "a", "a", NET)) == {}
    assert taken(B, mark("sup-1", "b", "gone", NET)) == {}
    assert taken(A, B, mark("sup-1", "b", None, NET)) == {}
    assert taken(A, B, mark("sup-1", "b", "a", NET), mark("sup-2", "a", None, NET)) == {}
    speaking = B | {"supersedes": ["a"], "by": "c", "inherits": NET}
    assert taken(A, speaking, C) == {}, "an observation has its own values"


@pytest.mark.parametrize(
    "will",
    [None, 7, "net", ["net"], {}, {"tags": "net"}, {"tags": {"net": 1}}, {"tags": [7, None, ["net"], " "]}],
)
def test_what_is_no_list_of_texts_is_passed_over(will: Any) -> None:
    assert taken(A, B, mark("sup-1", "b", "a", will)) == {}


def test_a_mark_whose_successor_is_no_text_costs_that_mark_alone() -> None:
    assert fold_of([A, {"id": "sup-1", "type": "supersession", "supersedes": ["a"], "by": ["b"]}]).is_live(
        "a"
    )


def test_every_answer_shows_what_was_inherited(repo: Repo) -> None:
    repo.write(A, B, C, mark("sup-1", "b", "a", NET))
    assert [row["id"] for row in repo.valor("memory-query", "--tags", "NET").rows] == ["a"]
    assert [row["id"] for row in repo.valor("memory-query", "--tags", "net", "--all").rows] == ["b", "a"]
    assert [row["id"] for row in repo.valor("memory-query", "net").rows] == ["a"]
    (row,) = repo.valor("memory-query", "--tags", "net", "--summary").rows
    assert (row["tags"], row["references"]) == (["ci", "net"], ["b.py:3"])
    assert repo.valor("memory-query", "--stats", "--tags", "net").rows[0]["live"] == 1
    assert "ci, net" in repo.valor("memory-query", "--tags", "net", "--summary", "--table").out
    (full,) = repo.valor("memory-query", "--full", "a").rows
    assert full == A | {"tags": ["ci", "net"], "references": ["b.py:3"], "inherited": NET}
    assert "inherited" not in repo.valor("memory-query", "--full", "c").rows[0]
    assert repo.valor("export").rows == [A, C]


def test_a_bare_line_that_the_filter_refused_still_meets_the_other_filters(repo: Repo) -> None:
    repo.write(A, B, mark("sup-1", "b", "a", NET))
    assert repo.valor("memory-query", "--tags", "net", "--type", "decision").code == 1
    assert repo.valor("memory-query", "--tags", "net", "--as-of", "2025-12-31").code == 1


def test_programs_see_what_was_inherited(repo: Repo) -> None:
    repo.write(A, B, C, mark("sup-1", "b", "a", NET))
    bound = Memory.at(repo.root, env=repo.env)
    (found,) = bound.query.filter(tags="ci").filter(tags="net")
    assert (found.id, found.tags, found.references, found.extra) == ("a", ["ci", "net"], ["b.py:3"], {})
    assert bound.get("a").tags == ["ci", "net"]
    calls = Calls(repo.env, repo.root)
    asked = {"level": "summary", "limit": 5, "type_": "", "since": "", "until": "", "session": ""}
    (hit,) = calls.search("", "", tags=["net"], **asked).hits  # type: ignore[arg-type]
    assert hit.tags == ["ci", "net"]
    assert calls.get("", "b").references == ["b.py:3"]


def test_a_secret_among_inherited_values_is_masked(repo: Repo, checkout: Checkout) -> None:
    token = "ghp_" + "Zq3" * 12
    lines = (A, B, C, mark("sup-1", "b", "a", {"tags": [token], "references": [f"see {token}"]}))
    repo.write(*lines)
    for options in (
        ["--summary"],
        ["--full", "a"],
        ["--full", "a", "--table"],
        ["--tags", token, "--summary"],
    ):
        done = repo.valor("memory-query", *options)
        assert "[redacted:" in done.out
        assert token not in done.out + done.err
    assert token not in repr(vars(Memory.at(repo.root, env=repo.env).get("a")))
    checkout.write(*(json.dumps(one).encode() + b"\n" for one in lines))
    checkout.sync()
    assert not any(token.lower() in term for term in checkout.held().postings)


def test_undo_takes_it_back(repo: Repo) -> None:
    repo.write(A, B, mark("sup-1790000000-0000000000aa", "b", "a", NET))
    assert repo.valor("consolidate", "--undo", "sup-1790000000-0000000000aa").code == 0
    assert [row["id"] for row in repo.valor("memory-query", "--tags", "net").rows] == ["b"]
    assert repo.valor("memory-query", "--full", "a").rows == [A]


def test_two_branches_that_consolidated_agree_once_merged(repo: Repo) -> None:
    """One keeps the oldest, the other the one that the first hid: the values of all reach one line."""
    (repo.root / ".gitattributes").write_text("grimoires/loa/memory/*.jsonl merge=union\n")
    fork = observation("c", tags=["fork"])
    repo.write(A, B, fork)
    repo.git("add", "-A"), repo.git("commit", "-qm", "base")
    repo.git("switch", "-qc", "side")
    repo.write(A, B, fork, mark("sup-1", ["b"], "a", NET))
    repo.git("commit", "-qam", "side")
    repo.git("switch", "-q", "main")
    repo.write(A, B, fork, mark("sup-2", ["a", "c"], "b", {"tags": ["ci", "fork"]}))
    repo.git("commit", "-qam", "main")
    repo.git("merge", "-q", "side", "-m", "merge")
    for tag in ("ci", "net", "fork"):
        (row,) = repo.valor("memory-query", "--tags", tag, "--summary").rows
        assert (row["id"], row["tags"]) == ("a", ["ci", "net", "fork"])


def test_recall_finds_a_survivor_by_an_inherited_tag_and_no_more_after_undo(repo: Repo, url: str) -> None:
    env = {"VALOR_REDIS_URL": url}
    others = [line_of(number) for number in range(30)]
    repo.write(*others, A, B | {"tags": ["zeppelin"]})
    will = {"tags": ["zeppelin"]}
    assert [row["id"] for row in repo.valor("recall", "the zeppelin", **env).rows] == ["b"]
    for step, told in ((mark("sup-1", "b", "a", will), ["a"]), (undo("sup-1"), ["b"])):
        before = repo.log.read_bytes()
        repo.log.write_bytes(before + json.dumps(step).encode() + b"\n")
        assert [row["id"] for row in repo.valor("recall", "the zeppelin", **env).rows] == told
        assert repo.valor("sync", "--verify", **env).code == 0


def test_a_mirror_made_anew_remembers_who_inherited(checkout: Checkout) -> None:
    checkout.write(
        *map(line_of, range(20)), mark_of(1, [id_of(2)], id_of(3), inherits={"tags": ["heirloom"]})
    )
    checkout.sync()
    assert set(checkout.held().postings["heirloom"]) == {id_of(3)}
    checkout.append(json.dumps(undo("sup-1700000000-000000000001")).encode() + b"\n")
    assert checkout.sync().how == CHANGED
    assert "heirloom" not in checkout.held().postings
    assert checkout.differences() == []


def test_a_mark_that_hands_on_moves_its_survivor_in_the_mirror_alone(checkout: Checkout) -> None:
    checkout.write(*map(line_of, range(20)))
    checkout.sync()
    checkout.append(mark_of(1, [id_of(2)], id_of(3), inherits={"tags": ["heirloom"]}))
    done = checkout.sync()
    assert (done.how, done.added, done.removed) == (CHANGED, 1, 2)
    assert set(checkout.held().postings["heirloom"]) == {id_of(3)}
    assert checkout.differences() == []
    checkout.append(mark_of(2, [id_of(4)], id_of(5), inherits={"references": ["a.py:3"]}))
    done = checkout.sync()
    assert (done.added, done.removed) == (0, 1), "references are no terms"
    checkout.append(json.dumps(undo("sup-1700000000-000000000001")).encode() + b"\n")
    checkout.sync()
    assert "heirloom" not in checkout.held().postings
    assert checkout.differences() == []
