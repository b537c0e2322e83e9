"""Is it alive, end to end? What is written is told to an agent, through the very command that its
harness runs; and what that costs."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from typing import Any

from valor.doctor import canary as birds
from valor.doctor import installed
from valor.doctor.canary import Canary
from valor.doctor.finding import PROBLEM, Finding, info, problem, warning
from valor.doctor.harness import Handler
from valor.doctor.patient import Patient
from valor.doctor.shot import Shot, environment, fire
from valor.install.hookfile import PROGRAM

_PROMPTS = ("UserPromptSubmit", "BeforeAgent")
_CALLS = ("PostToolUse", "AfterTool", "postToolUse")
_TRIES = 3  # the hook has 200 ms, which a busy machine may take from it
_LONGEST = 10.0  # seconds, whatever the settings allow
_USUAL = 5.0  # seconds where they say nothing
_ABSURD = 10.0  # times a bare interpreter
_NONSENSE = "qqqq zxzx"

Event = Callable[[], dict[str, Any]]


def check(patient: Patient) -> Iterator[Finding]:
    """Plant a canary, fire each harness's hook at a prompt and at a tool call, look for the stub."""
    config = patient.workspace.config
    if not config.enabled:
        origin = config.origins.get("enabled", "settings")
        yield warning("memory is switched off", origin, "set LOA_MEMORY_ENABLED or `enabled` to true")
        return
    handlers = wired(patient)
    if not handlers:
        yield problem("not proven: there is no hook to fire", patient.root, "run `valor init`")
        return
    if not patient.status.running and not patient.asleep:
        yield problem("not proven: the server does not answer", patient.status.address, "mend that first")
        return
    broken = [each for each in installed.hook_file(patient) if each.severity == PROBLEM]
    if broken:  # it would be mended behind our back: the script wakes valor up where the file leads nowhere
        yield problem(f"not alive: {broken[0].what}", broken[0].where, broken[0].do)
        return
    found: list[Finding] = []
    with birds.planted(config) as canary:  # nothing is yielded in here: who is asked no more, cleans up late
        proven = []
        for handler in handlers:
            faults = list(_prove(patient, canary, handler))
            found += faults
            if not faults:
                proven.append(f"{handler.file.harness} {handler.event}")
        patient.measured["proven"] = proven
        if proven and patient.runs:
            found += _timed(patient, canary, handlers[0])
    yield from found


def wired(patient: Patient) -> list[Handler]:
    """The first handler of ours for a prompt and for a tool call, of each harness."""
    found: dict[tuple[str, bool], Handler] = {}
    for file in patient.files:
        for one in file.handlers():
            if one.ours and one.event in _PROMPTS + _CALLS:
                found.setdefault((one.file.harness, one.event in _PROMPTS), one)
    return list(found.values())


def _prove(patient: Patient, canary: Canary, handler: Handler) -> Iterator[Finding]:
    make = birds.prompt if handler.event in _PROMPTS else birds.call
    where = f"{handler.file.path}: hooks.{handler.event}"
    shot = None
    for _ in range(_TRIES):
        shot = _fire(patient, handler, make(canary, handler.event, canary.text))
        if f'<thought id="{canary.id}"' in shot.told() and shot.code == 0:
            return
        if shot.code is None:
            break
    assert shot is not None
    limit = _limit(handler)
    if shot.code is None:
        yield problem(f"the hook did not end within {limit:g} s", where, "see what its command waits for")
    elif shot.code:
        yield problem(
            f"the hook ended with {shot.code}; a harness takes that for an error (2 erases a prompt)",
            where,
            "have it end with 0 whatever happens, as the command that `valor init` writes does",
        )
    elif shot.out and not shot.told():
        yield problem(
            "the hook printed what no harness understands", where, "see what its command prints beside"
        )
    else:
        yield problem(
            "not alive: an observation was written and synced, the hook was fired, and told nothing of it",
            where,
            _why(patient, handler, make(canary, handler.event, canary.text), canary),
        )


def _why(patient: Patient, handler: Handler, event: dict[str, Any], canary: Canary) -> str:
    """What to do, from whether the hook's program alone does tell."""
    command = [sys.executable, "-I", "-S", str(PROGRAM), str(patient.workspace.state)]
    env = environment(patient.env, handler.file.harness, patient.root)
    if f'<thought id="{canary.id}"' in fire(command, event, patient.root, env, _LONGEST).told():
        return (
            "the hook's program works, so look at the way to it: the command, the script, and the file "
            "hook in the state folder; `valor doctor --fix`, then `valor init`"
        )
    return "the hook's program tells nothing either: look at the server, or install valor-memory again"


def _fire(patient: Patient, handler: Handler, event: dict[str, Any]) -> Shot:
    env = environment(patient.env, handler.file.harness, patient.root)
    return fire(["sh", "-c", handler.command], event, patient.root, env, _limit(handler))


def _limit(handler: Handler) -> float:
    return min(handler.seconds or _USUAL, _LONGEST)


def _timed(patient: Patient, canary: Canary, handler: Handler) -> Iterator[Finding]:
    """Wall time of the hook's three ways, as multiples of a bare interpreter's, interleaved with it."""
    bare = [sys.executable, "-I", "-S", "-c", "pass"]
    event = handler.event
    make = birds.prompt if event in _PROMPTS else birds.call
    ways: dict[str, Event] = {
        "gated": lambda: make(canary, event, _NONSENSE),
        "told": lambda: make(canary, event, canary.text),
    }
    tool = next((one for one in wired(patient) if one.event in _CALLS), None)
    if tool:  # of tool calls that name a transcript, two of three are only counted
        ways["counted"] = lambda: birds.call(
            canary, tool.event, _NONSENSE, transcript_path=str(canary.root / "none.jsonl")
        )
    taken: dict[str, list[float]] = {"bare": [], **{way: [] for way in ways}}
    env = environment(patient.env, handler.file.harness, patient.root)
    for _ in range(patient.runs):
        taken["bare"].append(fire(bare, None, patient.root, env, _LONGEST).seconds)
        for way, event_of in ways.items():
            one = tool if way == "counted" and tool else handler
            taken[way].append(_fire(patient, one, event_of()).seconds)
    unit = _percentile(taken["bare"], 0.5)
    figures: dict[str, Any] = {"runs": patient.runs, "bare_ms": round(unit * 1000, 1)}
    for way in ways:
        figures[way] = {
            "p50": round(_percentile(taken[way], 0.5) / unit, 2),
            "p95": round(_percentile(taken[way], 0.95) / unit, 2),
        }
    patient.measured["hook"] = figures
    said = ", ".join(f"{way} {figures[way]['p50']:g} (p95 {figures[way]['p95']:g})" for way in ways)
    yield info(f"the hook takes, as multiples of a bare interpreter's {unit * 1000:.0f} ms: {said}")
    slow = [way for way in ways if figures[way]["p50"] > _ABSURD]
    if slow:
        yield warning(
            f"the hook is slow ({', '.join(slow)}): over {_ABSURD:g} times a bare interpreter",
            f"{handler.file.path}: hooks.{handler.event}",
            "see what its command runs beside the script, and where the script and the state folder lie",
        )


def _percentile(values: list[float], share: float) -> float:
    """The least value that this share of them does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
