from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor import record

letters = st.text(st.characters(exclude_categories=["Cs"]))
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | letters,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(letters, children, max_size=3),
    max_leaves=6,
)
records = st.dictionaries(st.sampled_from([*record.KEY_ORDER, "supersedes", "other", "é"]), json_values)


@given(records)
def test_a_record_survives_being_written_and_read(data: record.Record) -> None:
    line = record.encode(data)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert record.parse(line) == data


def test_known_keys_come_first_in_their_order_then_the_others_as_they_came() -> None:
    line = record.encode({"zeta": 1, "summary": "s", "alpha": 2, "id": "obs-1-a", "type": "error"})
    assert list(json.loads(line)) == ["id", "type", "summary", "zeta", "alpha"]


def test_text_is_written_unescaped_and_compact_so_that_other_scripts_can_grep_it() -> None:
    assert record.encode({"id": "x", "summary": "성능 é"}) == '{"id":"x","summary":"성능 é"}\n'.encode()


def test_integers_beyond_64_bits_are_copied_whole() -> None:
    line = b'{"id":"x","big":123456789012345678901234567890}\n'
    assert record.encode(record.parse_exact(line)) == line


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a":1}{"b":2}', "two objects"),
        (b'{"id":"x","summ', "torn"),
        (b'{"id":"x\0"}', "NUL"),
        (b'{"id":"\xff\xfe"}', "not UTF-8"),
        (b"<<<<<<< HEAD", "conflict"),
        (b"=======", "conflict"),
        (b'{"importance":NaN}', "NaN"),
        (b'{"importance":-Infinity}', "Infinity"),
        (b'{"a":' + b"[" * 2000 + b"]" * 2000 + b"}", "too deep"),
        (b"[1,2]", "not a JSON object"),
        (b"hello", "not JSON"),
    ],
)
def test_a_line_that_is_no_record_says_why(line: bytes, reason: str) -> None:
    with pytest.raises(record.BadLine) as error:
        record.parse(line)
    assert reason in error.value.reason


@given(st.binary(max_size=60))
def test_no_bytes_make_the_reader_crash(raw: bytes) -> None:
    try:
        assert isinstance(record.parse(raw), dict)
    except record.BadLine as error:
        assert error.reason


def test_a_line_without_id_gets_a_stable_one_from_its_content() -> None:
    one = record.identifier(record.parse(b'{"summary": "s", "timestamp": "2026-01-01T00:00:00Z"}'))
    other = record.identifier(record.parse(b'{"timestamp":"2026-01-01T00:00:00Z","summary":"s"}'))
    assert one == other
    assert one.startswith("obs-1767225600-")
    assert record.identifier({"summary": "t"}) != record.identifier({"summary": "u"})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-11-30T18:00:00Z", 1796061600.0),
        ("2026-12-01T03:00:00+09:00", 1796061600.0),
        ("2026-11-30T18:00:00", 1796061600.0),
        ("2026-11-30", 1795996800.0),
        (1796061600, 1796061600.0),
        (1796061600000, 1796061600.0),
        ("garbage", None),
        ("0001-01-01T00:00:00+14:00", None),
        (True, None),
        (None, None),
    ],
)
def test_times_are_read_in_every_form_people_write(value: object, expected: float | None) -> None:
    assert record.seconds(value) == expected


def test_a_record_without_a_readable_time_takes_the_seconds_of_its_id() -> None:
    assert record.moment({"id": "obs-1790000000-aa", "timestamp": "garbage"}) == 1790000000
    assert record.moment({"id": "x"}) == 0


@given(st.dictionaries(st.sampled_from(["private", "tags", "summary", "type"]), json_values))
def test_fields_of_any_kind_are_read_without_a_crash(data: record.Record) -> None:
    assert isinstance(record.text(data, "summary"), str)
    assert all(isinstance(tag, str) for tag in record.texts(data, "tags"))
    assert isinstance(record.kind(data), str)
    assert isinstance(record.is_private(data), bool)


def test_ids_made_in_the_same_second_differ() -> None:
    assert len({record.new_id(now=1790000000) for _ in range(1000)}) == 1000


@pytest.mark.parametrize(
    "value", ["2026-13-01T00:00:00Z", "2026-W01-1T00:00:00Z", "2026-01-01 00:00:00Z", "", 5, None]
)
def test_only_stamps_that_sort_as_they_read_are_plain(value: object) -> None:
    assert record.is_plain_stamp("2026-11-30T18:00:00Z")
    assert not record.is_plain_stamp(value)
