"""The hook's command, run as a harness runs it, and ended where it hangs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# What would turn the hook away from where its event happens, or switch it off for another reason.
_KEPT_AWAY = ("PROJECT_ROOT", "CLAUDE_PROJECT_DIR", "VALOR_EVENT_HEAD")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """What came of it: ``code`` None where it had to be ended, ``seconds`` of wall time."""

    code: int | None
    out: bytes
    seconds: float

    def told(self) -> str:
        """The context that the answer hands to the agent; "" for none, or no answer."""
        try:
            answer = json.loads(self.out)
        except ValueError:
            return ""
        if not isinstance(answer, dict):
            return ""
        inner = answer.get("hookSpecificOutput")
        text = inner.get("additionalContext") if isinstance(inner, dict) else answer.get("additional_context")
        return text if isinstance(text, str) else ""


def environment(env: Mapping[str, str], harness: str, root: Path) -> dict[str, str]:
    """The variables that the harness gives a hook of the checkout at ``root``."""
    kept = {name: value for name, value in env.items() if name not in _KEPT_AWAY}
    return kept | ({"CLAUDE_PROJECT_DIR": str(root)} if harness == "claude" else {})


def fire(
    command: Sequence[str], event: Mapping[str, Any] | None, cwd: Path, env: Mapping[str, str], seconds: float
) -> Shot:
    """Run the command with the event on standard input. Raises OSError where it cannot be started."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=cwd,
        env=dict(env),
        start_new_session=True,
    )
    code: int | None = None
    try:
        out, _ = process.communicate(json.dumps(event).encode() if event else b"", timeout=seconds)
        code = process.returncode
    except subprocess.TimeoutExpired as error:
        out = error.stdout or b""
    finally:
        if code is None:  # late, or we are being ended ourselves
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
    return Shot(code=code, out=out, seconds=time.perf_counter() - start)
