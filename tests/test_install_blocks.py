"""Blocks in other people's text files: appended whole, removed whole."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from valor.install.blocks import (
    BEGIN,
    END,
    Unfinished,
    with_pointer,
    with_union,
    without_pointer,
    without_union,
)

PATHS = ("memory/log.jsonl", "memory/grades.jsonl")
POINTER = BEGIN + b"\nask it\n\nor not\n" + END

pieces = st.sampled_from(
    [b"a", b"# b", b"\xff", b" ", b"\t", b"\r", b"\n", b"\r\n", b"\n\n", b"<!--", b"*.py text"]
)
texts = st.lists(pieces, max_size=8).map(b"".join)


@given(texts)
@example(b"no newline at the end")
@example(b"bare return\r")
def test_a_pointer_that_was_added_is_removed_to_the_byte(content: bytes) -> None:
    added = with_pointer(content, POINTER)
    assert added.startswith(content)
    assert with_pointer(added, POINTER) == added
    assert without_pointer(added) == content


@given(texts)
def test_union_lines_that_were_added_are_removed_to_the_byte(content: bytes) -> None:
    added = with_union(content, PATHS)
    assert added.startswith(content)
    assert with_union(added, PATHS) == added
    assert without_union(added, PATHS) == content


@given(texts, texts, texts)
def test_what_is_written_around_a_block_stays(content: bytes, above: bytes, below: bytes) -> None:
    assume(b"\r" not in content + above + below)
    edited = above + b"\n" + with_pointer(content, POINTER) + below
    kept = without_pointer(edited)
    whole = above + b"\n" + content
    heals = b"" if whole.endswith(b"\n") or not below else b"\n"
    assert kept == whole + heals + below


def test_each_line_of_a_block_is_a_line_of_its_own() -> None:
    assert with_union(b"*.py text", PATHS).splitlines()[-2:] == [
        b"memory/log.jsonl merge=union",
        b"memory/grades.jsonl merge=union",
    ]
    assert with_union(b"*.py text\r\n", PATHS).count(b"\r\n") == with_union(b"*.py text\r\n", PATHS).count(
        b"\n"
    )


def test_attributes_made_for_the_lines_are_given_up_with_them() -> None:
    made = with_union(None, PATHS)
    assert without_union(made, PATHS) is None
    assert without_union(b"*.py text\n" + made, PATHS) == b"*.py text"
    assert without_union(with_union(b"", PATHS), PATHS) == b""


@pytest.mark.parametrize(
    "line",
    [
        b"memory/log.jsonl merge=union\n",
        b"/memory/log.jsonl   text merge=union -diff",
        b'"memory/log.jsonl"\tmerge=union\r\n',
        b"memory/log.jsonl -merge\nmemory/log.jsonl merge=union\n",
    ],
)
def test_an_equivalent_line_is_not_repeated_and_stays_its_writers(line: bytes) -> None:
    added = with_union(line, PATHS)
    assert added.count(b"log.jsonl") == line.count(b"log.jsonl")
    assert b"memory/grades.jsonl merge=union" in added
    assert without_union(added, PATHS) == line


@pytest.mark.parametrize(
    "line", [b"# memory/log.jsonl merge=union\n", b"memory/log.jsonl merge=union\nmemory/log.jsonl !merge\n"]
)
def test_a_line_without_effect_does_not_count(line: bytes) -> None:
    assert with_union(line, PATHS).endswith(b"log.jsonl merge=union\nmemory/grades.jsonl merge=union\n")


def test_an_older_block_is_replaced_in_its_place() -> None:
    content = b"above\n\n" + BEGIN + b"\nold\n" + END + b"\nbelow\n"
    assert with_pointer(content, POINTER) == b"above\n\n" + POINTER + b"\nbelow\n"


def test_a_block_without_its_end_swallows_nothing() -> None:
    content = b"above\n" + BEGIN + b"\nmine\n" + POINTER + b"\nbelow\n"
    with pytest.raises(Unfinished) as caught:
        without_pointer(content)
    assert caught.value.line == 2
    with pytest.raises(Unfinished):
        with_pointer(b"x\n" + BEGIN + b"\nmine\n", POINTER)
