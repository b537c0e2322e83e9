"""Does the record only grow? Its size is noted at each examination and compared with the last one."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from valor import record
from valor.doctor.finding import Finding, problem
from valor.doctor.patient import Patient
from valor.workspace import LOG

NAME = "sizes.jsonl"
_MOST = 500  # notes kept


def check(patient: Patient) -> Iterator[Finding]:
    """Compare with the last note, then note the size of today. One that lost more than half is not
    noted: it stays a finding until someone has said that it is right."""
    if not patient.workspace.log.is_file():
        return
    view = patient.workspace.view(keep=lambda _: False)
    now = {
        "at": int(time.time()),
        "observations": len(view.observations),
        "live": sum(1 for _ in view.live()),
        "bytes": patient.workspace.log.stat().st_size,
    }
    patient.measured["log"] = now
    path = patient.place.folder / NAME
    notes = _read(path)
    last = notes[-1] if notes else {}
    before = last.get("observations")
    if isinstance(before, int) and 2 * now["observations"] < before:
        yield problem(
            f"the log holds {now['observations']:,} observations; on {_day(last)} it held {before:,}",
            LOG,
            f"bring it back with git; if it is right, remove {path}",
        )
    elif any(now[key] != last.get(key) for key in now.keys() - {"at"}):
        _write(path, [*notes[1 - _MOST :], now])


def _day(note: dict[str, Any]) -> str:
    at = note.get("at")
    return record.stamp(at)[:10] if isinstance(at, int) else "an earlier day"


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        found = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, ValueError):
        return []
    return [note for note in found if isinstance(note, dict)]


def _write(path: Path, notes: list[dict[str, Any]]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    staged = path.with_name(f".{NAME}.{os.getpid()}")
    with os.fdopen(os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.writelines(json.dumps(note) + "\n" for note in notes)
    staged.replace(path)
