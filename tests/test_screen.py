"""The quick look at many records errs towards yes alone: it misses nothing that the detector finds."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.test_secrets import B64, ISSUED, KEY, NEGATIVES, POSITIVES, SURROUNDINGS, made, pem
from valor.leaks import holding_secrets, leaks
from valor.secrets import names, screen
from valor.secrets.detect import find
from valor.secrets.kinds import anchors
from valor.secrets.screen import Screen

SHARED = Path(os.environ.get("VALOR_SHARED") or Path(__file__).parents[1].parent / "shared")
VALUE = "Tr0ub" + "4dor&3x9Q"


def is_suspect(text: str) -> bool:
    return Screen().suspects([[text]]) == [[text]]


@pytest.mark.parametrize("label", POSITIVES)
def test_a_labelled_secret_is_suspect(label: str) -> None:
    assert is_suspect(POSITIVES[label])


@pytest.mark.parametrize("surrounding", SURROUNDINGS)
def test_an_issued_token_is_suspect_whatever_stands_around_it(surrounding: str) -> None:
    assert [label for label, secret in ISSUED.items() if not is_suspect(surrounding.format(s=secret))] == []


LONELY = [  # what has one word alone to be known by
    f"db.mail.test:5432:app:app:{VALUE}",
    f"xh -a bot:{VALUE} host, in a curly bracket",
    f"https --auth bot:{VALUE} host, in a curly bracket",
    f"the user is bob:{VALUE}",
    f"signed in with bob / {VALUE}",
    f'author = ("bob", "{VALUE}")',
    f"account bob, pass {VALUE}",
    f"login bob password {VALUE}",
    f"IDENTIFIED WITH x BY '{VALUE}'",
    f"Pin code of the phone is {'00' + '42'}",
    f"Wi-Fi code is {VALUE}",
    f"bob:{VALUE}@unix(/run/x)",
    f"kata sandi adalah {VALUE}",
    f"valkey-cli -a {VALUE} ping",
    f"mariadb-dump -p{VALUE} app",
    f"{VALUE} is the api key",
    f"{VALUE} as access token",
    f"masterauth {VALUE}",
    f"apikey {KEY}",
    pem("RSA", made(800, B64)).replace("KEY", "KEYs"),
]


@pytest.mark.parametrize("text", LONELY)
def test_each_way_of_telling_is_suspect_by_itself(text: str) -> None:
    assert find(text)
    assert is_suspect(text)


def told_by_name(name: str) -> list[str]:
    return [
        text
        for text in (
            f"{name}={VALUE}", f"--{name} {VALUE}", f"x_{name}: {VALUE}", f"the {name} is {VALUE}",
            f'{name}_2 = "{VALUE}"', f'f("{name}", "{VALUE}")', f'{name}Prod("{VALUE}")',
            f"<{name}>{VALUE}</x>", f"name: {name}, value: {VALUE}", f"{name.upper()} str = '{VALUE}'",
            f"{name} {VALUE}", f"{name}\t=> {VALUE}",
        )
        if find(text)
    ]  # fmt: skip


EVERY_NAME = sorted(
    {*names.PASSWORDS, *names.WHOLE_PASSWORDS, *names.SECRETS, *names.SECRET_ENDS, *names.KEYS}
)


@pytest.mark.parametrize("name", EVERY_NAME)
def test_what_a_name_tells_is_suspect(name: str) -> None:
    assert [text for text in told_by_name(name) if not is_suspect(text)] == []


def test_every_anchor_and_name_has_a_piece_that_is_looked_for() -> None:
    assert all(screen._anchors().search(anchor) for anchor in anchors())
    assert all(screen._letters().search(name) for name in screen._NAMES)


PIECES = st.sampled_from([
    *POSITIVES.values(), *NEGATIVES, "[redacted:password]", "=", ": ", '"', "\n", "\u200b", " ", "\\\n", "\t",
    "key", "token", "pass", " is ", VALUE, "user ", "login ", "admin", " / ", "PIN ", "0042", "curl ", " -u ",
    "bob:", "@", "://",
])  # fmt: skip
TEXT = st.one_of(st.lists(PIECES, max_size=6).map("".join), st.lists(PIECES, max_size=6).map(" ".join))


@settings(max_examples=400, deadline=None)
@given(TEXT)
def test_what_the_detector_finds_is_suspect(text: str) -> None:
    assert is_suspect(text) or not find(text)


def cut(text: str, at: int, between: str) -> str:
    place = at % (len(text) + 1)
    return text[:place] + between + text[place:]


BETWEEN = st.sampled_from(["", "\u200b", "\n", "=\n    ", "\\\n", "\\n", "\x1b[1m", " ", "\u00ad", "ſ", "İ"])
DISTURBED = st.builds(cut, st.sampled_from(list(POSITIVES.values())), st.integers(0, 2000), BETWEEN)
WIDE = st.sampled_from(list(POSITIVES.values())).map(
    lambda text: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
)


@settings(max_examples=400, deadline=None)
@given(st.one_of(DISTURBED, WIDE, DISTURBED.map(str.upper), DISTURBED.map(json.dumps)))
def test_a_secret_cut_wrapped_widened_or_escaped_is_suspect_where_it_is_found(text: str) -> None:
    assert is_suspect(text) or not find(text)


NAMED = st.sampled_from([
    "details", "tags", "note", "value", "name", "key", "db_password", "author", "user", "token", "data",
])  # fmt: skip
LEAF = st.one_of(DISTURBED, TEXT, st.sampled_from([VALUE, "x", 12345678, 1.5, None, True]))
DEEP = st.recursive(
    LEAF,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMED, inner, max_size=3)),
    max_leaves=5,
)
FIELDS = (
    "id",
    "timestamp",
    "session_id",
    "summary",
    "details",
    "tags",
    "references",
    "tool",
    "source",
    "extra",
)
CLEAN = {"id": "obs-1754000000-0123456789ab", "timestamp": "2026-01-01T00:00:00Z", "summary": "plain words"}


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    made: dict[str, Any] = dict(CLEAN)
    for field in draw(st.lists(st.sampled_from(FIELDS), max_size=3)):
        made[field] = draw(DEEP)
    if draw(st.booleans()):
        made["summary"] = draw(st.sampled_from(["The root password is ", "token:", "the key =", "login was"]))
        made["details"] = draw(st.sampled_from([VALUE, " " + VALUE, "nothing", "admin / " + VALUE]))
    return made


@settings(max_examples=300, deadline=None)
@given(st.lists(records(), max_size=4))
def test_records_looked_through_together_tell_what_each_tells_alone(made: list[dict[str, Any]]) -> None:
    assert list(holding_secrets(made)) == [bool(leaks(record)) for record in made]


def test_what_was_judged_is_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "_REMEMBERED", 3)
    look = Screen()
    for _ in range(3):
        assert look.suspects([["one two three four"], [f"DB_PASSWORD={VALUE}"]])[1]
        look.suspects([["five six seven"]])
        assert len(look._judged) <= 8


def test_plain_words_and_talk_about_keys_are_hardly_ever_suspect() -> None:
    assert not is_suspect("Redis answers before use, the monkey passed a significant mapping of users")
    assert not is_suspect("the key is sorted by name, and tokens are counted")


@pytest.mark.parametrize(
    "piece", ["key ", "pass ", "key", "user ", "login a ", "token, ", "://", "keyv", "curl -", "sig=x "]
)
def test_a_hostile_text_of_the_largest_size_is_looked_through_in_one_pass(piece: str) -> None:
    is_suspect(piece * (64 * 1024 // len(piece)))  # a quadratic look would take minutes here


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared corpus is not here")
def test_ten_thousand_lines_are_told_apart_as_one_by_one() -> None:
    lines = (SHARED / "corpus" / "commits.jsonl").read_text(encoding="utf-8").splitlines()
    made = [json.loads(line) for line in lines]
    for number in range(0, len(made), 97):
        made[number]["details"] += "\n" + list(POSITIVES.values())[number % len(POSITIVES)]
    assert list(holding_secrets(made)) == [bool(leaks(record)) for record in made]
