"""A labelled set that runs wherever the tests run: `valor eval recall` on a mirror of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Repo
from hooks import FACTS, IDS, facts

from valor.eval.scratch import moved

CWD = "/home/ada/socket-pool-after-fork"


def call(tool: str, asked: dict[str, Any], got: Any) -> dict[str, Any]:
    return {
        "session_id": "s",
        "cwd": CWD,
        "hook_event_name": "PostToolUse",
        "tool_name": tool,
        "tool_input": asked,
        "tool_response": got,
    }


def read(path: str, content: str) -> dict[str, Any]:
    file = {"filePath": f"{CWD}/{path}", "content": content}
    return call("Read", {"file_path": f"{CWD}/{path}"}, {"type": "text", "file": file})


def grep(pattern: str, content: str = "") -> dict[str, Any]:
    return call("Grep", {"pattern": pattern}, {"mode": "content", "content": content})


def bash(command: str, out: str) -> dict[str, Any]:
    return call("Bash", {"command": command}, {"stdout": out, "stderr": ""})


def prompt(text: str) -> dict[str, Any]:
    return {"session_id": "s", "cwd": CWD, "hook_event_name": "UserPromptSubmit", "prompt": text}


HELPED: dict[str, list[dict[str, Any]]] = {
    "socket": [
        read("db/socket_pool.py", "def connection(self):\n    return self.dead or self.fork()"),
        grep("socket_pool"),
    ],
    "cron": [prompt("why did the nightly cron job skip an hour at the daylight switch?")],
    "serializer": [
        bash("pytest tests/test_serializer.py", "FAILED test_unknown_fields: the serializer drops fields")
    ],
    "vite": [read("vite.config.ts", "export default { base: '/app/' } // reverse proxy path")],
    "migration": [bash("make migrations", "migration 0042 waits: orders table is locked")],
    "webhook": [grep("webhook_signature", "hooks.py:12: signature = hmac(body)")],
    "thumbnail": [prompt("thumbnails leak handles")],
    "quota": [read("billing/quota.py", "if tenant.quota == 0:  # unlimited tenants\n    return None")],
    "locale": [bash("LANG=tr_TR pytest", "Turkish locale: lowercase header comparison failed")],
    "retry": [prompt("charged twice after a timed out payment was retried")],
}
FOREIGN = [
    [prompt("QQQQ zxzx")],
    [prompt("thanks, looks good")],
    [read("README.md", "# A garden planner\n\nPlant tomatoes in May, water daily.")],
    [bash("npm run lint", "✖ 2 problems: unused variable 'petal', missing semicolon")],
    [grep("fertiliser", "soil.ts:3: const fertiliser = 7"), bash("git status", "nothing to commit")],
    [read("src/Rose.tsx", "export const Rose = () => <Petals colour='red' />")],
]


def items() -> list[dict[str, Any]]:
    helped = [
        {"window": w, "label": "positive", "relevant": [IDS[name]], "as_of": "2026-12-24"}
        for name, w in HELPED.items()
    ]
    return helped + [{"window": window, "label": "negative", "as_of": "2026-12-24"} for window in FOREIGN]


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_what_the_log_knows_is_told_and_what_it_does_not_is_not(repo: Repo, tmp_path: Path) -> None:
    log, labelled = written(tmp_path / "log.jsonl", facts()), written(tmp_path / "items.jsonl", items())
    before = sorted(repo.home.rglob("*"))
    done = repo.valor("eval", "recall", labelled, "--log", log, "--items")
    assert done.code == 0, done.err
    *rows, report = done.rows
    wrong = [row for row in rows if not row["right"]]
    assert report["hit_rate"] >= 0.9, wrong
    assert report["false_injection_rate"] == 0.0, wrong
    assert (report["positives"], report["negatives"]) == (len(FACTS), len(FOREIGN))
    assert [point["bar"] for point in report["curve"]] == sorted(point["bar"] for point in report["curve"])
    assert sorted(repo.home.rglob("*")) == before


def test_lines_made_later_do_not_count(repo: Repo, tmp_path: Path) -> None:
    early = [item | {"as_of": "2026-01-01"} for item in items() if item["label"] == "positive"]
    log, labelled = written(tmp_path / "log.jsonl", facts()), written(tmp_path / "items.jsonl", early)
    (report,) = repo.valor("eval", "recall", labelled, "--log", log).rows
    assert report["hit_rate"] == 0.0


@pytest.mark.parametrize(
    ("row", "code"),
    [({"window": [], "label": "positive"}, 2), ({"window": [{}], "label": "perhaps"}, 2)],
)
def test_an_item_of_another_shape_is_named(
    repo: Repo, tmp_path: Path, row: dict[str, Any], code: int
) -> None:
    log, labelled = written(tmp_path / "log.jsonl", facts()), written(tmp_path / "items.jsonl", [row])
    done = repo.valor("eval", "recall", labelled, "--log", log)
    assert (done.code, "item 1" in done.err) == (code, True)


def test_events_are_played_in_the_scratch_checkout() -> None:
    (event,) = moved({"window": [read("a/b.py", f"cd {CWD}/x")]}, "/scratch")["window"]
    assert event["cwd"] == "/scratch"
    assert event["tool_input"]["file_path"] == "/scratch/a/b.py"
    assert CWD not in json.dumps(event)
    assert moved({"window": [{"cwd": "/"}]}, "/scratch")["window"] == [{"cwd": "/"}]
