"""The server killed, hung, full, swapped while hooks, observes and syncs run: never a wrong answer, never a
hook that fails, and all is well again afterwards."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import servers
from conftest import Repo
from hooks import FACTS, IDS, Agent, context, facts, fire, processes_of, told, wait_for_background

from valor import programs

ASKED = "socket pool after fork"


@pytest.fixture
def own(repo: Repo) -> Iterator[Repo]:
    """A mirrored checkout with a server of its own, as anybody has who names none."""
    with tempfile.TemporaryDirectory(prefix="v") as folder:
        repo.env |= {"VALOR_RUNTIME_DIR": folder, "VALOR_SERVER_IDLE": "600"}
        repo.write(*facts())
        assert repo.valor("init").code == 0
        assert repo.valor("sync").code == 0
        try:
            yield repo
        finally:
            wait_for_background(repo)
            repo.valor("server", "stop")


def server_of(repo: Repo) -> int:
    """The process id of the server; 0 where none runs."""
    row = repo.valor("server", "status").rows[0]
    return int(row.get("pid", 0))


def back(repo: Repo) -> bool:
    """Whether the mirror is there again and tells what it should."""
    assert repo.valor("sync").code == 0
    assert repo.valor("sync", "--verify").code == 0
    return Agent(repo, f"after-{time.monotonic_ns()}").prompt(ASKED) == ["socket"]


def test_a_killed_server_is_silence_and_comes_back_by_itself(own: Repo) -> None:
    os.kill(server_of(own), signal.SIGKILL)
    ada = Agent(own, "ada")
    assert ada.prompt(ASKED) in ([], ["socket"])
    wait_for_background(own)  # the hook found the mirror missing and began a sync
    assert Agent(own, "bob").prompt(ASKED) == ["socket"]
    assert back(own)


def test_a_hung_server_holds_nobody_up(own: Repo) -> None:
    pid = server_of(own)
    os.kill(pid, signal.SIGSTOP)
    begun = time.monotonic()
    assert Agent(own, "ada").prompt(ASKED) == []
    hook = time.monotonic() - begun
    begun = time.monotonic()
    done = own.valor("observe", "The zeppelin job needs a mutex around its socket", "--owner", "observations")
    observe = time.monotonic() - begun
    os.kill(pid, signal.SIGCONT)
    assert (done.code, hook < 1.5, observe < 1.5) == (0, True, True)
    wait_for_background(own)
    assert back(own)
    assert Agent(own, "bob").prompt("zeppelin mutex") == [done.out.strip()]


def test_a_flushed_server_still_answers_queries_and_recalls_after_a_sync(own: Repo) -> None:
    import redis

    (socket,) = Path(own.env["VALOR_RUNTIME_DIR"]).glob("*.sock")
    with redis.Redis(unix_socket_path=str(socket)) as client:
        client.flushall()
    assert own.valor("memory-query", "socket pool").rows[0]["id"] == IDS["socket"]
    assert Agent(own, "ada").prompt(ASKED) == []
    wait_for_background(own)
    assert Agent(own, "bob").prompt(ASKED) == ["socket"]
    assert own.valor("sync", "--verify").code == 0


def test_a_mirror_of_nonsense_tells_nothing(own: Repo) -> None:
    """Whatever lies under our keys, a hook tells what the file says or nothing."""
    import redis

    (socket,) = Path(own.env["VALOR_RUNTIME_DIR"]).glob("*.sock")
    with redis.Redis(unix_socket_path=str(socket)) as client:
        for suffix, ruin in (
            ("lines", lambda key: client.hset(key, mapping=dict.fromkeys(client.hkeys(key), b"short"))),
            ("lines", lambda key: client.hset(key, mapping=dict.fromkeys(client.hkeys(key), b"\xff" * 90))),
            ("terms", lambda key: client.hset(key, mapping=dict.fromkeys(client.hkeys(key), b"\xff" * 8))),
            ("meta", lambda key: client.hset(key, "lines", "many")),
            ("terms", lambda key: (client.delete(key), client.set(key, "a string"))),
        ):
            (key,) = client.keys(f"*:{suffix}")
            ruin(key)
            assert Agent(own, f"ada-{time.monotonic_ns()}").prompt(ASKED) == []
            wait_for_background(own)
            assert own.valor("sync", "--rebuild").code == 0
            assert back(own)


@pytest.mark.skipif(len(servers.known()) < 2, reason="there is one kind of server here")
def test_a_server_swapped_under_way_is_filled_anew(own: Repo, tmp_path: Path) -> None:
    """From the system's to the wheel's, which are of different age, and back."""
    wheel = tmp_path / "bin"
    wheel.mkdir()
    (wheel / "valkey-server").symlink_to(programs._in_wheel() or "")
    for place in (f"{wheel}:{own.env['PATH']}", own.env["PATH"]):
        own.env["PATH"] = place
        os.kill(server_of(own), signal.SIGKILL)
        servers.wait_for(lambda: server_of(own) == 0)
        assert Agent(own, f"ada-{place}"[:20]).prompt(ASKED) in ([], ["socket"])
        wait_for_background(own)
        assert back(own)
    assert shutil.which("valkey-server", path=place) is None


def test_through_all_of_it_nothing_is_wrong_and_nothing_is_lost(own: Repo) -> None:
    """A quarter of a minute of it, at random; then everything that was acknowledged is there."""
    stop = threading.Event()
    chance = random.Random(7)

    def disturb() -> None:
        while not stop.is_set():
            row = own.valor("server", "status").rows[:1]
            pid = int(row[0].get("pid", 0)) if row else 0
            if not pid:
                own.valor("server", "start")
                continue
            with suppress(ProcessLookupError):
                lot = chance.random()
                if lot < 0.4:
                    os.kill(pid, signal.SIGKILL)
                elif lot < 0.8:
                    os.kill(pid, signal.SIGSTOP)
                    stop.wait(chance.random() * 0.4)
                    os.kill(pid, signal.SIGCONT)
            stop.wait(chance.random() * 0.5)

    disturber = threading.Thread(target=disturb)
    disturber.start()
    kept = []
    answers = []
    try:
        for number in range(40):
            event = Agent(own, f"s{number}").event("UserPromptSubmit", prompt=ASKED)
            answers.append(told(context(fire(own, event))))
            if number % 4 == 0:
                text = f"Zeppelin number{number} forgets its mutex after docking"
                done = own.valor("observe", text, "--owner", "observations")
                assert done.code == 0
                kept.append(done.out.strip())
            if number % 5 == 0:
                assert own.valor("sync").code in (0, 5)
    finally:
        stop.set()
        disturber.join()
    assert {tuple(each) for each in answers} <= {(), ("socket",)}
    assert [json.loads(each)["id"] for each in own.log.read_bytes().splitlines()[len(FACTS) :]] == kept
    wait_for_background(own)
    assert own.valor("server", "stop").code in (0, 1)
    assert back(own)


def test_a_hundred_hooks_at_once_end_in_time_and_leave_one_server(own: Repo) -> None:

    own.valor("server", "stop")
    begun = time.monotonic()
    running = []
    for number in range(100):
        event = Agent(own, f"s{number}").event("UserPromptSubmit", prompt=ASKED)
        each = subprocess.Popen(
            [own.root / ".claude/scripts/memory-hook.sh"],
            cwd=own.root,
            env=own.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert each.stdin
        each.stdin.write(json.dumps(event).encode())
        each.stdin.close()
        running.append(each)
    outs = [each.stdout.read() for each in running if each.stdout]
    assert [each.wait() for each in running] == [0] * 100
    assert time.monotonic() - begun < 60
    for out in outs:
        assert not out or told(json.loads(out)["hookSpecificOutput"]["additionalContext"]) == ["socket"]
    wait_for_background(own)
    left = [each for each in processes_of(own) if "memory-hook" in each or "valor/hook" in each]
    assert left == []
    pids = [
        entry for entry in Path("/proc").glob("[0-9]*") if _is_server(entry, own.env["VALOR_RUNTIME_DIR"])
    ]
    assert len(pids) == 1
    assert Agent(own, "after").prompt(ASKED) == ["socket"]


def _is_server(entry: Path, runtime: str) -> bool:
    try:
        line = (entry / "cmdline").read_bytes()
    except OSError:
        return False
    return runtime.encode() in line and b"watchdog.py" not in line and servers.alive(int(entry.name))
