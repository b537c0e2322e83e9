"""What is marked private leaves no trace, however the mark is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor.private import strip_private

MINE = "what nobody else may read"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"a <private>{MINE}</private> b", "a b"),
        (f"a<private>{MINE}</private>b", "ab"),
        (f"<private>{MINE}</private>", ""),
        (f"<PRIVATE>{MINE}</Private> b", "b"),
        (f"a\n<private>\n{MINE}\nand more\n</private>\nb", "a\n\nb"),
        (f"a <private>{MINE}</private> b <private>{MINE}</private> c", "a b c"),
        (f"a <private>x <private>{MINE}</private> y</private> b", "a b"),
        (f"a <private>{MINE} <private>y</private> {MINE}", "a"),
        (f"a <private>{MINE}", "a"),
        (f"a <private>{MINE}</privat> b", "a"),
        ("a </private> b", "a b"),
        (f"a </private> b <private>{MINE}</private> c </private> d", "a b c d"),
        (f"a < private >{MINE}< / private > b", "a b"),
        (f"a <private\n>{MINE}</private\t> b", "a b"),
        (f'a <private reason="salary" by=me>{MINE}</private> b', "a b"),
        (f"a <private note>{MINE}</private> b", "a b"),
        ("a <private/> b", "a b"),
        ('a <private why="x" /> b', "a b"),
        (f"密码<private>{MINE}</private>之后", "密码之后"),
    ],
)
def test_a_private_block_is_taken_out(text: str, left: str) -> None:
    assert strip_private(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  nothing private here \n",
        "ssh-add <private key> asks for the passphrase",
        "a <privateer> sails, a <private-notes> folder stays",
        "if public <private then it is odd > still fine",
        "the field `private` hides a line",
        "<priv>ate</priv>",
    ],
)
def test_a_text_without_private_blocks_comes_back_unchanged(text: str) -> None:
    assert strip_private(text) == text


@given(st.lists(st.sampled_from(["<private>", "</private>", "a", " ", "\n", "< PRIVATE >", "<private x=1>"])))
def test_no_tag_survives_and_stripping_twice_changes_nothing(parts: list[str]) -> None:
    left = strip_private("".join(parts))
    assert "private" not in left.lower()
    assert strip_private(left) == left


@given(st.text(), st.text(alphabet="abc <>/"), st.text())
def test_what_stands_inside_a_block_never_comes_out(before: str, inside: str, after: str) -> None:
    assert MINE not in strip_private(f"{before}<private>{inside}{MINE}</private>{after}")


@pytest.mark.parametrize(
    "piece", ["<", "< ", "<private ", "<private>", "</private>", "<private a=", "<private a b>"]
)
def test_a_hostile_text_is_stripped_in_one_pass(piece: str) -> None:
    strip_private(piece * (64 * 1024 // len(piece)))
    strip_private("<" + " " * 64 * 1024)
