"""Stubs that say `(stale?)`: a real mirror, real hooks, real git; and the baseline they are held to."""

from __future__ import annotations

import random
import re
import shutil
import tempfile
from pathlib import Path

import pytest
from conftest import Repo
from hooks import Agent, context, fire
from hypothesis import given, settings
from hypothesis import strategies as st
from test_stale import add, commit, line, put, stale

from valor import baseline_file, origins
from valor.baseline import is_doubtful
from valor.baseline_file import Baseline
from valor.confirm import digest
from valor.stub import MOST_CHARACTERS, MOST_STUBS, stub

TOPICS = ("zebrafish", "quicksand", "marzipan", "pterodactyl", "xylophone")


def mirrored(repo: Repo, url: str) -> Repo:
    repo.env["VALOR_REDIS_URL"] = url
    for topic in TOPICS:
        put(repo, f"src/{topic}.py", f"{topic}\n")
    add(repo, *(line(f"The {topic} stalls", f"src/{topic}.py:1") for topic in TOPICS))
    commit(repo)
    assert repo.valor("init").code == 0
    commit(repo)
    assert repo.valor("sync").code == 0
    return repo


def told(repo: Repo, topic: str, session: str, cwd: Path | None = None) -> str:
    """What a hook says to a prompt about the topic, as one stub."""
    event = Agent(repo, session).event("UserPromptSubmit", prompt=f"the {topic} again")
    if cwd:
        event["cwd"] = str(cwd)
    stubs = re.findall(r"<thought.*</thought>", context(fire(repo, event, cwd=cwd)))
    assert len(stubs) == 1
    return str(stubs[0])


def doubted(repo: Repo, topic: str, session: str, cwd: Path | None = None) -> bool:
    text = told(repo, topic, session, cwd)
    assert f"The {topic} stalls" in text
    assert text.endswith((" (stale?)</thought>", " stalls</thought>"))
    return " (stale?)" in text


def test_a_hook_sees_the_working_tree_as_it_is_without_a_sync(repo: Repo, url: str) -> None:
    mirrored(repo, url)
    assert not doubted(repo, "zebrafish", "one")
    put(repo, "src/zebrafish.py", "other\n")
    (repo.root / "src/quicksand.py").unlink()
    repo.git("mv", "src/marzipan.py", "src/renamed.py")
    put(repo, "src/xylophone.py", "xylophone\r\n")
    assert doubted(repo, "zebrafish", "two")
    assert doubted(repo, "quicksand", "two")
    assert doubted(repo, "marzipan", "two")
    assert not doubted(repo, "pterodactyl", "two")
    assert not doubted(repo, "xylophone", "two")
    put(repo, "src/zebrafish.py", "zebrafish\n")
    assert not doubted(repo, "zebrafish", "three")


def test_recall_and_brief_say_it_too(repo: Repo, url: str) -> None:
    mirrored(repo, url)
    put(repo, "src/zebrafish.py", "other\n")
    [row] = repo.valor("recall", "the zebrafish again").rows
    assert row["stub"].endswith("The zebrafish stalls (stale?)</thought>")
    lines = [one for one in repo.valor("brief").out.splitlines() if one.startswith("<thought")]
    assert [one for one in lines if "(stale?)" in one] == [one for one in lines if "zebrafish" in one] != []
    start = context(fire(repo, Agent(repo, "new").event("SessionStart", source="startup")))
    assert "The zebrafish stalls (stale?)</thought>" in start


def test_a_line_that_is_not_committed_is_doubted_where_its_path_is_missing(repo: Repo, url: str) -> None:
    mirrored(repo, url)
    for name, reference in (("armadillo", "src/never.py"), ("wombat", "src/zebrafish.py")):
        text = f"The {name} needs a second look after every deploy"
        assert repo.valor("observe", text, "--ref", reference).code == 0
    put(repo, "src/zebrafish.py", "other\n")
    assert "(stale?)" in told(repo, "armadillo", "one")
    assert "(stale?)" not in told(repo, "wombat", "one")


def test_a_line_is_held_to_its_commit_from_the_next_sync_on(repo: Repo, url: str) -> None:
    mirrored(repo, url)
    put(repo, "src/wombat.py", "one\n")
    assert repo.valor("observe", "The wombat needs a second look", "--ref", "src/wombat.py:1").code == 0
    assert repo.valor("sync").code == 0
    commit(repo)
    put(repo, "src/wombat.py", "two\n")
    assert repo.valor("sync").rows[0]["how"] == "unchanged"
    assert "(stale?)" in told(repo, "wombat", "one")


def test_a_branch_switch_and_a_worktree_are_judged_by_their_own_files(
    repo: Repo, url: str, tmp_path: Path
) -> None:
    mirrored(repo, url)
    linked = tmp_path / "linked"
    repo.git("worktree", "add", "-q", "-b", "linked", str(linked))
    assert repo.valor("sync", cwd=linked).code == 0
    (linked / "src/zebrafish.py").write_text("theirs\n")
    assert doubted(repo, "zebrafish", "one", cwd=linked)
    assert not doubted(repo, "zebrafish", "one again")
    repo.git("switch", "-q", "-c", "other")
    put(repo, "src/zebrafish.py", "two\n")
    commit(repo)
    assert doubted(repo, "zebrafish", "two")
    repo.git("switch", "-q", "main")
    assert not doubted(repo, "zebrafish", "three")


def test_where_only_part_of_the_tree_is_checked_out_nothing_is_taken_for_gone(repo: Repo, url: str) -> None:
    mirrored(repo, url)
    repo.git("sparse-checkout", "set", "grimoires", ".claude")
    assert not (repo.root / "src").exists()
    assert not doubted(repo, "zebrafish", "one")


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "foreign"])
def test_a_damaged_baseline_costs_the_comparison_alone(repo: Repo, url: str, damage: str) -> None:
    mirrored(repo, url)
    [path] = repo.state.glob("views/*/baseline")
    whole = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes({"empty": b"", "cut": whole[:-7], "foreign": b"x" * len(whole)}[damage])
    put(repo, "src/zebrafish.py", "other\n")
    (repo.root / "src/quicksand.py").unlink()
    assert not doubted(repo, "zebrafish", "one")
    assert doubted(repo, "quicksand", "one")
    assert stale(repo).keys() == {"The zebrafish stalls", "The quicksand stalls"}
    assert doubted(repo, "zebrafish", "two")


def test_stubs_and_the_command_agree(repo: Repo, url: str) -> None:
    mirrored(repo, url)
    put(repo, ".gitattributes", "*.up filter=up\n")
    repo.git("config", "filter.up.clean", "tr a-z A-Z")
    places = {
        "walrus": "src/[id].tsx",
        "narwhal": "src/größe 漢字.py",
        "ocelot": "src",
        "lemur": "link",
        "gibbon": "src/shout.up",
        "iguana": "feature/login",
        "puffin": "https://example.test/src/a.py",
    }
    for place in ("src/[id].tsx", "src/größe 漢字.py", "src/shout.up"):
        put(repo, place, "one\n")
    (repo.root / "link").symlink_to("src/zebrafish.py")
    add(repo, *(line(f"The {name} stalls", place) for name, place in places.items()))
    commit(repo)
    assert repo.valor("sync").code == 0
    assert not [name for name in places if doubted(repo, name, "one")]
    put(repo, "src/[id].tsx", "two\n")
    (repo.root / "src/größe 漢字.py").unlink()
    (repo.root / "link").unlink()
    (repo.root / "link").symlink_to("src/quicksand.py")
    expected = {name for name in places if f"The {name} stalls" in stale(repo)}
    assert expected == {"walrus", "narwhal", "lemur"}
    assert {name for name in places if doubted(repo, name, "two")} == expected
    shutil.rmtree(repo.root / "src")
    expected = {name for name in places if f"The {name} stalls" in stale(repo, "--limit", "0")}
    assert expected == {"walrus", "narwhal", "ocelot", "lemur", "gibbon"}
    assert {name for name in places if doubted(repo, name, "three")} == expected


def test_a_log_that_merely_grew_asks_git_for_no_history(repo: Repo, url: str, tmp_path: Path) -> None:
    mirrored(repo, url)
    real, calls = shutil.which("git"), tmp_path / "calls"
    counting = tmp_path / "bin" / "git"
    counting.parent.mkdir()
    counting.write_text(f'#!/bin/sh\necho "$*" >> "{calls}"\nexec {real} "$@"\n')
    counting.chmod(0o755)
    path = f"{counting.parent}:{repo.env['PATH']}"
    for number in range(3):
        add(repo, line(f"note {number}", "src/zebrafish.py"))
        assert repo.valor("sync", PATH=path).rows[0]["how"] == "appended"
    assert "blame" not in calls.read_text()
    assert len(calls.read_text().splitlines()) <= 3


def test_a_sync_without_git_works(repo: Repo, url: str, tmp_path: Path) -> None:
    mirrored(repo, url)
    add(repo, line("The wombat stalls", "src/zebrafish.py"))
    done = repo.valor("sync", PATH=str(tmp_path))
    assert (done.code, done.rows[0]["how"]) == (0, "appended")


def test_a_stub_has_room_for_the_doubt() -> None:
    for text in ("x" * 2_000, "&" * 2_000, "<b>" * 700, "(stale?)"):
        plain, doubtful = stub("obs-1", "error", text), stub("obs-1", "error", text, True)
        assert max(len(plain), len(doubtful)) <= (MOST_CHARACTERS - 2) // MOST_STUBS
        assert doubtful.endswith(" (stale?)</thought>")
        assert "\n" not in doubtful
    assert stub("obs-1", "error", " ", True) == ""


NAMES = [f"src/{letter}.py" for letter in "abc"]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("observe"), st.sampled_from(NAMES)),
        st.tuples(st.just("write"), st.integers(0, 3), st.sampled_from(NAMES)),
        st.tuples(st.just("commit")),
        st.tuples(st.just("branch"), st.integers(0, 2)),
        st.tuples(st.just("reword")),
        st.tuples(st.just("sync")),
    ),
    max_size=8,
)


@settings(max_examples=8)
@given(steps=STEPS)
def test_a_baseline_that_followed_is_one_made_anew(steps: list[tuple[object, ...]], url: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _follow(Path(folder), steps, url)


def _follow(home: Path, steps: list[tuple[object, ...]], url: str) -> None:
    repo = Repo(home / "repo", home)
    repo.root.mkdir()
    repo.git("init", "-q", "-b", "main")
    repo.env["VALOR_REDIS_URL"] = url
    for name in NAMES:
        put(repo, name, "0\n")
    add(repo, line("base", NAMES[0]))
    commit(repo)
    for number, (kind, *how) in enumerate([*steps, ("sync",)]):
        if kind == "observe":
            add(repo, line(f"note {number}", str(how[0])))
        elif kind == "write":
            put(repo, str(how[1]), f"{how[0]}\n")
        elif kind == "commit":
            repo.git("add", "-A")
            repo.git("commit", "-q", "--allow-empty", "-m", "step")
        elif kind == "reword":
            repo.git("commit", "-q", "--amend", "--allow-empty", "-m", "reworded")
        elif kind == "branch":
            repo.git("add", "-A")
            repo.git("commit", "-q", "--allow-empty", "-m", "leave")
            known = repo.git("branch", "--list", f"b{how[0]}")
            repo.git("switch", "-q", *([] if known else ["-c"]), f"b{how[0]}")
        else:
            assert repo.valor("sync").code == 0
    [path] = repo.state.glob("views/*/baseline")
    followed = baseline_file.parse(path.read_bytes())
    path.unlink()
    assert repo.valor("sync").code == 0
    fresh = baseline_file.parse(path.read_bytes())
    assert followed
    assert fresh
    assert followed.records == fresh.records


def test_the_file_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    chance = random.Random(3)
    commits = [chance.randbytes(20).hex() for _ in range(9)]
    known = Baseline(head=commits[0], size=7, end="ab")
    for number in range(500):
        each = baseline_file.Record(chance.choice([*commits, ""]), chance.randrange(5), chance.randbytes(16))
        known.records[number.to_bytes(8, "big")] = each
    origins.save(tmp_path, known)
    assert origins.load(tmp_path) == known
    assert [one.name for one in tmp_path.iterdir()] == ["baseline"]
    assert not is_doubtful(str(tmp_path), str(tmp_path), digest(b"no line of it"), ["src", "x y", "a/b"])
