"""What a session was told already, and the journal of what was.

A file an id below ``<state>/sessions/<session>/told``, made by whoever tells it: of hooks that run at
once, one makes it. No content is written, only ids, names of events and times.
"""

from __future__ import annotations

import posix
from time import time

from valor.scan import quote
from valor.viewfile import LONGEST_NAME, file_name

TYPE_CHECKING = False  # typing costs half an interpreter start
if TYPE_CHECKING:
    from valor.hook.events import Event


def claim(state: str, event: Event, id: str) -> bool:
    """Whether the id is ours to tell: True once a session. Of one without a name nothing is known, and
    each may be told; where no file can be made, none."""
    place = event.folder(state)
    return not place or make(place + "/told", file_name(id))


def make(place: str, name: str) -> bool:
    """Make an empty file in a folder, made where it is missing; whether it was us who made the file."""
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC
    try:
        try:
            file = posix.open(f"{place}/{name}", flags, 0o600)
        except FileNotFoundError:
            make_folders(place)
            file = posix.open(f"{place}/{name}", flags, 0o600)
    except OSError:
        return False
    posix.close(file)
    return True


def journal(place: str, event: Event, ids: list[str]) -> None:
    """Append a line to ``<place>/journal.jsonl``; whatever is in the way, it is left undone."""
    listed = ",".join([quote(id) for id in ids])
    line = (
        f'{{"at":{int(time())},"session":{quote(event.session[:LONGEST_NAME])},"event":{quote(event.name)},'
        f'"ids":[{listed}]}}\n'
    )
    try:
        flags = posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_CLOEXEC
        file = posix.open(place + "/journal.jsonl", flags, 0o600)
    except OSError:
        return
    try:
        posix.write(file, line.encode("ascii"))
    except OSError:
        pass
    finally:
        posix.close(file)


def make_folders(place: str) -> None:
    """Make a folder and those above it, as far as they are missing. Raises OSError."""
    missing = []
    while place and not is_there(place):
        missing.append(place)
        place = place.rpartition("/")[0]
    for each in reversed(missing):
        try:
            posix.mkdir(each, 0o700)
        except FileExistsError:  # another hook made it just now
            continue


def is_young(place: str, seconds: float) -> bool:
    """Whether there is something at the path that was last changed less than ``seconds`` ago."""
    try:
        return time() - posix.stat(place).st_mtime < seconds
    except OSError:
        return False


def is_there(place: str) -> bool:
    """Whether there is anything at the path."""
    try:
        posix.stat(place)
    except OSError:
        return False
    return True
