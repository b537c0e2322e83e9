"""Why a later statement is taken to replace an earlier one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ground:
    """``rule`` names the rule, ``why`` says it for the person who reviews the mark; ``explicit`` where
    the statement says so itself (then it is marked without asking), else it is only likely."""

    rule: str
    why: str
    explicit: bool
