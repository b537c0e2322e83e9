from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import VALOR, Repo

from valor.record import MAX_LINE_BYTES

FINDING = "The socket pool hands out a dead connection after a fork"
PREFERENCE = "The user prefers short answers without headings and wants to be asked before any commit"


def token() -> str:
    return "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def secrets() -> dict[str, str]:
    """A secret of each kind, put together here so that this file holds none."""
    return {
        "cloud key": "deploys used AKIA" + "QX7RT2MNPLKJ9ZWE for the bucket",
        "token": f"CI clones with {token()} and fails",
        "url": "the pool connects to postgres" + "://svc:tr0ub4dor@db.internal/app and hangs",
        "key block": "the signer reads -----BEGIN RSA PRIV"
        + "ATE KEY-----\nMIIEowIBAAKCAQEA7\n-----END RSA PRIV"
        "ATE KEY-----",
    }


def everything_under(*folders: Path) -> bytes:
    return b"".join(
        path.read_bytes()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and not path.is_socket()
    )


def test_the_first_observation_makes_the_folders_and_prints_its_id(repo: Repo) -> None:
    result = repo.valor("observe", FINDING, "--type", "error", "--tag", "sockets", "--ref", "pool.py:42")
    assert result.code == 0
    [line] = repo.lines()
    assert result.out == line["id"] + "\n"
    assert line["summary"] == FINDING
    assert (line["type"], line["tags"], line["references"]) == ("error", ["sockets"], ["pool.py:42"])
    assert (line["source"], line["importance"], line["tool"], line["private"]) == (
        "intentional",
        8.0,
        "observe",
        False,
    )


def test_a_line_is_written_compact_in_the_documented_key_order(repo: Repo) -> None:
    repo.valor(
        "observe",
        "The 성능 probe fails silently because the cache is cold after a deploy",
        LOA_SESSION_ID="s-1",
    )
    raw = repo.log.read_text("utf-8")
    assert raw.startswith('{"id":"obs-')
    assert "성능" in raw
    keys = "id timestamp session_id type summary details tags references tool private source importance"
    assert list(json.loads(raw)) == keys.split()
    assert json.loads(raw)["session_id"] == "s-1"


@pytest.mark.parametrize(
    ("arguments", "importance"),
    [
        (("--source", "agent"), 1.0),
        (("--source", "agent", "--type", "decision"), 4.0),
        (("--source", "human"), 6.0),
        (("--source", "merge"), 7.0),
        (("--importance", "2.5"), 2.5),
    ],
)
def test_importance_follows_the_source_unless_it_is_given(
    repo: Repo, arguments: list[str], importance: float
) -> None:
    assert repo.valor("observe", FINDING, *arguments).code == 0
    assert repo.lines()[0]["importance"] == importance


def test_repeating_an_observation_prints_the_existing_id_and_writes_nothing(repo: Repo) -> None:
    first = repo.valor("observe", FINDING)
    before = repo.log.read_bytes()
    again = repo.valor("observe", "  the SOCKET pool hands out  a dead connection\tafter a fork ")
    assert (again.code, again.out) == (0, first.out)
    assert repo.log.read_bytes() == before
    assert repo.valor("observe", FINDING, "--details", "only on Linux").out != first.out


def test_the_same_observation_177_times_at_once_is_one_line(repo: Repo) -> None:
    for _ in range(3):
        batch = [
            subprocess.Popen([VALOR, "observe", FINDING], cwd=repo.root, env=repo.env, stdout=subprocess.PIPE)
            for _ in range(9)
        ]
        assert len({process.communicate()[0] for process in batch}) == 1
    many = "\n".join([json.dumps({"summary": FINDING})] * 150)
    result = repo.valor("observe", "--stdin", stdin=many)
    assert {row["status"] for row in result.rows} == {"exists"}
    assert len(repo.lines()) == 1


def test_saying_a_retracted_text_again_is_a_new_observation(repo: Repo) -> None:
    first = repo.valor("observe", FINDING).out.strip()
    with repo.log.open("a") as file:
        file.write(
            json.dumps({"id": "sup-1", "type": "supersession", "supersedes": [first], "by": None}) + "\n"
        )
    again = repo.valor("observe", FINDING)
    assert again.code == 0
    assert again.out.strip() != first
    assert repo.valor("memory-query", "socket pool").rows[0]["id"] == again.out.strip()


def test_two_offline_clones_that_observe_one_text_keep_two_lines(make_repo: Callable[[str], Repo]) -> None:
    origin = make_repo("origin")
    origin.valor("init")
    origin.git("add", "-A")
    origin.git("commit", "-qm", "base")
    clones = []
    for name in ("one", "two"):
        clone = make_repo(f"clones/{name}")
        clone.git("pull", "-q", str(origin.root), "main")
        assert clone.valor("observe", FINDING).code == 0
        clone.git("commit", "-qam", name)
        clones.append(clone)
    clones[0].git("pull", "-q", "--no-rebase", "--no-edit", str(clones[1].root), "main")
    ids = {line["id"] for line in clones[0].lines()}
    assert len(ids) == 2
    assert {row["id"] for row in clones[0].valor("memory-query", "socket").rows} == ids


def test_after_a_pull_an_observation_adds_exactly_one_line_to_the_diff(
    make_repo: Callable[[str], Repo],
) -> None:
    origin, clone = make_repo("origin"), make_repo("clone")
    origin.valor("observe", FINDING)
    origin.git("add", "-A")
    origin.git("commit", "-qm", "base")
    clone.git("pull", "-q", str(origin.root), "main")
    clone.valor("observe", "the index is rebuilt when the schema version changes")
    clone.git("checkout", "-q", "--", ".")
    batch = "\n".join(json.dumps({"summary": f"the worker {n} drops its queue on reload"}) for n in range(50))
    origin.valor("observe", "--stdin", stdin=batch)
    origin.git("commit", "-qam", "fifty")
    clone.git("pull", "-q", str(origin.root), "main")
    assert len(clone.lines()) == 51
    assert clone.valor("observe", "the index is rebuilt when the schema version changes").code == 0
    assert clone.git("diff", "--numstat").split()[:2] == ["1", "0"]


def test_nothing_is_staged_and_nothing_is_written_under_dot_git(repo: Repo) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "base")

    def inside() -> dict[str, bytes]:
        folder = repo.root / ".git"
        return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    before = inside()
    assert repo.valor("observe", FINDING).code == 0
    assert repo.valor("memory-query", "socket", "--blame").code == 0
    assert inside() == before
    assert sorted(path.name for path in repo.root.iterdir()) == [".git", "grimoires"]


@pytest.mark.parametrize("kind", secrets())
@pytest.mark.parametrize("place", ["text", "details", "tag", "ref", "stdin"])
def test_a_secret_is_refused_and_leaves_no_trace_anywhere(repo: Repo, kind: str, place: str) -> None:
    text = secrets()[kind]
    arguments = {
        "text": ["observe", text],
        "details": ["observe", FINDING, "--details", text],
        "tag": ["observe", FINDING, "--tag", text],
        "ref": ["observe", FINDING, "--ref", text],
        "stdin": ["observe", "--stdin"],
    }[place]
    stdin = json.dumps({"summary": FINDING, "note": {"deep": [text]}}) if place == "stdin" else ""
    result = repo.valor(*arguments, stdin=stdin)
    assert result.code == 4
    assert not repo.log.exists() or not repo.log.read_bytes()
    core = max(text.split(), key=len)
    assert core not in result.err + result.out
    assert core.encode() not in everything_under(repo.root, repo.home)


def test_redact_writes_the_rest_and_says_what_was_replaced(repo: Repo) -> None:
    result = repo.valor("observe", f"CI clones with {token()} and fails at the submodule", "--redact")
    assert result.code == 0
    assert "redacted" in result.err
    assert token().encode() not in everything_under(repo.root, repo.home)
    assert repo.lines()[0]["summary"].endswith("and fails at the submodule")


def test_private_parts_never_reach_the_file(repo: Repo) -> None:
    text = "The import needs a warm cache <private>Ada said her login is shared</private> on the first run"
    assert repo.valor("observe", text).code == 0
    assert b"Ada" not in everything_under(repo.root, repo.home)
    refused = repo.valor("observe", "<private>all of it</private>")
    assert refused.code == 4


def test_what_another_store_owns_is_refused_with_owner_path_and_rule(repo: Repo) -> None:
    result = repo.valor("observe", PREFERENCE)
    assert result.code == 3
    assert "auto-memory" in result.err
    assert "MEMORY.md" in result.err or "memory/" in result.err
    assert not repo.log.exists()
    row = repo.valor("observe", PREFERENCE, "--json").rows[0]
    assert row["owner"] == "auto-memory"
    assert row["store"]
    assert row["rule"]


def test_owner_observations_overrules_the_table_and_the_line_says_so(repo: Repo) -> None:
    assert repo.valor("observe", PREFERENCE, "--owner", "observations").code == 0
    assert repo.lines()[0]["routed"] == "override"
    repo.valor("observe", FINDING, "--owner", "observations")
    assert "routed" not in repo.lines()[1]


def test_naming_another_owner_is_refused(repo: Repo) -> None:
    assert repo.valor("observe", FINDING, "--owner", "auto-memory").code == 3
    slip = repo.valor("observe", FINDING, "--owner", "observation")
    assert slip.code == 2
    assert "did you mean observations?" in slip.err


def test_a_broken_table_is_an_error_with_its_line_and_nothing_is_written(repo: Repo) -> None:
    repo.valor("init")
    table = repo.root / ".claude/loa/reference/memory-reference.md"
    table.write_text(table.read_text("utf-8").replace("| observations |", "| observation |", 1), "utf-8")
    result = repo.valor("observe", FINDING)
    assert result.code == 5
    assert f"{table}: line " in result.err
    assert not repo.log.read_bytes()


@pytest.mark.parametrize("text", ["ok, done", '{"a": [1, 2', "I'm sorry, but I can't help with that."])
def test_junk_is_refused(repo: Repo, text: str) -> None:
    assert repo.valor("observe", text).code == 4
    assert not repo.log.exists()


def test_supersedes_takes_a_prefix_and_hides_the_old_line(repo: Repo) -> None:
    old = repo.valor("observe", FINDING).out.strip()
    new = repo.valor(
        "observe", "Since 2.0 the socket pool rebuilds itself after a fork", "--supersedes", old[:-3]
    )
    assert repo.lines()[1]["supersedes"] == [old]
    assert [row["id"] for row in repo.valor("memory-query", "socket pool").rows] == [new.out.strip()]
    rows = {row["id"]: row for row in repo.valor("memory-query", "socket pool", "--all").rows}
    assert rows[old]["superseded_by"] == new.out.strip()


def test_superseding_an_id_that_nobody_has_names_the_nearest(repo: Repo) -> None:
    old = repo.valor("observe", FINDING).out.strip()
    result = repo.valor(
        "observe", "The pool now rebuilds itself after a fork", "--supersedes", old[:-1] + "zz"
    )
    assert result.code == 2
    assert f"did you mean {old}?" in result.err
    assert len(repo.lines()) == 1


def test_a_batch_reports_each_lines_fate_and_the_good_ones_land(repo: Repo) -> None:
    batch = [
        json.dumps({"summary": FINDING, "type": "error", "custom": {"kept": [1]}}),
        "",
        "not json",
        json.dumps({"summary": PREFERENCE}),
        json.dumps({"summary": f"CI clones with {token()} and fails"}),
        json.dumps({"summary": "ok"}),
        json.dumps({"summary": FINDING}),
        json.dumps({"summary": "Broken", "type": "lerning"}),
        json.dumps({"sumary": FINDING}),
    ]
    result = repo.valor("observe", "--stdin", stdin="\n".join(batch))
    fates = {row["line"]: (row["status"], row.get("exit", 0)) for row in result.rows}
    assert fates == {
        1: ("written", 0), 3: ("refused", 2), 4: ("refused", 3), 5: ("refused", 4), 6: ("refused", 4),
        7: ("exists", 0), 8: ("refused", 2), 9: ("refused", 2),
    }  # fmt: skip
    assert result.code == 4
    [line] = repo.lines()
    assert line["custom"] == {"kept": [1]}
    assert "did you mean sumary?" in next(row for row in result.rows if row["line"] == 9)["hint"]


def test_details_come_from_standard_input(repo: Repo) -> None:
    assert repo.valor("observe", FINDING, "--details", "-", stdin="first\nsecond\n").code == 0
    assert repo.lines()[0]["details"] == "first\nsecond"


def test_a_text_of_several_lines_has_its_first_as_summary(repo: Repo) -> None:
    repo.valor("observe", f"{FINDING}\n\nSeen on Linux.", "--details", "And on BSD.")
    assert repo.lines()[0]["summary"] == FINDING
    assert repo.lines()[0]["details"] == "Seen on Linux.\nAnd on BSD."


def test_a_line_over_64_kib_is_refused(repo: Repo) -> None:
    details = "the queue overflowed again " * 4000
    result = repo.valor("observe", FINDING, "--details", "-", stdin=details)
    assert result.code == 4
    assert f"{MAX_LINE_BYTES:,}" in result.err
    assert not repo.log.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--type", "eror"],
        ["--source", "robot"],
        ["--importance", "11"],
        ["--importance", "nan"],
        ["--importance", "high"],
        ["--tpye", "error"],
    ],
)
def test_a_slip_is_a_usage_error_and_writes_nothing(repo: Repo, arguments: list[str]) -> None:
    result = repo.valor("observe", FINDING, *arguments)
    assert result.code == 2
    assert result.err.startswith("valor: ")
    assert not repo.log.exists()


def test_memory_that_is_off_writes_nothing(repo: Repo) -> None:
    result = repo.valor("observe", FINDING, LOA_MEMORY_ENABLED="false")
    assert (result.code, result.out) == (0, "")
    assert "off" in result.err
    assert not repo.log.exists()


def test_a_locked_log_is_reported_after_the_time_out(repo: Repo) -> None:
    repo.valor("observe", FINDING)
    hold = "import fcntl,sys;f=open(sys.argv[1],'r+');fcntl.flock(f,2);print(1,flush=True);input()"
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, str(repo.log)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout
    holder.stdout.readline()
    result = repo.valor("observe", "the scheduler skips a beat at midnight UTC", VALOR_LOCK_TIMEOUT="0.2")
    holder.kill()
    holder.communicate()
    assert result.code == 5
    assert "locked" in result.err
    assert repo.valor("observe", "the scheduler skips a beat at midnight UTC").code == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_checkout_is_an_error(repo: Repo) -> None:
    repo.root.chmod(0o500)
    try:
        assert repo.valor("observe", FINDING).code == 5
    finally:
        repo.root.chmod(0o700)


def test_a_state_folder_that_cannot_be_made_costs_no_observation(repo: Repo) -> None:
    (repo.home / "state").write_text("a file is in the way")
    assert repo.valor("observe", FINDING).code == 0
    assert len(repo.lines()) == 1


def test_the_state_folder_is_private(repo: Repo) -> None:
    repo.valor("observe", FINDING)
    assert repo.state.stat().st_mode & 0o777 == 0o700


def secret_password() -> str:
    return "Xk9!mQ2v#" + "Lp7z"


@pytest.mark.parametrize(
    "more",
    [
        {"password": ["<it>"]},
        {"api_key": {"value": "q8Zr2LmX7vTn4KpW9" + "sYd3HbC"}},
        {"env": [{"name": "DB_PASSWORD", "value": "<it>"}]},
        {"password": 8273645518},
        {"password": 'ab"<it>'},
        {"summary": "The staging database password:", "details": "<it>"},
        {"session_id": "<token>"},
        {"deep": {"<token>": 1}},
    ],
)
def test_a_secret_in_any_field_is_refused(repo: Repo, more: dict[str, object]) -> None:
    text = json.dumps({"summary": FINDING} | more)
    text = text.replace("<it>", secret_password()).replace("<token>", token())
    result = repo.valor("observe", "--stdin", "--owner", "observations", stdin=text)
    assert result.code == 4
    assert not repo.log.exists()
    assert secret_password() not in result.out + result.err


def test_a_secret_in_the_session_id_is_refused(repo: Repo) -> None:
    assert repo.valor("observe", FINDING, LOA_SESSION_ID=token()).code == 4
    assert not repo.log.exists()


@pytest.mark.parametrize(
    "arguments", [["--importance", "<token>"], ["--type", "<token>"], ["unquoted", "<token>"]]
)
def test_an_error_never_repeats_a_secret(repo: Repo, arguments: list[str]) -> None:
    result = repo.valor("observe", FINDING, *(one.replace("<token>", token()) for one in arguments))
    assert result.code in (2, 4)
    assert token() not in result.err


def test_private_parts_of_nested_fields_never_reach_the_file(repo: Repo) -> None:
    entry = {
        "summary": FINDING,
        "extra": [{"n": "a <private>salary</private>", "<private>salary</private>b": 1}],
    }
    assert repo.valor("observe", "--stdin", stdin=json.dumps(entry)).code == 0
    assert b"salary" not in repo.log.read_bytes()


def test_an_id_that_is_taken_is_refused(repo: Repo) -> None:
    repo.write({"id": "sup-1", "type": "supersession", "supersedes": ["a"], "by": None})
    batch = [
        {"id": "d", "summary": FINDING},
        {"id": "d", "summary": "the scheduler skips a beat at midnight UTC"},
        {"id": "sup-1", "summary": "the queue drains twice after a restart"},
    ]
    result = repo.valor("observe", "--stdin", stdin="\n".join(map(json.dumps, batch)))
    assert [row["status"] for row in result.rows] == ["written", "refused", "refused"]
    assert result.code == 2
    assert len(repo.lines()) == 2
    again = repo.valor("observe", "--stdin", stdin=json.dumps(batch[0]))
    assert again.rows[0]["status"] == "exists"


def test_standard_input_is_utf8_whatever_the_locale(repo: Repo) -> None:
    narrow = {"PYTHONIOENCODING": "cp1252", "LC_ALL": "C"}
    assert repo.valor("observe", FINDING, "--details", "-", stdin="naïve 日本語 \u0081", **narrow).code == 0
    assert repo.lines()[0]["details"] == "naïve 日本語 \u0081"
    broken = repo.valor("observe", FINDING + " again", "--details", "-", stdin=b"\xff\xfe")
    assert broken.code == 2
    assert "UTF-8" in broken.err


@pytest.mark.parametrize("arguments", [["--stdin"], [FINDING, "--details", "-"]])
def test_a_closed_standard_input_is_no_bug(repo: Repo, arguments: list[str]) -> None:
    quoted = " ".join(f"'{one}'" for one in [str(VALOR), "observe", *arguments])
    done = subprocess.run(["bash", "-c", f"{quoted} <&-"], cwd=repo.root, env=repo.env, capture_output=True)
    assert done.returncode == 5
    assert b"standard input is closed" in done.stderr


def test_without_any_home_folder_the_command_says_so(repo: Repo) -> None:
    repo.env = {"PATH": repo.env["PATH"], "HOME": "relative"}
    result = repo.valor("observe", FINDING)
    assert result.code == 5
    assert "HOME" in result.err
    assert not (repo.root / "relative").exists()


def test_an_interrupt_ends_with_130_and_no_traceback_of_ours(repo: Repo) -> None:
    batch = "\n".join(
        json.dumps({"summary": f"the worker {n} drops its queue on reload"}) for n in range(400)
    )
    codes = set()
    package = os.fsencode(Path(__file__).parents[1] / "valor")
    for milliseconds in range(30, 400, 37):
        process = subprocess.Popen(
            [VALOR, "observe", "--stdin"], cwd=repo.root, env=repo.env,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            process.communicate(batch.encode(), timeout=milliseconds / 1000)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        # Before our first line runs Python may complain by itself; from there on nothing does.
        assert package not in process.communicate()[1]
        codes.add(process.returncode)
    assert codes <= {0, 1, 130, -signal.SIGINT}
    assert 130 in codes
    assert not (repo.state / "errors.log").exists()


def test_a_refusal_names_the_harness_s_own_folder_for_this_repository(repo: Repo) -> None:
    slug = "".join(char if char.isalnum() else "-" for char in str(repo.root))
    result = repo.valor("observe", PREFERENCE)
    assert f"{repo.home}/.claude/projects/{slug}/memory/MEMORY.md" in result.err
    moved = repo.valor("route", PREFERENCE, CLAUDE_CONFIG_DIR="/elsewhere")
    assert moved.rows[0]["store"] == f"/elsewhere/projects/{slug}/memory/MEMORY.md"


def test_a_row_put_at_the_end_of_the_page_counts_at_once(repo: Repo) -> None:
    repo.valor("init")
    table = repo.root / ".claude/loa/reference/memory-reference.md"
    text = "The zorbling of the frobnicator is a matter of quorps"
    with table.open("a") as page:
        page.write(f"| Zorbling | instructions | docs/zorbling.md | zorbling | {text} |\n")
    row = repo.valor("route", text).rows[0]
    assert (row["owner"], row["store"], row["row"]) == ("instructions", "docs/zorbling.md", "Zorbling")
