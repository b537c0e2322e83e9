"""The mirror follows the log: whatever happened to the file, the view is what a rebuild would make."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import servers
from conftest import Repo
from hypothesis import given, settings
from hypothesis import strategies as st
from mirrored import STEPS, Checkout, History, id_of, line, mark

from valor import server
from valor.errors import Unavailable
from valor.follow import APPENDED, CHANGED, REBUILT, UNCHANGED, Outcome
from valor.observe import observe
from valor.place import place_of


def test_a_first_sync_mirrors_every_live_observation(checkout: Checkout) -> None:
    checkout.write(*map(line, range(20)), mark(1, [id_of(3)], id_of(4)), line(30, private=True))
    done = checkout.sync()
    assert (done.how, done.lines) == (REBUILT, 19)
    assert checkout.recalled() == {id_of(n) for n in range(20) if n != 3}
    assert checkout.differences() == []


def test_an_appended_line_is_added_and_nothing_else_is_touched(checkout: Checkout) -> None:
    checkout.write(*map(line, range(20)))
    checkout.sync()
    checkout.append(line(20), line(21))
    assert checkout.sync() == Outcome(how=APPENDED, lines=22, added=2)
    assert checkout.differences() == []


def test_a_touched_log_is_not_read_as_a_changed_one(checkout: Checkout) -> None:
    checkout.write(*map(line, range(20)))
    checkout.sync()
    os.utime(checkout.path, (1, 1))
    assert checkout.sync() == Outcome(how=UNCHANGED, lines=20)
    assert checkout.differences() == []


def test_verify_notices_a_changed_byte_that_size_and_time_hide(checkout: Checkout) -> None:
    checkout.write(*map(line, range(20)))
    checkout.sync()
    facts = checkout.path.stat()
    content = checkout.path.read_bytes()
    checkout.path.write_bytes(content.replace(b"case7", b"case8", 1))
    os.utime(checkout.path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert checkout.path.stat().st_size == facts.st_size
    assert id_of(7) in {each.name for each in checkout.differences() if each.what == "stale"}


def test_an_edited_line_is_found_under_its_new_words_alone(checkout: Checkout) -> None:
    checkout.write(*map(line, range(20)))
    checkout.sync()
    checkout.write(
        *map(line, range(5)), line(5, summary="a quite different zeppelin"), *map(line, range(6, 20))
    )
    done = checkout.sync()
    assert (done.how, done.added, done.removed) == (CHANGED, 1, 1)
    assert set(checkout.held().postings["zeppelin"]) == {id_of(5)}
    assert "case5" not in checkout.held().postings
    assert checkout.differences() == []


def test_a_mark_takes_its_line_out_and_a_reinstatement_brings_it_back(checkout: Checkout) -> None:
    checkout.write(*map(line, range(10)))
    checkout.sync()
    checkout.append(mark(1, [id_of(2)], None))
    assert checkout.sync().removed == 1
    assert id_of(2) not in checkout.recalled()
    checkout.append(b'{"id":"rei-1-1","type":"reinstatement","of":"sup-1700000000-000000000001"}\n')
    assert checkout.sync().added == 1
    assert id_of(2) in checkout.recalled()
    assert checkout.differences() == []


def test_a_line_that_an_earlier_mark_waits_for_takes_effect_when_it_comes(checkout: Checkout) -> None:
    """A mark whose successor is on another branch hides nothing until both are merged."""
    checkout.write(*map(line, range(10)), mark(1, [id_of(2)], id_of(50)))
    checkout.sync()
    assert id_of(2) in checkout.recalled()
    checkout.append(line(50))
    checkout.sync()
    assert id_of(2) not in checkout.recalled()
    assert checkout.differences() == []


def test_a_repeated_line_of_a_hidden_id_brings_back_no_phantom(checkout: Checkout) -> None:
    checkout.write(*map(line, range(10)), mark(1, [id_of(2)], None))
    checkout.sync()
    checkout.append(line(2))
    checkout.sync()
    assert id_of(2) not in checkout.recalled()
    assert checkout.differences() == []


def test_lines_that_moved_are_found_at_their_new_place(checkout: Checkout) -> None:
    checkout.write(*map(line, range(10)))
    checkout.sync()
    checkout.write(line(90), *map(line, range(10)))
    done = checkout.sync()
    assert (done.how, done.added, done.moved) == (CHANGED, 1, 10)
    assert checkout.differences() == []


def test_a_last_line_without_its_newline_is_mirrored_and_may_grow(checkout: Checkout) -> None:
    checkout.write(*map(line, range(3)), line(3).rstrip(b"\n"))
    checkout.sync()
    assert id_of(3) in checkout.recalled()
    checkout.append(b"\n", line(4))
    checkout.sync()
    assert checkout.differences() == []


def test_a_torn_line_costs_that_line_alone(checkout: Checkout) -> None:
    checkout.write(line(0), line(1)[:30] + b"\n", line(2))
    checkout.sync()
    checkout.append(line(3)[:25])
    checkout.sync()
    assert checkout.recalled() == {id_of(0), id_of(2)}
    assert checkout.differences() == []


def test_a_log_that_lost_all_blanks_nothing(checkout: Checkout) -> None:
    checkout.write(*map(line, range(10)))
    checkout.sync()
    checkout.write()
    for how in ({}, {"rebuild": True}):
        with pytest.raises(Unavailable, match="nothing was blanked"):
            checkout.sync(**how)
    checkout.path.unlink()
    with pytest.raises(Unavailable, match="cannot be read"):
        checkout.sync()
    assert len(checkout.recalled()) == 10


def test_a_log_whose_last_line_was_retracted_is_empty_by_right(checkout: Checkout) -> None:
    checkout.write(line(1))
    checkout.sync()
    checkout.append(mark(1, [id_of(1)], None))
    assert checkout.sync().lines == 0
    assert checkout.recalled() == set()
    checkout.append(line(2))
    checkout.sync()
    assert checkout.differences() == []


def test_a_flushed_server_is_filled_again(checkout: Checkout) -> None:
    checkout.write(*map(line, range(10)))
    checkout.sync()
    with server.client(server.address(checkout.workspace.config)) as client:
        client.delete(*client.keys(f"valor:{{{place_of(checkout.workspace).project}}}:*"))
    assert checkout.sync().how == REBUILT
    assert checkout.differences() == []


def test_local_files_that_are_gone_are_made_again(checkout: Checkout) -> None:
    checkout.write(*map(line, range(10)))
    checkout.sync()
    folder = place_of(checkout.workspace).folder
    for name in ("gate", "view"):
        (folder / name).unlink()
        checkout.sync()
        assert checkout.differences() == []
        assert (folder / name).stat().st_mode & 0o077 == 0


def test_a_damaged_gate_is_noticed_and_made_anew(checkout: Checkout) -> None:
    checkout.write(*map(line, range(10)))
    checkout.sync()
    gate = place_of(checkout.workspace).folder / "gate"
    damaged = bytearray(gate.read_bytes())
    damaged[500] ^= 255
    gate.write_bytes(damaged)
    assert [each.what for each in checkout.differences()] == ["gate"]
    checkout.append(line(11))
    checkout.sync()
    assert checkout.differences() == []


def test_an_old_secret_is_neither_text_nor_term_in_the_mirror(checkout: Checkout) -> None:
    token = "ghp_" + "Zq3" * 12
    checkout.write(line(1), line(2, summary=f"the deploy used {token} for a week", details=f"key {token}"))
    checkout.sync()
    with server.client(server.address(checkout.workspace.config)) as client:
        held = b"".join(
            part
            for key in client.keys(f"valor:{{{place_of(checkout.workspace).project}}}:*")
            for pair in client.hgetall(key).items()
            for part in pair
        )
    assert token.encode() not in held
    assert token.lower().encode() not in held
    assert b"the deploy used [redacted" in held


def test_an_old_secret_in_a_type_is_masked_and_a_line_named_by_one_is_left_out(checkout: Checkout) -> None:
    token = "ghp_" + "Zq3" * 12
    checkout.write(line(1, type=token), line(2, id=token), line(3))
    checkout.sync()
    assert checkout.recalled() == {id_of(1), id_of(3)}
    assert token.encode() not in b"".join(checkout.held().rows.values())
    checkout.append(line(4, id=token + "b"))
    checkout.sync()
    assert checkout.recalled() == {id_of(1), id_of(3)}


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["fifo", "folder"])
def test_a_log_that_is_no_plain_file_is_refused_and_not_waited_for(
    checkout: Checkout, make: Callable[[Path], None]
) -> None:
    make(checkout.path)
    with pytest.raises(Unavailable, match="no plain file"):
        checkout.sync()


def test_no_term_that_became_less_common_is_missing_from_the_gate(checkout: Checkout) -> None:
    """A word of four in eight lines is too common for the filter; of four in eighty it is not."""
    checkout.write(*(line(n, summary=f"zebra case{n}") for n in range(4)), *map(line, range(10, 14)))
    checkout.sync()
    for start in range(100, 180, 20):
        checkout.append(*map(line, range(start, start + 20)))
        assert checkout.sync().how == APPENDED
    assert checkout.differences() == []


def test_a_view_lives_as_long_as_its_checkout_is_synced(checkout: Checkout) -> None:
    checkout.write(*map(line, range(3)))
    checkout.sync()
    names = place_of(checkout.workspace).names
    with server.client(server.address(checkout.workspace.config)) as client:
        for key in (*names.loaded, names.meta):
            assert client.ttl(key) > 86_400
            client.expire(key, 100)
        checkout.sync()
        assert all(client.ttl(key) > 86_400 for key in (*names.loaded, names.meta))


def test_a_killed_load_leaves_nothing_for_long(checkout: Checkout) -> None:
    from valor.keys import Keys
    from valor.mirror import _fill
    from valor.wire import Connection

    names = Keys("p", "v", "token")
    with Connection(server.address(checkout.workspace.config), 1e9) as connection:
        _fill(connection, names.terms, [("a", b"1234")])
    with server.client(server.address(checkout.workspace.config)) as client:
        assert 0 < client.ttl(names.terms) <= 3_600


@settings(max_examples=60)
@given(history=st.lists(STEPS, min_size=1, max_size=8))
def test_a_mirror_that_followed_equals_one_made_anew(url: str, history: list[tuple[Any, ...]]) -> None:
    with servers.own_config(redis_url=url) as config:
        checkout = Checkout(config)
        past = History()
        checkout.write(past.content())
        checkout.sync()
        for step in history:
            past.take(step)
            checkout.write(past.content())
            checkout.sync()
            assert checkout.differences() == []
        followed = checkout.held()
        checkout.sync(rebuild=True)
        assert checkout.held() == followed


def test_observe_brings_its_own_line_into_the_mirror(checkout: Checkout) -> None:
    checkout.write(*map(line, range(3)))
    checkout.sync()
    (fate,) = observe(
        checkout.workspace,
        [{"summary": "the zeppelin job needs a mutex around its socket", "owner": "observations"}],
    )
    assert fate.id in checkout.recalled()
    assert checkout.differences() == []
    assert checkout.sync().how == UNCHANGED


@pytest.mark.parametrize("host", ["127.0.0.1:1", "10.255.255.1:6379"], ids=["refused", "unroutable"])
def test_a_named_server_that_is_not_there_is_said_and_nothing_is_lost(repo: Repo, host: str) -> None:
    done = repo.valor(
        "observe",
        "the zeppelin job needs a mutex",
        "--owner",
        "observations",
        VALOR_REDIS_URL=f"redis://{host}/0",
    )
    assert done.code == 0
    assert "mirror was skipped" in done.err
    assert len(repo.lines()) == 1


def test_sync_reports_and_verifies(repo: Repo, url: str) -> None:
    repo.write(line(1), line(2))
    assert repo.valor("sync", VALOR_REDIS_URL=url).rows == [
        {"how": "rebuilt", "lines": 2, "added": 2, "removed": 0, "moved": 0}
    ]
    assert repo.valor("sync", "--verify", VALOR_REDIS_URL=url).code == 0
    repo.write(line(1), line(3))
    found = repo.valor("sync", "--verify", VALOR_REDIS_URL=url)
    assert found.code == 1
    assert {"missing", "phantom"} <= {row["what"] for row in found.rows}
    assert repo.valor("sync", "--verify", "--rebuild", VALOR_REDIS_URL=url).code == 2


def test_a_memory_of_another_branch_is_not_in_this_checkouts_view(repo: Repo, url: str) -> None:
    env = {"VALOR_REDIS_URL": url}
    repo.write(line(1))
    repo.git("add", "."), repo.git("commit", "-qm", "one")
    repo.git("checkout", "-qb", "topic")
    repo.write(line(1), line(2))
    repo.git("commit", "-qam", "two")
    repo.git("worktree", "add", "-q", str(repo.root.parent / "other"), "main")
    assert repo.valor("sync", **env).rows[0]["lines"] == 2
    assert repo.valor("sync", cwd=repo.root.parent / "other", **env).rows[0]["lines"] == 1
    repo.git("checkout", "-q", "--detach")
    repo.git("checkout", "-q", "main~0")
    assert repo.valor("sync", **env).rows[0] == {
        "how": "changed",
        "lines": 1,
        "added": 0,
        "removed": 1,
        "moved": 0,
    }
    assert repo.valor("sync", "--verify", **env).code == 0


def test_syncs_at_once_make_one_good_mirror(repo: Repo, url: str) -> None:
    repo.write(*map(line, range(50)))
    running = [
        subprocess.Popen(
            [str(Path(os.sys.executable).with_name("valor")), "sync"],
            cwd=repo.root,
            env=repo.env | {"VALOR_REDIS_URL": url},
            stdout=subprocess.PIPE,
        )
        for _ in range(6)
    ]
    outs = [json.loads(each.communicate()[0])["how"] for each in running]
    assert sorted(outs) == ["rebuilt"] + ["unchanged"] * 5
    assert repo.valor("sync", "--verify", VALOR_REDIS_URL=url).code == 0


def test_memory_that_is_switched_off_makes_hooks_silent(repo: Repo, url: str) -> None:
    repo.write(line(1))
    repo.valor("sync", VALOR_REDIS_URL=url)
    (view,) = repo.state.glob("views/*/view")
    assert repo.valor("sync", VALOR_REDIS_URL=url, LOA_MEMORY_ENABLED="false").rows[0]["how"] == "off"
    assert not view.exists()


def test_a_sync_tells_hooks_where_valor_is(repo: Repo, url: str) -> None:
    repo.write(line(1))
    repo.valor("sync", VALOR_REDIS_URL=url)
    interpreter, program = (repo.state / "hook").read_text().splitlines()
    assert os.access(interpreter, os.X_OK)
    assert program.endswith("valor/hook/__main__.py")
