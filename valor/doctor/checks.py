"""Every check, and an examination that none of them can end."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from valor.address import parse
from valor.config import SETTINGS
from valor.doctor import alive, freshness, installed, journal, leftovers, lines, service, sizes, wiring
from valor.doctor.finding import GRAVEST_FIRST, INFO, Finding, problem
from valor.doctor.limit import within
from valor.doctor.patient import Patient
from valor.errors import UsageError, ValorError

Check = Callable[[Patient], Iterator[Finding]]

# What is called, what it may take in seconds, in the order of the report.
CHECKS: dict[str, tuple[Check, float]] = {
    "record": (lines.check, 120.0),
    "size": (sizes.check, 60.0),
    "wiring": (wiring.check, 10.0),
    "installed": (installed.check, 30.0),
    "server": (service.check, 10.0),
    "mirror": (freshness.check, 120.0),
    "alive": (alive.check, 120.0),
    "silence": (journal.check, 30.0),
    "leftovers": (leftovers.check, 10.0),
}
COSTLY = ("alive",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The findings, gravest first; the figures that checks took."""

    findings: list[Finding]
    measured: dict[str, Any]

    @property
    def grave(self) -> list[Finding]:
        """Those that ask for something to be done."""
        return [finding for finding in self.findings if finding.severity != INFO]


def examine(patient: Patient, *, leave_out: Sequence[str] = ()) -> Report:
    """Make every check but those left out. A check that fails or does not end is itself a finding."""
    found: list[Finding] = []
    for name, (check, seconds) in CHECKS.items():
        if name not in leave_out:
            found += [replace(finding, check=name) for finding in _made(check, patient, seconds)]
    found.sort(key=lambda finding: GRAVEST_FIRST.index(finding.severity))
    return Report(findings=found, measured=patient.measured)


def _made(check: Check, patient: Patient, seconds: float) -> list[Finding]:
    found: list[Finding] = []
    try:
        with within(seconds):
            for finding in check(patient):
                found.append(finding)
    except ValorError as error:
        found.append(problem(f"could not be checked: {error.message}", do=error.hint))
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "strerror", None) or str(error)
        place = getattr(error, "filename", None) or ""
        found.append(problem(f"could not be checked: {said}", place, "mend that, then run it again"))
    return found


def settings(patient: Patient) -> dict[str, dict[str, Any]]:
    """Each setting: its value, without any password, and where that came from."""
    config, env = patient.workspace.config, patient.env
    named = {name: getattr(config, name) for name in ("root", "session_id", *(one.key for one in SETTINGS))}
    found = {
        name: {"value": value, "from": config.origins.get(name, "default")} for name, value in named.items()
    }
    found["root"]["value"] = str(config.root)
    if config.redis_url:
        found["redis_url"]["value"] = _without_password(config.redis_url)
    for name, variable, value in (
        ("state", "XDG_STATE_HOME", config.state),
        ("runtime", "VALOR_RUNTIME_DIR", config.runtime),
        ("auto_memory", "CLAUDE_CONFIG_DIR", config.auto_memory),
    ):
        found[name] = {"value": str(value), "from": variable if env.get(variable) else "default"}
    return found


def _without_password(url: str) -> str:
    try:
        return str(parse(url))
    except UsageError:
        return "no Redis URL"
