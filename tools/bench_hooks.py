"""What a hook costs, and what the mirror behind it does, against a bare interpreter's start."""

from __future__ import annotations

import itertools
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import LOG, ROOT, VALOR, Bench, Cost, interleave, ratio, run

LEAST_RUNS = 30
# What a hook would be that speaks to the server through redis-py: the imports and one question, no more.
WITH_REDIS_PY = """
import json, sys
import redis
event = json.load(sys.stdin)
server = redis.Redis(unix_socket_path=sys.argv[1])
print(server.ping() and json.dumps({"hookSpecificOutput": {"hookEventName": event["hook_event_name"]}}))
"""
FOREIGN = "qwrtzu azrtyx dvrkaoe clmkarst wrkmnqd bpoeiv nvlcgk mltrnx hlmkwb plvrst"
LINES = 40  # that a file has which was read


def hooks(bench: Bench) -> None:
    """The hook's script as a harness starts it, a new session a run, so that nothing is kept back."""
    runs = max(LEAST_RUNS, bench.runs)
    small, large = _synced(bench, 10_000), _synced(bench, 100_000)
    script = ["sh", str(ROOT / ".claude" / "scripts" / "memory-hook.sh")]
    sessions = map("bench-{}".format, itertools.count())

    def fire(root: Path, event: dict[str, Any], calls: int) -> Callable[[], Cost]:
        def once() -> Cost:
            session = next(sessions)
            counted = bench.scratch / "state" / "valor" / "sessions" / session
            counted.mkdir(parents=True)
            (counted / "calls").write_text("." * calls)
            raw = json.dumps({"session_id": session, "cwd": str(root)} | event).encode()
            return run(script, root, bench.env, raw)

        return once

    def bare() -> Cost:
        return run([sys.executable, "-I", "-S", "-c", "pass"], bench.scratch, bench.env)

    def through_redis_py() -> Cost:
        (socket,) = (bench.scratch / "run").glob("*.sock")
        return run(
            [sys.executable, "-c", WITH_REDIS_PY, str(socket)],
            small,
            bench.env,
            b'{"hook_event_name":"Stop"}',
        )

    nothing, something = _read(bench, FOREIGN), _read(bench, _known(small))
    for event, ends in ((nothing, True), (something, False)):
        assert _is_ended_by_the_gate(bench, small, event) == ends
    code = _read(bench, (ROOT / "tests" / "mirrored.py").read_text()[:3_000])
    sides = interleave(
        runs,
        bare,
        fire(small, code, 2),
        fire(small, nothing, 0),
        fire(small, nothing, 2),
        fire(small, something, 2),
        fire(large, something, 2),
        through_redis_py,
    )
    start, asked, buffered, ended, told, told_large, theirs = sides
    value = ratio(buffered, start, "wall")
    bench.row(
        "hook, a call that is only counted (2 of 3): wall / a bare interpreter", value, "<= 0.6", value <= 0.6
    )
    value = ratio(ended, start, "cpu")
    bench.row("hook, a window that the gate ends: CPU / a bare interpreter", value, "<= 1.6", value <= 1.6)
    value = ratio(asked, start, "cpu")
    bench.row("hook, 3,000 characters of code that the server is asked about: the same", value, "", None)
    value = ratio(told, start, "cpu")
    bench.row("hook with stubs, 10,000 lines: CPU / a bare interpreter", value, "<= 2.1", value <= 2.1)
    value = ratio(told_large, told, "cpu")
    bench.row("  the same at 100,000 lines: CPU / at 10,000", value, "<= 1.2", value <= 1.2)
    bench.row("  the same at 10,000 lines: wall / a bare interpreter", ratio(told, start, "wall"), "", None)
    bench.row(
        "a hook that imports redis-py and pings: CPU / a bare interpreter",
        ratio(theirs, start, "cpu"),
        "",
        None,
    )
    gate = "import sys; sys.path.insert(0, sys.argv[1]); import "
    imports = [[sys.executable, "-I", "-S", "-c", gate + name, str(ROOT)] for name in ("valor.bloom", "sys")]
    ours, without = interleave(
        runs, *(lambda command=each: run(command, ROOT, bench.env) for each in imports)
    )
    bench.row("importing the gate's own reader: CPU / without", ratio(ours, without, "cpu"), "", None)
    pybloom = [[sys.executable, "-c", f"import {name}"] for name in ("pybloom_live", "sys")]
    ours, without = interleave(
        runs, *(lambda command=each: run(command, ROOT, bench.env) for each in pybloom)
    )
    bare_cpu = statistics.median(each.cpu for each in start)
    added = statistics.median(a.cpu - b.cpu for a, b in zip(ours, without, strict=True)) / bare_cpu
    bench.row("importing pybloom-live: CPU added, in bare interpreters", added, "> 0.25", None)


def mirror(bench: Bench) -> None:
    """Rebuild, follow, and what it takes on the server."""
    roots = {lines: _synced(bench, lines) for lines in (1_000, 10_000, 100_000)}
    rebuild = [str(VALOR), "sync", "--rebuild"]
    (costs,) = interleave(max(5, bench.runs // 3), lambda: run(rebuild, roots[10_000], bench.env))
    speed = 10_000 / statistics.median(each.wall for each in costs)
    bench.row(
        "sync --rebuild of 10,000 lines, the whole command: lines a second",
        speed,
        ">= 10000",
        speed >= 10_000,
    )
    count = itertools.count()

    def follow(lines: int) -> Cost:
        number = next(count)
        line = {
            "id": f"obs-1790000000-{number:012x}",
            "timestamp": "2026-11-30T18:00:00Z",
            "type": "error",
            "summary": f"the worker number {number} forgets its lock after a fork",
            "details": "the parent held the mutex while it forked, and the child waits for it for ever",
        }
        with (roots[lines] / LOG).open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
        return run([str(VALOR), "sync"], roots[lines], bench.env)

    at_large, at_small = interleave(bench.runs, lambda: follow(100_000), lambda: follow(1_000))
    value = ratio(at_large, at_small, "wall")
    bench.row("sync of one appended line at 100,000 lines: wall / at 1,000", value, "<= 1.5", value <= 1.5)
    before = _memory(bench, roots[10_000])
    other = bench.repo("another", 10_000)
    subprocess.run([VALOR, "sync"], cwd=other, env=bench.env, check=True, stdout=subprocess.DEVNULL)
    after = _memory(bench, other)
    bench.row("the server's memory for 10,000 lines more, MB", (after - before) / 1e6, "", None)


def _synced(bench: Bench, lines: int) -> Path:
    """A repository of so many lines, mirrored, its hook ready."""
    root = bench.scratch / f"mirrored{lines}"
    if not root.exists():
        bench.repo(root.name, lines)
        for command in ("init", "sync"):
            subprocess.run([VALOR, command], cwd=root, env=bench.env, check=True, capture_output=True)
    return root


def _known(root: Path) -> str:
    """Words of a line of the log: what recall tells something for."""
    lines = (root / LOG).read_bytes().splitlines()
    record = json.loads(lines[len(lines) // 3])
    return f"{record['summary']}\n{record.get('details', '')}"[:600]


def _read(bench: Bench, text: str) -> dict[str, Any]:
    """The third call of a session: a file was read that says this; its transcript holds two such calls."""
    words = FOREIGN.split()
    body = "\n".join(f"    {words[n % 9]} = {words[n % 7 + 1]}({words[n % 5 + 2]})" for n in range(LINES))
    content = f"{text}\n{body}"
    path = bench.scratch / f"transcript{len(list(bench.scratch.glob('transcript*')))}.jsonl"
    said: list[dict[str, Any]] = []
    for number in range(2):
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": "Grep", "input": {"pattern": text[:60]}}
        got = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": body}
        response = {"mode": "content", "content": body}
        said.append({"type": "assistant", "message": {"role": "assistant", "content": [use]}})
        said.append(
            {"type": "user", "message": {"role": "user", "content": [got]}, "toolUseResult": response}
        )
    path.write_text("".join(json.dumps(each) + "\n" for each in said))
    return {
        "transcript_path": str(path),
        "permission_mode": "default",
        "hook_event_name": "PostToolUse",
        "tool_name": "Read",
        "tool_input": {"file_path": "/elsewhere/mdlqzx.py"},
        "tool_response": {"type": "text", "file": {"content": content}},
        "tool_use_id": "toolu_9",
    }


def _is_ended_by_the_gate(bench: Bench, root: Path, event: dict[str, Any]) -> bool:
    done = subprocess.run(
        [VALOR, "recall", "--explain"],
        cwd=root,
        env=bench.env,
        input=json.dumps(event).encode(),
        capture_output=True,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return not next(row["passes"] for row in rows if row["of"] == "gate")


def _memory(bench: Bench, root: Path) -> int:
    done = subprocess.run(
        [VALOR, "server", "status"], cwd=root, env=bench.env, check=True, capture_output=True
    )
    return int(json.loads(done.stdout)["memory"])
