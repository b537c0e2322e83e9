"""What a check has found: how grave it is, what, where, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PROBLEM, WARNING, INFO = "problem", "warning", "info"
GRAVEST_FIRST = (PROBLEM, WARNING, INFO)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """``severity`` is problem (memory does not work, or the record is hurt) | warning | info (worth
    knowing, nothing to do). ``check`` names who found it; ``mend`` the remedy of
    ``valor.doctor.mending`` that would end it, "" where only a person can."""

    severity: str
    what: str
    where: str = ""
    do: str = ""
    mend: str = ""
    check: str = ""

    def row(self) -> dict[str, Any]:
        """The finding as data."""
        return {
            "severity": self.severity,
            "check": self.check,
            "what": self.what,
            "where": self.where,
            "do": self.do,
        }


def problem(what: str, where: object = "", do: str = "", mend: str = "") -> Finding:
    """Memory does not work, or the record is hurt."""
    return Finding(severity=PROBLEM, what=what, where=str(where), do=do, mend=mend)


def warning(what: str, where: object = "", do: str = "", mend: str = "") -> Finding:
    """Works less well than it should, or may stop to."""
    return Finding(severity=WARNING, what=what, where=str(where), do=do, mend=mend)


def info(what: str, where: object = "", do: str = "", mend: str = "") -> Finding:
    """Worth knowing."""
    return Finding(severity=INFO, what=what, where=str(where), do=do, mend=mend)
