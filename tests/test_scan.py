"""The light JSON reader answers as the standard one does, and never brings the process down."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor import scan

PACKAGE = Path(__file__).parents[1]
ANY_TEXT = st.text(st.characters(categories=None), max_size=30)  # lone surrogates too
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)
WORDS = r'{ } [ ] , : "a" " \\ \u12 \ud800 1 - 1e5 0.1 01 . null true nul NaN -Infinity é'
BLANKS = [" ", "\n", "\t", "\r", "\x00", "\x0b", "\ufeff", "\xa0"]
TOKENS = st.lists(st.sampled_from(WORDS.split(" ") + BLANKS), max_size=12).map("".join)


def outcome(read: object, text: str) -> object:
    """repr, since NaN equals nothing."""
    try:
        return repr(read(text))  # type: ignore[operator]
    except ValueError:
        return ValueError


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_what_json_writes_is_read_as_json_reads_it(value: object, ascii_: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_, indent=indent)
    assert outcome(scan.loads, text) == outcome(json.loads, text)


@given(TOKENS)
def test_texts_that_are_almost_json_are_judged_as_json_judges_them(text: str) -> None:
    assert outcome(scan.loads, text) == outcome(json.loads, text)


@given(ANY_TEXT)
def test_a_quoted_text_is_ascii_and_comes_back(text: str) -> None:
    quoted = scan.quote(text)
    assert quoted.isascii()
    assert quoted == json.dumps(text)
    assert scan.loads(quoted) == text


def test_numbers_of_any_size_are_read_as_json_reads_them() -> None:
    for text in ("9" * 4000, "9" * 5000, "-" + "9" * 40, "1e400", "1" + "0" * 400 + ".5", "-0", "-0.0"):
        assert outcome(scan.loads, text) == outcome(json.loads, text)


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'], ids=["lists", "objects", "both"])
def test_deep_nesting_is_an_error_and_no_crash(opening: str) -> None:
    with pytest.raises(ValueError):
        scan.loads(opening * 200_000)


def test_a_value_followed_by_another_is_no_json() -> None:
    with pytest.raises(ValueError):
        scan.loads('{"a":1}{"b":2}')


def started(code: str, *flags: str) -> str:
    """What the code prints in an interpreter of its own, which finds this package."""
    whole = f"import sys; sys.path.insert(0, {str(PACKAGE)!r})\n{code}"
    command = [sys.executable, "-I", *flags, "-X", "utf8", "-c", whole]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout


def test_reading_and_quoting_load_neither_json_nor_re() -> None:
    code = "from valor import scan\nassert scan.loads('[{\"a\": 1}]'); scan.quote('é')\nprint(*sys.modules)"
    loaded = set(started(code, "-S").split())
    assert "_json" in loaded
    assert not loaded & {"json", "re", "os", "typing", "enum", "collections"}


def test_without_the_interpreters_scanner_json_itself_answers() -> None:
    code = """
sys.modules["_json"] = None
from valor import scan
print(scan.loads('{"a": [1.5, "é"]}'), scan.quote("é"))
try:
    scan.loads("[" * 200_000)
except ValueError:
    print("too deep")
"""
    assert started(code) == "{'a': [1.5, 'é']} \"\\u00e9\"\ntoo deep\n"


def test_a_broken_text_is_an_error_also_where_nobody_imported_json() -> None:
    """As in the hook: CPython's scanner then fails without an exception of its own."""
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from valor.scan import loads
for text in ('{{"a":1', '[1', '{{"a" 1}}', '"\\\\x"', '{{"a":"b'):
    try:
        print("read", loads(text))
    except ValueError:
        print("refused")
"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("refused\n" * 5, "")
