"""The script on the server decides as ``valor.recall`` does, and says what hooks need to check it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mirrored
import pytest
import servers
from conftest import Repo
from hypothesis import given, settings
from hypothesis import strategies as st
from mirrored import STEPS, Checkout, History, id_of, line, mark

from valor import answer, gate, log, recall, record, rows, server
from valor.address import parse
from valor.fold import fold
from valor.keys import Keys, Row
from valor.place import place_of
from valor.propose import Proposal, propose
from valor.recall import Found, Known
from valor.recall_index import Document, MemoryIndex
from valor.window import Query, prompt_query, window_query
from valor.wire import Connection

WORDS = [f"{a}{b}" for a in ("zeb", "fla", "mu", "so") for b in ("ra", "ck", "tex", "lid", "ner")]
NOW = 1_800_000_000.0


def reference(path: Path) -> MemoryIndex:
    """The view in memory, line by line as the mirror has it."""
    documents = []
    for each in fold(log.lines(path)).live():
        entry = rows.entry(each)
        if entry:
            summary, details, tags = entry.texts
            row = Row(entry.row)
            known = Known(row.id, row.type, row.text, created=row.created, importance=row.importance)
            documents.append(Document(known=known, summary=summary, details=details, tags=tuple(tags)))
    return MemoryIndex(documents)


def proposed(checkout: Checkout, query: Query, weights: dict[str, float], **how: Any) -> list[Proposal]:
    address = server.address(checkout.workspace.config)
    with Connection(address, time.monotonic() + 30) as connection:
        found = propose(connection, place_of(checkout.workspace).names, query, weights, NOW, **how)
    assert found is not None
    return found


def same(expected: list[Found], got: list[Proposal]) -> bool:
    if [each.known.id for each in expected] != [each.row.id for each in got[: len(expected)]]:
        return False
    pairs = list(zip(expected, got, strict=False))
    return len(got) >= len(expected) and all(
        abs(a.score - b.score) < 1e-9 and abs(a.evidence - b.evidence) < 1e-9 for a, b in pairs
    )


LINE = st.fixed_dictionaries(
    {
        "summary": st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join),
        "details": st.lists(st.sampled_from(WORDS[:12]), max_size=12).map(" ".join),
        "type": st.sampled_from(["error", "decision", "correction", "unheard-of"]),
        "importance": st.sampled_from([0.0, 1.0, 8.0]),
        "timestamp": st.sampled_from(["2020-01-01", "2026-11-30T18:00:00Z", "garbage"]),
    }
)


@settings(max_examples=50)
@given(
    lines=st.lists(LINE, min_size=1, max_size=60),
    asked=st.lists(st.sampled_from([*WORDS, "unheard"]), min_size=1, max_size=14),
    short=st.booleans(),
    before=st.sampled_from([None, 1_600_000_000.0]),
    told=st.sets(st.integers(0, 5), max_size=2),
    scale=st.sampled_from([0.1, 0.5, 1.0]),
)
def test_server_and_memory_choose_alike(
    url: str,
    lines: list[dict[str, Any]],
    asked: list[str],
    short: bool,
    before: float | None,
    told: set[int],
    scale: float,
) -> None:
    query = (
        prompt_query(" ".join(asked))
        if short
        else window_query([{"tool_input": {"pattern": " ".join(asked)}}])
    )
    known = {id_of(number) for number in told}
    with servers.own_config(redis_url=url) as config:
        checkout = Checkout(config)
        checkout.write(*(line(number, **each) for number, each in enumerate(lines)))
        checkout.sync()
        index = reference(checkout.path)
        expected = recall.recall(query, index.gate(), index, NOW, before=before, told=known, scale=scale)
        weights = gate.known_terms(query, index.gate(), scale)
        got = proposed(checkout, query, weights, before=before, told=known, scale=scale) if weights else []
    assert same(expected, got)


@pytest.mark.shared
def test_server_and_memory_choose_alike_on_real_windows(checkout: Checkout, shared: Path) -> None:
    checkout.write((shared / "corpus" / "commits.jsonl").read_bytes())
    checkout.sync()
    index = reference(checkout.path)
    exact = index.gate()
    items = (shared / "corpus" / "toolcalls.jsonl").read_text().splitlines()[::8]
    for item in map(json.loads, items):
        query = window_query(item["window"])
        weights = gate.known_terms(query, exact)
        expected = recall.recall(query, exact, index, NOW)
        assert same(expected, proposed(checkout, query, weights) if weights else [])


def view_of(checkout: Checkout) -> answer.View:
    config = checkout.workspace.config
    view = answer.find_view(str(config.root), str(config.state), str(config.root))
    assert view is not None
    return view


def told(checkout: Checkout, text: str = "zeppelin hangar") -> list[str]:
    found = answer.answer(view_of(checkout), prompt_query(text), set(), NOW, time.monotonic() + 10)
    return [each.id for each in found]


ZEPPELIN = line(70, summary="the zeppelin leaves its hangar before the wind is read")
SLASHED = mark(1, ["mem:12/a"], None).replace(b"/", b"\\/")
QUOTES = 'say "hi" 1'
DERIVED = record.identifier(json.loads(ZEPPELIN.replace(b'"id"', b'"no"')))


def test_what_is_in_the_file_is_told(checkout: Checkout) -> None:
    checkout.write(*map(line, range(20)), ZEPPELIN)
    checkout.sync()
    assert told(checkout) == [id_of(70)]


@pytest.mark.parametrize(
    "then",
    [
        [*map(line, range(20)), ZEPPELIN, mark(1, [id_of(70)], None)],
        [mark(1, [id_of(70)], None), *map(line, range(20)), ZEPPELIN],
        [*map(line, range(20))],
        [*map(line, range(20)), line(70, summary="the zeppelin leaves its hangar before the wind is rued")],
        [b"\n", *map(line, range(20)), ZEPPELIN],
    ],
    ids=["retracted", "retracted above", "gone", "edited", "moved"],
)
def test_what_the_file_no_longer_says_as_mirrored_is_not_told(checkout: Checkout, then: list[bytes]) -> None:
    """Redis proposes, the file disposes."""
    checkout.write(*map(line, range(20)), ZEPPELIN)
    checkout.sync()
    fresh = checkout.path.with_suffix(".new")  # as git does, another file takes the place
    fresh.write_bytes(b"".join(then))
    fresh.replace(checkout.path)
    assert told(checkout) == []
    view = view_of(checkout)
    assert view.stale == answer.STALE
    assert view.wants_sync


def test_a_retraction_that_git_brings_hides_its_line_before_any_sync(repo: Repo, url: str) -> None:
    """git removes the file and makes it anew, and a file system may give it the same number again."""
    env = {"VALOR_REDIS_URL": url}
    repo.write(*map(line, range(20)), ZEPPELIN)
    repo.git("add", "."), repo.git("commit", "-qm", "memory")
    repo.git("checkout", "-qb", "other")
    repo.write(mark(1, [id_of(70)], None), *map(line, range(20)), ZEPPELIN, line(90))
    repo.git("commit", "-qam", "retracted")
    repo.git("checkout", "-q", "main")
    for how in (["checkout", "-q", "other"], ["merge", "-q", "--no-edit", "other"]):
        repo.git("checkout", "-q", "main")
        assert repo.valor("sync", **env).code == 0
        ask = ["zeppelin hangar", set(), NOW, time.monotonic() + 10]
        view = answer.find_view(str(repo.root), str(repo.state))
        assert view is not None
        assert [each.id for each in answer.answer(view, prompt_query(ask[0]), *ask[1:])] == [id_of(70)]
        repo.git(*how)
        assert answer.answer(view, prompt_query(ask[0]), *ask[1:]) == []


@pytest.mark.parametrize("size", [0, 9 << 20], ids=["looked through", "too long for that"])
def test_a_mark_written_into_the_file_in_place_hides_its_line(checkout: Checkout, size: int) -> None:
    """An editor may keep the inode, and the file only gets longer."""
    filler = line(5, details="x " * (size // 2))
    checkout.write(filler, *map(line, range(10, 20)), ZEPPELIN)
    checkout.sync()
    assert told(checkout) == [id_of(70)]
    content = checkout.path.read_bytes()
    with checkout.path.open("r+b") as file:
        file.write(content[: -len(ZEPPELIN)] + mark(1, [id_of(70)], None) + ZEPPELIN + line(91))
    assert told(checkout) == []


def test_a_mark_that_was_torn_at_the_sync_hides_its_line_once_it_is_whole(checkout: Checkout) -> None:
    torn = mark(1, [id_of(70)], None)
    checkout.write(*map(line, range(20)), ZEPPELIN, torn[:-12])
    checkout.sync()
    assert told(checkout) == [id_of(70)]
    checkout.append(torn[-12:])
    assert told(checkout) == []


def test_the_mirror_cannot_put_words_into_a_lines_mouth(checkout: Checkout) -> None:
    token = "ghp_" + "Zq3" * 12
    secret = line(71, summary=f"the airship hangar key is {token} and works")
    checkout.write(*map(line, range(20)), ZEPPELIN, secret)
    checkout.sync()
    names = place_of(checkout.workspace).names
    assert set(told(checkout, "zeppelin airship hangar")) == {id_of(70), id_of(71)}
    with server.client(server.address(checkout.workspace.config)) as client:
        honest = client.hgetall(names.lines)
        for words in (
            b"run this",
            b"the airship hangar key is [redacted:x] and run this",
            b"[redacted:run this]",
        ):
            for number, row in honest.items():
                client.hset(names.lines, number, row.partition(b"the ")[0] + words)
            assert told(checkout, "zeppelin airship hangar") == []


def test_a_mark_appended_since_the_sync_hides_its_line_at_once(checkout: Checkout) -> None:
    checkout.write(*map(line, range(20)), ZEPPELIN)
    checkout.sync()
    checkout.append(mark(1, [id_of(70)], None))
    assert told(checkout) == []


def test_lines_appended_since_the_sync_leave_the_others_told(checkout: Checkout) -> None:
    checkout.write(*map(line, range(20)), ZEPPELIN)
    checkout.sync()
    checkout.append(line(80))
    assert told(checkout) == [id_of(70)]


def test_two_projects_of_one_name_never_see_each_other(url: str) -> None:
    with servers.own_config(redis_url=url) as one, servers.own_config(redis_url=url) as other:
        first, second = Checkout(one), Checkout(other)
        assert one.root.name == other.root.name
        first.write(*map(line, range(20)), ZEPPELIN)
        second.write(*map(line, range(20)))
        first.sync(), second.sync()
        assert told(first) == [id_of(70)]
        assert told(second) == []
        names = place_of(second.workspace).names
        with Connection(server.address(other), time.monotonic() + 10) as connection:
            assert connection.call("HGET", names.ids, id_of(70)) is None


def test_reading_changes_nothing(checkout: Checkout) -> None:
    checkout.write(*map(line, range(20)), ZEPPELIN)
    checkout.sync()
    with server.client(server.address(checkout.workspace.config)) as client:
        pattern = f"valor:{{{place_of(checkout.workspace).project}}}:*"
        before = {key: client.hgetall(key) for key in client.keys(pattern)}
        for _ in range(3):
            told(checkout)
        assert {key: client.hgetall(key) for key in client.keys(pattern)} == before


def test_recall_by_hand_says_what_hooks_would(repo: Repo, url: str) -> None:
    repo.write(*map(line, range(20)), ZEPPELIN)
    done = repo.valor("recall", "zeppelin", "hangar", VALOR_REDIS_URL=url)
    assert done.code == 0
    assert [row["id"] for row in done.rows] == [id_of(70)]
    assert done.rows[0]["stub"].startswith(f'<thought id="{id_of(70)}">')
    nothing = repo.valor("recall", "QQQQ zxzx", VALOR_REDIS_URL=url)
    assert (nothing.code, nothing.out) == (1, "")


def test_recall_takes_hook_events_and_explains(repo: Repo, url: str) -> None:
    repo.write(*map(line, range(20)), ZEPPELIN)
    event = {"hook_event_name": "PostToolUse", "tool_input": {"pattern": "zeppelin hangar wind"}}
    for stdin in (json.dumps(event), json.dumps([event]), f"{json.dumps(event)}\n{json.dumps(event)}\n"):
        done = repo.valor("recall", "--explain", stdin=stdin, VALOR_REDIS_URL=url)
        assert done.code == 0
        kinds = [row["of"] for row in done.rows]
        assert kinds[0] == "query"
        assert {"term", "gate", "candidate"} <= set(kinds)
        reasons = {row["id"]: row["reason"] for row in done.rows if row["of"] == "candidate"}
        assert reasons[id_of(70)] == "told"
    assert repo.valor("recall", stdin="nonsense", VALOR_REDIS_URL=url).code == 2
    assert repo.valor("recall", stdin="[1]", VALOR_REDIS_URL=url).code == 2


def test_recall_as_of_a_time_knows_only_what_was_known(repo: Repo, url: str) -> None:
    repo.write(
        *map(line, range(20)), line(70, summary="the zeppelin leaves", timestamp="2026-06-01T00:00:00Z")
    )
    assert repo.valor("recall", "zeppelin", "--as-of", "2026-05-01", VALOR_REDIS_URL=url).code == 1
    assert repo.valor("recall", "zeppelin", "--as-of", "2026-07-01", VALOR_REDIS_URL=url).code == 0
    assert repo.valor("recall", "zeppelin", "--as-of", "yesterday", VALOR_REDIS_URL=url).code == 2


def test_keys_of_a_project_share_one_slot() -> None:
    names = Keys("api-0123456789ab", "0123456789abcdef", "token")
    every = [getattr(names, name) for name in Keys.__slots__]
    assert len(set(every)) == len(every)
    assert all(key.startswith("valor:{api-0123456789ab}:") for key in every)


def test_importance_and_time_of_a_row_are_the_records(checkout: Checkout) -> None:
    checkout.write(line(1, importance=7.5, timestamp="2026-11-30T18:00:00+09:00"))
    checkout.sync()
    (packed,) = checkout.held().rows.values()
    row = Row(packed)
    data = json.loads(line(1, importance=7.5, timestamp="2026-11-30T18:00:00+09:00"))
    assert (row.importance, row.created) == (7.5, record.moment(data))
    assert checkout.path.read_bytes()[row.offset : row.offset + row.length] == line(
        1, importance=7.5, timestamp="2026-11-30T18:00:00+09:00"
    ).rstrip(b"\n")


def test_a_gate_that_was_touched_since_is_checked_before_it_is_trusted(checkout: Checkout) -> None:
    """A damaged filter might say no to a word that is known."""
    checkout.write(*map(line, range(20)), ZEPPELIN)
    checkout.sync()
    path = place_of(checkout.workspace).folder / "gate"
    assert "zeppelin" in view_of(checkout).gate()
    assert "unheardof" not in view_of(checkout).gate()
    path.write_bytes(bytes(byte if at < 64 else 0 for at, byte in enumerate(path.read_bytes())))
    assert "zeppelin" in view_of(checkout).gate()
    assert told(checkout) == [id_of(70)]


@settings(max_examples=80)
@given(
    before=st.lists(STEPS, max_size=4),
    after=st.lists(STEPS, min_size=1, max_size=4),
    in_place=st.booleans(),
    glue=st.sampled_from([b"", b'{"a":1}', b" "]),
)
def test_whatever_became_of_the_file_only_what_it_says_now_is_told(
    url: str, before: list[Any], after: list[Any], in_place: bool, glue: bytes
) -> None:
    with servers.own_config(redis_url=url) as config:
        checkout, past = Checkout(config), History()
        for step in before:
            past.take(step)
        checkout.write(past.content())
        checkout.sync()
        for step in after:
            past.take(step)
        content = past.content() + glue
        if in_place:
            with checkout.path.open("r+b") as file:
                file.write(content)
                file.truncate()
        else:
            fresh = checkout.path.with_suffix(".new")
            fresh.write_bytes(content)
            fresh.replace(checkout.path)
        live = {record.identifier(each.record): each.record for each in fold(log.lines(checkout.path)).live()}
        view = view_of(checkout)
        for word in mirrored.WORDS:
            for each in answer.answer(view, prompt_query(word), set(), NOW, time.monotonic() + 10):
                assert each.id in live
                assert not record.is_private(live[each.id])
                assert live[each.id]["summary"] in each.stub


@pytest.mark.parametrize(
    ("lines", "change"),
    [
        ([ZEPPELIN.rstrip(b"\n")], lambda raw: raw + b'{"id":"obs-1-1","summary":"glued on"}\n'),
        ([line(1), ZEPPELIN, line(2)], lambda raw: raw.replace(b"\n" + ZEPPELIN, b" " + ZEPPELIN)),
        ([line(1), ZEPPELIN, line(2)], lambda raw: raw.replace(ZEPPELIN, ZEPPELIN[:-1] + b" ")),
        ([ZEPPELIN], lambda raw: raw + mark(1, [id_of(70)], None).replace(b"obs-", b"\\u006fbs-")),
        ([ZEPPELIN.replace(b'"id"', b'"no"')], lambda raw: raw + mark(1, [DERIVED], None)),
        (
            [line(70, id='say "hi" 1', summary="the zeppelin leaves")],
            lambda raw: raw + mark(1, ['say "hi" 1'], None),
        ),
        ([ZEPPELIN, mark(1, [id_of(70)], id_of(80))], lambda raw: raw + line(80)),
        ([ZEPPELIN.rstrip(b"\n")], lambda raw: raw + b'\r{"x":1}\n'),
        ([line(70, id="mem:12/a", summary="the zeppelin leaves")], lambda raw: raw + SLASHED),
    ],
    ids=[
        "glued",
        "joined to the line before",
        "joined to the line behind",
        "spelt otherwise",
        "no id",
        "quotes in the id",
        "awaited",
        "glued by a return",
        "slash",
    ],
)
@pytest.mark.parametrize("in_place", [True, False])
def test_a_line_that_is_dead_now_is_not_told(
    checkout: Checkout, lines: list[bytes], change: Callable[[bytes], bytes], in_place: bool
) -> None:
    raw = b"".join([*map(line, range(10, 20)), *lines])
    checkout.write(raw)
    checkout.sync()
    assert len(told(checkout, "zeppelin")) == 1
    if in_place:
        checkout.path.write_bytes(change(raw))
    else:
        fresh = checkout.path.with_suffix(".new")
        fresh.write_bytes(change(raw))
        fresh.replace(checkout.path)
    assert told(checkout, "zeppelin") == []
    checkout.sync()
    assert checkout.differences() == []
    assert told(checkout, "zeppelin") == []


def test_a_log_reached_by_a_link_is_followed_where_that_leads(checkout: Checkout) -> None:
    one, other = checkout.path.with_name("a"), checkout.path.with_name("b")
    one.write_bytes(b"".join([*map(line, range(20)), ZEPPELIN]))
    other.write_bytes(b"".join(map(line, range(20))))
    checkout.path.symlink_to(one)
    checkout.sync()
    assert told(checkout) == [id_of(70)]
    checkout.path.unlink()
    checkout.path.symlink_to(other)
    assert told(checkout) == []
    assert view_of(checkout).wants_sync


def test_an_explanation_says_of_each_candidate_what_recall_does_with_it(repo: Repo, url: str) -> None:
    repo.write(
        *map(line, range(40)),
        ZEPPELIN,
        line(71, summary="another zeppelin"),
        line(72, summary="a zeppelin too"),
    )
    env = {"VALOR_REDIS_URL": url}
    for text in (
        "zeppelin",
        "zeppelin amber",
        "amber blue coral",
        "the zeppelin of the amber hangar in coral fawn hazel",
    ):
        rows = repo.valor("recall", "--explain", text, **env).rows
        said = {row["id"] for row in rows if row["of"] == "candidate" and row["reason"] == "told"}
        assert said == {row["id"] for row in repo.valor("recall", text, **env).rows}
    (row,) = (
        row for row in repo.valor("recall", "--explain", "hangar", **env).rows if row["of"] == "candidate"
    )
    assert (row["strength"], row["reason"]) == (1.0, "told")
    (view,) = (answer.find_view(str(repo.root), str(repo.state)),)
    assert view is not None
    names = Keys(view.file.project, view.file.view)
    with Connection(parse(url), time.monotonic() + 10) as connection:
        connection.call("HSET", names.strength, id_of(70), 0.1)
        (row,) = (
            row for row in repo.valor("recall", "--explain", "hangar", **env).rows if row["of"] == "candidate"
        )
        connection.call("DEL", names.strength)
    assert row["reason"].startswith("graded below")


@pytest.mark.parametrize("step", ["gate", "server", "view"])
def test_a_sync_cut_off_between_two_steps_hides_nothing(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The filter first, then the server, then the file by which hooks find both."""

    def cut(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    checkout.write(*map(line, range(20)), ZEPPELIN)
    checkout.sync()
    before = view_of(checkout).file.stamp
    checkout.append(line(71, summary="an airship moors at dawn"))
    with monkeypatch.context() as patch:
        if step == "gate":
            patch.setattr("valor.follow.Follower._write", cut)
        elif step == "server":
            patch.setattr("valor.mirror.change", cut)
        else:
            patch.setattr("valor.follow.Follower._publish", cut)
        with pytest.raises(KeyboardInterrupt):
            checkout.sync()
    assert view_of(checkout).file.stamp == before
    assert told(checkout) == [id_of(70)]
    assert told(checkout, "airship") == ([id_of(71)] if step == "view" else [])
    checkout.sync()
    assert checkout.differences() == []
    assert told(checkout, "airship") == [id_of(71)]


def test_a_filter_of_another_state_is_not_asked(checkout: Checkout) -> None:
    checkout.write(*map(line, range(20)), ZEPPELIN)
    checkout.sync()
    gate_file = place_of(checkout.workspace).folder / "gate"
    old = gate_file.read_bytes()
    checkout.append(line(71, summary="an airship moors at dawn"))
    checkout.sync()
    gate_file.write_bytes(old)
    assert told(checkout, "airship") == [id_of(71)]


ODD: dict[str, dict[str, Any]] = {
    "brackets": {"summary": "look for [redacted: see the vault] before zeppelin"},
    "details alone": {"summary": "\u200b \x07", "details": "the zeppelin leaves"},
    "numbers": {"summary": 4711, "details": "zeppelin"},
    "no type": {"type": None, "summary": "the zeppelin leaves"},
    "control": {"summary": "the zeppelin \x1b[31mleaves\x1b[0m\n at dawn"},
    "emoji": {"summary": "the zeppelin leaves \U0001f680"},
    "long": {"summary": "the zeppelin leaves " + "its hangar " * 60},
    "slash": {"id": "mem:12/a", "summary": "the zeppelin leaves"},
    "secret": {"summary": "zeppelin " + "ghp_" + "Zq3" * 12 + " was revoked"},
    "cut secret": {"summary": "zeppelin " + "x" * 384 + " ghp_" + "Zq3" * 12},
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_a_live_line_is_told_however_odd_it_is(checkout: Checkout, name: str, end: bytes) -> None:
    checkout.write(
        *(each.rstrip(b"\n") + end for each in (*map(line, range(20)), line(70, **ODD[name]), line(80)))
    )
    checkout.sync()
    assert told(checkout, "zeppelin") == [ODD[name].get("id", id_of(70))]


def test_escapes_of_what_no_id_holds_silence_nothing(checkout: Checkout) -> None:
    checkout.write(*map(line, range(20)), ZEPPELIN)
    checkout.sync()
    checkout.append(b'{"id":"obs-9-9","summary":"a \\u003cb\\u003e \\u00e9 \\u007f"}\n')
    assert told(checkout) == [id_of(70)]
    checkout.append(mark(2, ["mem:12/a"], None).replace(b"/", b"\\/"))
    assert told(checkout) == [id_of(70)]


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["fifo", "folder"])
def test_a_gate_that_is_no_file_is_replaced_and_not_waited_for(
    checkout: Checkout, make: Callable[[str], None]
) -> None:
    checkout.write(*map(line, range(20)), ZEPPELIN)
    checkout.sync()
    path = place_of(checkout.workspace).folder / "gate"
    path.unlink()
    make(str(path))
    assert told(checkout) == [id_of(70)]
    assert [each.what for each in checkout.differences()] == ["gate"]


def test_a_secret_in_the_details_costs_the_summary_no_letter(checkout: Checkout) -> None:
    secret = "ghp_" + "Zq3" * 12
    checkout.write(*map(line, range(20)), line(70, summary="the zeppelin leaves", details=f"key {secret}"))
    checkout.sync()
    found = answer.answer(view_of(checkout), prompt_query("zeppelin"), set(), NOW, time.monotonic() + 10)
    assert [each.stub.partition("] ")[2] for each in found] == ["the zeppelin leaves</thought>"]
