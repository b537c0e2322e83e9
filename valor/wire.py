"""Enough of RESP2 to ask a Redis or Valkey server, at little more than the cost of a socket.

Part of the hot ring. What it does not speak (Pub/Sub, RESP3, whole clusters) redis-py does.

    connection = Connection(Address(path="/tmp/valor-0/1f.sock"), monotonic() + 0.05)
    connection.pipeline([("PING",), ("HGETALL", "a")])        # [b"PONG", [b"k", b"v"]]
    connection.pipeline([script.call(["{a}:k"], [1, 2.5])])   # EVALSHA, EVAL where it is not known

Whatever the server does, a call ends by ``Connection.deadline`` (of ``time.monotonic``) with its
replies or a WireError. Replies are bytes, int, None and lists of them; an error reply inside a
pipeline is an ErrorReply in its place. Protocol: https://redis.io/docs/reference/protocol-spec/.
"""

from __future__ import annotations

from time import monotonic

from valor.address import Address
from valor.dial import dial
from valor.errors import ErrorReply, WireError

TYPE_CHECKING = False  # typing costs half an interpreter start
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, NoReturn, TypeAlias

    Part: TypeAlias = "bytes | str | int | float | Script"
    Command: TypeAlias = "Sequence[Part]"

LIMIT = 64 << 20  # bytes that one pipeline's replies may take
_DEEPEST = 32  # arrays in arrays
_LONGEST_LINE = 64 << 10  # bytes of a status, an error or a length
_CHUNK = 128 << 10


class _Broken(ValueError):
    """The conversation cannot go on."""


class Script:
    """A Lua script, sent by its digest and whole only to a server that does not know it."""

    __slots__ = ("sha", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        try:
            from _sha1 import sha1
        except ImportError:  # an interpreter built with OpenSSL's digests alone
            from hashlib import sha1
        self.sha: str = sha1(source.encode()).hexdigest()

    def call(self, keys: Sequence[Part], arguments: Sequence[Part] = ()) -> Command:
        """The command that runs it."""
        return ("EVALSHA", self, len(keys), *keys, *arguments)


class Connection:
    """One connection, made and used by one thread.

    ``deadline`` bounds every call until it is set anew; ``limit`` the bytes of one pipeline's
    replies. Raises WireError where there is no such server, ErrorReply where it refuses us.
    """

    __slots__ = ("_address", "_at", "_buffer", "_room", "_socket", "deadline", "limit")
    _socket: Any  # None once hung up

    def __init__(self, address: Address, deadline: float, limit: int = LIMIT) -> None:
        self.deadline = deadline
        self.limit = limit
        self._open(address)

    def call(self, *command: Part) -> Any:
        """The reply to one command. Raises ErrorReply."""
        (reply,) = self.pipeline([command])
        if isinstance(reply, ErrorReply):
            raise reply
        return reply

    def pipeline(self, commands: Iterable[Command]) -> list[Any]:
        """The replies to the commands, sent in one write.

        A MOVED (a cluster's other node has the keys) is followed once, and the connection stays
        there; scripts that the server did not know are run after the other commands.
        """
        commands = list(commands)
        replies = self._exchange(commands)
        moved = _refused(replies, "MOVED")
        if moved:
            self._follow(replies[moved[0]].message)
            self._again(moved, commands, replies)
        unknown = _refused(replies, "NOSCRIPT")
        if unknown:
            self._again(unknown, [_whole(command) for command in commands], replies)
        return replies

    def close(self) -> None:
        """Hang up; a later call raises WireError."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self, address: Address) -> None:
        self._address = address
        self._buffer = bytearray()
        self._at = 0  # where the next reply starts in the buffer
        self._socket = None
        try:
            self._socket = dial(address, self._left)
        except (OSError, ValueError) as error:
            self._fail(_reason(error))
        greeting: list[Command] = []
        if address.password is not None:
            user = [address.user.encode("utf-8", "surrogateescape")] if address.user else []
            greeting.append(("AUTH", *user, address.password.encode("utf-8", "surrogateescape")))
        if address.db:
            greeting.append(("SELECT", address.db))
        for reply in self._exchange(greeting) if greeting else ():
            if isinstance(reply, ErrorReply):
                self.close()
                # Not its whole message: a server without AUTH repeats the password in it.
                raise ErrorReply(
                    f"{reply.code} from {address}, to the user, password or database given",
                    "check the URL in VALOR_REDIS_URL or redis_url",
                )

    def _follow(self, message: str) -> None:
        """Go where ``MOVED <slot> <host>:<port>`` points; no host means the same one."""
        host, _, port = message.split(" ")[-1].rpartition(":")
        if not port.isdigit():
            self._fail("it sent a MOVED without an address")
        self.close()
        host = host.strip("[]")
        self._open(self._address.elsewhere(self._address.host if host in ("", "?") else host, int(port)))

    def _again(self, numbers: list[int], commands: Sequence[Command], replies: list[Any]) -> None:
        answers = self._exchange([commands[number] for number in numbers])
        for number, answer in zip(numbers, answers, strict=True):
            replies[number] = answer

    def _exchange(self, commands: Sequence[Command]) -> list[Any]:
        data = memoryview(encode(commands))
        self._room = self.limit
        if self._socket is None:
            self._fail("no longer connected")
        try:
            while data:
                self._socket.settimeout(self._left())
                data = data[self._socket.send(data) :]
            return [self._reply(0) for _ in commands]
        except (OSError, ValueError) as error:
            self._fail(_reason(error))

    def _reply(self, depth: int) -> Any:
        line = self._line()
        kind, rest = line[:1], line[1:]
        if kind == b"$":
            size = int(rest)
            return None if size < 0 else self._bulk(size)
        if kind == b":":
            return int(rest)
        if kind == b"+":
            return rest
        if kind == b"-":
            return ErrorReply(rest.decode("utf-8", "replace"))
        if kind != b"*" or depth > _DEEPEST:
            raise _Broken("what it sent is no reply")
        count = int(rest)
        if count > self._room + len(self._buffer):  # each takes a byte at least
            raise _Broken("its reply is too long")
        return None if count < 0 else [self._reply(depth + 1) for _ in range(count)]

    def _line(self) -> bytes:
        """Up to the next CRLF, without it."""
        while (end := self._buffer.find(b"\r\n", self._at)) < 0:
            if len(self._buffer) - self._at > _LONGEST_LINE:
                raise _Broken("what it sent is no reply")
            self._fill(1)
        line = bytes(self._buffer[self._at : end])
        self._at = end + 2
        return line

    def _bulk(self, size: int) -> bytes:
        """``size`` bytes and the CRLF behind them."""
        missing = size + 2 - (len(self._buffer) - self._at)
        if missing > 0:
            self._fill(missing)
        end = self._at + size
        if self._buffer[end : end + 2] != b"\r\n":
            raise _Broken("what it sent is no reply")
        value = bytes(self._buffer[self._at : end])
        self._at = end + 2
        return value

    def _fill(self, wanted: int) -> None:
        """Read ``wanted`` bytes, or some more, behind what the buffer holds of the current reply."""
        if wanted > self._room:
            raise _Broken("its reply is too long")
        del self._buffer[: self._at]
        self._at = 0
        while wanted > 0:
            self._socket.settimeout(self._left())
            chunk = self._socket.recv(_CHUNK)
            if not chunk:
                raise _Broken("it hung up")
            self._buffer += chunk
            self._room -= len(chunk)
            wanted -= len(chunk)

    def _left(self) -> float:
        """Seconds until the deadline; TimeoutError behind it."""
        left = self.deadline - monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def _fail(self, reason: str) -> NoReturn:
        """Hang up, since what comes next on this connection belongs to no question."""
        self.close()
        raise WireError(
            f"{self._address}: {reason}", "`valor server status` says which server is used"
        ) from None


def encode(commands: Iterable[Command]) -> bytes:
    """The commands as RESP arrays of bulk strings; text as UTF-8, floats in full precision."""
    out = bytearray()
    for command in commands:
        out += b"*%d\r\n" % len(command)
        for part in command:
            raw = _raw(part)
            out += b"$%d\r\n%b\r\n" % (len(raw), raw)
    return bytes(out)


def _raw(part: Part) -> bytes:
    kind = type(part)
    if isinstance(part, bytes):
        return part
    if isinstance(part, str):
        return part.encode("utf-8", "surrogatepass")
    if isinstance(part, Script):
        return part.sha.encode()
    if kind is int or kind is float:
        return repr(part).encode()
    raise TypeError(f"{kind.__name__} is no part of a command")


def _whole(command: Command) -> Command:
    script = command[1] if len(command) > 1 else None
    return ("EVAL", script.source, *command[2:]) if isinstance(script, Script) else command


def _refused(replies: list[Any], code: str) -> list[int]:
    return [
        number for number, reply in enumerate(replies) if isinstance(reply, ErrorReply) and reply.code == code
    ]


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, OSError):
        return error.strerror or str(error) or type(error).__name__
    return str(error) if isinstance(error, _Broken) else "what it sent is no reply"
