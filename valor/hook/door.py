"""From an event on standard input to an answer on standard output, within a deadline.

Part of the hot ring: what only some events need is imported where they need it, and a window that
the gate ends loads none of that. Nothing of what a tool was given or gave is written anywhere.
"""

from __future__ import annotations

import _signal
import gc
import posix
from time import monotonic, time

from valor.hook import events
from valor.scan import loads

STDIN_SECONDS = 1.0  # for the event to arrive: the script waited as long before
SECONDS = 0.2  # for all that follows,
TLS_SECONDS = 0.5  # also where a connection has to be secured first
RESERVE = 0.05  # of that, kept from the server for claims and output
LONGEST_EVENT = 8 << 20  # bytes; a longer one is not looked at
_CHUNK = 1 << 20


def run(state: str) -> None:
    """Answer the event, with ``state`` as valor's state folder. Raises whatever goes wrong."""
    gc.disable()  # what a hook makes is gone with it
    _signal.signal(_signal.SIGALRM, _end)
    _signal.setitimer(_signal.ITIMER_REAL, STDIN_SECONDS)
    posix.fstat(1)  # closed: nobody would hear us, and files we open would take its place
    event = events.normalised(_read())
    url = posix.environ.get(b"VALOR_REDIS_URL", b"").decode("utf-8", "surrogateescape")
    seconds = TLS_SECONDS if url.startswith("rediss:") else SECONDS
    _signal.setitimer(_signal.ITIMER_REAL, seconds)
    if event is not None:
        _answer(event, state, url, monotonic() + seconds - RESERVE)


def _end(*_: object) -> None:
    posix._exit(0)


def _read() -> object:
    """The event, parsed: what the caller has read of it, then standard input.

    Done as soon as it is whole; a writer that keeps its end open is not waited for. Raises ValueError
    for what is no JSON or too long.
    """
    data = posix.environ.pop(b"VALOR_EVENT_HEAD", b"")
    while True:
        if data[-64:].rstrip().endswith(b"}"):
            found = _parsed(data)
            if found is not None:
                return found
        more = posix.read(0, _CHUNK)
        data += more
        if len(data) > LONGEST_EVENT:
            raise ValueError("too long an event")
        if not more:
            return _parsed(data)


def _parsed(data: bytes) -> object:
    try:
        return loads(data.decode("utf-8", "replace"))
    except ValueError:  # there may be more to come
        return None


def _answer(event: events.Event, state: str, url: str, deadline: float) -> None:
    from valor.answer import answer, find_view

    root = posix.environ.get(b"PROJECT_ROOT", b"").decode("utf-8", "surrogateescape")
    folders = event.folders or [posix.getcwd()]
    if root and root[0] != "/":
        root = f"{folders[0]}/{root}"
    view = None
    for folder in folders:
        view = view or find_view(folder, state, root)
    if event.kind == events.START:
        from valor.hook.start import start

        start(event, state, view, folders[0], root)
        return
    if view is None:
        if event.kind != events.MOMENT:
            from valor.hook.start import wake

            wake(state, folders[0], root)
        return
    if event.kind == events.MOMENT:
        from valor.hook.session import journal

        journal(view.folder, event, [])
        return
    query = events.query(event, view.root)
    found = answer(view, query, events.told(event, state), time(), deadline, url) if query.weights else []
    if found:
        from valor.hook.output import put

        put(event, state, view.folder, found)
    if view.wants_sync:
        from valor.hook.background import sync

        sync(view.root, view.folder)
