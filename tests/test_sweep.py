"""What hooks leave behind does not pile up."""

from __future__ import annotations

import os
import time
from pathlib import Path

from valor import sweep
from valor.sweep import MOST_JOURNAL
from valor.viewfile import ViewFile

DAY = 86_400.0


def aged(folder: Path, days: float) -> Path:
    (folder / "told").mkdir(parents=True)
    (folder / "calls").write_text(".")
    for each in (folder / "told", folder / "calls", folder):
        os.utime(each, (0, time.time() - days * DAY))
    return folder


def view(folder: Path, root: Path) -> None:
    import orjson

    made = ViewFile(
        root=str(root),
        log="",
        identity=[],
        covered=0,
        url="",
        project="",
        view="",
        stamp="",
        end="",
        settled=True,
        gate=[],
        lines=0,
    )
    folder.mkdir(parents=True)
    (folder / "view").write_bytes(orjson.dumps(made.fields()))
    for each in (folder / "view", folder):
        os.utime(each, (0, time.time() - 40 * DAY))


def test_sessions_of_long_ago_go_and_others_stay(tmp_path: Path) -> None:
    old, new = aged(tmp_path / "sessions" / "old", 15), aged(tmp_path / "sessions" / "new", 13)
    woken = aged(tmp_path / "sessions" / "woken", 15)
    os.utime(woken / "calls")
    sweep.sweep(tmp_path, tmp_path)
    assert (old.exists(), new.exists(), woken.exists()) == (False, True, True)


def test_the_view_of_a_checkout_that_is_gone_goes(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    view(tmp_path / "views" / "a", here)
    view(tmp_path / "views" / "b", tmp_path / "gone")
    sweep.sweep(tmp_path, tmp_path)
    assert (tmp_path / "views" / "a").exists()
    assert not (tmp_path / "views" / "b").exists()


def test_a_long_journal_keeps_its_newer_half_in_whole_lines(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    line = b'{"at":1,"session":"s","event":"Stop","ids":[]}\n'
    count = MOST_JOURNAL // len(line) + 10
    journal.write_bytes(line * count)
    sweep.sweep(tmp_path, tmp_path)
    kept = journal.read_bytes()
    assert set(kept.splitlines(keepends=True)) == {line}
    assert MOST_JOURNAL // 3 < len(kept) <= MOST_JOURNAL // 2
    sweep.sweep(tmp_path, tmp_path)
    assert journal.read_bytes() == kept


def test_an_empty_state_folder_is_no_trouble(tmp_path: Path) -> None:
    sweep.sweep(tmp_path / "none", tmp_path / "none")
