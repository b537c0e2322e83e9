"""What hooks leave in the state folder, kept small: sync sweeps when it has done its work."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path

from valor import viewfile

SESSION_DAYS = 14  # that a session may be taken up again after its last event
VIEW_DAYS = 30  # that the view of a checkout which is gone is kept, as long as its keys
MOST_JOURNAL = 4 << 20  # bytes; the older half goes
_DAY = 86_400.0


def sweep(state: Path, view: Path) -> None:
    """Remove sessions without an event for two weeks and views of checkouts that are gone; shorten the
    journal of the view in the folder ``view``. What cannot be removed stays."""
    now = time.time()
    for session in _folders(state / "sessions"):
        with suppress(OSError):
            if _latest(session) < now - SESSION_DAYS * _DAY:
                shutil.rmtree(session, ignore_errors=True)
    for folder in _folders(state / "views"):
        with suppress(OSError):
            found = viewfile.load(str(folder))
            gone = found is not None and not Path(found.root).exists()
            if gone and _latest(folder) < now - VIEW_DAYS * _DAY:
                shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        _shorten(view / "journal.jsonl")


def _folders(place: Path) -> list[Path]:
    try:
        return [each for each in place.iterdir() if each.is_dir()]
    except OSError:
        return []


def _latest(folder: Path) -> float:
    """When anything in the folder was last changed."""
    return max(each.lstat().st_mtime for each in (folder, *folder.iterdir()))


def _shorten(journal: Path) -> None:
    """Keep the newer half, whole lines. A line that a hook adds meanwhile may be lost: it is a count."""
    if not journal.is_file() or journal.stat().st_size <= MOST_JOURNAL:
        return
    kept = journal.read_bytes()[-MOST_JOURNAL // 2 :].partition(b"\n")[2]
    fresh = journal.with_name("journal.new")
    fresh.write_bytes(kept)
    fresh.chmod(0o600)
    fresh.replace(journal)
