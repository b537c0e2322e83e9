"""The fold, proven: against a slow model of its rules, over any sequence of lines, split and merged."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from conftest import Repo
from hypothesis import given, settings
from hypothesis import strategies as st

from valor import log, record
from valor.fold import View, fold

Data = dict[str, Any]

NAMES = ["a", "b", "c", "d", "e"]
MARKS = ["sup-1", "sup-2", "sup-3", "sup-4"]
VOIDS = ["rei-1", "rei-2", "rei-3"]
# Whatever may stand where an id should: a mark's, a reinstatement's, one that nobody has, none at all.
anything = st.sampled_from([*NAMES, *NAMES, *MARKS[:2], "rei-1", "gone"])
ODD: list[Any] = [["a"], {"a": "b"}, 7, True, ""]

observations = st.fixed_dictionaries(
    # "sup-1" and "rei-1" as well: an id may stand on an observation and on a mark.
    {"id": st.sampled_from([*NAMES, *NAMES, "sup-1", "rei-1"]), "timestamp": st.sampled_from([1, 2, None])},
    optional={"supersedes": st.lists(anything, max_size=3), "private": st.just(True)},
)
supersessions = st.fixed_dictionaries(
    {
        "id": st.sampled_from(MARKS),
        "type": st.just("supersession"),
        "supersedes": st.lists(anything, max_size=3),
        "by": st.none() | anything | anything | st.sampled_from(ODD),
    }
)
reinstatements = st.fixed_dictionaries(
    {
        "id": st.sampled_from(VOIDS),
        "type": st.just("reinstatement"),
        "of": st.sampled_from([*MARKS, *NAMES, *VOIDS]),
    }
)
logs = st.lists(observations | supersessions | supersessions | reinstatements, max_size=20)
# The branches (of three) that have each line: lines of all three were there before they parted.
placed_logs = st.lists(
    st.tuples(
        observations | supersessions | supersessions | reinstatements,
        st.sets(st.integers(0, 2), min_size=1, max_size=3),
    ),
    max_size=20,
)


def encoded(data: Iterable[Data]) -> list[bytes]:
    return [json.dumps(one).encode() + b"\n" for one in data]


def fold_of(data: Iterable[Data]) -> View:
    return fold(log.split(encoded(data)))


def facts(view: View) -> object:
    """Everything that a view says, but for the order of the file."""
    return (
        {id_: record.dumps(line.record, sort_keys=True) for id_, line in view.observations.items()},
        {id_: record.dumps(line.record, sort_keys=True) for id_, line in view.marks.items()},
        view.superseded,
        view.retracted,
        view.successors,
        {id_: sorted(marks) for id_, marks in view.marked_by.items()},
        view.named,
        {id_: view.survivor(id_) for id_ in view.observations},
        {one.id for one in view.conflicts},
    )


def reach(edges: set[tuple[str, str]], start: str) -> set[str]:
    """Every id that one comes to from here; ``start`` itself where a circle leads back."""
    found: set[str] = set()
    while fresh := {by for target, by in edges if target in found | {start}} - found:
        found |= fresh
    return found


class Model:
    """The rules of docs/reference/record-format.md, once more and as plainly as can be."""

    def __init__(self, data: Iterable[Data]) -> None:
        lines: dict[str, Data] = {}
        for one in sorted(data, key=lambda one: (record.moment(one), record.dumps(one, sort_keys=True))):
            lines[one["id"]] = one
        self.here = {id_ for id_, one in lines.items() if one.get("type") not in record.MARKS}
        void = {str(one["of"]) for one in lines.values() if one.get("type") == "reinstatement"}
        self.edges: set[tuple[str, str]] = set()
        self.retracted: set[str] = set()
        for id_, one in lines.items():
            if id_ in void or one.get("type") == "reinstatement":
                continue
            by = id_ if id_ in self.here else one["by"]
            for target in self.here.intersection(one.get("supersedes", ())):
                if by is None:
                    self.retracted.add(target)
                elif isinstance(by, str) and by in self.here and by != target:
                    self.edges.add((target, by))
        self.hidden = {id_ for id_ in self.here if self._is_hidden(id_, lines)}

    def _is_hidden(self, id_: str, lines: dict[str, Data]) -> bool:
        if id_ in self.retracted:
            return True
        after = reach(self.edges, id_)
        closed = bool(after) and all(id_ in reach(self.edges, one) for one in after)
        if closed and not after & self.retracted:
            return id_ != min(after, key=lambda one: (record.moment(lines[one]), one))
        return bool(after)


def check(view: View, data: list[Data]) -> None:
    """What holds of every view, whatever lines it came from."""
    model = Model(data)
    assert set(view.observations) == model.here
    assert view.retracted == model.retracted
    assert {(target, by) for target, all_ in view.successors.items() for by in all_} == model.edges
    assert view.superseded == model.hidden
    for id_ in view.observations:
        after = reach(model.edges, id_)
        survivor = view.survivor(id_)
        if view.is_live(id_):
            assert survivor == id_
        elif survivor is None:
            assert (after | {id_}) & view.retracted  # never lost: somebody said that it holds no more
        else:
            assert survivor in after
            assert view.is_live(survivor)
            assert view.survivor(survivor) == survivor  # it ends there
        assert bool(view.marked_by.get(id_)) or view.is_live(id_)  # what is hidden, a mark hides


@given(logs)
def test_the_fold_does_what_its_rules_say(data: list[Data]) -> None:
    check(fold_of(data), data)


@given(logs, st.randoms(), st.integers(0, 20))
def test_neither_order_nor_repetition_matters(data: list[Data], chance: random.Random, more: int) -> None:
    shuffled = data + [chance.choice(data) for _ in range(more) if data]
    chance.shuffle(shuffled)
    assert facts(fold_of(shuffled)) == facts(fold_of(data))


@given(placed_logs, st.permutations([0, 1, 2]))
def test_branches_merged_in_any_order_fold_like_their_lines_together(
    placed: list[tuple[Data, set[int]]], order: list[int]
) -> None:
    merged: list[bytes] = []
    for number in order:
        branch = [data for data, branches in placed if number in branches]
        check(fold_of(branch), branch)
        merged += [line for line in encoded(branch) if line not in merged]  # union: a set that grows
        check(fold(log.split(merged)), [json.loads(line) for line in merged])
    assert facts(fold(log.split(merged))) == facts(fold_of(data for data, _ in placed))


@given(logs, st.sampled_from(MARKS + NAMES))
def test_a_reinstatement_takes_marks_away_and_adds_none(data: list[Data], of: str) -> None:
    before = fold_of(data)
    after = fold_of([*data, {"id": "rei-9", "type": "reinstatement", "of": of}])
    assert after.retracted <= before.retracted
    assert {(a, b) for a, all_ in after.successors.items() for b in all_} <= {
        (a, b) for a, all_ in before.successors.items() for b in all_
    }


# Consolidations that ran on several branches at once.


def observed(id_: str, at: int = 0) -> Data:
    return {"id": id_, "timestamp": f"2026-01-{at + 1:02}T00:00:00Z", "summary": id_}


def mark(id_: str, targets: str | list[str], by: str | None) -> Data:
    return {"id": id_, "type": "supersession", "supersedes": list(targets), "by": by}


def void(id_: str, of: str) -> Data:
    return {"id": id_, "type": "reinstatement", "of": of}


def consolidated(group: list[str], name: str, chance: random.Random) -> list[Data]:
    """What one run may append: all of the group marked, towards one survivor, at once or step by step."""
    rest = list(group)
    chance.shuffle(rest)
    survivor = rest.pop()
    placed = [survivor]
    marks = []
    while rest:
        taken = [rest.pop() for _ in range(chance.randint(1, len(rest)))]
        marks.append(mark(f"sup-{name}-{len(marks)}", taken, chance.choice(placed)))
        placed += taken
    return marks


@given(st.integers(2, 8), st.integers(2, 3), st.randoms())
def test_consolidations_of_one_group_on_several_branches_leave_exactly_one_survivor(
    size: int, branches: int, chance: random.Random
) -> None:
    ids = [f"obs-{n}" for n in range(size)]
    base = [observed(id_, n % 2) for n, id_ in enumerate(ids)]
    runs = [consolidated(ids, str(n), chance) for n in range(branches)]
    for run in runs:
        assert len(list(fold_of(base + run).live())) == 1
    view = fold_of(base + [line for run in runs for line in run])
    [line] = view.live()
    assert {view.survivor(id_) for id_ in ids} == {line.record["id"]}


@given(st.lists(st.sets(st.sampled_from(NAMES), min_size=2), min_size=2, max_size=3), st.randoms())
def test_groups_that_overlap_lose_nothing_and_the_next_run_leaves_one(
    groups: list[set[str]], chance: random.Random
) -> None:
    ids = sorted(set().union(*groups))
    base = [observed(id_) for id_ in ids]
    runs = [consolidated(sorted(group), str(n), chance) for n, group in enumerate(groups)]
    data = base + [line for run in runs for line in run]
    view = fold_of(data)
    live = [line.record["id"] for line in view.live()]
    assert live
    assert {view.survivor(id_) for id_ in ids} <= set(live)
    if len(live) > 1:
        last = fold_of(data + consolidated(live, "next", chance))
        assert len({last.survivor(id_) for id_ in ids}) == 1
        assert len(list(last.live())) == 1


ABC = [observed("a", 0), observed("b", 1), observed("c", 2)]
MEETINGS: dict[str, tuple[list[list[Data]], dict[str, str | None]]] = {
    "each replaced by the other": (
        [[mark("sup-1", "a", "b")], [mark("sup-2", "b", "a")]],
        {"a": "a", "b": "a", "c": "c"},
    ),
    "a chain of two branches": (
        [[mark("sup-1", "a", "b")], [mark("sup-2", "b", "c")]],
        {"a": "c", "b": "c", "c": "c"},
    ),
    "two replaced by a third": (
        [[mark("sup-1", "a", "c")], [mark("sup-2", "b", "c")]],
        {"a": "c", "b": "c", "c": "c"},
    ),
    "one replaced by two, which nobody compared": (
        [[mark("sup-1", "a", "b")], [mark("sup-2", "a", "c")]],
        {"a": "c", "b": "b", "c": "c"},
    ),
    "a ring of three": (
        [[mark("sup-1", "a", "b")], [mark("sup-2", "b", "c")], [mark("sup-3", "c", "a")]],
        {"a": "a", "b": "a", "c": "a"},
    ),
    "whole groups with two survivors": (
        [[mark("sup-1", "bc", "a")], [mark("sup-2", "ab", "c")]],
        {"a": "a", "b": "a", "c": "a"},
    ),
    "a ring with a way out": (
        [[mark("sup-1", "a", "b")], [mark("sup-2", "b", "a"), mark("sup-3", "b", "c")]],
        {"a": "c", "b": "c", "c": "c"},
    ),
    "a ring whose way out is retracted": (
        [
            [mark("sup-1", "a", "b"), mark("sup-4", "c", None)],
            [mark("sup-2", "b", "a"), mark("sup-3", "b", "c")],
        ],
        {"a": None, "b": None, "c": None},
    ),
    "a ring whose way out was voided": (
        [
            [mark("sup-1", "a", "b"), void("rei-1", "sup-3")],
            [mark("sup-2", "b", "a"), mark("sup-3", "b", "c")],
        ],
        {"a": "a", "b": "a", "c": "c"},
    ),
    "a ring of which one is retracted": (
        [[mark("sup-1", "a", "b")], [mark("sup-2", "b", "a"), mark("sup-3", "b", None)]],
        {"a": None, "b": None, "c": "c"},
    ),
    "a successor that is retracted": (
        [[mark("sup-1", "a", "b")], [mark("sup-2", "b", None)]],
        {"a": None, "b": None, "c": "c"},
    ),
    "a successor that is retracted, beside one that holds": (
        [[mark("sup-1", "a", "b"), mark("sup-3", "a", "c")], [mark("sup-2", "b", None)]],
        {"a": "c", "b": None, "c": "c"},
    ),
    "a retraction that was voided": (
        [[mark("sup-1", "a", "b"), void("rei-1", "sup-2")], [mark("sup-2", "b", None)]],
        {"a": "b", "b": "b", "c": "c"},
    ),
    "a middle that was retracted": (
        [[mark("sup-1", "a", "b"), mark("sup-2", "b", "c")], [mark("sup-3", "b", None)]],
        {"a": "c", "b": "c", "c": "c"},
    ),
    "two marks of which one was voided": (
        [[mark("sup-1", "a", "b"), void("rei-1", "sup-1")], [mark("sup-2", "a", "c")]],
        {"a": "c", "b": "b", "c": "c"},
    ),
    "a reinstatement without its mark": (
        [[void("rei-1", "sup-9")], [mark("sup-1", "a", "b")]],
        {"a": "b", "b": "b", "c": "c"},
    ),
    "a reinstatement that another would void": (
        [[mark("sup-1", "a", "b")], [void("rei-1", "sup-1"), void("rei-2", "rei-1")]],
        {"a": "a", "b": "b", "c": "c"},
    ),
    "a mark of itself": ([[mark("sup-1", "ab", "a")], []], {"a": "a", "b": "a", "c": "c"}),
    "marks of marks": (
        [[mark("sup-1", ["sup-2", "sup-1"], "a"), mark("sup-3", "a", "sup-2")], [mark("sup-2", "b", "c")]],
        {"a": "a", "b": "c", "c": "c"},
    ),
    "a successor of another branch that never came": (
        [[mark("sup-1", "a", "d")], [mark("sup-2", ["d"], "b")]],
        {"a": "a", "b": "b", "c": "c"},
    ),
    "a successor that the other branch has": (
        [[mark("sup-1", "a", "d")], [observed("d", 3), mark("sup-2", ["d"], "b")]],
        {"a": "b", "b": "b", "c": "c", "d": "b"},
    ),
    "observations that replace each other": (
        [[{**observed("d", 3), "supersedes": ["a", "e"]}], [{**observed("e", 4), "supersedes": ["a", "d"]}]],
        {"a": "d", "b": "b", "c": "c", "d": "d", "e": "d"},
    ),
    "an observation whose marking was voided": (
        [[{**observed("d", 3), "supersedes": ["a", "b"]}, void("rei-1", "d")], [mark("sup-1", "b", "d")]],
        {"a": "a", "b": "d", "c": "c", "d": "d"},
    ),
}


@pytest.mark.parametrize("name", MEETINGS)
def test_what_meets_in_a_merge_leads_where_it_should(name: str) -> None:
    branches, survivors = MEETINGS[name]
    data = ABC + [line for branch in branches for line in branch]
    view = fold_of(data)
    check(view, data)
    assert {id_: view.survivor(id_) for id_ in view.observations} == survivors
    assert {line.record["id"] for line in view.live()} == {
        id_ for id_, end in survivors.items() if end == id_
    }


@pytest.mark.parametrize("odd", [*ODD, 0, 1.5, [], [[["b"]]]])
def test_a_successor_that_is_no_id_breaks_nothing_and_hides_nothing(odd: object) -> None:
    view = fold_of([*ABC, {"id": "sup-1", "type": "supersession", "supersedes": ["a"], "by": odd}])
    assert view.is_live("a")
    assert not view.marked_by


def test_a_number_is_as_good_as_its_text_wherever_an_id_stands() -> None:
    numbered = [{"id": 1, "timestamp": 1}, {"id": 2, "timestamp": 1}]
    for by in (2, "2"):
        for target in (1, "1"):
            one = {"id": "sup-1", "type": "supersession", "supersedes": [target], "by": by}
            assert fold_of([*numbered, one]).survivor("1") == "2"


def test_of_several_survivors_the_newest_is_named() -> None:
    data = [
        observed("a", 0),
        observed("b", 9),
        observed("c", 2),
        mark("sup-1", "a", "b"),
        mark("sup-2", "a", "c"),
    ]
    assert fold_of(data).survivor("a") == "b"


def test_an_id_twice_in_one_mark_is_marked_once() -> None:
    assert fold_of([*ABC, mark("sup-1", "aa", "b")]).marked_by == {"a": ["sup-1"]}


# The same with git's own union merge.


def merged_by_git(repo: Repo, base: list[Data], branches: list[list[Data]], order: Iterable[int]) -> bytes:
    (repo.root / ".gitattributes").write_text("grimoires/loa/memory/*.jsonl merge=union\n")
    repo.write(*base)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "base")
    for number, branch in enumerate(branches):
        repo.git("switch", "-qc", f"side-{number}", "main")
        repo.write(*base, *branch)
        repo.git("commit", "-q", "--allow-empty", "-am", f"side {number}")
    repo.git("switch", "-q", "main")
    for number in order:
        repo.git("merge", "-q", "--no-ff", "-m", f"merge {number}", f"side-{number}")
    return repo.log.read_bytes()


@pytest.mark.parametrize("name", [*MEETINGS][:8])
def test_a_merge_by_git_folds_like_the_set_of_lines(name: str, make_repo: Callable[[str], Repo]) -> None:
    branches, _ = MEETINGS[name]
    together = facts(fold_of(ABC + [line for branch in branches for line in branch]))
    for turn, order in enumerate((range(len(branches)), reversed(range(len(branches))))):
        merged = merged_by_git(make_repo(f"repo-{turn}"), ABC, branches, order)
        view = fold(log.split(merged.splitlines(keepends=True)))
        assert not view.bad
        assert facts(view) == together


@settings(max_examples=6)
@given(placed_logs, st.permutations([0, 1, 2]))
def test_any_three_branches_merged_by_git_fold_like_the_set_of_lines(
    placed: list[tuple[Data, set[int]]], order: list[int]
) -> None:
    base = [data for data, branches in placed if len(branches) == 3]
    rest = [(data, branches) for data, branches in placed if len(branches) < 3]
    sides = [[data for data, branches in rest if number in branches] for number in range(3)]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repo"
        root.mkdir()
        repo = Repo(root, Path(folder))
        repo.git("init", "-q", "-b", "main")
        merged = merged_by_git(repo, base, sides, order)
    view = fold(log.split(merged.splitlines(keepends=True)))
    assert not view.bad
    assert facts(view) == facts(fold_of(data for data, _ in placed))
