"""valor mcp, spoken to by a real client over standard input and output."""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from conftest import LOG, VALOR, Repo
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "mcp-tools.md"
POOL = "The socket pool hands out a dead connection after a fork"
WISH = "The user wants short answers without headings"
TOOLS = {"memory_search", "memory_get", "memory_observe", "memory_route"}
KEY = "AKIA" + "Q7RZ2LMNP4TV6WXY"


class Session:
    """A connected client, whose calls give the structured answer or the error's text."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def ask(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        assert isinstance(result.structured_content, dict)
        assert json.loads(result.content[0].text) == result.structured_content
        return result.structured_content

    async def fail(self, tool: str, **arguments: Any) -> str:
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.structured_content
        text: str = result.content[0].text
        assert "Traceback" not in text
        assert "--" not in text, "a hint in the words of the command line"
        return text


def serve(repo: Repo, cwd: Path | None = None, **env: str) -> StdioServerParameters:
    return StdioServerParameters(command=str(VALOR), args=["mcp"], env=repo.env | env, cwd=cwd or repo.root)


def talk(
    repo: Repo,
    errors: Path,
    script: Callable[[Session], Awaitable[None]],
    cwd: Path | None = None,
    **env: str,
) -> str:
    """Run the script against a fresh server; what that wrote to standard error."""

    async def main() -> None:
        with errors.open("w") as errlog:
            async with Client(stdio_client(serve(repo, cwd, **env), errlog=errlog)) as client:
                await script(Session(client))

    anyio.run(main)
    return errors.read_text()


@pytest.fixture
def errors(tmp_path: Path) -> Path:
    return tmp_path / "stderr"


def test_the_tools_say_what_they_are(repo: Repo, errors: Path) -> None:
    async def script(session: Session) -> None:
        instructions = session.client.instructions or ""
        assert 200 < len(instructions.encode()) < 2048
        tools = {tool.name: tool for tool in (await session.client.list_tools()).tools}
        assert set(tools) == TOOLS
        for name, tool in tools.items():
            assert len((tool.description or "").encode()) < 2048
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is (name != "memory_observe")
            assert tool.annotations.destructive_hint is False
            assert tool.annotations.idempotent_hint is True
            assert tool.annotations.open_world_hint is False
            assert tool.meta == {"anthropic/alwaysLoad": True}
            assert tool.output_schema is not None
            assert "cwd" in tool.input_schema["properties"]
            for argument in tool.input_schema["properties"].values():
                assert argument["description"]

    assert talk(repo, errors, script) == ""


def test_every_tool_argument_and_field_is_documented(repo: Repo, errors: Path) -> None:
    page = PAGE.read_text("utf-8")

    def fields(schema: dict[str, Any]) -> set[str]:
        parts = [schema, *schema.get("$defs", {}).values()]
        return {name for part in parts for name in part.get("properties", {})}

    async def script(session: Session) -> None:
        for tool in (await session.client.list_tools()).tools:
            section = page.split(f"## {tool.name}\n", 1)[1].split("\n## ")[0]
            named = fields(tool.input_schema) | fields(tool.output_schema or {})
            rows = set(re.findall(r"^\| `(\w+)` \|", section, re.M))
            assert rows == named, tool.name

    talk(repo, errors, script)


def test_a_finding_is_written_found_and_opened(repo: Repo, errors: Path) -> None:
    async def script(session: Session) -> None:
        written = await session.ask(
            "memory_observe",
            summary=POOL,
            type="error",
            details="It was opened before. <private>Bob did it</private>",
            tags=["redis"],
            references=["pool.py:42"],
            importance=7,
        )
        assert written["status"] == "written"
        id_ = written["id"]
        assert await session.ask(
            "memory_observe", summary=POOL.upper(), details="it was  opened before."
        ) == {
            "status": "exists",
            "id": id_,
            "notes": ["already in the log"],
        }
        hit = {"id": id_, "type": "error", "timestamp": repo.lines()[0]["timestamp"][:10], "summary": POOL}
        assert await session.ask("memory_search", query="dead sockets", type="error", tags=["REDIS"]) == {
            "hits": [hit]
        }
        [row] = (await session.ask("memory_search", level="summary"))["hits"]
        assert (row["details"], row["tags"], row["references"]) == (
            "It was opened before.",
            ["redis"],
            ["pool.py:42"],
        )
        assert await session.ask("memory_search", query="qqqq zxzx") == {"hits": []}
        assert await session.ask("memory_search", since="2100-01-01") == {"hits": []}
        whole = await session.ask("memory_get", id=id_[:-4])
        assert (whole["id"], whole["importance"], whole["source"]) == (id_, 7.0, "intentional")

    talk(repo, errors, script, LOA_SESSION_ID="s-1")
    [line] = repo.lines()
    assert (line["tool"], line["session_id"]) == ("mcp", "s-1")
    assert "Bob" not in repo.log.read_text()


def test_a_superseded_id_answers_with_its_successor(repo: Repo, errors: Path) -> None:
    repo.write(
        {"id": "obs-a", "summary": "The first word"},
        {"id": "obs-b", "summary": "The second word", "supersedes": ["obs-a"]},
        {"id": "obs-c", "summary": "Wrong from the start"},
        {"id": "sup-1", "type": "supersession", "supersedes": ["obs-c"], "by": None},
    )

    async def script(session: Session) -> None:
        newer = await session.ask("memory_observe", summary=POOL, supersedes=["obs-b"])
        for asked in ("obs-a", "obs-b"):
            answer = await session.ask("memory_get", id=asked)
            assert (answer["id"], answer["replaces"]) == (newer["id"], asked)
        assert "replaces" not in await session.ask("memory_get", id=newer["id"])
        assert "retracted" in await session.fail("memory_get", id="obs-c")
        assert [hit["id"] for hit in (await session.ask("memory_search"))["hits"]] == [newer["id"]]

    talk(repo, errors, script)


def test_private_lines_never_leave_and_secrets_leave_masked(repo: Repo, errors: Path) -> None:
    repo.write(
        {"id": "obs-hidden-1", "summary": "Nobody may read this socket", "private": True},
        {"id": "obs-open-1", "summary": f"The socket needs {KEY}", "details": f"key {KEY}"},
        {"id": "obs-old-1", "summary": "An older word"},
        {"id": "obs-new-1", "summary": "A newer word", "private": True, "supersedes": ["obs-old-1"]},
    )

    async def script(session: Session) -> None:
        said = [
            await session.fail("memory_get", id="obs-hidden-1"),
            await session.fail("memory_get", id="obs-hidde"),
            await session.fail("memory_get", id="obs-old-1"),
            json.dumps(await session.ask("memory_search", query="socket", level="summary")),
            json.dumps(await session.ask("memory_search")),
            json.dumps(await session.ask("memory_get", id="obs-open-1")),
        ]
        everything = "\n".join(said)
        assert KEY not in everything
        assert "Nobody may" not in everything
        assert "newer word" not in everything
        assert "obs-new" not in everything
        assert "obs-hidden-1" not in "\n".join(said[1:])

    assert KEY not in talk(repo, errors, script)


def test_refusals_are_errors_that_say_what_to_do(repo: Repo, errors: Path) -> None:
    async def script(session: Session) -> None:
        secret = await session.fail("memory_observe", summary=f"The deploy needs {KEY}")
        assert "holds a secret" in secret
        assert "redact=true" in secret
        assert KEY not in secret
        wish = await session.fail("memory_observe", summary=WISH)
        assert "auto-memory owns this" in wish
        assert 'owner="observations"' in wish
        assert "not worth remembering" in await session.fail("memory_observe", summary="ok thanks")
        assert not repo.log.exists()
        assert (await session.ask("memory_observe", summary=WISH, owner="observations"))[
            "routed"
        ] == "override"
        redacted = await session.ask(
            "memory_observe", summary=f"The deploy needs {KEY} to start", redact=True
        )
        assert redacted["notes"]

    talk(repo, errors, script)
    assert KEY not in repo.log.read_text()


def test_slips_are_named(repo: Repo, errors: Path) -> None:
    async def script(session: Session) -> None:
        for tool, arguments, says in (
            ("memory_search", {"type": "eror"}, "did you mean error?"),
            ("memory_search", {"tag": ["ci"]}, "did you mean tags?"),
            ("memory_search", {"level": "everything"}, "index"),
            ("memory_search", {"since": "soon"}, "is no time"),
            ("memory_search", {"limit": 0}, "limit: "),
            ("memory_search", {"limit": "many"}, "limit: "),
            ("memory_get", {}, "id: "),
            ("memory_get", {"id": "obs-nobody"}, "no observation has the id"),
            ("memory_observe", {"summary": ["a"]}, "summary: "),
            ("memory_observe", {"summary": POOL, "type": "eror"}, "did you mean error?"),
            ("memory_observe", {"summary": POOL, "importance": 11}, "0 to 10"),
            ("memory_observe", {"summary": POOL, "supersedes": ["obs-nobody"]}, "no observation"),
            ("memory_route", {"text": " "}, "no text"),
            ("memory_forget", {}, "memory_forget"),
        ):
            said = await session.fail(tool, **arguments)
            assert says in said, said
            assert "pydantic" not in said
        with_key = await session.fail("memory_search", limit=KEY)
        assert KEY not in with_key

    assert KEY not in talk(repo, errors, script)


def test_routing_names_the_owner_and_the_row(repo: Repo, errors: Path) -> None:
    async def script(session: Session) -> None:
        mine = await session.ask("memory_route", text=WISH)
        assert (mine["owner"], mine["confidence"] > 0.6) == ("auto-memory", True)
        assert mine["row"]
        ours = await session.ask("memory_route", text=POOL)
        assert (ours["owner"], ours["store"]) == ("observations", LOG)

    talk(repo, errors, script)
    assert not repo.log.exists()


def test_each_call_is_about_the_checkout_that_it_names(
    make_repo: Callable[[str], Repo], errors: Path, tmp_path: Path
) -> None:
    one, two = make_repo("a/api"), make_repo("b/api")
    (two.root / "src/deep er").mkdir(parents=True)
    one.git("commit", "-q", "--allow-empty", "-m", "start")
    one.git("worktree", "add", "-q", "--detach", str(tmp_path / "a worktree"))

    async def script(session: Session) -> None:
        here = (await session.ask("memory_observe", summary=POOL))["id"]
        there = str(two.root / "src/deep er")
        other = (await session.ask("memory_observe", summary=POOL, cwd=there))["id"]
        tree = (await session.ask("memory_observe", summary=POOL, cwd=str(tmp_path / "a worktree")))["id"]
        assert len({here, other, tree}) == 3
        assert [hit["id"] for hit in (await session.ask("memory_search"))["hits"]] == [here]
        assert [hit["id"] for hit in (await session.ask("memory_search", cwd=there))["hits"]] == [other]
        assert (await session.ask("memory_search", cwd="../../b/api"))["hits"][0]["id"] == other
        await session.fail("memory_get", id=here, cwd=there)
        assert "not in a git repository" in await session.fail("memory_search", cwd=str(tmp_path))
        assert "no folder" in await session.fail("memory_search", cwd=str(two.root / "nowhere"))
        assert "pass cwd" in await session.fail("memory_route", text=POOL, cwd="/")

    talk(one, errors, script)
    assert [len(repo.lines()) for repo in (one, two)] == [1, 1]
    assert (tmp_path / "a worktree" / LOG).exists()


def test_a_named_folder_counts_for_more_than_project_root(
    make_repo: Callable[[str], Repo], errors: Path, tmp_path: Path
) -> None:
    one, two = make_repo("one"), make_repo("two")

    async def script(session: Session) -> None:
        await session.ask("memory_observe", summary=POOL)
        await session.ask("memory_observe", summary=POOL, cwd=str(two.root))

    talk(one, errors, script, cwd=tmp_path, PROJECT_ROOT=str(one.root))
    assert [len(repo.lines()) for repo in (one, two)] == [1, 1]


def test_outside_a_checkout_it_serves_and_asks_for_one(repo: Repo, errors: Path, tmp_path: Path) -> None:
    async def script(session: Session) -> None:
        assert "pass cwd" in await session.fail("memory_search")
        assert await session.ask("memory_search", cwd=str(repo.root)) == {"hits": []}

    talk(repo, errors, script, cwd=tmp_path)


def test_bad_lines_are_named_in_the_answer(repo: Repo, errors: Path) -> None:
    deep = b'{"id":"obs-deep","summary":"Deep down","x":' + b"[" * 900 + b"]" * 900 + b"}\n"
    repo.write({"id": "obs-a", "summary": "A whole line"}, b'{"torn\n', deep)

    async def script(session: Session) -> None:
        found = await session.ask("memory_search")
        assert len(found["hits"]) == 2
        assert found["skipped_lines"] == ["line 2: torn: the line ends in the middle"]
        assert (await session.ask("memory_get", id="obs-deep"))["summary"] == "Deep down"

    talk(repo, errors, script)


def test_twenty_calls_at_once_all_answer(repo: Repo, errors: Path) -> None:
    repo.write({"id": "obs-a", "summary": "The first socket"})

    async def script(session: Session) -> None:
        done: list[dict[str, Any]] = []

        async def call(tool: str, **arguments: Any) -> None:
            done.append(await session.ask(tool, **arguments))

        async with anyio.create_task_group() as group:
            for number in range(10):
                group.start_soon(lambda n=number: call("memory_observe", summary=f"{POOL} of type {n}"))
                group.start_soon(lambda: call("memory_search", query="socket"))
        assert len(done) == 20

    assert talk(repo, errors, script) == ""
    assert len({line["id"] for line in repo.lines()}) == 11


def test_a_locked_log_holds_up_the_writer_alone(repo: Repo, errors: Path) -> None:
    repo.write({"id": "obs-a", "summary": "The first socket"})

    async def script(session: Session) -> None:
        order: list[str] = []

        async def write() -> None:
            assert "locked by another process" in await session.fail("memory_observe", summary=POOL)
            order.append("write")

        with repo.log.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            async with anyio.create_task_group() as group:
                group.start_soon(write)
                await anyio.sleep(0.2)
                await session.ask("memory_get", id="obs-a")
                order.append("read")
        assert order == ["read", "write"]

    talk(repo, errors, script, VALOR_LOCK_TIMEOUT="3")


def test_a_bug_is_kept_and_not_shown(repo: Repo, errors: Path) -> None:
    async def script(session: Session) -> None:
        said = await session.fail("memory_search", query="socket")
        assert said.startswith("a bug in valor: IsADirectoryError")
        assert "errors.log" in said

    (repo.root / ".valor.toml").write_text("")
    broken = repo.home / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import sys\n"
        "if sys.argv[:1] == ['-m']:\n"
        "    import valor.config as config\n"
        "    def resolve(env, cwd): raise IsADirectoryError(21, 'Is a directory', 'secret' + ' text')\n"
        "    config.resolve = resolve\n"
    )
    assert "Traceback" not in talk(repo, errors, script, PYTHONPATH=str(broken))
    kept = (repo.state / "errors.log").read_text()
    assert "IsADirectoryError" in kept
    assert "secret text" not in kept


HELLO = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
    '"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n'
    '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
)


def start(repo: Repo, **options: Any) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [VALOR, "mcp"], cwd=repo.root, env=repo.env, stdin=pipe, stdout=pipe, stderr=pipe, **options
    )


def answered(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], 60)
    assert ready, "no answer"
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def test_standard_output_carries_the_protocol_alone(repo: Repo) -> None:
    process = start(repo)
    call = {"name": "memory_observe", "arguments": {"summary": WISH}}
    lines = [
        HELLO,
        "no json\n",
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}),
    ]
    assert process.stdin is not None
    process.stdin.write(("".join(lines) + "\n").encode())
    process.stdin.flush()
    assert answered(process)["result"]["serverInfo"]["name"] == "valor"
    out: list[dict[str, Any]] = []
    while not any(answer.get("id") == 2 for answer in out):
        out.append(answered(process))
    assert all(answer["jsonrpc"] == "2.0" for answer in out)
    rest, talk = process.communicate(timeout=60)
    assert (process.returncode, rest, talk) == (0, b"", b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once(repo: Repo, number: signal.Signals) -> None:
    process = start(repo)
    assert process.stdin is not None
    process.stdin.write(HELLO.encode())
    process.stdin.flush()
    answered(process)
    process.send_signal(number)
    assert process.wait(timeout=20) == -number
    process.communicate()


def test_a_client_that_is_killed_leaves_no_server(repo: Repo) -> None:
    client = (
        "import subprocess, sys, time\n"
        "server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        f"server.stdin.write({HELLO.encode()!r}); server.stdin.flush()\n"
        "server.stdout.readline(); print(server.pid, flush=True); time.sleep(600)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", client, VALOR, "mcp"], cwd=repo.root, env=repo.env, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    assert alive(pid)
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 20
    while alive(pid):
        assert time.monotonic() < deadline, "the server is still there"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Whether the process runs; one that ended and waits to be reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
    return bool(state.strip()) and not state.startswith("Z")


def test_without_the_extra_one_line_says_what_to_install(repo: Repo, tmp_path: Path) -> None:
    for name, content in (
        ("none", 'raise ModuleNotFoundError("No module named \'mcp\'", name="mcp")'),
        ("old", "__path__ = []"),
    ):
        (tmp_path / name / "mcp").mkdir(parents=True)
        (tmp_path / name / "mcp/__init__.py").write_text(content)
        done = repo.valor("mcp", PYTHONPATH=str(tmp_path / name))
        assert (done.code, done.out) == (5, "")
        assert done.err.count("\n") == 1
        assert "pip install 'valor-memory[mcp]'" in done.err


def test_a_folder_that_is_named_like_the_sdk_is_not_imported(repo: Repo, errors: Path) -> None:
    for name in ("mcp", "valor"):
        (repo.root / name).mkdir()
        (repo.root / name / "__init__.py").write_text("raise SystemExit(9)")

    async def script(session: Session) -> None:
        assert await session.ask("memory_search") == {"hits": []}

    talk(repo, errors, script)


def test_usage_errors_end_it_before_it_starts(repo: Repo) -> None:
    assert repo.valor("mcp", "--port").code == 2
    assert "Exit codes:" in repo.valor("mcp", "--help").out
