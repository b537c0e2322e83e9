"""The gate's filter answers as pybloom-live does, and opens when it cannot be trusted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pybloom_live import BloomFilter

from valor import bloom, bloom_file

TERMS = st.sets(st.text(min_size=1, max_size=20).filter(lambda text: text.isascii() or text.isprintable()))


@settings(max_examples=60, deadline=None)
@given(inside=TERMS, outside=TERMS)
def test_the_reader_answers_as_pybloom_live(inside: set[str], outside: set[str]) -> None:
    oracle = BloomFilter(bloom_file.LEAST_CAPACITY, bloom.ERROR_RATE)
    for term in inside:
        oracle.add(term)
    read = bloom.parse(bloom_file.build(inside, 1))
    assert read is not None
    assert all(term in read for term in inside)
    assert [term in read for term in outside] == [term in oracle for term in outside]


def test_the_reader_agrees_on_yes_and_no_in_a_filter_that_is_full() -> None:
    terms = [f"term{n}" for n in range(48_000)]
    data = bloom_file.build(terms, 9)
    read = bloom.parse(data)
    oracle = BloomFilter(72_000, bloom.ERROR_RATE)
    for term in terms:
        oracle.add(term, skip_check=True)
    assert read is not None
    assert read.lines == 9
    assert read.count == len(terms)
    asked = [f"other{n}" for n in range(20_000)]
    assert [term in read for term in asked] == [term in oracle for term in asked]
    assert sum(term in read for term in asked) < 0.001 * len(asked) * 2


def test_an_extended_filter_is_a_rebuilt_one() -> None:
    first, more = [f"a{n}" for n in range(200)], [f"b{n}" for n in range(200)]
    grown = bloom_file.extend(bloom_file.build(first, 10), more, 20, b"view")
    assert grown == bloom_file.build(first + more, 20, b"view")


def test_a_filter_without_room_asks_to_be_built_anew() -> None:
    data = bloom_file.build(["a"], 1)
    assert bloom_file.extend(data, [f"t{n}" for n in range(40_000)], 2) is None
    assert bloom_file.extend(b"nothing", ["a"], 1) is None


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_damaged_filter_is_none_at_all(data: st.DataObject) -> None:
    whole = bytearray(GOOD)
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    assert bloom.parse(bytes(whole)) is None


GOOD = bloom_file.build(["alpha", "beta"], 2, b"view-1")


@pytest.mark.parametrize("size", [0, 7, 63, 64, 80, len(GOOD) - 1])
def test_a_cut_filter_is_none_at_all(size: int) -> None:
    assert bloom.parse(GOOD[:size]) is None
    assert bloom.parse(GOOD + b"\0") is None


def test_a_filter_of_another_view_is_none_at_all(tmp_path: Path) -> None:
    path = tmp_path / "gate"
    path.write_bytes(GOOD)
    assert bloom.load(str(path), b"view-2") is None
    assert bloom.load(str(tmp_path / "absent")) is None
    read = bloom.load(str(path), b"view-1")
    assert read is not None
    assert "alpha" in read
    assert "gamma" not in read


def test_the_open_gate_lets_everything_through() -> None:
    assert "anything" in bloom.Gate()


def test_a_lone_surrogate_is_asked_like_any_other_term() -> None:
    read = bloom.parse(bloom_file.build(["a\ud800b"], 1))
    assert read is not None
    assert "a\ud800b" in read
    assert "\ud800" not in read


def test_a_filter_known_to_be_sound_is_not_checked_again() -> None:
    damaged = bytearray(GOOD)
    damaged[bloom.HEADER] ^= 1
    assert bloom.parse(bytes(damaged)) is None
    assert bloom.parse(bytes(damaged), sound=True) is not None
    assert bloom.parse(GOOD[:-1], sound=True) is None
