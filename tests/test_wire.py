from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import redis
import servers
from hypothesis import given, settings
from hypothesis import strategies as st

from valor import dial, wire
from valor.address import TLS_OPTIONS, Address, parse
from valor.errors import ErrorReply, UsageError, WireError
from valor.wire import Connection, Script

ROOT = Path(__file__).parents[1]
COMMANDS = [
    *("SET k", "GET", "RPUSH l", "LRANGE l 0 -1", "ZADD z 1.5", "ZRANGE z 0 -1 WITHSCORES", "HGETALL k"),
    *("ECHO", "INCR n", "MGET k none", "EXEC", "NOSUCH", "TYPE k", "COMMAND COUNT", "EVAL return{1,{2}} 0"),
]
PARTS = st.binary(max_size=40) | st.text(max_size=20) | st.integers(-(2**63), 2**63 - 1) | st.floats()


@pytest.fixture(scope="module", params=["wheel", "system"])
def server(request: pytest.FixtureRequest) -> Iterator[servers.Server]:
    with servers.running(request.param) as one:
        yield one


def soon(seconds: float = 0.3) -> float:
    return time.monotonic() + seconds


# What it says, held against redis-py


@settings(max_examples=60)
@given(
    commands=st.lists(
        st.sampled_from(COMMANDS),
        min_size=1,
        max_size=8,
    ),
    parts=st.lists(PARTS, min_size=8, max_size=8),
)
def test_any_command_gets_the_reply_that_redis_py_gets(
    server: servers.Server, commands: list[str], parts: list[Any]
) -> None:
    asked = [(*command.split(), part) for command, part in zip(commands, parts, strict=False)]
    theirs = []
    client = redis.UnixDomainSocketConnection(path=server.path, protocol=2)
    try:
        client.send_command("FLUSHALL")
        client.read_response()
        for command in asked:
            client.send_command(*command)
            try:
                theirs.append(client.read_response())
            except redis.ResponseError as error:
                theirs.append(error)
    finally:
        client.disconnect()
    with server.connect() as connection:
        ours = connection.pipeline([("FLUSHALL",), *asked])[1:]
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one, ErrorReply):
            assert isinstance(other, redis.ResponseError)
        else:
            assert one == other


@given(parts=st.lists(PARTS, min_size=1, max_size=6))
def test_a_command_has_the_bytes_that_redis_py_sends(parts: list[Any]) -> None:
    packed = redis.Connection().pack_command("SET", *parts)  # it splits the first part at blanks
    assert wire.encode([["SET", *parts]]) == b"".join(packed)


def test_what_is_no_part_of_a_command_is_an_error() -> None:
    for wrong in (True, None, [1]):
        with pytest.raises(TypeError):
            wire.encode([("SET", wrong)])  # type: ignore[list-item]


def test_ten_thousand_commands_go_in_one_pipeline(server: servers.Server) -> None:
    with server.connect() as connection:
        connection.call("DEL", "list")
        replies = connection.pipeline([("RPUSH", "list", f"{number}" * 50) for number in range(10_000)])
        assert replies == list(range(1, 10_001))
        assert len(connection.call("LRANGE", "list", 0, -1)) == 10_000


def test_a_value_of_megabytes_comes_back_whole(server: servers.Server) -> None:
    value = os.urandom(5 << 20) + b"\r\n$-1\r\n"
    with server.connect() as connection:
        assert connection.pipeline([("SET", "big", value), ("GET", "big"), ("PING",)]) == [
            b"OK",
            value,
            b"PONG",
        ]


def test_a_script_is_sent_whole_only_where_it_is_not_known(server: servers.Server) -> None:
    script = Script("return {KEYS[1], ARGV[1]}")
    with server.connect() as connection:
        connection.call("SCRIPT", "FLUSH")
        asked = [("PING",), script.call(["{a}k"], [7]), script.call(["{a}l"], ["x"]), ("PING",)]
        expected = [b"PONG", [b"{a}k", b"7"], [b"{a}l", b"x"], b"PONG"]
        assert connection.pipeline(asked) == expected
        assert connection.call("SCRIPT", "EXISTS", script.sha) == [1]
        assert connection.pipeline(asked) == expected


def test_an_error_reply_stays_in_its_place_and_the_connection_usable(server: servers.Server) -> None:
    with server.connect() as connection:
        first, second, third = connection.pipeline([("SET", "k", "v"), ("LPUSH", "k", 1), ("GET", "k")])
        assert (first, third) == (b"OK", b"v")
        assert isinstance(second, ErrorReply)
        assert second.code == "WRONGTYPE"
        with pytest.raises(ErrorReply, match="ERR"):
            connection.call("NOSUCH")
        assert connection.call("PING") == b"PONG"


# Who it says it is


def test_a_password_and_a_database_are_given_first() -> None:
    word = "pass" + "%40w"
    with servers.running("wheel", "--requirepass", "pass@w") as one:
        place = parse(f"unix://:{word}@{one.path}?db=3")
        with Connection(place, soon(5)) as connection:
            assert b"db=3" in connection.call("CLIENT", "INFO")
        with pytest.raises(ErrorReply, match="NOAUTH"):
            one.connect().call("PING")


def test_a_user_of_the_acl_may_do_what_it_may(tmp_path: Path) -> None:
    with servers.running("wheel") as one:
        with one.connect() as connection:
            connection.call("ACL", "SETUSER", "ada", "on", ">se" + "cret", "~{a}*", "+get", "+ping")
        with Connection(Address(one.path, user="ada", password="se" + "cret"), soon(5)) as connection:
            assert connection.call("GET", "{a}k") is None
            for refused in (("SET", "{a}k", 1), ("GET", "other")):
                with pytest.raises(ErrorReply, match="NOPERM"):
                    connection.call(*refused)


def test_a_wrong_password_is_named_without_being_repeated() -> None:
    wrong = "hunter" + "2"
    for option in (("--requirepass", "right"), ("--rename-command", "AUTH", "")):
        with servers.running("wheel", *option) as one:
            with pytest.raises(ErrorReply) as caught:
                Connection(Address(one.path, user="ada", password=wrong), soon(5))
            assert wrong not in f"{caught.value!r} {caught.value.message} {caught.value.hint}"


def test_an_address_never_shows_its_password() -> None:
    place = parse("rediss://ada:" + "hunter" + "2@[::1]:7000/2")
    assert str(place) == repr(place) == "rediss://[::1]:7000/2"


# Servers that behave badly


@contextmanager
def impostor(behave: Callable[[socket.socket], None]) -> Iterator[Address]:
    """A server on loopback that does as told with each connection."""
    listening = socket.create_server(("127.0.0.1", 0))
    kept: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                one, _ = listening.accept()
            except OSError:
                return
            kept.append(one)
            threading.Thread(target=quietly, args=(one,), daemon=True).start()

    def quietly(one: socket.socket) -> None:
        with suppress(OSError):
            behave(one)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield Address(host="127.0.0.1", port=listening.getsockname()[1])
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        for one in kept:
            one.close()


def says(*chunks: bytes, pause: float = 0.0, hang_up: bool = False) -> Callable[[socket.socket], None]:
    def behave(one: socket.socket) -> None:
        one.recv(1000)
        for chunk in chunks:
            one.sendall(chunk)
            time.sleep(pause)
        if hang_up:
            one.close()

    return behave


BAD = {
    "nothing": says(),
    "half a reply": says(b"$10\r\nabc"),
    "half a line": says(b"+PON"),
    "half a list": says(b"*3\r\n:1\r\n"),
    "drop by drop": says(b"$1000\r\n", *[b"x"] * 1000, pause=0.02),
    "garbage": says(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "binary garbage": says(bytes(range(256)) * 300),
    "a line without end": says(b"+" + b"x" * 300_000),
    "a length that is none": says(b"$abc\r\n"),
    "a wrong length": says(b"$3\r\nabcdef\r\n"),
    "a huge string": says(b"$9999999999\r\nabc"),
    "a huge list": says(b"*999999999\r\n"),
    "lists in lists": says(b"*1\r\n" * 5000),
    "a goodbye": says(hang_up=True),
    "half and goodbye": says(b"$10\r\nab", hang_up=True),
    "a stream without end": says(b"*60000000\r\n", *[b":1\r\n" * 10_000] * 10_000),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_server_that_answers_badly_costs_the_deadline_at_most(kind: str) -> None:
    with impostor(BAD[kind]) as place:
        start = time.monotonic()
        connection = Connection(place, soon(0.3))
        with pytest.raises(WireError) as caught:
            connection.call("PING")
        assert type(caught.value) is WireError
        assert time.monotonic() - start < 1.5  # the deadline, and a busy machine
        with pytest.raises(WireError, match="no longer connected"):
            connection.call("PING")


def test_a_reply_over_the_limit_is_not_read() -> None:
    with servers.running("wheel") as one:
        connection = Connection(Address(one.path), soon(10), limit=100_000)
        connection.call("SET", "k", b"x" * 90_000)
        assert len(connection.call("GET", "k")) == 90_000
        with pytest.raises(WireError, match="too long"):
            connection.pipeline([("GET", "k")] * 3)


def test_a_server_that_reads_nothing_does_not_hold_a_writer() -> None:
    def deaf(one: socket.socket) -> None:
        time.sleep(5)

    with impostor(deaf) as place:
        start = time.monotonic()
        connection = Connection(place, soon(0.3))
        with pytest.raises(WireError, match="in time"):
            connection.call("SET", "k", b"x" * (30 << 20))
        assert time.monotonic() - start < 2


def test_a_host_that_swallows_packets_costs_the_deadline_at_most() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)  # and nobody accepts: once it is full the kernel drops what knocks
        full = []
        for _ in range(4):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(listening.getsockname())
            full.append(one)
        start = time.monotonic()
        with pytest.raises(WireError):
            Connection(Address(host="127.0.0.1", port=listening.getsockname()[1]), soon(0.3)).call("PING")
        assert time.monotonic() - start < 1.5
        for one in full:
            one.close()


def test_a_resolver_that_does_not_answer_costs_the_deadline_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    real = dial.socket

    def slow(*arguments: Any) -> Any:
        if arguments[-1] == real.AI_NUMERICHOST:
            raise real.gaierror
        time.sleep(2)
        raise real.gaierror

    stub = SimpleNamespace(**{name: getattr(real, name) for name in dir(real) if not name.startswith("__")})
    stub.getaddrinfo = slow
    monkeypatch.setattr(dial, "socket", stub)
    start = time.monotonic()
    with pytest.raises(WireError, match="in time"):
        Connection(Address(host="redis.example.test"), soon(0.2))
    assert time.monotonic() - start < 1.5


def test_nobody_there_is_an_error_that_names_the_place(tmp_path: Path) -> None:
    for place in (
        Address(str(tmp_path / "none")),
        Address("/" + "x" * 300),
        Address("a\0b"),
        Address(host="127.0.0.1", port=servers.free_ports(1)[0]),
        Address(host="no-such-host.invalid"),
        Address(host="x" * 300),
    ):
        with pytest.raises(WireError) as caught:
            Connection(place, soon(5))
        assert str(place) in caught.value.message


def test_a_server_that_is_stopped_or_killed_is_an_error(server: servers.Server) -> None:
    with servers.running("wheel") as one:
        connection = one.connect(0.3)
        one.process.send_signal(signal.SIGSTOP)
        start = time.monotonic()
        with pytest.raises(WireError, match="in time"):
            connection.call("PING")
        assert time.monotonic() - start < 1.5
        one.process.send_signal(signal.SIGCONT)
        connection = one.connect()
        assert connection.call("PING") == b"PONG"
        one.end()
        with pytest.raises(WireError):
            connection.call("PING")


# Clusters


def test_a_move_is_followed_once_with_the_same_greeting() -> None:
    with servers.running("wheel") as one:
        port = servers.free_ports(1)[0]
        with one.connect() as connection:
            connection.pipeline(
                [("CONFIG", "SET", "port", port), ("ACL", "SETUSER", "ada", "on", ">pw", "~*", "+@all")]
            )
        moved = f"-MOVED 1 :{port}\r\n".encode()  # without a host: the same one
        asked = 0

        def redirect(connection: socket.socket) -> None:
            nonlocal asked
            while data := connection.recv(1000):
                asked += 1
                connection.sendall(b"+OK\r\n" if b"AUTH" in data else moved + b"+PONG\r\n")

        with impostor(redirect) as place:
            place.user, place.password = "ada", "pw"
            connection = Connection(place, soon(5))
            assert connection.pipeline([("SET", "k", 1), ("PING",)]) == [b"OK", b"PONG"]
            assert connection.call("ACL", "WHOAMI") == b"ada"
            assert asked == 2


def test_a_second_move_in_a_row_is_an_error_reply() -> None:
    ports: list[int] = []

    def back(connection: socket.socket) -> None:
        while connection.recv(1000):
            connection.sendall(f"-MOVED 1 127.0.0.1:{ports[0]}\r\n".encode())

    with impostor(back) as place:
        ports.append(place.port)
        with pytest.raises(ErrorReply, match="MOVED"):
            Connection(place, soon(5)).call("GET", "k")


# TLS


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return servers.make_certificate(tmp_path_factory.mktemp("tls"))


def test_a_server_over_tls_is_spoken_to_and_its_certificate_checked(certificates: Path) -> None:
    port = servers.free_ports(1)[0]
    with servers.running("system", *servers.tls_options(port, certificates)):
        ca = f"ssl_ca_certs={certificates}/cert.pem"
        with Connection(parse(f"rediss://localhost:{port}/1?{ca}"), soon(5)) as connection:
            big = b"x" * 300_000
            assert connection.pipeline([("SET", "k", big), ("GET", "k")]) == [b"OK", big]
        with Connection(parse(f"rediss://localhost:{port}?ssl_cert_reqs=none"), soon(5)) as connection:
            assert connection.call("PING") == b"PONG"
        for refused in (
            f"localhost:{port}",
            f"127.0.0.1:{port}?{ca}",
            f"localhost:{port}?ssl_ca_certs=/none",
        ):
            with pytest.raises(WireError):
                Connection(parse(f"rediss://{refused}"), soon(5))
        with Connection(
            parse(f"rediss://127.0.0.1:{port}?{ca}&ssl_check_hostname=false"), soon(5)
        ) as connection:
            assert connection.call("PING") == b"PONG"
        with pytest.raises(WireError):
            Connection(parse(f"redis://localhost:{port}"), soon(1)).call("PING")


def test_a_server_that_never_shakes_hands_costs_the_deadline_at_most() -> None:
    with impostor(lambda one: time.sleep(5)) as place:
        place.tls = {}
        start = time.monotonic()
        with pytest.raises(WireError, match="in time"):
            Connection(place, soon(0.3))
        assert time.monotonic() - start < 2


# URLs

WORD = st.text(st.characters(min_codepoint=33, max_codepoint=0x2FFF, exclude_categories=("Cs",)), max_size=12)


@given(
    scheme=st.sampled_from(["redis", "rediss", "unix"]),
    user=WORD,
    password=st.none() | WORD,
    host=st.sampled_from(["localhost", "Redis.Example.test", "10.1.2.3", "[::1]", "[fe80::1]"]),
    port=st.none() | st.integers(1, 65535),
    db=st.none() | st.integers(0, 15),
    path=WORD,
)
def test_a_url_means_what_it_means_to_redis_py(
    scheme: str, user: str, password: str | None, host: str, port: int | None, db: int | None, path: str
) -> None:
    from urllib.parse import quote

    login = "" if password is None else f"{quote(user, safe='')}:{quote(password, safe='')}@"
    if scheme == "unix":
        url = f"unix://{login}/run/{quote(path)}" + ("" if db is None else f"?db={db}")
    else:
        place = host if port is None else f"{host}:{port}"
        url = f"{scheme}://{login}{place}" + ("" if db is None else f"/{db}")
    theirs = redis.connection.parse_url(url)
    ours = parse(url)
    assert ours.path == theirs.get("path", "")
    assert ours.user == theirs.get("username", "")
    assert (ours.password or "") == theirs.get("password", "")
    assert ours.db == theirs.get("db", 0)
    assert (ours.tls is not None) == (scheme == "rediss")
    if scheme != "unix":
        assert (ours.host, ours.port) == (theirs["host"], theirs.get("port", 6379))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "redis",
        "http://host",
        "localhost:7000",
        "redis://host:port",
        "redis://host:0",
        "redis://host:70000",
        "redis://host:7000/x",
        "redis://host:7000/1/2",
        "redis://token@host",
        "redis://:pa/ss@host",
        "redis://:pa?ss@host",
        "redis://:pa#ss@host",
        "redis://::1",
        "redis://[::1",
        "redis://[::1]x",
        "redis://hôst",
        "redis://host?socket_timeout=3",
        "redis://host?db=x",
        "redis://host?ssl_ca_certs=x",
        "unix://relative/path",
        "unix://",
        "unix:///",
    ],
)
def test_a_url_that_is_none_is_a_usage_error_that_does_not_repeat_it(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(url)
    assert caught.value.hint
    for word in ("token", ":pa", "host:", "70000"):
        assert word not in caught.value.message


def test_the_options_of_tls_are_kept_by_name() -> None:
    place = parse("rediss://h?" + "&".join(f"{name}=%2Fa+b" for name in TLS_OPTIONS))
    assert place.tls == dict.fromkeys(TLS_OPTIONS, "/a b")
    assert parse("rediss://h").tls == {}
    assert parse("redis://h").tls is None
    assert not parse("rediss://h?ssl_check_hostname=False").checks_hostname()
    assert not parse("rediss://h?ssl_cert_reqs=none").checks_hostname()
    assert parse("rediss://h?ssl_check_hostname=flase").checks_hostname()


# The hot ring


@pytest.mark.parametrize("over", ["unix", "tcp"])
def test_a_conversation_loads_light_modules_only(over: str) -> None:
    with servers.running("wheel") as one:
        port = servers.free_ports(1)[0]
        with one.connect() as connection:
            connection.call("CONFIG", "SET", "port", port)
        url = f"unix://{one.path}" if over == "unix" else f"redis://127.0.0.1:{port}/1"
        code = (
            f"import sys; before = set(sys.modules); sys.path.append({str(ROOT)!r})\n"
            "from valor.address import parse; from valor.wire import Connection, Script; import time\n"
            f"connection = Connection(parse({url!r}), time.monotonic() + 10)\n"
            "replies = connection.pipeline([('PING',), Script('return 1').call([])])\n"
            "assert replies == [b'PONG', 1], replies\n"
            "print(*set(sys.modules) - before)"
        )
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
        )
    assert set(done.stdout.split()) <= {
        *("__future__", "_socket", "_sha1", "valor"),
        *("valor.address", "valor.dial", "valor.errors", "valor.wire"),
    }
