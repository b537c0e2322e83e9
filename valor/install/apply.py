"""Carrying out a plan: every change, or none.

Each new content is written beside its file first; only when all of them are on the disk do they take
their places, one rename each. Whatever fails, what was done before it is undone.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from valor.errors import Unavailable
from valor.install.plan import Change
from valor.install.target import read, refuse_unwritable


def check(root: Path, changes: Sequence[Change]) -> None:
    """Raise Unavailable for the first change that the modes of files and folders forbid."""
    for change in changes:
        refuse_unwritable(root, change.path)


def carry_out(root: Path, changes: Sequence[Change]) -> None:
    """Write the changes. Raises Unavailable; the checkout is then as it was."""
    check(root, changes)
    try:
        with ExitStack() as undo:
            steps = [_stage(root, change, undo) for change in changes]
            for step in steps:
                step()
            undo.pop_all()
    except OSError as error:
        raise Unavailable(
            f"{error.filename or root}: {error.strerror}", "nothing was changed; check the disk and the modes"
        ) from None
    for change in changes:
        if change.after is None:
            _remove_empty_folders(root, change.path)


def _stage(root: Path, change: Change, undo: ExitStack) -> Callable[[], None]:
    """Prepare the change; the step returned makes it. Both leave their undoing on the stack."""
    target = root / change.path
    if change.after is None:
        _sweep(target)
        return lambda: _remove(root, change, undo)
    _make_folders(target.parent, undo)
    _sweep(target)
    if change.before is None and not change.after:
        return lambda: _claim(target, undo)
    staged = target.parent / f".{target.name}.valor-{os.getpid()}"
    undo.callback(_forget, staged)
    with staged.open("xb") as file:
        file.write(change.after)
        file.flush()
        os.fsync(file.fileno())
    if change.before is not None:
        staged.chmod(stat.S_IMODE(target.stat().st_mode))
    if change.executable:
        staged.chmod(0o755)
    return lambda: _place(root, change, staged, undo)


def _sweep(target: Path) -> None:
    """Remove what an earlier run staged for this file and, killed, could not put in its place."""
    for left in target.parent.glob(f".{target.name}.valor-*"):
        pid = left.name.rpartition("-")[2]
        if pid.isdigit() and not Path("/proc", pid).exists():
            _forget(left)


def _place(root: Path, change: Change, staged: Path, undo: ExitStack) -> None:
    target = root / change.path
    if change.before is None:
        _claim(target, undo)
        staged.replace(target)
    else:
        _refuse_changed(root, change)
        mode = stat.S_IMODE(target.stat().st_mode)
        staged.replace(target)
        undo.callback(_restore, target, change.before, mode)


def _claim(target: Path, undo: ExitStack) -> None:
    """Make the file, empty; FileExistsError where someone else has made it meanwhile."""
    target.open("xb").close()
    undo.callback(_forget, target)


def _remove(root: Path, change: Change, undo: ExitStack) -> None:
    target = root / change.path
    _refuse_changed(root, change)
    mode = stat.S_IMODE(target.stat().st_mode)
    target.unlink()
    undo.callback(_restore, target, change.before or b"", mode)


def _refuse_changed(root: Path, change: Change) -> None:
    if read(root, change.path) != change.before:
        raise Unavailable(
            f"{root / change.path} was changed by someone else meanwhile",
            "nothing was changed; run the command again",
        )


def _make_folders(folder: Path, undo: ExitStack) -> None:
    if not folder.exists():
        _make_folders(folder.parent, undo)
        folder.mkdir()
        undo.callback(_forget_folder, folder)


def _remove_empty_folders(root: Path, path: str) -> None:
    """Remove the folders above a removed file, as far as they are empty: git keeps no empty folder."""
    for folder in (root / path).parents:
        if folder == root:
            return
        try:
            folder.rmdir()
        except OSError:
            return


def _forget(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _forget_folder(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _restore(target: Path, content: bytes, mode: int) -> None:
    with suppress(OSError):
        target.write_bytes(content)
        target.chmod(mode)
