"""Which server holds the mirror, and valor's own: found, started, stopped.

A server named by ``redis_url`` is used as it is and never started, stopped or replaced by another.
Without one valor keeps a server of its own: no TCP port, nothing on disk, one per state folder, on a
unix socket that only its user can open. These files lie in the runtime folder, named by a digest of
the state folder's path:

    <digest>.sock    the socket
    <digest>.lock    locked while anybody starts a server, or a watchdog or server of this name lives
    <digest>.watch   locked while the watchdog lives
    <digest>.pid     process ids of watchdog and server
    <digest>.log     what the server said

Who holds ``.lock`` hands it on to the watchdog and this to the server, so it is never free between:
two servers on one socket, of which the second would silently take it, cannot come about.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import signal
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from valor import programs
from valor.address import Address, parse
from valor.config import Config
from valor.errors import ErrorReply, Unavailable, WireError
from valor.wire import Connection

if TYPE_CHECKING:
    import redis

WATCHDOG = Path(__file__).with_name("watchdog.py")
_LONGEST_SOCKET = 103  # bytes; macOS allows one less than 104, Linux 107
_PATIENCE = 1.0  # seconds for one answer
_PAUSE = 0.005


class Status(NamedTuple):
    """The server that would be asked: sizes in bytes, times in seconds, None where unknown."""

    running: bool
    server: str  # redis or valkey
    version: str
    address: str
    own: bool
    cluster: bool
    memory: int | None
    uptime: int | None
    pid: int | None
    idle_stop: float | None
    reason: str  # why it is not running


def address(config: Config) -> Address:
    """Where the mirror's server is, or will be. Raises UsageError for a URL that is none."""
    return parse(config.redis_url) if config.redis_url else Address(f"{_stem(config)}.sock")


def ensure(config: Config, timeout: float = 15.0) -> Address:
    """The address of a server that answers, started if it is our own and none runs. Raises
    Unavailable, after ``timeout`` seconds at the latest."""
    deadline = time.monotonic() + timeout
    place = address(config)
    if config.redis_url:
        with Connection(place, min(deadline, time.monotonic() + _PATIENCE)) as connection:
            connection.call("PING")
        return place
    _make_runtime(config.runtime)
    stem = _stem(config)
    candidates = programs.candidates(config.path)
    faults: list[str] = []
    while True:
        if _answers(place):
            if not _free(f"{stem}.watch"):
                return place
            _shut_down(place)  # its watchdog was killed: nobody would ever stop it
        locks = _locks(stem)
        if locks:
            with os.fdopen(locks[0]), os.fdopen(locks[1]):
                program = next(candidates, None)
                if program is None:
                    _remove(stem)
                    raise programs.missing(faults)
                fault = _start(config, stem, locks, program, deadline)
            if not fault:
                return place
            faults.append(fault)
        if time.monotonic() > deadline:
            raise Unavailable(
                f"valor's server does not answer on {place}", "run `valor server stop`, then try again"
            )
        time.sleep(_PAUSE)


def stop(config: Config, timeout: float = 15.0) -> bool:
    """End valor's own server, hung or not, and remove its files; whether there was one. A server
    named by ``redis_url`` is never touched. Raises Unavailable."""
    deadline = time.monotonic() + timeout
    stem, found = _stem(config), False
    if not Path(f"{stem}.lock").exists() and not Path(f"{stem}.sock").exists():
        return False
    _make_runtime(config.runtime)
    told: set[int] = set()
    while (life := _lock(f"{stem}.lock")) is None:
        found = True
        watchdog, server = _pids(stem)
        if watchdog and watchdog not in told:
            told.add(watchdog)
            os.kill(watchdog, signal.SIGTERM)
            os.kill(watchdog, signal.SIGCONT)
        elif server and not watchdog:
            os.kill(server, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise Unavailable(f"valor's server on {stem}.sock does not end", "end its process by hand")
        time.sleep(_PAUSE)
    with os.fdopen(life):
        found |= _shut_down(Address(f"{stem}.sock"))
        _remove(stem)
    return found


def status(config: Config) -> Status:
    """What runs. Starts nothing."""
    place = address(config)
    own = not config.redis_url
    try:
        with Connection(place, time.monotonic() + _PATIENCE) as connection:
            greeting, info = connection.pipeline([("PING",), ("INFO",)])
            if isinstance(greeting, ErrorReply):
                raise greeting
            facts = {} if isinstance(info, ErrorReply) else _facts(info)  # a user may lack INFO
    except WireError as error:
        reason = "it is not running" if own and not os.path.exists(place.path) else error.message  # noqa: PTH110
        return Status(False, "", "", str(place), own, False, None, None, None, None, reason)
    return Status(
        running=True,
        server=facts.get("server_name", "redis" if facts else ""),
        version=facts.get("valkey_version") or facts.get("redis_version", ""),
        address=str(place),
        own=own,
        cluster=facts.get("cluster_enabled") == "1",
        memory=_number(facts.get("used_memory")),
        uptime=_number(facts.get("uptime_in_seconds")),
        pid=_number(facts.get("process_id")) if own else None,
        idle_stop=config.server_idle if own else None,
        reason="",
    )


def client(place: Address, timeout: float = 5.0) -> redis.Redis | redis.RedisCluster:
    """redis-py's client for what is not on the hot path; a cluster's where the server is part of one.
    ``timeout`` is in seconds, for each answer. Raises WireError."""
    import redis

    with Connection(place, time.monotonic() + timeout) as connection:
        try:
            cluster = b"cluster_enabled:1" in connection.call("INFO", "cluster")
        except ErrorReply:  # a user who may not ask that
            cluster = False
    options: dict[str, object] = {
        "username": place.user or None,
        "password": place.password,
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout,
        "protocol": 2,
    }
    if place.path:
        return redis.Redis(unix_socket_path=place.path, db=place.db, **options)  # type: ignore[arg-type]
    options |= {"host": place.host, "port": place.port, **(place.tls or {})}
    if place.tls is not None:
        options |= {"ssl": True, "ssl_check_hostname": place.checks_hostname()}
    if cluster:
        return redis.RedisCluster(**options)  # type: ignore[arg-type]
    return redis.Redis(db=place.db, **options)  # type: ignore[arg-type]


def _stem(config: Config) -> str:
    digest = hashlib.sha1(os.fsencode(config.state.resolve()), usedforsecurity=False).hexdigest()[:12]
    stem = str(config.runtime / digest)
    if len(os.fsencode(stem)) + len(".sock") > _LONGEST_SOCKET:
        raise Unavailable(
            f"{config.runtime} is too long a path for a socket", "set VALOR_RUNTIME_DIR to a shorter one"
        )
    return stem


def _make_runtime(folder: Path) -> None:
    """Make the runtime folder, or see that nobody else can put a socket there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = folder.lstat()
    except OSError as error:
        raise Unavailable(
            f"{folder}: {error.strerror}", "set VALOR_RUNTIME_DIR to a folder of yours"
        ) from None
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
        raise Unavailable(
            f"{folder} can be written by others than you", "set VALOR_RUNTIME_DIR to a folder of yours"
        )


def _start(config: Config, stem: str, locks: tuple[int, int], program: str, deadline: float) -> str:
    """Start ``program`` under a watchdog, which gets ``locks``; "" once it answers, else why not."""
    import subprocess

    if _accepts(Address(f"{stem}.sock")):
        raise Unavailable(
            f"something that valor did not start listens on {stem}.sock and does not answer", "end it by hand"
        )
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as answer:
        command = [sys.executable, "-I", "-S", str(WATCHDOG), *map(str, (*locks, writing))]
        command += [repr(config.server_idle), stem, program, *programs.options(stem, config.server_memory)]
        started = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
            pass_fds=(*locks, writing),
        )
        os.close(writing)
        started.wait()  # it goes on as a process of its own
        said = _read(answer.fileno(), deadline)
    return "" if said == "ok" else f"{program}: {said or 'it did not start'}"


def _read(descriptor: int, deadline: float) -> str:
    """What the watchdog says, once."""
    import select

    ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
    return os.read(descriptor, 4096).decode("utf-8", "replace").strip() if ready else ""


def _lock(path: str) -> int | None:
    """A descriptor that holds the lock on the file at ``path`` now; None while another does."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):  # noqa: PTH116
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        except FileNotFoundError:
            pass
        os.close(descriptor)  # its last holder removed it


def _locks(stem: str) -> tuple[int, int] | None:
    """Descriptors of both files, locked; None while another process holds one of them."""
    life = _lock(f"{stem}.lock")
    if life is None:
        return None
    watch = _lock(f"{stem}.watch")
    if watch is None:  # the last watchdog is on its way out
        os.close(life)
        return None
    return life, watch


def _remove(stem: str) -> None:
    """Remove the files of a server that is gone, while holding its lock, which goes last."""
    for suffix in ("sock", "pid", "log", "watch", "lock"):
        Path(f"{stem}.{suffix}").unlink(missing_ok=True)


def _free(path: str) -> bool:
    descriptor = _lock(path)
    if descriptor is None:
        return False
    os.close(descriptor)
    return True


def _accepts(place: Address) -> bool:
    try:
        Connection(place, time.monotonic() + _PATIENCE).close()
    except WireError:
        return False
    return True


def _answers(place: Address) -> bool:
    try:
        with Connection(place, time.monotonic() + _PATIENCE) as connection:
            return bool(connection.call("PING") == b"PONG")
    except WireError:
        return False


def _shut_down(place: Address) -> bool:
    """End the server on our own socket, if one answers there; whether it did."""
    if not _answers(place):
        return False
    with suppress(WireError), Connection(place, time.monotonic() + _PATIENCE) as connection:
        connection.call("SHUTDOWN", "NOSAVE")  # the answer is that it hangs up
    return True


def _pids(stem: str) -> tuple[int, int]:
    """The watchdog's and the server's process ids, 0 where that process is none of ours (any more)."""
    try:
        watchdog, server = map(int, Path(f"{stem}.pid").read_text("ascii").split())
    except (OSError, ValueError):
        return 0, 0
    return watchdog * _names(watchdog, stem), server * _names(server, stem)


def _names(pid: int, stem: str) -> bool:
    """Whether the process's command line names our socket: its number may be another's by now."""
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        if Path("/proc/self").exists():
            return False
        import subprocess

        line = subprocess.run(["ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True).stdout
    return os.fsencode(stem) in line


def _facts(info: bytes) -> dict[str, str]:
    pairs = (line.partition(":") for line in info.decode("utf-8", "replace").splitlines())
    return {name: value for name, colon, value in pairs if colon}


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None
