"""A session begins: the brief, and a sync in the background."""

from __future__ import annotations

from valor.brief import FIXED, LOG, MOST_CHARACTERS, STANDING
from valor.hook import session
from valor.hook.background import sync
from valor.hook.events import told
from valor.hook.output import LEAD, put
from valor.viewfile import folder

TYPE_CHECKING = False  # typing costs half an interpreter start
if TYPE_CHECKING:
    from valor.answer import View
    from valor.hook.events import Event

OFF_SECONDS = 60.0  # after which it is asked whether memory that was switched off still is


def start(event: Event, state: str, view: View | None, place: str, named: str) -> None:
    """Print the brief: its fixed part once a session, and observations that the session does not hold
    yet. Start a sync of the checkout, also of one that was never synced: at or above ``place``, or the
    root that was ``named``. Where there is neither: nothing."""
    root = view.root if view else unsynced(place, named)
    if not root:
        return
    own = event.folder(state)
    fixed = FIXED if not own or session.make(own, "brief") else ""
    found = []
    if view:
        from valor.answer import brief

        found = brief(view, told(event, state))
    lead = STANDING if fixed else LEAD
    put(event, state, view.folder if view else "", found, fixed=fixed, lead=lead, most=MOST_CHARACTERS)
    sync(root, view.folder if view else folder(state, root), at_once=True)


def wake(state: str, place: str, named: str) -> None:
    """Start a sync of a checkout that has a log and was never synced: a worktree made in the middle of a
    session, a state folder that was deleted. Not where memory was found switched off a moment ago."""
    root = unsynced(place, named)
    if root and not session.is_young(f"{folder(state, root)}/off", OFF_SECONDS):
        sync(root, folder(state, root))


def unsynced(place: str, root: str) -> str:
    """The checkout at or above a folder, or ``root``, where it has a log; else ""."""
    from valor.answer import checkout

    found = checkout(place, root) or ""
    return found if found and session.is_there(f"{found}/{LOG}") else ""
