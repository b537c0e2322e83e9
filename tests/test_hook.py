"""The hook as harnesses run it: a real process, a real checkout, a real mirror."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import servers
from conftest import Repo
from hooks import FACTS, IDS, SCRIPT, Agent, context, facts, fire, processes_of, told, wait_for_background

PACKAGE = Path(__file__).parents[1] / "valor"


@pytest.fixture(scope="module")
def shared_repo(tmp_path_factory: pytest.TempPathFactory, url: str) -> Repo:
    """A mirrored checkout for tests that change nothing but their own session."""
    root = tmp_path_factory.mktemp("hook") / "repo"
    root.mkdir()
    return mirrored(Repo(root, root.parent), url)


@pytest.fixture
def agent(shared_repo: Repo, request: pytest.FixtureRequest) -> Agent:
    return Agent(shared_repo, "".join(c if c.isalnum() else "-" for c in request.node.name)[:100])


def mirrored(repo: Repo, url: str) -> Repo:
    """The checkout with the facts in its log and in the mirror."""
    repo.root.mkdir(exist_ok=True)
    if not (repo.root / ".git").exists():
        repo.git("init", "-q", "-b", "main")
    repo.env["VALOR_REDIS_URL"] = url
    repo.write(*facts())
    assert repo.valor("init").code == 0
    done = repo.valor("sync")
    assert done.code == 0, done.err
    return repo


def test_what_was_observed_reaches_the_agent_once(repo: Repo, url: str) -> None:
    mirrored(repo, url)
    text = "The flaky upload test needs a larger multipart boundary"
    made = repo.valor("observe", text, "--type", "error").out.strip()
    ada = Agent(repo, "ada")
    done = fire(repo, ada.event("UserPromptSubmit", prompt="the multipart boundary of the upload is flaky"))
    assert context(done).endswith(f'<thought id="{made}">[error] {text}</thought>')
    assert ada.prompt("the multipart boundary of the upload is flaky") == []
    assert Agent(repo, "bob").prompt("the multipart boundary of the upload is flaky") == [made]


def test_the_answer_is_one_line_of_json_that_names_the_event(agent: Agent) -> None:
    done = fire(agent.repo, agent.event("UserPromptSubmit", prompt="socket pool after fork"))
    assert done.out.isascii()
    inner = json.loads(done.out)["hookSpecificOutput"]
    assert inner["hookEventName"] == "UserPromptSubmit"
    lead, *stubs = inner["additionalContext"].split("\n")
    assert "memory" in lead
    assert not lead.startswith("<")
    assert stubs == [f'<thought id="{IDS["socket"]}">[error] {FACTS["socket"]}</thought>']
    assert len(inner["additionalContext"]) <= 1_200


def test_a_failed_call_is_answered_at_once(agent: Agent) -> None:
    agent.transcript = Path("/nowhere/at-all.jsonl")
    event = {"tool_name": "Bash", "tool_input": {"command": "make resize"}, "tool_use_id": "toolu_1"}
    error = "Exit code 1\nImageMagick failed: too many file handles for thumbnails"
    assert agent.fire("PostToolUseFailure", **event, error=error, is_interrupt=False) == ["thumbnail"]


def test_nonsense_is_told_nothing(agent: Agent) -> None:
    done = fire(agent.repo, agent.event("UserPromptSubmit", prompt="QQQQ zxzx"))
    assert (done.code, done.out, done.err) == (0, "", "")


def test_a_tool_call_is_answered_at_every_third_where_there_is_a_transcript(agent: Agent) -> None:
    agent.transcript = Path("/nowhere/at-all.jsonl")
    asked = [
        agent.command(f"grep -rn {word} src") for word in ("socket", "pool", "fork", "dead", "a", "b", "c")
    ]
    assert asked == [[], [], [], [], [], [], []]
    again = Agent(agent.repo, agent.session + "-2")
    again.transcript = agent.transcript
    found = [again.command("pytest tests/socket_pool.py", FACTS["socket"]) for _ in range(6)]
    assert found == [[], [], ["socket"], [], [], []]


def test_without_a_transcript_each_call_is_its_own_window(agent: Agent) -> None:
    assert agent.command("pytest tests/socket_pool.py", FACTS["socket"]) == ["socket"]
    assert agent.command("run cron", FACTS["cron"]) == ["cron"]


def test_a_window_holds_the_calls_before_it(agent: Agent, tmp_path: Path) -> None:
    agent.transcript = tmp_path / "session.jsonl"
    call = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "/x/thumbnails.py"}}
    result = {
        "type": "tool_result", "tool_use_id": "toolu_1", "content": "ImageMagick leaks its file handles",
    }  # fmt: skip
    agent.transcript.write_text(
        json.dumps({"type": "assistant", "message": {"content": [call]}})
        + "\n"
        + json.dumps({"type": "user", "message": {"content": [result]}})
        + "\n"
    )
    assert [agent.command("ls") for _ in range(3)] == [[], [], ["thumbnail"]]


def test_a_sub_agent_counts_in_its_session_and_is_not_told_what_that_was_told(agent: Agent) -> None:
    assert agent.prompt("socket pool after fork") == ["socket"]
    agent.transcript = Path("/nowhere/at-all.jsonl")
    sub = {"agent_id": "a1", "agent_type": "Explore"}
    found = [
        agent.command("pytest socket_pool", FACTS["socket"]),
        agent.command("pytest socket_pool", FACTS["socket"], **sub),
        agent.command("run cron", FACTS["cron"] + FACTS["socket"], **sub),
    ]
    assert found == [[], [], ["cron"]]


def test_a_sub_agent_that_starts_is_told_what_its_task_is_about(agent: Agent, tmp_path: Path) -> None:
    agent.transcript = tmp_path / "session.jsonl"
    task = {
        "description": "look at cron",
        "prompt": "Why do the cron jobs skip an hour at the daylight switch?",
    }
    call = {"type": "tool_use", "id": "toolu_1", "name": "Task", "input": task}
    agent.transcript.write_text(json.dumps({"type": "assistant", "message": {"content": [call]}}) + "\n")
    assert agent.fire("SubagentStart", agent_id="a1", agent_type="Explore") == ["cron"]


def test_the_brief_comes_once_and_repeats_nothing_at_a_compaction(agent: Agent) -> None:
    assert agent.prompt("socket pool after fork") == ["socket"]
    first = context(fire(agent.repo, agent.event("SessionStart", source="startup")))
    assert len(first) <= 1_500
    for part in ("observations log", "framework patterns", "debugging discoveries", "preferences"):
        assert part in first
    assert "memory-query.sh" in first
    held = told(first)
    assert held
    assert "socket" not in held
    again = context(fire(agent.repo, agent.event("SessionStart", source="compact")))
    assert "observations log" not in again
    assert not set(told(again)) & set(held)
    assert agent.prompt(FACTS[held[0]]) == []
    wait_for_background(agent.repo)


def test_hooks_that_run_at_once_tell_a_fact_once_and_leave_no_process(repo: Repo, url: str) -> None:
    mirrored(repo, url)
    agent = Agent(repo, "crowd")
    text = json.dumps(agent.event("UserPromptSubmit", prompt="socket pool after fork")).encode()
    running = [
        subprocess.Popen(
            [SCRIPT], env=repo.env, cwd=repo.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=-3
        )
        for _ in range(100)
    ]
    for each in running:
        assert each.stdin
        each.stdin.write(text)
        each.stdin.close()
    outs = []
    for each in running:
        assert each.stdout
        outs.append(each.stdout.read())
        assert each.wait() == 0
        each.stdout.close()
    said = [json.loads(out) for out in outs if out]
    assert len(said) <= 1
    wait_for_background(repo)
    assert processes_of(repo) == []


def test_of_many_who_claim_a_fact_at_once_one_gets_it(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor
    from threading import Barrier

    from valor.hook import session
    from valor.hook.events import normalised

    event = normalised({"hook_event_name": "Stop", "session_id": "s"})
    assert event
    gate = Barrier(8)

    def claims(_: int) -> list[str]:
        gate.wait()
        return [id_ for id_ in map(str, range(300)) if session.claim(str(tmp_path), event, id_)]

    with ThreadPoolExecutor(8) as pool:
        got = [id_ for each in pool.map(claims, range(8)) for id_ in each]
    assert sorted(got) == sorted(map(str, range(300)))


def test_each_injection_is_journalled_by_its_ids_and_nothing_else(agent: Agent) -> None:
    agent.prompt("socket pool after fork, secret words in the prompt")
    agent.fire("Stop", stop_hook_active=False, last_assistant_message="secret words")
    agent.fire("SubagentStop", agent_id="a1")
    agent.fire("PreCompact", trigger="auto")
    agent.fire("SessionEnd", reason="other")
    (journal,) = agent.repo.state.glob("views/*/journal.jsonl")
    rows = [json.loads(line) for line in journal.read_text().splitlines()]
    rows = [row for row in rows if row["session"] == agent.session]
    assert all(abs(row.pop("at") - time.time()) < 60 for row in rows)
    session = agent.session
    assert rows[0] == {"session": session, "event": "UserPromptSubmit", "ids": [IDS["socket"]]}
    assert [row["event"] for row in rows[1:]] == ["Stop", "SubagentStop", "PreCompact", "SessionEnd"]
    assert all(row["ids"] == [] for row in rows[1:])
    for path in agent.repo.state.rglob("*"):
        assert not path.is_file() or b"secret words" not in path.read_bytes()


def test_what_a_hook_makes_is_the_users_alone(agent: Agent) -> None:
    agent.transcript = Path("/nowhere/at-all.jsonl")
    agent.prompt("socket pool after fork")
    agent.command("ls")
    made = [agent.folder, *agent.folder.rglob("*")]
    assert {path.name for path in made} >= {"calls", "told", IDS["socket"]}
    assert all(stat.S_IMODE(path.stat().st_mode) & 0o077 == 0 for path in made)


@pytest.mark.parametrize("place", ["outside", "several"])
def test_outside_a_project_the_hook_is_silent(
    agent: Agent, tmp_path: Path, make_repo: Callable[[str], Repo], place: str
) -> None:
    folder = tmp_path / "several"
    folder.mkdir()
    if place == "several":
        make_repo("several/one")
        make_repo("several/two")
    for name, fields in {
        "UserPromptSubmit": {"prompt": "socket pool"},
        "SessionStart": {},
        "Stop": {},
    }.items():
        done = fire(agent.repo, agent.event(name, **fields) | {"cwd": str(folder)}, cwd=folder)
        assert (done.code, done.out, done.err) == (0, "", "")


def test_the_folder_is_the_events_and_not_the_process(agent: Agent, tmp_path: Path) -> None:
    done = fire(agent.repo, agent.event("UserPromptSubmit", prompt="socket pool after fork"), cwd=tmp_path)
    assert told(context(done)) == ["socket"]


def test_the_project_root_counts_before_the_folder(agent: Agent, tmp_path: Path) -> None:
    event = agent.event("UserPromptSubmit", prompt="socket pool after fork") | {"cwd": str(tmp_path)}
    assert context(fire(agent.repo, event)) == ""
    assert told(context(fire(agent.repo, event, PROJECT_ROOT=str(agent.repo.root)))) == ["socket"]


def test_a_checkout_that_was_never_synced_is_synced_at_the_start_of_a_session(repo: Repo, url: str) -> None:
    repo.env["VALOR_REDIS_URL"] = url
    repo.write(*facts())
    assert repo.valor("init").code == 0
    shutil.rmtree(repo.state / "views", ignore_errors=True)
    agent = Agent(repo, "first")
    brief = context(fire(repo, agent.event("SessionStart", source="startup")))
    assert "observations log" in brief
    assert told(brief) == []
    servers.wait_for(lambda: agent.prompt("socket pool after fork") == ["socket"])
    wait_for_background(repo)
    assert processes_of(repo) == []


def test_a_log_that_changed_behind_the_mirror_is_synced_in_the_background(repo: Repo, url: str) -> None:
    mirrored(repo, url)
    fresh = {
        "id": "obs-1790009999-00000000beef",
        "type": "error",
        "summary": "Gunicorn ignores umask settings",
    }
    repo.write(*facts(), fresh)
    agent = Agent(repo, "pulled")
    agent.prompt("why are umask settings ignored by gunicorn")
    servers.wait_for(lambda: agent.prompt("why are umask settings ignored by gunicorn") == [fresh["id"]])
    wait_for_background(repo)


def test_a_sync_is_started_at_most_once_in_a_while(repo: Repo, url: str) -> None:
    mirrored(repo, url)
    agent = Agent(repo, "often")
    (view,) = repo.state.glob("views/*/view")
    agent.fire("SessionStart", source="startup")
    wait_for_background(repo)
    asked = view.with_name("asked").stat().st_mtime_ns
    agent.fire("SessionStart", source="resume")
    assert view.with_name("asked").stat().st_mtime_ns == asked
    os.utime(view.with_name("asked"), (0, 0))
    agent.fire("SessionStart", source="resume")
    assert view.with_name("asked").stat().st_mtime_ns > 10**18
    wait_for_background(repo)


# What may go wrong


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n",
        b"no json",
        b"[1, 2]",
        b'"text"',
        b"{",
        b"{}",
        b'{"hook_event_name":"UserPromptSubmit","prompt":"socket pool',
        b'{"hook_event_name":"UserPromptSubmit","prompt":7,"session_id":[],"cwd":{},"transcript_path":1}',
        b'{"hook_event_name":"PostToolUse","tool_input":[],"tool_response":3}',
        b'{"hook_event_name":{"a":1}}',
        b'{"hook_event_name":"UserPromptSubmit","prompt":"\\ud800","cwd":"/\\ud800\\u0000"}',
        b"\xff\xfe{\x00}",
        b"[" * 100_000,
    ],
    ids=range(14),
)
def test_an_event_that_is_none_is_passed_over(shared_repo: Repo, text: bytes) -> None:
    done = fire(shared_repo, text)
    assert (done.code, done.out, done.err) == (0, "", "")


def test_a_huge_event_is_survived(agent: Agent) -> None:
    huge = json.dumps(agent.event("UserPromptSubmit", prompt="socket pool " * 2_000_000)).encode()
    assert len(huge) > 20_000_000
    begun = time.monotonic()
    process = subprocess.Popen([SCRIPT], env=agent.repo.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, _ = process.communicate(huge)
    assert process.returncode == 0
    assert out == b"" or json.loads(out)
    assert time.monotonic() - begun < 10


def test_an_event_larger_than_a_pipe_is_answered(agent: Agent) -> None:
    filler = "häufig " * 60_000
    event = {"tool_name": "Read", "tool_input": {"file_path": "/x/socket_pool.py"}, "tool_use_id": "toolu_1"}
    got = {"type": "text", "file": {"content": FACTS["socket"] + filler}}
    assert agent.fire("PostToolUse", **event, tool_response=got) == ["socket"]


@pytest.mark.parametrize("whole", [True, False])
def test_standard_input_that_never_ends_is_not_waited_for(agent: Agent, whole: bool) -> None:
    text = json.dumps(agent.event("UserPromptSubmit", prompt="socket pool after fork"))
    process = subprocess.Popen([SCRIPT], env=agent.repo.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    process.stdin.write(text.encode() if whole else text[:-1].encode())
    process.stdin.flush()
    begun = time.monotonic()
    out = process.stdout.read()
    assert process.wait(10) == 0
    assert time.monotonic() - begun < (2 if whole else 4)
    assert bool(out) is whole
    process.stdin.close()
    process.stdout.close()


@pytest.mark.parametrize("at", [2047, 2048, 2049])
def test_the_first_block_may_end_anywhere(agent: Agent, at: int) -> None:
    """Also inside a character of several bytes, or before a line's end."""
    event = agent.event("UserPromptSubmit", prompt="")
    start = json.dumps(event, ensure_ascii=False)[:-2].encode()
    for edge in ("é", "\\n", "記"):
        session = json.dumps(f"{agent.session}{at}{edge}")
        text = start.replace(json.dumps(agent.session).encode(), session.encode())
        text += b"x" * (at - len(text) - 1) + f"{edge} socket pool after fork".encode() + b'"\n\n}\n'
        assert told(context(fire(agent.repo, text))) == ["socket"]


def test_blanks_behind_the_event_make_no_difference(agent: Agent) -> None:
    text = json.dumps(agent.event("UserPromptSubmit", prompt="socket pool after fork")).encode()
    assert told(context(fire(agent.repo, text + b" " * 3_000 + b"\n"))) == ["socket"]


def test_a_closed_standard_output_costs_nothing_but_the_answer(agent: Agent) -> None:
    event = agent.event("UserPromptSubmit", prompt="socket pool after fork")
    done = subprocess.run(
        ["sh", "-c", f'"{SCRIPT}" >&-'],
        env=agent.repo.env,
        input=json.dumps(event).encode(),
        capture_output=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert agent.prompt("socket pool after fork") == ["socket"], "what nobody heard was not told"


@pytest.mark.parametrize("named", [True, False])
def test_a_folder_that_is_gone_is_no_project(agent: Agent, tmp_path: Path, named: bool) -> None:
    """Unless the event names another. (The shell itself complains of it, on standard error.)"""
    gone = tmp_path / "gone"
    gone.mkdir()
    event = agent.event("UserPromptSubmit", prompt="socket pool after fork")
    event["cwd"] = event["cwd"] if named else str(gone)
    done = subprocess.run(
        ["sh", "-c", f'cd "{gone}" && rmdir "{gone}" && exec "{SCRIPT}"'],
        env=agent.repo.env, input=json.dumps(event).encode(), stdout=-1,
    )  # fmt: skip
    assert done.returncode == 0
    assert bool(done.stdout) is named


@pytest.mark.parametrize(
    "module", ["hook/__main__", "hook/door", "hook/events", "hook/output", "scan", "window", "answer", "stub"]
)
def test_a_syntax_error_in_our_own_code_harms_nobody(agent: Agent, tmp_path: Path, module: str) -> None:
    package = tmp_path / "valor"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    state = tmp_path / "state"
    shutil.copytree(agent.repo.state, state / "valor", ignore=shutil.ignore_patterns("sessions"))
    (state / "valor/hook").write_text(f"{sys.executable}\n{package}/hook/__main__.py\n")
    event = agent.event("UserPromptSubmit", prompt="socket pool after fork")
    assert told(context(fire(agent.repo, event, XDG_STATE_HOME=str(state)))) == ["socket"]
    path = package / f"{module}.py"
    path.write_text(path.read_text() + "\ndef broken(:\n")
    done = fire(agent.repo, event | {"session_id": "other"}, XDG_STATE_HOME=str(state))
    assert (done.code, done.out, done.err) == (0, "", "")


def test_a_mirror_that_never_answers_is_not_waited_for(agent: Agent, tmp_path: Path) -> None:
    import socket
    import tempfile

    with tempfile.TemporaryDirectory(prefix="v") as folder, socket.socket(socket.AF_UNIX) as mute:
        mute.bind(f"{folder}/s")
        mute.listen()
        event = agent.event("UserPromptSubmit", prompt="socket pool after fork")
        begun = time.monotonic()
        done = fire(agent.repo, event, VALOR_REDIS_URL=f"unix://{folder}/s")
        assert (done.code, done.out, done.err) == (0, "", "")
        assert time.monotonic() - begun < 1.5
    wait_for_background(agent.repo)


def test_a_mirror_that_is_gone_is_silence(agent: Agent) -> None:
    event = agent.event("UserPromptSubmit", prompt="socket pool after fork")
    done = fire(agent.repo, event, VALOR_REDIS_URL="unix:///nowhere/s")
    assert (done.code, done.out, done.err) == (0, "", "")
    wait_for_background(agent.repo)


HEAVY = {
    *("json", "re", "os", "typing", "pathlib", "subprocess", "dataclasses", "enum", "collections", "logging"),
    *("asyncio", "socket", "threading", "functools", "hashlib", "contextlib", "importlib", "site", "inspect"),
    *("typer", "rich", "redis", "pydantic", "orjson", "git", "rapidfuzz", "pybloom_live", "bitarray"),
}


@pytest.mark.parametrize("told_", [True, False], ids=["with-stubs", "gate-ends"])
def test_the_hook_loads_nothing_heavy(agent: Agent, told_: bool) -> None:
    """``-X importtime`` names on standard error what the real process loads."""
    event = agent.event("PostToolUse", tool_name="Bash", tool_input={"command": "x"}, tool_response={})
    event["tool_response"] = {"stdout": FACTS["socket"] if told_ else "nothing of that kind"}
    interpreter, program = (agent.repo.state / "hook").read_text().split("\n")[:2]
    done = subprocess.run(
        [interpreter, "-I", "-S", "-X", "importtime", program, agent.repo.state],
        input=json.dumps(event), env=agent.repo.env, capture_output=True, text=True,
    )  # fmt: skip
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "_signal" in loaded
    assert not loaded & HEAVY
    ours = {name for name in loaded if name.startswith("valor")}
    assert "valor.answer" in ours
    assert bool(done.stdout) is told_
    if not told_:
        assert not ours & {
            "valor.wire",
            "valor.recall",
            "valor.stub",
            "valor.hook.output",
            "valor.hook.session",
        }
        assert "_socket" not in loaded
    assert not ours & {"valor.log", "valor.fold", "valor.config", "valor.cli", "valor.errors"} or told_


def test_a_clone_on_a_new_machine_is_ready_from_the_second_event_on(repo: Repo, url: str) -> None:
    """valor is installed there, and nobody ran it: the first session does."""
    repo.env |= {"VALOR_REDIS_URL": url, "PATH": f"{Path(sys.executable).parent}:{repo.env['PATH']}"}
    repo.write(*facts())
    ada = Agent(repo, "ada")
    assert ada.fire("SessionStart", source="startup") == []
    wait_for_background(repo)
    servers.wait_for(lambda: ada.prompt("socket pool after fork") == ["socket"])


def test_the_command_answers_as_the_script_does(agent: Agent) -> None:
    event = agent.event("UserPromptSubmit", prompt="socket pool after fork")
    done = agent.repo.valor("hook", stdin=json.dumps(event))
    assert told(context(done)) == ["socket"]
    assert agent.repo.valor("hook", stdin="nonsense").code == 0


def test_the_brief_can_be_asked_for(agent: Agent) -> None:
    done = agent.repo.valor("brief")
    assert done.code == 0
    assert len(done.out) <= 1_501
    assert "owns framework patterns" in done.out
    assert set(told(done.out)) <= set(FACTS)
    rows = agent.repo.valor("brief", "--json").rows
    assert len(rows) == 5
    assert {row["id"] for row in rows} <= set(IDS.values())


def test_a_worktree_made_in_the_middle_of_a_session_is_mirrored_by_its_first_event(
    repo: Repo, url: str, tmp_path: Path
) -> None:
    mirrored(repo, url)
    repo.git("add", "."), repo.git("commit", "-qm", "memory")
    tree = tmp_path / "tree"
    repo.git("worktree", "add", "-q", str(tree))
    ada = Agent(repo, "ada")
    event = ada.event("UserPromptSubmit", prompt="socket pool after fork") | {"cwd": str(tree)}
    assert context(fire(repo, event)) == ""
    wait_for_background(repo)
    assert told(context(fire(repo, event))) == ["socket"]


def test_an_interpreter_that_is_gone_is_replaced_from_the_next_event_on(repo: Repo, url: str) -> None:
    mirrored(repo, url)
    repo.env["PATH"] = f"{Path(sys.executable).parent}:{repo.env['PATH']}"
    (repo.state / "hook").write_text("/gone/bin/python\n/gone/valor/hook/__main__.py\n")
    ada = Agent(repo, "ada")
    assert ada.prompt("socket pool after fork") == []
    wait_for_background(repo)
    assert ada.prompt("socket pool after fork") == ["socket"]


def test_switched_off_for_good_nothing_is_told_nor_asked_again(repo: Repo, url: str) -> None:
    mirrored(repo, url)
    (repo.root / ".valor.toml").write_text("enabled = false\n")
    ada = Agent(repo, "ada")
    ada.fire("SessionStart", source="startup")
    wait_for_background(repo)
    assert ada.prompt("quota tenants") == []
    assert not [each for each in processes_of(repo) if " sync" in each]
    done = repo.valor("recall", "quota")
    assert (done.code, "switched off" in done.err) == (5, True)
    (repo.root / ".valor.toml").unlink()
    assert repo.valor("sync").rows[0]["how"] != "off"
    assert ada.prompt("quota tenants") == ["quota"]
