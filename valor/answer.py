"""What to tell an agent that works in this folder: the gate, the mirror and the file, asked in turn.

Part of the hot ring; what only an open gate needs is imported behind it.
"""

from __future__ import annotations

import posix

from valor import bloom, viewfile
from valor.gate import known_terms

TYPE_CHECKING = False  # typing costs half an interpreter start
if TYPE_CHECKING:
    from valor.bloom import Gate
    from valor.keys import Row
    from valor.viewfile import ViewFile
    from valor.window import Query

MOST_HIDDEN = 256  # proposals, where the first few turn out to be hidden: marked, and not mirrored yet
MOST_STANDING = 5  # observations of a brief: what it tells is not told again when it would help most
FRESH, STALE, GONE = range(3)


class View:
    """The mirrored view of one checkout. ``wants_sync`` says that it is not, or not all of, what is in
    the file."""

    __slots__ = ("file", "folder", "wants_sync")

    def __init__(self, file: ViewFile, folder: str) -> None:
        self.file = file
        self.folder = folder
        self.wants_sync = self.stale == STALE

    @property
    def root(self) -> str:
        """The checkout's root, a real path."""
        return self.file.root

    @property
    def stale(self) -> int:
        """FRESH where the log is the file that was mirrored, STALE where it is another, GONE where it is
        missing or empty, which no sync takes over."""
        try:
            facts = viewfile.identity(posix.stat(self.file.log))
        except OSError:
            return GONE
        return FRESH if facts == self.file.identity else STALE if facts[2] else GONE

    def gate(self) -> Gate:
        """The filter over the view's terms; the open gate where there is none to trust."""
        path = f"{self.folder}/gate"
        try:
            facts = posix.stat(path)
        except OSError:
            return bloom.Gate()
        sound = viewfile.identity(facts) == self.file.gate
        return bloom.load(path, self.file.stamp.encode(), sound) or bloom.Gate()


class Told:
    """One observation to tell: its id, its finished stub, and, where a query asked for it, the evidence
    (``valor.recall``)."""

    __slots__ = ("evidence", "id", "stub")

    def __init__(self, id: str, stub: str, evidence: float = 0.0) -> None:
        self.id = id
        self.stub = stub
        self.evidence = evidence


def checkout(cwd: str, root: str = "") -> str | None:
    """The real path of the checkout that ``cwd`` lies in, or of ``root``; None outside."""
    place = _real(root or cwd)
    if not place:
        return None
    if root:
        return place
    while True:
        try:
            posix.stat(f"{place}/.git")
            return place or "/"
        except OSError:
            if not place.strip("/"):
                return None
            place = place.rpartition("/")[0]


def _real(folder: str) -> str:
    """The folder's path without links, as the kernel has it; "" where there is none."""
    try:
        here = posix.open(".", posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        here = -1
    try:
        posix.chdir(folder)
        return posix.getcwd()
    except (OSError, ValueError):
        return ""
    finally:
        if here >= 0:
            posix.fchdir(here)
            posix.close(here)


def find_view(cwd: str, state: str, root: str = "") -> View | None:
    """The view of the checkout that ``cwd`` lies in, or of ``root``; None where there is none."""
    place = checkout(cwd, root)
    if place is None:
        return None
    folder = viewfile.folder(state, place)
    file = viewfile.load(folder)
    return View(file, folder) if file is not None and file.root == place else None


def answer(
    view: View,
    query: Query,
    told: set[str],
    now: float,
    deadline: float,
    url: str = "",
    *,
    before: float | None = None,
    scale: float = 1.0,
) -> list[Told]:
    """At most three observations that answer the query, best first, none of them in ``told``: ids, or what
    ``valor.viewfile.file_name`` makes of them.

    ``now`` in unix seconds, ``deadline`` of ``time.monotonic``; ``url`` names another server than the
    view's; ``before`` and ``scale`` as in ``valor.recall.recall``. Any trouble with server or file is an
    empty answer, and ``view.wants_sync`` is set where a sync would mend it.
    """
    weights = known_terms(query, view.gate(), scale)
    if not weights:
        return []
    from valor.address import parse
    from valor.errors import ErrorReply, UsageError, WireError
    from valor.keys import Keys
    from valor.propose import MOST_PROPOSALS, propose
    from valor.stub import MOST_STUBS
    from valor.wire import Connection

    try:
        with Connection(parse(url or view.file.url), deadline) as connection:
            names = Keys(view.file.project, view.file.view)
            for limit in (MOST_PROPOSALS, MOST_HIDDEN):
                found = propose(
                    connection, names, query, weights, now, told=told, before=before, scale=scale, limit=limit
                )
                if found is None:
                    break
                evidence = {proposal.row.id: proposal.evidence for proposal in found}
                rows = [proposal.row for proposal in found]
                chosen = _confirmed(view, [row for row in rows if viewfile.file_name(row.id) not in told])
                if len(chosen) >= MOST_STUBS or len(found) < limit:
                    break
    except UsageError:
        return []
    except WireError as error:
        view.wants_sync = view.wants_sync or not isinstance(error, ErrorReply)
        return []
    if found is None:
        view.wants_sync = True
        return []
    for each in chosen:
        each.evidence = evidence[each.id]
    return chosen


def brief(view: View, told: set[str]) -> list[Told]:
    """The strongest standing observations, at most five, that are not in ``told``, strongest first."""
    from valor.keys import Row
    from valor.scan import loads

    try:
        known = loads(viewfile.read(f"{view.folder}/brief").decode("ascii"))
        if not isinstance(known, list):
            return []
        rows = [Row(bytes.fromhex(each)) for each in known]
    except (OSError, ValueError, TypeError):
        return []
    return _confirmed(view, [row for row in rows if viewfile.file_name(row.id) not in told], MOST_STANDING)


def _confirmed(view: View, rows: list[Row], most: int = 0) -> list[Told]:
    from valor.confirm import confirmed
    from valor.stub import MOST_STUBS, stub

    try:
        held = confirmed(view.file, rows, most or MOST_STUBS)
    except OSError:
        view.wants_sync = True
        return []
    return [
        Told(row.id, text) for row in held if (text := stub(row.id, row.type, row.text, _is_stale(view, row)))
    ]


def _is_stale(view: View, row: Row) -> bool:
    """Whether what the line refers to is gone or has changed since the line was committed."""
    if not row.references:
        return False
    from valor.baseline import is_doubtful

    return is_doubtful(view.root, view.folder, row.digest, row.references)
