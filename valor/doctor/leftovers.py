"""What killed processes left behind. valor's locks are the kernel's and end with their holder, so none
of them can be stale; files can."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from valor import server, viewfile
from valor.doctor.canary import PREFIX
from valor.doctor.finding import Finding, info, warning
from valor.doctor.patient import Patient
from valor.install.hooks import HARNESSES
from valor.install.plan import SCRIPTS
from valor.workspace import LOG, TABLE

_MANY = 5_000  # sessions


def check(patient: Patient) -> Iterator[Finding]:
    """Staged files of init and the hook's file, a dead server's files, canaries."""
    for path in staged(patient):
        yield warning("left by an init that was killed", path, "remove it", "leftovers")
    if (stem := dead_server(patient)) is not None:
        yield warning(
            "files of a server of valor's that is gone", f"{stem}.*", "run `valor server stop`", "leftovers"
        )
    for path in canaries(patient):
        yield warning("left by a doctor that was killed", path, "remove it", "leftovers")
    every = sessions(patient)
    patient.measured["sessions"] = len(every)
    if len(every) > _MANY:
        yield info(
            f"{len(every):,} folders of sessions; sync removes those of two weeks ago",
            patient.workspace.state / "sessions",
        )


def remove(patient: Patient) -> str:
    """Remove all of that; what was removed, in words."""
    gone = [*staged(patient), *canaries(patient)]
    for path in gone:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    words = [f"removed {len(gone):,} leftovers"] if gone else []
    if dead_server(patient) is not None and server.stop(patient.workspace.config):
        words.append("removed the files of a dead server")
    elif dead_server(patient) is None and not gone:
        return ""
    return " and ".join(words)


def staged(patient: Patient) -> list[Path]:
    """Files that an init wrote beside others to put in their place, whose process is gone."""
    folders = {Path(), Path(SCRIPTS), Path(LOG).parent, Path(TABLE).parent}
    folders |= {Path(harness.path).parent for harness in HARNESSES.values()}
    found = [path for folder in folders for path in (patient.root / folder).glob(".*.valor-*")]
    found += patient.workspace.state.glob("hook.*")
    return sorted(path for path in found if _is_gone(path.name.rpartition("-")[2].rpartition(".")[2]))


def _is_gone(pid: str) -> bool:
    if not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def dead_server(patient: Patient) -> str | None:
    """The path, without ending, of files of valor's own server while neither it nor anybody who starts
    it lives."""
    stem = server.address(patient.workspace.config._replace(redis_url="")).path.removesuffix(".sock")
    try:
        with Path(f"{stem}.lock").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return None
    except FileNotFoundError:
        return stem if Path(f"{stem}.sock").exists() else None
    return stem


def canaries(patient: Patient) -> list[Path]:
    """Folders of views whose scratch checkout is gone, or was made an hour ago."""
    found = []
    for folder in patient.workspace.state.glob("views/*"):
        file = viewfile.load(str(folder))
        if file is not None and Path(file.root).name.startswith(PREFIX):
            root = Path(file.root)
            if not root.exists() or time.time() - root.stat().st_mtime > 3_600:
                found += [folder, *([root] if root.exists() else [])]
    return [*found, *old_canary_sessions(patient)]


def old_canary_sessions(patient: Patient) -> list[Path]:
    """Folders of a canary's sessions that are an hour old."""
    return [path for path in sessions(patient) if path.name.startswith(PREFIX) and _age(path) > 3_600]


def sessions(patient: Patient) -> list[Path]:
    """The folders of all sessions of this user."""
    return list(patient.workspace.state.glob("sessions/*"))


def _age(path: Path) -> float:
    """Seconds since anything in the folder was made."""
    try:
        return time.time() - max(each.stat().st_mtime for each in (path, *path.iterdir()))
    except OSError:
        return 0.0
