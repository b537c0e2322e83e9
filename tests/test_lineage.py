from __future__ import annotations

import random
import re
from typing import Any

import pytest
from conftest import Repo
from hypothesis import given
from hypothesis import strategies as st
from test_fold_properties import Model, fold_of, logs, mark, observed, reach, void

from valor.errors import UnknownId, UsageError
from valor.fold import View
from valor.lineage import HOLDS, SUPERSEDED_BY, SUPERSEDES, Lineage, Node, find, lineage, rows

Data = dict[str, Any]


def lineage_of(data: list[Data], typed: str) -> Lineage:
    view = fold_of(data)
    return lineage(view, find(view, typed))


def drawn(nodes: tuple[Node, ...]) -> list[tuple[int, str | None, str, list[str]]]:
    return [(node.depth, node.id, node.standing, [one.state for one in node.marks]) for node in nodes]


CHAIN = [
    *(observed(id_, n) for n, id_ in enumerate("abcd")),
    mark("sup-1", "a", "b"),
    mark("sup-2", "b", "c"),
    mark("sup-3", "d", "c"),
]


def test_a_lineage_goes_both_ways() -> None:
    found = lineage_of(CHAIN, "b")
    assert (found.standing, found.survivor) == ("superseded", "c")
    assert drawn(found.superseded_by) == [(1, "c", "live", ["holds"])]
    assert drawn(found.supersedes) == [(1, "a", "superseded", ["holds"])]
    assert drawn(lineage_of(CHAIN, "c").supersedes) == [
        (1, "b", "superseded", ["holds"]),
        (2, "a", "superseded", ["holds"]),
        (1, "d", "superseded", ["holds"]),
    ]


def test_an_observation_nobody_marked_has_none() -> None:
    found = lineage_of([observed("a")], "a")
    assert (found.standing, found.survivor, found.superseded_by, found.supersedes) == ("live", "a", (), ())


def test_a_retraction_ends_it() -> None:
    found = lineage_of([*CHAIN, mark("sup-4", "c", None)], "a")
    assert (found.standing, found.survivor) == ("superseded", None)
    assert drawn(found.superseded_by)[1:] == [
        (2, "c", "retracted", ["holds"]),
        (3, None, "retraction", ["holds"]),
    ]


def test_a_mark_that_was_voided_or_waits_is_shown_and_not_followed() -> None:
    data = [*CHAIN, void("rei-1", "sup-1"), void("rei-2", "sup-1"), mark("sup-4", ["a", "x"], "gone")]
    found = lineage_of(data, "a")
    assert found.standing == "live"
    assert drawn(found.superseded_by) == [(1, "b", "superseded", ["void"]), (1, "gone", "absent", ["waits"])]
    assert found.superseded_by[0].marks[0].void_by == ("rei-1", "rei-2")
    assert drawn(lineage_of(data, "b").supersedes) == [(1, "a", "live", ["void"])]


def test_marks_that_say_the_same_share_a_node_and_each_keeps_its_state() -> None:
    found = lineage_of([*CHAIN, mark("sup-0", "a", "b"), void("rei-1", "sup-0")], "a")
    assert drawn(found.superseded_by)[0] == (1, "b", "superseded", ["void", "holds"])


def test_an_observation_may_be_the_mark_itself() -> None:
    [node] = lineage_of([observed("a"), {**observed("b", 1), "supersedes": ["a", "b"]}], "a").superseded_by
    assert [(one.id, one.by, one.state) for one in node.marks] == [("b", "b", "holds")]


def test_a_diamond_is_shown_once_and_referred_to() -> None:
    data = [observed(id_, n) for n, id_ in enumerate("abcde")]
    data += [
        mark("sup-1", "a", "b"),
        mark("sup-2", "a", "c"),
        mark("sup-3", "bc", "d"),
        mark("sup-4", "d", "e"),
    ]
    found = lineage_of(data, "a")
    assert [(node.depth, node.id, node.again) for node in found.superseded_by] == [
        (1, "b", False),
        (2, "d", False),
        (3, "e", False),
        (1, "c", False),
        (2, "d", True),
    ]


def test_a_circle_ends_where_it_closes() -> None:
    data = [*CHAIN, mark("sup-4", "c", "a")]
    found = lineage_of(data, "b")
    assert found.survivor == "a"
    assert drawn(found.superseded_by) == [
        (1, "c", "superseded", ["holds"]),
        (2, "a", "live", ["holds"]),
        (3, "b", "superseded", ["overruled"]),
    ]
    with_exit = lineage_of([*data, observed("e", 5), mark("sup-5", "a", "e")], "b")
    assert [(node.depth, node.id, node.again) for node in with_exit.superseded_by] == [
        (1, "c", False),
        (2, "a", False),
        (3, "b", True),
        (3, "e", False),
    ]


@pytest.mark.parametrize("way", [SUPERSEDED_BY, SUPERSEDES])
def test_a_chain_of_ten_thousand_is_followed_to_its_end(way: str) -> None:
    ids = [f"obs-{n:05}" for n in range(10_000)]
    data = [observed(id_) for id_ in ids]
    data += [mark(f"sup-{n}", [ids[n]], ids[n + 1]) for n in range(9_999)]
    view = fold_of(data)
    start, end = (ids[0], ids[-1]) if way == SUPERSEDED_BY else (ids[-1], ids[0])
    found = rows(lineage(view, find(view, start)), view, way)
    assert (len(found), found[-1]["id"], found[-1]["depth"]) == (9_999, end, 9_999)


def test_a_mark_shows_its_two_sides() -> None:
    found = lineage_of([*CHAIN, mark("sup-4", ["a", "gone"], "d")], "sup-4")
    assert (found.standing, found.survivor) == ("", None)
    assert drawn(found.superseded_by) == [
        (1, "d", "superseded", ["holds"]),
        (2, "c", "live", ["holds"]),
    ]
    assert drawn(found.supersedes) == [(1, "a", "superseded", ["holds"]), (1, "gone", "absent", ["waits"])]
    retraction = lineage_of([*CHAIN, mark("sup-4", "a", None)], "sup-4")
    assert drawn(retraction.superseded_by) == [(1, None, "retraction", ["holds"])]


def test_a_reinstatement_shows_the_sides_of_what_it_voids() -> None:
    found = lineage_of([*CHAIN, void("rei-1", "sup-1")], "rei-1")
    assert drawn(found.superseded_by) == [(1, "b", "superseded", ["void"])]
    assert drawn(found.supersedes) == [(1, "a", "live", ["void"])]
    assert lineage_of([*CHAIN, void("rei-1", "sup-9")], "rei-1").supersedes == ()


def test_a_prefix_finds_a_mark_or_an_observation_and_never_a_private_one() -> None:
    data = [*CHAIN, {**observed("private"), "private": True}, mark("pri-1", "a", "b")]
    view = fold_of(data)
    assert find(view, "pri").record["id"] == "pri-1"
    assert find(view, "private").record["id"] == "private"
    with pytest.raises(UsageError, match="begins 3 ids"):
        find(view, "sup-")
    with pytest.raises(UnknownId):
        find(view, "priva")


@given(logs)
def test_a_lineage_holds_exactly_what_the_marks_lead_to(data: list[Data]) -> None:
    view, model = fold_of(data), Model(data)
    holding = {(target, by) for target, by in model.edges if target in model.hidden}
    for id_, line in view.observations.items():
        found = lineage(view, line)
        for nodes, edges in (
            (found.superseded_by, holding),
            (found.supersedes, {(by, target) for target, by in holding}),
        ):
            followed = [node for node in nodes if any(one.state == HOLDS for one in node.marks) and node.id]
            assert {node.id for node in followed} - {id_} == reach(edges, id_) - {id_}
            once = [node.id for node in followed if not node.again]
            assert len(once) == len(set(once))
        if found.standing != "live":
            ends = {node.id for node in found.superseded_by if node.standing == "live"}
            retracted = any(
                one.state == HOLDS for node in found.superseded_by if node.id is None for one in node.marks
            )
            assert found.survivor in ends if found.survivor else retracted


@given(logs, st.randoms())
def test_a_lineage_is_a_function_of_the_set_of_lines(data: list[Data], chance: random.Random) -> None:
    shuffled = data + data[: len(data) // 2]
    chance.shuffle(shuffled)

    def told(view: View) -> object:
        lines = [*view.observations.values(), *view.marks.values()]
        found = {line.record["id"]: lineage(view, line) for line in lines}
        return {
            id_: [rows(one, view, way) for way in (SUPERSEDED_BY, SUPERSEDES)] for id_, one in found.items()
        }

    assert told(fold_of(shuffled)) == told(fold_of(data))


# The command.


def asked(repo: Repo, id_: str, *more: str) -> Data:
    result = repo.valor("memory-query", "--full", id_, "--lineage", *more)
    assert result.code == 0, result.err
    [row] = result.rows
    return row


def said(id_: str, targets: str | list[str], by: str | None, **more: Any) -> Data:
    return mark(id_, targets, by) | {"timestamp": "2026-02-01T12:00:00Z"} | more


def test_a_pipe_gets_one_object_that_is_the_full_one_and_its_lineage(repo: Repo) -> None:
    repo.write(*CHAIN[:4], said("sup-1", "a", "b", reason="same text", score=0.97), *CHAIN[5:])
    row = asked(repo, "a")
    [plain] = repo.valor("memory-query", "--full", "a").rows
    found = row.pop("lineage")
    assert row == plain
    assert (found["standing"], found["survivor"], found["supersedes"]) == ("superseded", "c", [])
    assert found["superseded_by"][0] == {
        "id": "b",
        "depth": 1,
        "from": "a",
        "standing": "superseded",
        "timestamp": "2026-01-02T00:00:00Z",
        "type": "discovery",
        "summary": "b",
        "marks": [
            {
                "id": "sup-1",
                "state": "holds",
                "timestamp": "2026-02-01T12:00:00Z",
                "score": 0.97,
                "reason": "same text",
            }
        ],
    }


def test_a_private_observation_tells_its_id_and_date_and_the_marks_beside_it_no_reason(repo: Repo) -> None:
    hidden = {**observed("p", 9), "summary": "a whisper", "private": True}
    repo.write(*CHAIN, hidden, said("sup-8", "ap", "c", reason="a whisper, too"))
    for id_ in ("a", "b", "c", "d"):
        assert "whisper" not in repo.valor("memory-query", "--full", id_, "--lineage").out
    # The mark by its own id keeps the secret as well, at every width of output.
    for flag in ("--json", "--table"):
        assert "whisper" not in repo.valor("memory-query", "--full", "sup-8", "--lineage", flag).out
    node = asked(repo, "c")["lineage"]["supersedes"][-1]
    assert node["id"] == "p"
    assert node["private"] is True
    assert node["timestamp"] == "2026-01-10T00:00:00Z"
    assert "summary" not in node
    assert "type" not in node
    own = asked(repo, "p")
    assert own["summary"] == "a whisper"
    assert own["lineage"]["superseded_by"][0]["marks"][0]["reason"] == "a whisper, too"


def test_secrets_in_texts_and_reasons_are_masked(repo: Repo) -> None:
    secret = "AKIA" + "QX7ZJ4N2M5RTV3LP"
    repo.write(
        observed("a"),
        {**observed("b"), "summary": f"the key is {secret}"},
        said("sup-1", "a", "b", reason=f"{secret} was rotated"),
    )
    for id_ in ("a", "b", "sup-1"):
        for flag in ("--json", "--table"):
            result = repo.valor("memory-query", "--full", id_, "--lineage", flag)
            assert result.code == 0
            assert secret not in result.out
        assert secret not in repo.on_a_terminal(200, "memory-query", "--full", id_, "--lineage")


def test_a_terminal_gets_a_tree_that_cannot_steer_it(repo: Repo) -> None:
    repo.write(
        observed("a"),
        {**observed("b", 1), "summary": "red \x1b[31m and\x07 loud"},
        said("sup-1", "a", "b", reason="bell\x07", score=0.5),
        said("sup-2", "a", "x\x1b[2J"),
        said("sup-3", "a", None),
        void("rei-1", "sup-3"),
    )
    shown = repo.on_a_terminal(120, "memory-query", "--full", "a", "--lineage", NO_COLOR="1")
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "a  superseded, survivor b" in shown
    assert re.search(
        r"├── b  2026-01-02  live  red \\x1b\[31m and\\x07 loud\s+│\s+by sup-1", shown.replace("│   │", "│")
    )
    assert "sup-1  2026-02-01  bell\\x07  score 0.5" in shown
    assert "waits for what is not in the log" in shown
    assert "void by rei-1" in shown
    assert "supersedes nothing" in shown


@pytest.mark.parametrize(
    "env", [{"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "cp1252"}]
)
def test_a_terminal_without_line_drawing_gets_guides_of_plain_letters(
    repo: Repo, env: dict[str, str]
) -> None:
    repo.write(*CHAIN)
    shown = repo.on_a_terminal(80, "memory-query", "--full", "b", "--lineage", **env)
    tree = shown[shown.index("b  superseded") :]
    assert tree.isascii()
    assert "`-- c  2026-01-03  live" in tree


def test_a_tree_too_deep_for_the_terminal_says_how_much_is_left_out(repo: Repo) -> None:
    ids = [f"obs-{n:03}" for n in range(60)]
    repo.write(*map(observed, ids), *(mark(f"sup-{n}", [ids[n]], ids[n + 1]) for n in range(59)))
    shown = repo.on_a_terminal(80, "memory-query", "--full", ids[0], "--lineage")
    assert "superseded, survivor obs-059" in shown
    assert "and 48 more below" in " ".join(shown.split())
    assert len(asked(repo, ids[0])["lineage"]["superseded_by"]) == 59


def test_a_table_in_a_pipe_has_a_row_for_each_node(repo: Repo) -> None:
    repo.write(*CHAIN)
    result = repo.valor("memory-query", "--full", "b", "--lineage", "--table")
    assert "| superseded_by | 1 | b | c | live |" in result.out
    assert "| supersedes | 1 | b | a | superseded |" in result.out


def test_the_lineage_of_then_knows_no_later_mark(repo: Repo) -> None:
    repo.write(*CHAIN[:4], said("sup-1", "a", "b"), said("sup-2", "b", "c", timestamp="2026-03-01T00:00:00Z"))
    then = asked(repo, "a", "--as-of", "2026-02-15")["lineage"]
    assert then["survivor"] == "b"
    assert [node["id"] for node in then["superseded_by"]] == ["b"]
    assert asked(repo, "a")["lineage"]["survivor"] == "c"
    early = repo.valor("memory-query", "--full", "d", "--as-of", "2026-01-02")
    assert (early.code, early.out) == (1, "")


def test_who_added_the_line_stands_beside_its_lineage(repo: Repo) -> None:
    repo.write(*CHAIN)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "first")
    assert asked(repo, "sup-1", "--blame")["author"] == "Ada"


def test_exit_codes_are_those_of_full(repo: Repo) -> None:
    assert repo.valor("memory-query", "--full", "a", "--lineage").code == 1
    repo.write(*CHAIN)
    unknown = repo.valor("memory-query", "--full", "obs-none", "--lineage")
    assert (unknown.code, unknown.out) == (1, "")
    assert repo.valor("memory-query", "--full", "sup", "--lineage").code == 2
    alone = repo.valor("memory-query", "--lineage")
    assert alone.code == 2
    assert "--full ID --lineage" in alone.err
    assert repo.valor("memory-query", "--full", "sup-1").code == 1  # without it marks are no observations
