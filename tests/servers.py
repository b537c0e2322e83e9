"""Real servers, started by the test that needs them, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from valor import programs, server
from valor.address import Address
from valor.config import Config
from valor.errors import WireError
from valor.wire import Connection


def known() -> dict[str, str]:
    """The programs here: the wheel's, and the system's where it is installed."""
    found = {"wheel": programs._in_wheel(), "system": shutil.which("redis-server")}
    return {name: program for name, program in found.items() if program}


def program(name: str) -> str:
    if name not in known():
        pytest.skip(f"no {name} server is installed here")
    return known()[name]


class Server:
    """A server on a unix socket in ``folder``, and on what ``options`` add."""

    def __init__(self, program: str, folder: Path, *options: str) -> None:
        self.path = str(folder / "s")
        command = [program, "--port", "0", "--unixsocket", self.path, "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen(
            [*command, "--dir", str(folder), *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_for(lambda: self.process.poll() is not None or self.accepts())
        assert self.process.poll() is None, "the server ended at once"

    def accepts(self) -> bool:
        with suppress(WireError):
            Connection(Address(self.path), time.monotonic() + 5).close()
            return True
        return False

    def connect(self, seconds: float = 10.0) -> Connection:
        return Connection(Address(self.path), time.monotonic() + seconds)

    def end(self) -> None:
        self.process.kill()  # ends a stopped one as well
        self.process.wait()


@contextmanager
def running(name: str, *options: str) -> Iterator[Server]:
    # pytest's own folders are too long for a socket's path.
    with tempfile.TemporaryDirectory(prefix="v") as folder:
        server = Server(program(name), Path(folder), *options)
        try:
            yield server
        finally:
            server.end()


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, far from the defaults."""
    held = []
    for _ in range(count):
        one = socket.socket()
        one.bind(("127.0.0.1", 0))
        held.append(one)
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    assert 6379 not in ports
    return ports


def wait_for(condition: Callable[[], object], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether the process runs; one that only waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@contextmanager
def own_config(**more: object) -> Iterator[Config]:
    """A configuration with folders of its own, whose server, if one gets started, is stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="v") as folder:
        values = {"runtime": Path(folder, "run"), "path": os.environ["PATH"], "server_idle": 600.0} | more
        root = Path(folder, "root")
        root.mkdir()
        made = Config(root=root, state=Path(folder, "state"), **values)  # type: ignore[arg-type]
        try:
            yield made
        finally:
            server.stop(made)


@contextmanager
def cluster() -> Iterator[list[int]]:
    """Three nodes that share the slots; their ports."""
    if shutil.which("redis-server") is None:
        pytest.skip("no system server is installed here")
    ports, nodes = free_ports(6), []
    with tempfile.TemporaryDirectory(prefix="v") as folder:
        for number in range(3):
            home = Path(folder, str(number))
            home.mkdir()
            bus = ["--cluster-enabled", "yes", "--cluster-port", str(ports[3 + number])]
            more = ["--port", str(ports[number]), "--bind", "127.0.0.1", "--cluster-node-timeout", "3000"]
            nodes.append(Server(program("system"), home, *bus, *more))
        try:
            for number, node in enumerate(nodes):
                first, last = 16384 * number // 3, 16384 * (number + 1) // 3 - 1
                with node.connect() as connection:
                    connection.call("CLUSTER", "ADDSLOTSRANGE", first, last)
                    connection.call("CLUSTER", "MEET", "127.0.0.1", ports[0], ports[3])
            wait_for(
                lambda: all(b"cluster_state:ok" in node.connect().call("CLUSTER", "INFO") for node in nodes)
            )
            yield ports[:3]
        finally:
            for node in nodes:
                node.end()


def make_certificate(folder: Path) -> Path:
    """The folder, with a key and a certificate for localhost in it."""
    try:
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
                *("-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=localhost"),
                *("-addext", "subjectAltName=DNS:localhost"),
            ],
            cwd=folder,
            check=True,
            capture_output=True,
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("there is no openssl command to make a certificate with")
    return folder


def tls_options(port: int, certificates: Path) -> list[str]:
    options = ["--tls-port", str(port), "--tls-auth-clients", "no", "--bind", "127.0.0.1"]
    for option, name in (("cert", "cert"), ("key", "key"), ("ca-cert", "cert")):
        options += [f"--tls-{option}-file", str(certificates / f"{name}.pem")]
    return options
