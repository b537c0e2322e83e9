"""Doctor proves that memory is alive, end to end, and leaves no trace of having done so."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
import servers
from conftest import VALOR, Repo
from wards import about, examine, findings, keys, script, set_up, traces

from valor.doctor.canary import PREFIX


@pytest.fixture
def ward(repo: Repo, url: str) -> Repo:
    return set_up(repo, url)


def test_a_checkout_that_is_well_is_proven_alive(ward: Repo) -> None:
    done = examine(ward)
    assert (findings(done), done.code) == ([], 0)
    summary = done.rows[-1]
    assert summary["well"] is True
    assert summary["measured"]["proven"] == ["claude UserPromptSubmit", "claude PostToolUse"]
    assert "alive" in done.err


def test_every_harness_that_is_wired_is_proven(repo: Repo, url: str) -> None:
    set_up(repo, url, "claude", "codex", "gemini", "cursor")
    done = examine(repo)
    assert findings(done) == []
    assert set(done.rows[-1]["measured"]["proven"]) == {
        *("claude UserPromptSubmit", "claude PostToolUse", "codex UserPromptSubmit", "codex PostToolUse"),
        *("gemini BeforeAgent", "gemini AfterTool", "cursor postToolUse"),
    }


def test_nothing_of_the_canary_stays(ward: Repo, url: str) -> None:
    log, before = ward.log.read_bytes(), traces(ward, url)
    assert examine(ward, runs=2).code == 0
    assert traces(ward, url) == before
    assert ward.log.read_bytes() == log
    assert ward.git("status", "--porcelain") == ""


def test_an_own_server_is_used_and_keeps_no_key(repo: Repo) -> None:
    runtime = Path(servers.tempfile.mkdtemp(prefix="v"))
    repo.env["VALOR_RUNTIME_DIR"] = str(runtime)
    try:
        set_up(repo, "")
        done = examine(repo)
        assert (findings(done), done.code) == ([], 0)
        socket = done.rows[-1]["measured"]["server"]["address"]
        assert not [key for key in keys(socket) if b"canary" in key]
    finally:
        repo.valor("server", "stop")
        runtime.rmdir()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_removes_the_canary_and_ends_the_hook(
    ward: Repo, url: str, number: signal.Signals
) -> None:
    before = traces(ward, url)
    mark = ward.root.parent / "fired"
    nap = ward.home.parent / "naptime"
    nap.write_text("sleep 60\n")
    script(ward, f"touch '{mark}'", f"sh '{nap}'")
    doctor = subprocess.Popen([VALOR, "doctor"], cwd=ward.root, env=ward.env, stdout=subprocess.DEVNULL)
    servers.wait_for(lambda: mark.exists() and naps(nap))
    assert list(ward.home.glob(f"{PREFIX}*"))
    doctor.send_signal(number)
    assert doctor.wait(20) == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert traces(ward, url) == before
    servers.wait_for(lambda: not naps(nap), 5)


def naps(nap: Path) -> bool:
    listed = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True)
    return str(nap) in listed.stdout


def test_a_hook_that_hangs_is_ended_and_named(ward: Repo, url: str) -> None:
    before = traces(ward, url)
    (ward.root / ".claude/settings.json").write_text(
        (ward.root / ".claude/settings.json").read_text().replace('"timeout": 5', '"timeout": 1')
    )
    script(ward, "sleep 60")
    start = time.monotonic()
    done = examine(ward)
    assert time.monotonic() - start < 30
    assert any("did not end within 1 s" in what for what in about(done, "alive"))
    assert done.code == 1
    assert traces(ward, url) == before


def test_a_hook_that_says_nothing_is_not_alive(ward: Repo) -> None:
    script(ward, "cat >/dev/null")
    (first, *_) = [row for row in findings(examine(ward)) if row["check"] == "alive"]
    assert first["what"].startswith("not alive")
    assert "the hook's program works" in first["do"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["cat >/dev/null", "echo hello"], "no harness understands"),
        (["exec kill -9 $$"], "not alive"),
    ],
)
def test_what_a_broken_hook_does_is_said(ward: Repo, lines: list[str], said: str) -> None:
    script(ward, *lines)
    assert any(said in what for what in about(examine(ward), "alive"))


def test_a_command_that_ends_with_an_error_is_a_problem(ward: Repo) -> None:
    settings = ward.root / ".claude/settings.json"
    data = json.loads(settings.read_text())
    data["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"] = (
        "memory-hook.sh() { exit 2; }; memory-hook.sh"
    )
    data["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"] = ": memory-hook.sh; exit 2"
    settings.write_text(json.dumps(data))
    assert any("ended with 2" in what for what in about(examine(ward), "alive"))


def test_the_folder_that_the_session_is_in_does_not_matter(ward: Repo, tmp_path: Path) -> None:
    below = ward.root / "src"
    below.mkdir()
    done = ward.valor("doctor", "--runs", "0", "--json", cwd=below)
    assert (findings(done), done.code) == ([], 0)
    assert examine(ward, PROJECT_ROOT=str(ward.root)).code == 0


def test_the_hook_is_timed_as_multiples_of_a_bare_interpreter(ward: Repo) -> None:
    figures = examine(ward, runs=5).rows[-1]["measured"]["hook"]
    assert figures["runs"] == 5
    for way in ("gated", "told", "counted"):
        assert 0 < figures[way]["p50"] <= figures[way]["p95"]


def test_a_slow_hook_is_a_finding(ward: Repo) -> None:
    script(ward, "sleep 0.5", 'exec sh "$0.real"')
    real = ward.root / ".claude/scripts/memory-hook.sh.real"
    real.write_text(ward.git("show", "HEAD:.claude/scripts/memory-hook.sh"))
    assert any("slow" in what for what in about(examine(ward, runs=2), "alive"))


def test_a_hung_server_is_a_finding_in_time_and_hides_no_other(repo: Repo) -> None:
    with servers.running("wheel") as server:
        set_up(repo, f"unix://{server.path}")
        repo.log.write_bytes(repo.log.read_bytes() + b"{torn\n")
        os.kill(server.process.pid, signal.SIGSTOP)
        start = time.monotonic()
        done = examine(repo)
        assert time.monotonic() - start < 20
    assert any("does not answer" in what for what in about(done, "server"))
    assert any("not proven" in what for what in about(done, "alive"))
    assert any("bad-line" in what for what in about(done, "record"))
    assert not list(repo.home.glob(f"{PREFIX}*"))


def test_memory_that_is_switched_off_is_said(ward: Repo) -> None:
    done = examine(ward, LOA_MEMORY_ENABLED="false")
    assert any("switched off" in what for what in about(done, "alive"))


def test_settings_are_listed_with_where_they_came_from_and_without_passwords(ward: Repo) -> None:
    (ward.root / ".valor.toml").write_text("limit = 7\n")
    word = "hunter" + "22"
    settings = examine(ward, VALOR_REDIS_URL=f"redis://me:{word}@127.0.0.1:1/0").rows[-1]["settings"]
    assert settings["limit"] == {"value": 7, "from": str(ward.root / ".valor.toml")}
    assert settings["redis_url"] == {"value": "redis://127.0.0.1:1", "from": "VALOR_REDIS_URL"}
    assert settings["root"]["from"] == "git"


def test_outside_a_checkout_it_is_unavailable(ward: Repo, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert ward.valor("doctor", cwd=tmp_path / "plain").code == 5


def test_a_terminal_gets_a_list_that_says_what_to_do(ward: Repo) -> None:
    (ward.root / ".claude/scripts/memory-route.sh").unlink()
    shown = ward.on_a_terminal(80, "doctor", "--runs", "0")
    assert "warning: is missing" in shown
    assert "do: run `valor init`" in shown
    assert "{" not in shown
