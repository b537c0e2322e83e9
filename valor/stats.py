"""What the memory of a checkout amounts to, and whether it is at work: record, mirror, injections."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from valor import record, server, viewfile
from valor.doctor import journal
from valor.doctor.behind import Behind
from valor.place import place_of
from valor.secrets.detect import redact
from valor.workspace import Workspace

FRESH, STALE, MISSING, ASLEEP, UNREACHABLE = "fresh", "stale", "missing", "asleep", "unreachable"
_SPANS = {"24h": journal.DAY, "7d": 7 * journal.DAY}
_WORD = 40  # characters of a type


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """``facts`` as the command prints them; ``alarms`` are sentences for a person, [] where all is well."""

    facts: dict[str, Any]
    alarms: list[str]


def statistics(workspace: Workspace, wired: Sequence[Path]) -> Statistics:
    """Counts of the checkout's record, the state of its mirror, and what its hooks did. ``wired`` are the
    settings files that wire the hook. Raises Unavailable for a log that cannot be read."""
    now = time.time()
    folder = place_of(workspace).folder
    facts = _of_the_record(workspace)
    mirror, alarms = _of_the_mirror(workspace, folder, bool(wired))
    facts |= mirror | _of_the_hooks(folder, now) | {"wired": [str(path) for path in wired]}
    if said := journal.silence(workspace, folder, wired, now):
        alarms.insert(0, said)
    return Statistics(facts=facts, alarms=alarms)


def _of_the_record(workspace: Workspace) -> dict[str, Any]:
    view = workspace.view()
    data = [line.record for line in view.observations.values()]
    times = [at for at in map(record.moment, data) if at]
    kinds = Counter(map(record.kind, data)).most_common()
    return {
        "observations": len(data),
        "live": sum(1 for _ in view.live()),
        "superseded": len(view.superseded),
        "private": sum(map(record.is_private, data)),
        "bad_lines": len(view.bad),
        "conflicting_ids": len(view.conflicts),
        "by_type": [{"type": redact(type_)[:_WORD], "count": count} for type_, count in kinds],
        "log_bytes": workspace.log.stat().st_size if workspace.log.is_file() else 0,
        "last_written": record.stamp(max(times)) if times else None,
    }


def _of_the_mirror(workspace: Workspace, folder: Path, wired: bool) -> tuple[dict[str, Any], list[str]]:
    """The facts, and what of them is alarming. A mirror that nobody reads need not be there."""
    status = server.status(workspace.config)
    asleep = not status.running and status.own and status.reason == "it is not running"
    facts: dict[str, Any] = {"mirror": MISSING, "mirror_lines": None, "bytes_behind": None}
    facts["server"] = status.address
    alarms = []
    file = viewfile.load(str(folder))
    if file is not None and workspace.log.is_file():
        behind = Behind(file, workspace.log)
        facts |= {"mirror": STALE if behind else FRESH, "mirror_lines": file.lines}
        facts["bytes_behind"] = behind.bytes if behind.grew else None
        if behind:
            alarms.append(f"the mirror is stale: {behind}")
        elif asleep:
            facts["mirror"] = ASLEEP
    elif wired and workspace.log.is_file():
        alarms.append("there is no mirror of this checkout: nothing is recalled")
    if not status.running and not asleep:
        facts["mirror"] = UNREACHABLE
        alarms.append(f"the server does not answer ({status.reason}): nothing is recalled")
    return facts, alarms


def _of_the_hooks(folder: Path, now: float) -> dict[str, Any]:
    entries = journal.read(folder)
    facts: dict[str, Any] = {}
    for name, seconds in _SPANS.items():
        found = journal.span(entries, now - seconds)
        facts |= {
            f"hook_events_{name}": found.events,
            f"injections_{name}": found.injections,
            f"ids_told_{name}": found.ids,
            f"sessions_{name}": found.sessions,
        }
    facts["last_hook_event"] = _stamp(entry.at for entry in entries)
    facts["last_injection"] = _stamp(entry.at for entry in entries if entry.ids)
    return facts


def _stamp(times: Any) -> str | None:
    last = max(times, default=None)
    return None if last is None else record.stamp(last)
