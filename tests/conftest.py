"""Real repositories and real processes, all below the test's own folder."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import servers
from hypothesis import HealthCheck, settings
from mirrored import Checkout

VALOR = Path(sys.executable).with_name("valor")
LOG = "grimoires/loa/memory/observations.jsonl"

# Deadlines would time the machine, not the code. What CI finds it has to find again: there the examples
# are always the same; `make test ARGS="--hypothesis-profile=thorough"` looks for new ones.
_QUIET = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("valor", derandomize="CI" in os.environ, **_QUIET)
settings.register_profile("thorough", max_examples=1500, **_QUIET)
settings.load_profile("valor")


@dataclass
class Result:
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


class Repo:
    """A git repository with its own home, state folder and identity."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.home = home
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.test",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "ada@example.test",
        }

    @property
    def log(self) -> Path:
        return self.root / LOG

    @property
    def state(self) -> Path:
        return self.home / "state" / "valor"

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd or self.root,
            env=self.env,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def valor(self, *arguments: str, stdin: str | bytes = b"", cwd: Path | None = None, **env: str) -> Result:
        done = subprocess.run(
            [str(VALOR), *arguments],
            cwd=cwd or self.root,
            env=self.env | env,
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            timeout=120,
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def on_a_terminal(self, columns: int, *arguments: str, **env: str) -> str:
        """What the command prints on a real terminal of this width."""
        main, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        process = subprocess.Popen(
            [VALOR, *arguments], cwd=self.root, env=self.env | {"TERM": "xterm"} | env, stdout=child
        )
        os.close(child)
        out = b""
        while True:
            try:
                chunk = os.read(main, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not chunk:
                break
            out += chunk
        process.wait()
        os.close(main)
        return out.decode()

    def write(self, *lines: dict[str, Any] | bytes) -> None:
        """Put these lines in the log, as they are."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.log.write_bytes(
            b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)
        )

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_bytes().splitlines()]


@pytest.fixture
def make_repo(tmp_path: Path) -> Callable[[str], Repo]:
    def make(name: str) -> Repo:
        root = tmp_path / name
        root.mkdir(parents=True)
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        repo = Repo(root, home)
        repo.git("init", "-q", "-b", "main")
        return repo

    return make


@pytest.fixture
def repo(make_repo: Callable[[str], Repo]) -> Repo:
    return make_repo("repo")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Where a server of the test's own listens."""
    with servers.running("wheel") as running:
        yield f"unix://{running.path}"


@pytest.fixture
def checkout(url: str) -> Iterator[Checkout]:
    """A folder with a log, to be mirrored there."""
    with servers.own_config(redis_url=url) as config:
        yield Checkout(config)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared material beside the checkout, where there is one."""
    folder = Path(os.environ.get("VALOR_SHARED") or Path(__file__).parents[2] / "shared")
    if not (folder / "corpus" / "commits.jsonl").is_file():
        pytest.skip("the shared corpus is not beside this checkout")
    return folder
