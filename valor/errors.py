"""Every error valor raises on purpose, each with a hint that says what to do.

    ValorError                       exit 70 unless a subclass says otherwise
    ├── UsageError                   exit 2   the call's words are off
    │   └── UnknownId                         nobody has this id
    ├── OwnedElsewhere               exit 3   another store owns the fact
    ├── RefusedContent               exit 4   the text may not be stored
    │   ├── SecretRefused                     it holds a secret
    │   └── JunkRefused                       it holds nothing to remember
    └── Unavailable                  exit 5   a needed file or service is not there
        ├── NotAProject                       no checkout here
        ├── BrokenTable                       the routing table does not parse
        ├── LockBusy                          another process holds the log
        └── WireError                         a server did not answer, or not in Redis's language
            └── ErrorReply                    it answered with an error

Code below the doors raises these; only a door (``cli``, ``hook``, ``mcp``) catches them.
"""

from __future__ import annotations

DONE = 0
FOUND_NOTHING = 1
USAGE = 2
ELSEWHERE = 3
REFUSED = 4
UNAVAILABLE = 5
BUG = 70
INTERRUPTED = 130


class ValorError(Exception):
    """A failure with a one-line ``message``, a ``hint`` (what to do now) and an exit code."""

    exit_code = BUG

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(ValorError):
    """The call's words are off: an unknown type, a bad date, an id nobody has."""

    exit_code = USAGE


class UnknownId(UsageError):
    """Nobody has this id. To a question that is an answer (exit 1), to a command a slip."""


class OwnedElsewhere(ValorError):
    """The routing table gives this fact to another store, or to none.

    ``owner`` is the owner's name, ``store`` the path to write to ("" for nowhere) and
    ``rule`` the row and example that decided.
    """

    exit_code = ELSEWHERE

    def __init__(self, message: str, hint: str = "", *, owner: str, store: str, rule: str) -> None:
        super().__init__(message, hint)
        self.owner = owner
        self.store = store
        self.rule = rule


class RefusedContent(ValorError):
    """The text may not be stored; nothing was written anywhere."""

    exit_code = REFUSED


class SecretRefused(RefusedContent):
    """The text holds a secret. The message names its kind and place, never its value."""


class JunkRefused(RefusedContent):
    """The text holds nothing worth remembering (an acknowledgement, a fragment, tool noise)."""


class Unavailable(ValorError):
    """A file or service that the command needs is not there or not readable."""

    exit_code = UNAVAILABLE


class NotAProject(Unavailable):
    """There is no checkout at or above the working directory."""


class BrokenTable(Unavailable):
    """The routing table does not parse; ``line`` is the first offending line (1-based)."""

    def __init__(self, message: str, hint: str = "", *, line: int) -> None:
        super().__init__(message, hint)
        self.line = line


class LockBusy(Unavailable):
    """Another process held the log's lock for longer than we are willing to wait."""


class WireError(Unavailable):
    """A Redis server did not answer in time, hung up, or sent what is no reply."""


class ErrorReply(WireError):
    """A Redis server answered with an error; the connection stays usable."""

    @property
    def code(self) -> str:
        """The error's first word: ERR, NOSCRIPT, OOM, WRONGPASS, …"""
        return self.message.partition(" ")[0]
