"""The compiled table in the state folder: the same verdicts as a fresh one, and never a stale one."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Repo

from valor.errors import BrokenTable, Unavailable, UsageError
from valor.routing import router
from valor.routing.match import decide
from valor.routing.router import Router
from valor.routing.table import load

SHIPPED = Path(__file__).parents[1] / "valor" / "templates" / "memory-reference.md"
PAGE = """
| Scope | Owner | Storage | Signals | Examples |
|---|---|---|---|---|
| Tools | observations | log.jsonl | exits 0 | The compiler drops the flag without a warning. |
| People | auto-memory | MEMORY.md | @person + @wants | She wants short answers.<br>답변은 짧게. |
| Rules | instructions | CLAUDE.md | — | Every module has an owner. |
| Rest | nowhere | — | @secret | Continue with the menu tomorrow. |

| Left ambiguous | Signals | Examples |
|---|---|---|
| Others | @others | The client likes red. |
"""
TEXTS = [
    "The compiler drops the flag without a warning.",
    "The user would like short answers",
    "답변을 짧게 해 달라",
    "The admin password is " + "hunter" + "22",
    "The client's designer would like larger icons.",
    "Every module has a test; she wants short answers.",
    "",
    "zxqv wvrk",
    "`tool --flag` exits 0 \ud800 although nothing was written",
]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.md"
    path.write_text(PAGE, "utf-8")
    return path


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "home" / "state" / "valor"


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each time a page is compiled."""
    times: list[int] = []
    real = router.learn

    def learn(table: router.Table) -> dict[str, object]:
        times.append(len(table.rows))
        return real(table)

    monkeypatch.setattr(router, "learn", learn)
    return times


def kept(state: Path) -> Path:
    (path,) = (state / "routing").iterdir()
    return path


def test_a_kept_table_decides_as_a_fresh_one(tmp_path: Path, state: Path, compiled: list[int]) -> None:
    table = load(SHIPPED)
    texts = TEXTS + [example + " " + row.scope for row in table.rows for example in row.examples[::6]]
    Router(SHIPPED, state)
    again = Router(SHIPPED, state)
    assert len(compiled) == 1
    for text in texts:
        assert again.decide(text) == decide(table, text), text


def test_an_unchanged_page_is_compiled_once(page: Path, state: Path, compiled: list[int]) -> None:
    for _ in range(3):
        assert Router(page, state).decide(TEXTS[0]).owner == "observations"
    assert len(compiled) == 1


def test_an_edit_is_noticed_even_where_size_and_time_stay(page: Path, state: Path) -> None:
    assert Router(page, state).decide(TEXTS[0]).store == "log.jsonl"
    before = page.stat()
    page.write_text(PAGE.replace("log.jsonl", "new.jsonl"), "utf-8")
    os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert page.stat().st_size == before.st_size
    assert Router(page, state).decide(TEXTS[0]).store == "new.jsonl"
    page.write_text(PAGE, "utf-8")
    assert Router(page, state).decide(TEXTS[0]).store == "log.jsonl"


def test_other_code_does_not_believe_what_this_code_kept(
    page: Path, state: Path, compiled: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    Router(page, state)
    monkeypatch.setattr(router, "__version__", "0.0.0")
    Router(page, state)
    assert len(compiled) == 2


def test_every_module_that_shapes_what_is_kept_is_in_the_stamp(tmp_path: Path) -> None:
    code = (
        "import sys, valor.routing.learn; print(*(m for m in sys.modules if m.startswith('valor.routing.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {f"{name.rpartition('.')[2]}.py" for name in done.stdout.split()} == set(router._CODE)


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: raw[: len(raw) // 2],
        lambda raw: raw[:-1],
        lambda raw: b"",
        lambda raw: b"[1]" + raw[3:],
        lambda raw: raw.replace(b"MEMORY.md", b"MEMORY.mb"),
        lambda raw: raw[: raw.rindex(b"menu")] + b"mfnu" + raw[raw.rindex(b"menu") + 4 :],
        lambda raw: os.urandom(len(raw)),
    ],
    ids=["half", "one byte short", "empty", "other head", "other page", "a bit", "noise"],
)
def test_damage_is_compiled_away(
    page: Path, state: Path, compiled: list[int], damage: Callable[[bytes], bytes]
) -> None:
    Router(page, state)
    whole = kept(state).read_bytes()
    kept(state).write_bytes(damage(whole))
    assert Router(page, state).decide(TEXTS[1]) == decide(load(page), TEXTS[1])
    assert len(compiled) == 2
    assert kept(state).read_bytes() == whole
    Router(page, state)
    assert len(compiled) == 2


def test_a_state_folder_that_cannot_be_written_costs_speed_alone(page: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    for state in (blocked, blocked / "valor"):
        assert Router(page, state).decide(TEXTS[0]).owner == "observations"
    folder = tmp_path / "state"
    (folder / "routing").mkdir(parents=True)
    name = f"{router.zlib.crc32(os.fsencode(page.resolve())):08x}"
    (folder / "routing" / name).mkdir()  # a folder where the file would be
    assert Router(page, folder).decide(TEXTS[0]).owner == "observations"
    assert [path.name for path in (folder / "routing").iterdir()] == [name]


def test_the_folder_is_private_and_holds_one_file_a_page(page: Path, state: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.md"
    other.write_text(PAGE.replace("log.jsonl", "other.jsonl"), "utf-8")
    for _ in range(2):
        assert Router(page, state).decide(TEXTS[0]).store == "log.jsonl"
        assert Router(other, state).decide(TEXTS[0]).store == "other.jsonl"
    assert stat.S_IMODE(state.stat().st_mode) == stat.S_IMODE((state / "routing").stat().st_mode) == 0o700
    assert len(list((state / "routing").iterdir())) == 2


def test_a_broken_page_is_an_error_each_time(page: Path, state: Path) -> None:
    Router(page, state)
    page.write_text(PAGE.replace("| instructions |", "| vault |"), "utf-8")
    for _ in range(2):
        with pytest.raises(BrokenTable) as caught:
            Router(page, state)
        assert caught.value.line == 6
    page.write_bytes(PAGE.encode("utf-16"))
    with pytest.raises(BrokenTable):
        Router(page, state)
    page.unlink()
    with pytest.raises(Unavailable):
        Router(page, state)


def test_a_kept_table_says_where_an_owner_writes(page: Path, state: Path) -> None:
    Router(page, state)
    again = Router(page, state)
    assert (again.store_of("auto-memory"), again.store_of("nowhere")) == ("MEMORY.md", "")
    with pytest.raises(UsageError):
        again.store_of("memory")


def test_the_commands_keep_it_outside_the_repository(repo: Repo) -> None:
    table = repo.root / ".claude" / "loa" / "reference" / "memory-reference.md"
    table.parent.mkdir(parents=True)
    table.write_text(PAGE, "utf-8")
    before = sorted(repo.root.rglob("*"))
    assert repo.valor("route", TEXTS[0]).rows[0]["store"] == "log.jsonl"
    assert kept(repo.state).stat().st_size > 0
    table.write_text(PAGE.replace("log.jsonl", "new.jsonl"), "utf-8")
    assert repo.valor("route", TEXTS[0]).rows[0]["store"] == "new.jsonl"
    table.write_text(PAGE.replace("| observations |", "| logs |"), "utf-8")
    broken = repo.valor("observe", "The compiler drops the flag without a warning.")
    assert (broken.code, "line 4" in broken.err) == (5, True)
    assert sorted(repo.root.rglob("*")) == before


def test_a_start_with_a_kept_table_imports_nothing_it_can_do_without(page: Path, state: Path) -> None:
    Router(page, state)
    code = (
        "import sys; from pathlib import Path; from valor.routing.router import Router\n"
        f"Router(Path({str(page)!r}), Path({str(state)!r})).decide('The tool drops the flag')\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"hashlib", "unicodedata", "tempfile", "pickle", "subprocess"}
