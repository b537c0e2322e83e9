"""What is printed: one JSON object in the harness's form, in one write.

The text states facts: harnesses take what reads like a command for an injection.
"""

from __future__ import annotations

import posix

from valor.hook import session
from valor.scan import quote

TYPE_CHECKING = False  # typing costs half an interpreter start
if TYPE_CHECKING:
    from valor.answer import Told
    from valor.hook.events import Event

LEAD = "From this project's memory (valor); in full: memory_get, or memory-query.sh --full ID"
MOST_CHARACTERS = 1_200  # of an answer in the middle of the work


def put(
    event: Event,
    state: str,
    folder: str,
    found: list[Told],
    *,
    fixed: str = "",
    lead: str = LEAD,
    most: int = MOST_CHARACTERS,
) -> None:
    """Print ``fixed``, then under ``lead`` the stubs of what the session was not told, as far as ``most``
    characters hold them; note their ids in the journal of ``folder``. Prints nothing where there is
    neither."""
    lines = [fixed] if fixed else []
    left = most - len(fixed) - len(lead) - 1
    ids = []
    for each in found:
        if len(each.stub) < left and session.claim(state, event, each.id):
            ids.append(each.id)
            left -= len(each.stub) + 1
            lines += [each.stub] if len(ids) > 1 else [lead, each.stub]
    if lines:
        posix.write(1, rendered(event, "\n".join(lines)).encode("ascii"))
    if ids:
        session.journal(folder, event, ids)


def rendered(event: Event, text: str) -> str:
    """The answer in the harness's form, in ASCII."""
    if event.cursor:
        return f'{{"additional_context":{quote(text)}}}'
    named = f'"hookEventName":{quote(event.name)},"additionalContext":{quote(text)}'
    return f'{{"hookSpecificOutput":{{{named}}}}}'
