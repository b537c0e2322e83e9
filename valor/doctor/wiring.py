"""Will a harness run the hook? What its settings say, event by event."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from valor.doctor.finding import Finding, info, problem, warning
from valor.doctor.harness import MILLISECONDS, File, Handler
from valor.doctor.patient import Patient
from valor.install import hooks, settings
from valor.install.hooks import HARNESSES
from valor.install.json_text import NotJson

_LONGEST_SECONDS = 600  # Claude Code's own default; who writes more means milliseconds
_FEWEST_MILLISECONDS = 100  # no hook is through in less; who writes less means seconds


def check(patient: Patient) -> Iterator[Finding]:
    """Each file that is there, and that some harness is wired at all."""
    wired = {name: [one for one in _ours(patient) if one.file.harness == name] for name in HARNESSES}
    patient.measured["harnesses"] = [name for name, found in wired.items() if found]
    for file in patient.files:
        if file.fault:
            yield _unreadable(file)
        else:
            yield from _switched_off(file, bool(wired[file.harness]))
            yield from _timeouts(file)
    for name, found in wired.items():
        if found:
            yield from _events(patient, name, found)
    if not any(wired.values()):
        yield problem(
            "no harness is wired: nothing reminds the agent of anything",
            patient.root,
            "run `valor init` (--harness for another than Claude Code), then commit what it wrote",
        )


def _ours(patient: Patient) -> list[Handler]:
    return [handler for file in patient.files for handler in file.handlers() if handler.ours]


def _unreadable(file: File) -> Finding:
    if file.harness == "gemini":  # which allows comments
        return info(f"cannot be read here ({file.fault}), so its hooks were not checked", file.path)
    return problem(
        f"cannot be read ({file.fault}): {file.harness} ignores the whole file, hooks included",
        file.path,
        "mend that line",
    )


def _switched_off(file: File, concerns_us: bool) -> Iterator[Finding]:
    if file.data.get("disableAllHooks") is True and concerns_us:
        yield problem(
            "disableAllHooks is set: no hook runs, ours neither",
            file.path,
            "take disableAllHooks out of this file",
        )


def _timeouts(file: File) -> Iterator[Finding]:
    """Units that were mixed up. Of another's hook as well: who reads this wants to know."""
    for one in file.handlers():
        at = one.timeout
        if at is None:
            continue
        whose = "" if one.ours else " (not valor's)"
        where = f"{file.path}: hooks.{one.event}"
        if file.harness not in MILLISECONDS and at > _LONGEST_SECONDS:
            yield (problem if one.ours else warning)(
                f"timeout {at:g}: {file.harness} counts seconds, not milliseconds{whose}",
                where,
                f"write {max(1, round(at / 1000))}, for that many seconds",
            )
        if file.harness in MILLISECONDS and at < _FEWEST_MILLISECONDS:
            yield (problem if one.ours else warning)(
                f"timeout {at:g}: {file.harness} counts milliseconds, not seconds{whose}",
                where,
                f"write {at * 1000:g}, for {at:g} seconds",
            )


def _events(patient: Patient, name: str, ours: list[Handler]) -> Iterator[Finding]:
    """Each event that init would wire for the harness, in the file where it would, or in another one."""
    harness = HARNESSES[name]
    own = next((file for file in patient.files if file.own and file.harness == name), None)
    places = defaultdict(list)
    for one in ours:
        places[one.event].append(one)
    missing, otherwise = [], []
    for event, group in harness.groups.items():
        state = _state(own, event, group)
        if state == "otherwise":
            otherwise.append(event)
        elif state == "missing" and not places[event]:
            missing.append(event)
        commands = {one.command for one in places[event]}
        if len(commands) > 1:
            where = ", ".join(sorted({str(one.file.path) for one in places[event]}))
            yield warning(
                f"{event} runs the hook {len(commands)} times, by different commands",
                where,
                "keep one; the same command in several files is run once",
            )
    path = own.path if own else patient.root / harness.path
    if missing:
        yield problem(
            f"not wired for {', '.join(missing)}", path, f"run `valor init --harness {name}` and commit it"
        )
    if otherwise:
        yield warning(
            f"wired otherwise than init would for {', '.join(otherwise)}",
            path,
            "see that it does what you want; to have init's, remove the entry and run "
            f"`valor init --harness {name}`",
        )


def _state(own: File | None, event: str, group: object) -> str:
    """wired | otherwise | missing, in the file that init writes."""
    if own is None or own.fault:
        return "missing"
    keys = ("hooks", event)
    try:
        if settings.held(own.text, keys, [group]):
            return "wired"
        return "otherwise" if hooks.wired_otherwise(own.text, keys, [group]) else "missing"
    except NotJson:  # JSON, but of another shape
        return "missing"
