from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor import digests, log
from valor.digests import Digests, digest

texts = st.sampled_from(["one", "two", "three", "Two  ", "vier"])
steps = st.lists(
    st.tuples(st.sampled_from(["append", "cut", "edit", "replace", "torn", "mark"]), texts),
    min_size=1,
    max_size=8,
)


def line(text: str, **more: object) -> bytes:
    return json.dumps({"id": f"obs-{text}", "summary": text} | more).encode() + b"\n"


def indexed(state: Path, path: Path) -> dict[str, list[int]]:
    """What the index says of each text, after it was opened, brought up to date and saved."""
    fd = os.open(path, os.O_RDWR)
    try:
        index = Digests(state, path)
        index.refresh(fd)
        index.save(fd)
        return {
            text: list(index.candidates(digest({"summary": text})))
            for text in ("one", "two", "three", "vier")
        }
    finally:
        os.close(fd)


def counted(path: Path) -> dict[str, list[int]]:
    """The same by reading the whole file."""
    found: dict[str, list[int]] = {text: [] for text in ("one", "two", "three", "vier")}
    data = path.read_bytes()
    for one in log.lines(path):
        if isinstance(one, log.Line) and data[one.offset + len(one.raw) :].startswith(b"\n"):
            text = digests.normalise(str(one.record.get("summary", "")))
            if text in found and one.record.get("type") != "supersession":
                found[text].append(one.offset)
    return found


@given(steps)
def test_the_index_answers_as_the_whole_file_would_whatever_happened_to_it(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("index")
    path = folder / "log.jsonl"
    path.write_bytes(line("one"))
    before = digests._BLOCK
    digests._BLOCK = 64  # so that a small file spans many blocks
    try:
        for step, text in history:
            data = path.read_bytes()
            if step == "append":
                path.open("ab").write(line(text))
            elif step == "torn":
                path.open("ab").write(line(text)[:-3])
            elif step == "mark":
                path.open("ab").write(line(text, type="supersession"))
            elif step == "cut":
                os.truncate(path, len(data) // 2)
            elif step == "edit":
                path.write_bytes(data.replace(b"one", b"two", 1))
            else:
                path.unlink()
                path.write_bytes(line(text) + data[: len(data) // 3])
            assert indexed(folder / "state", path) == counted(path)
    finally:
        digests._BLOCK = before


def test_extending_is_refreshing_without_reading_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(line("one"))
    fd = os.open(path, os.O_RDWR | os.O_APPEND)
    index = Digests(tmp_path / "state", path)
    index.refresh(fd)
    os.write(fd, line("two") + line("one"))
    index.extend(fd)
    index.save(fd)
    os.close(fd)
    assert list(index.candidates(digest({"summary": "one"}))) == counted(path)["one"]
    assert indexed(tmp_path / "state", path) == counted(path)


def test_a_damaged_index_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(line("one") + line("two"))
    indexed(tmp_path / "state", path)
    [saved] = (tmp_path / "state" / "digests").iterdir()
    for damage in (b"", b"{}\n", saved.read_bytes()[:-5], b"\0" * 40):
        saved.write_bytes(damage)
        assert indexed(tmp_path / "state", path) == counted(path)


def test_the_index_holds_no_text(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(line("distinctive words"))
    indexed(tmp_path / "state", path)
    [saved] = (tmp_path / "state" / "digests").iterdir()
    assert b"distinctive" not in saved.read_bytes()


@pytest.mark.parametrize("twin", ["Redis needs PING", "  redis   needs\nping ", "ＲＥＤＩＳ needs ping"])
def test_texts_that_differ_in_case_space_or_width_are_the_same(twin: str) -> None:
    assert digest({"summary": twin}) == digest({"summary": "redis needs ping"})


def test_details_count_and_do_not_run_into_the_summary() -> None:
    assert digest({"summary": "a", "details": "b"}) != digest({"summary": "a b"})
    assert digest({"summary": "a", "details": ""}) == digest({"summary": "a"})


@pytest.mark.parametrize(
    ("one", "other"),
    [("-f", "-F"), ("src/a.py", "src/A.py"), ("userId", "userID"), ("`foo`", "`Foo`"), ("5 Mb/s", "5 MB/s")],
)
def test_names_that_differ_in_case_are_two(one: str, other: str) -> None:
    assert digest({"summary": f"pass {one}"}) != digest({"summary": f"pass {other}"})
