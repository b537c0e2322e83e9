"""A file of the checkout as init may touch it: plain, reached through plain folders."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from valor.errors import Unavailable


def read(root: Path, path: str) -> bytes | None:
    """The bytes of the file at ``path`` below ``root``; None where there is none. Raises Unavailable for
    a link on the way or at the end, anything but a file, and what cannot be read."""
    place, names = root, path.split("/")
    for depth, name in enumerate(names, 1):
        place = place / name
        try:
            mode = place.lstat().st_mode
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unreadable(place, error) from None
        _refuse_other_kinds(place, mode, folder=depth < len(names))
    try:
        return place.read_bytes()
    except OSError as error:
        raise _unreadable(place, error) from None


def is_executable(root: Path, path: str) -> bool:
    """Whether its owner may execute the file."""
    return bool((root / path).stat().st_mode & stat.S_IXUSR)


def refuse_unwritable(root: Path, path: str) -> None:
    """Raise Unavailable where the file is read-only, or the folder that it goes into is.

    The mode counts even where the process may ignore it (as root may): it says what is wanted.
    """
    place = root / path
    if place.exists() and not (os.access(place, os.W_OK) and place.stat().st_mode & 0o222):
        raise Unavailable(f"{place} is read-only", f"nothing was changed; to allow it: chmod u+w '{place}'")
    folder = next(parent for parent in place.parents if parent.exists())
    if not (os.access(folder, os.W_OK | os.X_OK) and folder.stat().st_mode & 0o222):
        raise Unavailable(f"{folder} is read-only", f"nothing was changed; to allow it: chmod u+w '{folder}'")


def _refuse_other_kinds(place: Path, mode: int, *, folder: bool) -> None:
    if stat.S_ISLNK(mode):
        raise Unavailable(
            f"{place} is a symbolic link",
            "nothing was changed: valor writes into the checkout alone; put a plain file or folder there",
        )
    if not (stat.S_ISDIR(mode) if folder else stat.S_ISREG(mode)):
        raise Unavailable(
            f"{place} is not a {'folder' if folder else 'file'}",
            "nothing was changed; move it out of the way",
        )


def _unreadable(place: Path, error: OSError) -> Unavailable:
    return Unavailable(f"{place} cannot be read: {error.strerror}", "nothing was changed; check its mode")
