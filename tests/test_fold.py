from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from conftest import Repo
from hypothesis import given
from hypothesis import strategies as st

from valor import log, record
from valor.fold import View, fold

IDS = [f"obs-{n}" for n in range(6)]
observations = st.fixed_dictionaries(
    {"id": st.sampled_from(IDS), "summary": st.sampled_from("ab"), "timestamp": st.sampled_from([1, 2])},
    optional={
        "supersedes": st.lists(st.sampled_from(IDS), max_size=2),
        "x": st.sampled_from([1, True, 1.0, 0.0, -0.0, None]),
    },
)
marks = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["sup-1", "sup-2", "sup-3", "sup-4"]),
        "type": st.just("supersession"),
        "supersedes": st.lists(st.sampled_from(IDS), min_size=1, max_size=2),
        "by": st.none() | st.sampled_from(IDS),
    }
)
reinstatements = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["rei-1", "rei-2"]),
        "type": st.just("reinstatement"),
        "of": st.sampled_from(["sup-1", "sup-2", "obs-1"]),
    }
)
logs = st.lists(observations | marks | reinstatements, max_size=14)


def fold_of(data: list[dict[str, Any]]) -> View:
    return fold(log.split(json.dumps(one).encode() + b"\n" for one in data))


def facts(view: View) -> object:
    return (
        {id_: record.dumps(line.record, sort_keys=True) for id_, line in view.observations.items()},
        {id_: record.dumps(line.record, sort_keys=True) for id_, line in view.marks.items()},
        view.superseded,
        {id_: view.survivor(id_) for id_ in view.observations},
        {one.id for one in view.conflicts},
    )


@given(logs, st.randoms(), st.integers(0, 14))
def test_the_view_is_a_function_of_the_set_of_lines(
    data: list[dict[str, Any]], chance: random.Random, repeats: int
) -> None:
    shuffled = data + [chance.choice(data) for _ in range(repeats) if data]
    chance.shuffle(shuffled)
    assert facts(fold_of(shuffled)) == facts(fold_of(data))


@given(logs)
def test_every_superseded_id_leads_to_a_live_survivor_or_a_retraction(data: list[dict[str, Any]]) -> None:
    view = fold_of(data)
    for id_ in view.superseded:
        reach, queue = {id_}, [id_]
        while queue:
            at = queue.pop()
            for by in view.successors.get(at, ()):
                if by not in reach:
                    reach.add(by)
                    queue.append(by)
        survivor = view.survivor(id_)
        assert survivor in reach - {id_} if survivor else reach & view.retracted


@given(logs)
def test_something_stays_live_unless_it_was_retracted(data: list[dict[str, Any]]) -> None:
    view = fold_of(data)
    if view.observations and not view.retracted:
        assert list(view.live())


def observation(id_: str, **more: Any) -> dict[str, Any]:
    return {"id": id_, "timestamp": "2026-01-01T00:00:00Z", "summary": id_} | more


def test_of_two_lines_with_one_id_the_later_wins_and_both_are_reported() -> None:
    early = observation("obs-1", summary="early")
    late = observation("obs-1", summary="late", timestamp="2026-01-02T00:00:00Z")
    view = fold_of([late, early])
    assert view.observations["obs-1"].record["summary"] == "late"
    assert [(one.id, sorted(one.numbers)) for one in view.conflicts] == [("obs-1", [1, 2])]


def test_the_order_of_keys_decides_nothing_and_true_is_not_one() -> None:
    one = {"id": "sup-1", "type": "supersession", "supersedes": ["a"], "by": None}
    turned = dict(reversed(one.items()))
    other = one | {"by": "a"}
    assert facts(fold_of([one, turned, other])) == facts(fold_of([turned, other, one]))
    assert not fold_of([one, turned]).conflicts
    assert fold_of([observation("a", x=1), observation("a", x=True)]).conflicts


def test_a_repeated_line_is_no_conflict() -> None:
    view = fold_of([observation("obs-1"), observation("obs-1")])
    assert len(view.observations) == 1
    assert not view.conflicts


def test_a_chain_of_marks_leads_to_its_last_live_end() -> None:
    view = fold_of(
        [observation(id_) for id_ in ("a", "b", "c")]
        + [
            {"id": "sup-1", "type": "supersession", "supersedes": ["a"], "by": "b"},
            {"id": "sup-2", "type": "supersession", "supersedes": ["b"], "by": "c"},
        ]
    )
    assert [line.record["id"] for line in view.live()] == ["c"]
    assert view.survivor("a") == "c"


def test_marks_of_two_branches_that_point_at_each_other_leave_one_live() -> None:
    view = fold_of(
        [
            observation("a"),
            observation("b", timestamp="2026-02-01T00:00:00Z"),
            {"id": "sup-1", "type": "supersession", "supersedes": ["a"], "by": "b"},
            {"id": "sup-2", "type": "supersession", "supersedes": ["b"], "by": "a"},
        ]
    )
    assert [line.record["id"] for line in view.live()] == ["a"]
    assert view.survivor("b") == "a"


def test_a_mark_whose_successor_is_not_here_hides_nothing() -> None:
    view = fold_of(
        [observation("a"), {"id": "sup-1", "type": "supersession", "supersedes": ["a"], "by": "gone"}]
    )
    assert view.is_live("a")


def test_an_observation_may_replace_an_earlier_one_itself_and_be_voided() -> None:
    data = [observation("a"), observation("b", supersedes=["a"])]
    assert fold_of(data).survivor("a") == "b"
    data.append({"id": "rei-1", "type": "reinstatement", "of": "b"})
    assert fold_of(data).is_live("a")


def test_a_reinstatement_voids_a_retraction() -> None:
    data = [observation("a"), {"id": "sup-1", "type": "supersession", "supersedes": ["a"], "by": None}]
    assert not fold_of(data).is_live("a")
    assert fold_of([*data, {"id": "rei-1", "type": "reinstatement", "of": "sup-1"}]).is_live("a")


def test_a_long_chain_is_no_deep_recursion() -> None:
    ids = [f"obs-{n:05}" for n in range(3000)]
    data = [observation(id_) for id_ in ids]
    data += [
        {"id": f"sup-{n}", "type": "supersession", "supersedes": [ids[n]], "by": ids[n + 1]}
        for n in range(2999)
    ]
    assert fold_of(data).survivor(ids[0]) == ids[-1]


def test_forgotten_records_are_read_again_from_their_bytes() -> None:
    data = [observation("a"), observation("b", summary="keep")]
    view = fold(
        log.split(json.dumps(one).encode() + b"\n" for one in data), lambda one: one["summary"] == "keep"
    )
    assert [line.held is not None for line in view.observations.values()] == [False, True]
    assert view.observations["a"].record == data[0]


def test_odd_fields_do_not_break_the_fold() -> None:
    data: list[dict[str, Any]] = [
        {"id": 5, "type": ["x"], "supersedes": None},
        {"id": None, "type": {"a": 1}, "supersedes": {"b": 2}},
        {"type": "supersession", "supersedes": "a, b", "by": 7},
        {"type": "reinstatement", "of": ["x"]},
        {},
    ]
    view = fold_of(data)
    assert len(view.observations) == 3
    assert "5" in view.observations
    assert all(record.kind(line.record) for line in view.live())


def test_a_union_merge_of_two_branches_folds_like_the_lines_of_both(make_repo: Callable[[str], Repo]) -> None:
    repo = make_repo("repo")
    (repo.root / ".gitattributes").write_text("grimoires/loa/memory/*.jsonl merge=union\n")
    repo.write(observation("obs-base"))
    repo.git("add", "-A")
    repo.git("commit", "-qm", "base")
    base = repo.log.read_bytes()
    repo.git("switch", "-qc", "side")
    ours = json.dumps(observation("obs-side")).encode() + b"\n"
    mark = json.dumps(
        {"id": "sup-1", "type": "supersession", "supersedes": ["obs-base"], "by": "obs-side"}
    ).encode()
    repo.log.write_bytes(base + ours + mark + b"\n")
    repo.git("commit", "-qam", "side")
    repo.git("switch", "-q", "main")
    repo.log.write_bytes(base + json.dumps(observation("obs-main")).encode() + b"\n")
    repo.git("commit", "-qam", "main")
    repo.git("merge", "-q", "side", "-m", "merge")
    merged = fold(log.lines(repo.log))
    assert set(merged.observations) == {"obs-base", "obs-side", "obs-main"}
    assert {line.record["id"] for line in merged.live()} == {"obs-side", "obs-main"}
    assert not merged.bad


def test_a_deep_line_without_an_id_still_gets_one() -> None:
    deep = b'{"summary":"deep","x":' + b"[" * 300 + b"1" + b"]" * 300 + b"}\n"
    view = fold(log.split([deep, deep, b'{"id":"flat"}\n']))
    assert len(view.observations) == 2
