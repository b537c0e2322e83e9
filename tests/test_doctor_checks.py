"""Broken on purpose, family by family: doctor names it and says what to do; --fix mends what is safe."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
import servers
from conftest import LOG, Repo
from hooks import IDS, facts
from wards import SETTINGS, about, examine, findings, rewire, set_up

from valor import server
from valor.address import parse


@pytest.fixture
def ward(repo: Repo, url: str) -> Repo:
    return set_up(repo, url)


def edit(ward: Repo, change: Any, path: str = SETTINGS) -> None:
    """Change the data of a JSON file."""
    file = ward.root / path
    data = json.loads(file.read_text()) if file.exists() else {}
    change(data)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(data, indent=2))


# Wiring


def test_a_timeout_in_milliseconds_is_named(ward: Repo) -> None:
    rewire(ward, '"timeout": 5', '"timeout": 2000')
    done = examine(ward)
    assert done.code == 1
    (first, *_) = [row for row in findings(done) if "timeout" in row["what"]]
    assert "seconds, not milliseconds" in first["what"]
    assert first["do"].startswith("write 2,")
    assert first["where"].endswith(f"{SETTINGS}: hooks.SessionStart")


@pytest.mark.parametrize("place", [".claude/settings.local.json", "home", "moved"])
def test_a_timeout_is_read_wherever_claude_code_reads_it(ward: Repo, tmp_path: Path, place: str) -> None:
    files = {"home": ward.home / ".claude/settings.json", "moved": tmp_path / "moved/settings.json"}
    file = files.get(place, ward.root / place)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say", "timeout": 5000}]}]}}'
    )
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "moved")} if place == "moved" else {}
    assert any("not valor's" in what and str(file) in what for what in about(examine(ward, **env), "wiring"))
    assert file.read_text().count("5000") == 1


def test_a_timeout_of_gemini_in_seconds_is_named(repo: Repo, url: str) -> None:
    set_up(repo, url, "gemini")
    rewire(repo, '"timeout": 5000', '"timeout": 5', ".gemini/settings.json")
    assert any("milliseconds, not seconds" in what for what in about(examine(repo), "wiring"))


def test_hooks_that_are_disabled_are_a_problem(ward: Repo) -> None:
    edit(ward, lambda data: data.update(disableAllHooks=True), ".claude/settings.local.json")
    (found,) = about(examine(ward), "wiring")
    assert "disableAllHooks" in found
    assert "settings.local.json" in found


def test_an_event_that_is_not_wired_is_named(ward: Repo) -> None:
    edit(ward, lambda data: data["hooks"].pop("PostToolUse"))
    assert any("not wired for PostToolUse" in what for what in about(examine(ward), "wiring"))


def test_an_event_wired_by_the_user_is_not_missing(ward: Repo) -> None:
    groups = json.loads((ward.root / SETTINGS).read_text())["hooks"].pop("PostToolUse")
    edit(ward, lambda data: data["hooks"].pop("PostToolUse"))
    home = ward.home / ".claude/settings.json"
    home.parent.mkdir()
    home.write_text(json.dumps({"hooks": {"PostToolUse": groups}}))
    done = examine(ward)
    assert about(done, "wiring") == []
    assert "claude PostToolUse" in done.rows[-1]["measured"]["proven"]


def test_an_event_wired_otherwise_is_named(ward: Repo) -> None:
    def change(data: Any) -> None:
        data["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 30

    edit(ward, change)
    assert any("otherwise than init would for Stop" in what for what in about(examine(ward), "wiring"))


def test_two_commands_for_one_event_are_named(ward: Repo) -> None:
    rival = {"type": "command", "command": "sh .claude/scripts/memory-hook.sh"}
    edit(ward, lambda data: data.update(hooks={"Stop": [{"hooks": [rival]}]}), ".claude/settings.local.json")
    assert any("Stop runs the hook 2 times" in what for what in about(examine(ward), "wiring"))


def test_settings_that_are_no_json_are_named_with_their_line(ward: Repo) -> None:
    rewire(ward, '"hooks": {', '"hooks" {')
    done = examine(ward)
    assert any("line" in what and "ignores the whole file" in what for what in about(done, "wiring"))
    assert any("there is no hook to fire" in what for what in about(done, "alive"))


def test_settings_of_a_strange_shape_break_nothing(ward: Repo) -> None:
    for strange in (
        '{"hooks": []}',
        '{"hooks": {"Stop": {}}}',
        '{"hooks": {"Stop": [1, {"hooks": 2}]}}',
        "[]",
    ):
        (ward.root / SETTINGS).write_text(strange)
        assert examine(ward).code == 1


def test_without_any_hook_nothing_is_alive(ward: Repo) -> None:
    (ward.root / SETTINGS).unlink()
    assert any("no harness is wired" in what for what in about(examine(ward), "wiring"))


# What init made


def test_scripts_are_held_to_what_init_writes(ward: Repo) -> None:
    scripts = ward.root / ".claude/scripts"
    (scripts / "memory-route.sh").unlink()
    (scripts / "memory-query.sh").chmod(0o644)
    (scripts / "memory-observe.sh").write_text("#!/bin/sh\n")
    (scripts / "memory-observe.sh").chmod(0o755)
    found = about(examine(ward), "installed")
    assert found == [
        "is not executable | .claude/scripts/memory-query.sh",
        "differs from what init writes | .claude/scripts/memory-observe.sh",
        "is missing | .claude/scripts/memory-route.sh",
    ]


def test_a_missing_hook_script_is_a_problem(ward: Repo) -> None:
    (ward.root / ".claude/scripts/memory-hook.sh").unlink()
    done = examine(ward)
    assert ("problem", "is missing") in {(row["severity"], row["what"]) for row in findings(done)}
    assert any("not alive" in what for what in about(done, "alive"))


def test_a_log_without_merge_by_union_is_named(ward: Repo) -> None:
    (ward.root / ".gitattributes").write_text(f"{LOG} merge=union\n{LOG} merge=text\n")
    assert any("merge=union" in what for what in about(examine(ward), "installed"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "is missing"),
        ("/nowhere/python\n/nowhere/hook\n", "an interpreter that is not there: /nowhere/python"),
        ("{python}\n/nowhere/hook\n", "a program that is not there"),
        ("\n", "an interpreter that is not there"),
        ("{python}\n{home}/v/valor/hook/__main__.py\n", "another installation"),
    ],
)
def test_the_hooks_file_is_proven_and_written_anew(ward: Repo, content: str | None, said: str) -> None:
    file = ward.state / "hook"
    good = file.read_text()
    other = ward.home / "v/valor/hook/__main__.py"
    other.parent.mkdir(parents=True)
    other.touch()
    if content is None:
        file.unlink()
    else:
        file.write_text(content.format(python=good.splitlines()[0], home=ward.home))
    before = file.read_text() if file.exists() else None
    done = examine(ward)
    assert any(said in what for what in about(done, "installed"))
    assert any("not alive" in what for what in about(done, "alive"))
    assert (file.read_text() if file.exists() else None) == before
    done = examine(ward, "--fix")
    assert (findings(done), done.code) == ([], 0)
    assert file.read_text() == good
    assert done.rows[-1]["mended"] == [f"wrote {file}"]


def test_an_interpreter_without_valor_is_a_problem(ward: Repo) -> None:
    file = ward.state / "hook"
    fake = ward.home / "python"
    fake.write_text("#!/bin/sh\necho \"ModuleNotFoundError: No module named 'orjson'\" >&2\nexit 1\n")
    fake.chmod(0o755)
    file.write_text(f"{fake}\n{file.read_text().splitlines()[1]}\n")
    assert any(
        "cannot import valor (ModuleNotFoundError" in what for what in about(examine(ward), "installed")
    )


def test_a_command_that_is_not_on_the_path_is_named(ward: Repo) -> None:
    without = os.pathsep.join(
        part for part in ward.env["PATH"].split(os.pathsep) if not Path(part, "valor").exists()
    )
    assert any("not on the PATH" in what for what in about(examine(ward, PATH=without), "installed"))


# The server


def test_a_server_that_evicts_is_named(repo: Repo) -> None:
    with servers.running("wheel", "--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru") as running:
        set_up(repo, f"unix://{running.path}")
        (found,) = findings(examine(repo))
    assert found["severity"] == "problem"
    assert "maxmemory-policy is allkeys-lru" in found["what"]


def test_a_server_that_is_not_there_is_a_problem(ward: Repo) -> None:
    done = examine(ward, VALOR_REDIS_URL="redis://127.0.0.1:1/0")
    assert any("does not answer" in what for what in about(done, "server"))


def test_a_server_that_is_too_old_is_a_problem() -> None:
    from valor.config import Config
    from valor.doctor import service
    from valor.doctor.patient import Patient
    from valor.workspace import Workspace

    patient = Patient(Workspace(Config(root=Path("/"), state=Path("/"))), {}, 0)
    for name, version, old in [
        ("redis", "6.0.16", True),
        ("redis", "6.2.0", False),
        ("valkey", "7.0.1", True),
    ]:
        patient.__dict__["status"] = server.Status(True, name, version, "", False, False, *[None] * 4, "")
        assert bool(list(service._too_old(patient))) is old


# The mirror


def test_a_mirror_that_is_behind_is_synced(ward: Repo) -> None:
    with ward.log.open("ab") as log:
        log.write(b'{"id":"obs-1790000100-00000000000f","summary":"Later than the mirror"}\n')
    (found,) = about(examine(ward), "mirror")
    assert found.startswith("stale: 1 line (71 bytes) behind the log")
    done = examine(ward, "--fix")
    assert about(done, "mirror") == []
    assert done.rows[-1]["mended"] == ["synced: appended, 11 lines"]


def test_a_log_that_was_merely_touched_is_no_alarm(ward: Repo) -> None:
    os.utime(ward.log, (1, 1))
    assert findings(examine(ward)) == []
    content = ward.log.read_bytes()
    ward.log.write_bytes(content.replace(b"socket", b"rocket"))
    os.utime(ward.log, (1, 1))
    (found,) = about(examine(ward), "mirror")
    assert "the log has changed since" in found


def test_a_mirror_that_lies_is_made_anew(repo: Repo) -> None:
    with servers.running("wheel") as running:
        set_up(repo, f"unix://{running.path}")
        with server.client(parse(f"unix://{running.path}")) as client:
            (name,) = [key for key in client.scan_iter() if key.endswith(b":lines")]
            client.hdel(name, *client.hkeys(name)[:2])
        (found,) = about(examine(repo), "mirror")
        assert "2 missing" in found
        done = examine(repo, "--fix")
    assert (findings(done), done.rows[-1]["mended"]) == ([], ["made the mirror anew: 10 lines"])


def test_a_mirror_that_was_flushed_is_synced(repo: Repo) -> None:
    with servers.running("wheel") as running:
        set_up(repo, f"unix://{running.path}")
        with server.client(parse(f"unix://{running.path}")) as client:
            client.flushall()
        (found,) = about(examine(repo), "mirror")
        assert "gone from the server" in found
        assert findings(examine(repo, "--fix")) == []


def test_a_damaged_filter_is_made_anew(ward: Repo) -> None:
    (gate,) = ward.state.glob("views/*/gate")
    gate.write_bytes(gate.read_bytes()[:-9])
    assert any("filter is missing, damaged" in what for what in about(examine(ward), "mirror"))
    assert findings(examine(ward, "--fix")) == []


# The record


def test_bad_lines_are_listed_and_copied_and_the_log_is_left_alone(ward: Repo) -> None:
    key = "AKIA" + "Z7WQ3PLM5RT2XKDB"
    bad = [b'{"torn": "', b"\xff\xfe broken", f'{{"summary":"key {key}"'.encode()]
    with ward.log.open("ab") as log:
        log.write(b"\n".join(bad) + b"\n")
    content = ward.log.read_bytes()
    found = about(examine(ward), "record")
    assert [f"line {number}" in what for number, what in zip((11, 12, 13), found[-3:], strict=True)]
    assert all("bad-line: " in what for what in found[-3:])
    for _ in range(2):
        examine(ward, "--fix")
    (copy,) = ward.state.glob("quarantine/*")
    assert copy.read_bytes().split(b"\n")[:2] == bad[:2]
    assert key.encode() not in copy.read_bytes()
    assert copy.read_bytes().count(b"torn") == 1
    assert copy.stat().st_mode & 0o777 == 0o600
    assert ward.log.read_bytes() == content


def test_a_secret_in_an_old_line_is_named_by_line_field_and_kind_alone(ward: Repo) -> None:
    key = "AKIA" + "Z7WQ3PLM5RT2XKDB"
    line = {"id": "obs-1790000200-000000000001", "summary": "deploys", "details": f"with {key}"}
    ward.write(*facts(), line)
    done = examine(ward)
    (found,) = [row for row in findings(done) if "secret" in row["what"]]
    assert found["severity"] == "problem"
    assert "in details" in found["what"]
    assert found["where"] == f"{LOG}, line 11"
    assert key not in done.out + done.err


def test_an_id_on_lines_of_different_content_is_named(ward: Repo) -> None:
    ward.write(*facts(), facts()[0] | {"summary": "Something else altogether"})
    (found,) = [what for what in about(examine(ward), "record") if "conflicting-id" in what]
    assert IDS["socket"] in found
    assert "lines 1, 11" in found


def test_a_log_that_shrank_stays_a_finding_until_someone_says_it_is_right(ward: Repo) -> None:
    assert examine(ward).code == 0
    ward.write(facts()[0])
    for _ in range(2):
        (found,) = [row for row in findings(examine(ward)) if row["check"] == "size"]
        assert "holds 1 observations; on " in found["what"]
        assert "it held 10" in found["what"]
    Path(found["do"].rpartition(" ")[2]).unlink()
    assert about(examine(ward), "size") == []


def test_a_log_that_git_ignores_is_a_problem(ward: Repo) -> None:
    (ward.root / ".gitignore").write_text("grimoires/\n")
    ward.git("rm", "-rq", "--cached", "grimoires")
    assert any("git ignores the log" in what for what in about(examine(ward), "record"))


def test_a_log_that_was_never_committed_is_named(repo: Repo, url: str) -> None:
    repo.git("commit", "-qm", "empty", "--allow-empty")
    repo.write(*facts())
    assert any("never committed" in what for what in about(examine(repo, VALOR_REDIS_URL=url), "record"))


def test_no_log_and_a_broken_routing_table_are_problems(ward: Repo) -> None:
    ward.log.unlink()
    table = ward.root / ".claude/loa/reference/memory-reference.md"
    table.write_text("no table\n")
    found = about(examine(ward), "record")
    assert any("there is no log" in what for what in found)
    assert any("memory-reference.md" in what for what in found)


# What was left behind


def test_leftovers_are_named_and_removed(ward: Repo) -> None:
    dead = ward.root / f".claude/.settings.json.valor-{2**22 - 3}"
    living = ward.root / f".claude/.settings.json.valor-{os.getpid()}"
    dead.touch()
    living.touch()
    assert about(examine(ward), "leftovers") == [f"left by an init that was killed | {dead}"]
    examine(ward, "--fix")
    assert living.exists()
    assert not dead.exists()


def test_a_dead_servers_files_are_removed_and_a_living_ones_are_not(ward: Repo) -> None:
    with servers.own_config() as config:
        runtime = config.runtime
        runtime.mkdir(mode=0o700)
        stem = server.address(config._replace(state=ward.state)).path.removesuffix(".sock")
        for suffix in ("lock", "watch", "pid"):
            Path(f"{stem}.{suffix}").touch()
        env = {"VALOR_RUNTIME_DIR": str(runtime)}
        assert any(
            "server of valor's that is gone" in what for what in about(examine(ward, **env), "leftovers")
        )
        assert findings(examine(ward, "--fix", **env)) == []
        assert list(runtime.iterdir()) == []
        ward.env["VALOR_REDIS_URL"] = ""
        try:
            assert ward.valor("server", "start", **env).code == 0
            assert about(examine(ward, "--fix", **env), "leftovers") == []
            assert ward.valor("server", "status", **env).code == 0
        finally:
            ward.valor("server", "stop", **env)


def test_a_canary_of_a_killed_doctor_is_removed(ward: Repo) -> None:
    from valor import viewfile
    from valor.doctor.canary import PREFIX

    (view,) = ward.state.glob("views/*/view")
    gone = str(ward.home / f"{PREFIX}0123456789abcdef")
    folder = Path(viewfile.folder(str(ward.state), gone))
    folder.mkdir()
    (folder / "view").write_text(json.dumps(json.loads(view.read_text()) | {"root": gone}))
    assert any("doctor that was killed" in what for what in about(examine(ward), "leftovers"))
    assert findings(examine(ward, "--fix")) == []
    assert not folder.exists()


# All of them


def test_a_check_that_fails_is_a_finding_and_hides_no_other(ward: Repo) -> None:
    ward.log.unlink()
    ward.log.mkdir()
    (ward.root / ".claude/scripts/memory-route.sh").unlink()
    (ward.root / ".gitattributes").unlink()
    (ward.root / ".gitattributes").mkdir()
    done = examine(ward)
    assert done.code == 1
    assert any("memory-route.sh" in what for what in about(done, "installed"))
    assert any("could not be checked" in row["what"] for row in findings(done))
    assert "claude UserPromptSubmit" in done.rows[-1]["measured"]["proven"]


def test_a_check_that_never_ends_is_ended(tmp_path: Path) -> None:
    from valor.doctor.limit import within

    start = time.monotonic()
    with pytest.raises(TimeoutError), within(0.2):
        time.sleep(30)
    assert time.monotonic() - start < 5


def test_fix_never_edits_settings_or_log(ward: Repo) -> None:
    rewire(ward, '"timeout": 5', '"timeout": 2000')
    with ward.log.open("ab") as log:
        log.write(b"{torn\n")
    before = {path: path.read_bytes() for path in (ward.root / SETTINGS, ward.log)}
    assert examine(ward, "--fix").code == 1
    assert {path: path.read_bytes() for path in before} == before


def test_fix_says_so_where_there_is_nothing_to_mend(ward: Repo) -> None:
    assert "nothing that it mends" in examine(ward, "--fix").err
