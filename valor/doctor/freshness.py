"""Does the mirror hold what the log says, and do the hooks know it?"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator

from valor import bloom, mirror, mirror_check, notes, server, viewfile
from valor.doctor.behind import Behind
from valor.doctor.finding import Finding, info, problem, warning
from valor.doctor.patient import Patient
from valor.errors import Unavailable
from valor.viewfile import ViewFile
from valor.wire import Connection

_PATIENCE = 2.0  # seconds for one answer
_NAMED = 3  # differences that are named
_SYNC = "run `valor sync`"


def check(patient: Patient) -> Iterator[Finding]:
    """The view's files, then the server's side of it."""
    folder, log = patient.place.folder, patient.workspace.log
    file = viewfile.load(str(folder))
    if not log.is_file() or not patient.workspace.config.enabled:
        return  # other checks say it
    if file is None:
        yield warning("this checkout was never synced: of it nothing is recalled yet", folder, _SYNC, "sync")
        return
    behind = Behind(file, log)
    patient.measured["mirror"] = {"lines": file.lines, "fresh": not behind, "bytes_behind": behind.bytes}
    touched = not behind.grew and _has_the_same_content(patient)
    if touched:
        yield info("the log is another file with the same content (a touch, a checkout)", log, _SYNC, "sync")
    elif behind:
        yield warning(
            f"stale: {behind}", folder, f"{_SYNC}; hooks do it by themselves as the agent works", "sync"
        )
    if bloom.load(str(folder / "gate"), file.stamp.encode()) is None:
        yield warning(
            "the gate's filter is missing, damaged or of another view: every window asks the server",
            folder / "gate",
            "run `valor sync --rebuild`",
            "rebuild",
        )
    config = patient.workspace.config
    if file.url != (config.redis_url or str(server.address(config))):
        yield warning(
            "hooks ask another server than the settings name, unless VALOR_REDIS_URL says so",
            folder,
            _SYNC,
            "sync",
        )
    elif patient.status.running:
        yield from _on_the_server(patient, file, bool(behind))


def _has_the_same_content(patient: Patient) -> bool:
    """Whether the log is, to the checksum, what was mirrored; False where there is nobody to ask."""
    if not patient.status.running:
        return False
    with Connection(server.address(patient.workspace.config), time.monotonic() + _PATIENCE) as connection:
        facts = mirror.meta(connection, patient.place.names)
    known = notes.load(facts.state) if facts else None
    if known is None:
        return False
    with patient.workspace.log.open("rb") as log:
        size = os.fstat(log.fileno()).st_size
        return size == known.covered.size and known.covered.is_prefix_of(log.fileno())


def _on_the_server(patient: Patient, file: ViewFile, stale: bool) -> Iterator[Finding]:
    place = server.address(patient.workspace.config)
    with Connection(place, time.monotonic() + _PATIENCE) as connection:
        facts = mirror.meta(connection, patient.place.names)
    if facts is None:
        yield warning(
            "the mirror is gone from the server: nothing is recalled until the next sync",
            place,
            _SYNC,
            "sync",
        )
    elif not stale:
        if facts.stamp != file.stamp:
            yield warning(
                "the files here are of another view than the server's", patient.place.folder, _SYNC, "sync"
            )
        yield from _differences(patient)


def _differences(patient: Patient) -> Iterator[Finding]:
    from redis import RedisError

    try:
        found = mirror_check.check(patient.workspace)
    except RedisError as error:
        raise Unavailable(f"the server stopped answering: {error}", "run `valor server status`") from None
    patient.measured["mirror"]["differences"] = len(found)
    if found:
        kinds = ", ".join(f"{count} {what}" for what, count in Counter(each.what for each in found).items())
        first = "; ".join(f"{each.name}: {each.detail}" for each in found[:_NAMED])
        yield problem(
            f"the mirror differs from the log though nothing has changed: {kinds} ({first})",
            patient.place.folder,
            "run `valor sync --rebuild`",
            "rebuild",
        )
