"""What ``--fix`` does. Nothing here writes to the log or to anybody's settings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from valor import server, sync
from valor.doctor import leftovers
from valor.doctor.finding import Finding
from valor.doctor.limit import within
from valor.doctor.patient import Patient
from valor.errors import ValorError
from valor.install import hookfile
from valor.install.plan import SCRIPTS, WRAPPERS
from valor.log import Bad, lines
from valor.secrets.detect import redact
from valor.workspace import LOG

_SECONDS = 120.0


def mend(patient: Patient, findings: Iterable[Finding]) -> list[str]:
    """Apply the remedies that the findings name, each once; what was done, in words. One that fails says
    so and does not keep the others."""
    wanted = {finding.mend for finding in findings}
    if "server" in wanted:
        wanted.add("sync")  # the mirror went with the server that is replaced
    if "rebuild" in wanted:
        wanted.discard("sync")
    done = []
    for name, remedy in REMEDIES.items():
        if name in wanted:
            try:
                with within(_SECONDS):
                    done.append(remedy(patient))
            except ValorError as error:
                done.append(f"could not mend it ({name}): {error.message}; {error.hint}")
            except OSError as error:
                done.append(f"could not mend it ({name}): {error.strerror or error}")
    return [each for each in done if each]


def _server(patient: Patient) -> str:
    server.stop(patient.workspace.config)
    server.ensure(patient.workspace.config)
    return "ended the server that did not answer and started another"


def _hook_file(patient: Patient) -> str:
    hookfile.write(patient.workspace.state)
    return f"wrote {patient.workspace.state / 'hook'}"


def _executable(patient: Patient) -> str:
    made = []
    for name in WRAPPERS:
        path = patient.root / SCRIPTS / name
        if path.is_file() and not path.is_symlink() and not os.access(path, os.X_OK):
            path.chmod(path.stat().st_mode | 0o111)
            made.append(name)
    return f"made {', '.join(made)} executable" if made else ""


def _sync(patient: Patient) -> str:
    done = sync.sync(patient.workspace)
    return f"synced: {done.how}, {done.lines:,} lines"


def _rebuild(patient: Patient) -> str:
    done = sync.sync(patient.workspace, rebuild=True)
    return f"made the mirror anew: {done.lines:,} lines"


def _quarantine(patient: Patient) -> str:
    """Copy the lines that do not read, secrets in them replaced, behind those copied before."""
    path = patient.workspace.state / "quarantine" / f"{patient.place.folder.name}.jsonl"
    bad = {line.number for line in lines(patient.workspace.log) if isinstance(line, Bad)}
    known = set(path.read_bytes().split(b"\n")) if path.is_file() else set()
    fresh = []
    with patient.workspace.log.open("rb") as log:
        for number, raw in enumerate(log, 1):
            clean = _without_secrets(raw.rstrip(b"\r\n")) if number in bad else b""
            if clean and clean not in known:
                fresh.append(clean + b"\n")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "wb") as copy:
        copy.write(b"".join(fresh))
    return f"copied {len(fresh):,} of {len(bad):,} bad lines of {LOG} to {path}; the log is as it was"


def _without_secrets(raw: bytes) -> bytes:
    text = raw.decode("utf-8", "surrogateescape")
    return redact(text).encode("utf-8", "surrogateescape")


REMEDIES: dict[str, Callable[[Patient], str]] = {
    "hook file": _hook_file,
    "executable": _executable,
    "leftovers": leftovers.remove,
    "server": _server,
    "rebuild": _rebuild,
    "sync": _sync,
    "quarantine": _quarantine,
}
