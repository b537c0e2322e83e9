"""Entries in a settings file: what goes in comes out, and nothing else moves by a byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from valor.install.json_text import NotJson
from valor.install.settings import add, held, remove, rivals

ALLOW = ("permissions", "allow")
RULES = ("Bash(one:*)", "Bash(two:*)")
HOOKS = ("hooks", "PostToolUse")
HANDLERS = ({"matcher": "*", "hooks": [{"type": "command", "command": "x.sh", "timeout": 5}]},)

SERVERS = ("mcpServers",)
SERVER = {"valor": {"command": "valor", "args": ["mcp"], "alwaysLoad": True}}

PRETTY = """\
{
  "model": "opus",
  "permissions": {
    "allow": [
      "Read"
    ],
    "deny": []
  }
}
"""

words = st.text(max_size=6) | st.sampled_from(['"', "\\", "{", "]", ",", ":", "//", "\u2028", "\ud7ff", "…"])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
blanks = st.text(" \t\r\n", max_size=3)
rules = st.lists(st.sampled_from([*RULES, "Read", "Bash(one", ""]), max_size=4)


@st.composite
def settings_values(draw: st.DrawFn) -> dict[str, Any]:
    """The value of a settings file: the lists that we write to are there, empty or absent."""
    members = draw(st.dictionaries(words, values, max_size=3))
    for (outer, inner), lists in ((ALLOW, rules), (HOOKS, st.lists(values, max_size=2))):
        depth = draw(st.integers(0, 2))
        if depth:
            holder = draw(st.dictionaries(words, values, max_size=2))
            if depth == 2:
                holder[inner] = draw(lists)
            members[outer] = dict(draw(st.permutations(list(holder.items()))))
    return dict(draw(st.permutations(list(members.items()))))


@st.composite
def documents(draw: st.DrawFn) -> str:
    """A settings file: written by some formatter, or with blanks wherever JSON takes them."""
    value = draw(settings_values())
    if draw(st.booleans()):
        indent = draw(st.sampled_from([None, 2, 4, "\t", 0]))
        separators = draw(st.sampled_from([None, (",", ":"), (", ", ": "), (",", ": ")]))
        text = json.dumps(value, ensure_ascii=draw(st.booleans()), indent=indent, separators=separators)
        text += draw(st.sampled_from(["", "\n", "\n\n"]))
    else:
        text = "".join(piece if piece else draw(blanks) for piece in tokens(value))
    if draw(st.booleans()):
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    return draw(st.sampled_from(["", "\ufeff"])) + text


def tokens(value: Any) -> Iterator[str]:
    """The tokens of the value, an empty one wherever blanks may stand."""
    yield ""
    if isinstance(value, (dict, list)):
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        yield opening
        for number, item in enumerate(value):
            if number:
                yield ","
            if isinstance(value, dict):
                yield from ("", json.dumps(item), "", ":")
                yield from tokens(value[item])
            else:
                yield from tokens(item)
        yield from ("", closing)
    else:
        yield json.dumps(value, ensure_ascii=False)
    yield ""


def parsed(text: str) -> Any:
    return json.loads(text.removeprefix("\ufeff"))


@given(documents())
@example("{}")
@example("{ }\r\n")
@example('{"permissions":{}}')
@example('{"permissions":{"allow":[]}}')
@example('{"permissions":{"allow":["Bash(one:*)"]}}')
@example("\ufeff{\n}")
@example('{"permissions":{"allow":[' + "9" * 5000 + "]}}")
def test_what_was_added_is_removed_to_the_byte(text: str) -> None:
    assume(held(text, ALLOW, RULES) < len(RULES))
    assert remove(add(text, ALLOW, RULES), ALLOW, RULES) == text


@given(documents())
def test_adding_puts_one_piece_in_and_moves_nothing_else(text: str) -> None:
    assume(held(text, ALLOW, RULES) < len(RULES))
    added = add(text, ALLOW, RULES)
    start = next((i for i, (old, new) in enumerate(zip(text, added, strict=False)) if old != new), len(text))
    rest = len(text) - start
    assert added[:start] + added[len(added) - rest :] == text
    expected = parsed(text)
    expected.setdefault("permissions", {}).setdefault("allow", []).extend(RULES)
    assert parsed(added) == expected
    assert list(parsed(added)) == list(expected)


@given(documents())
def test_adding_twice_is_adding_once(text: str) -> None:
    once = add(text, ALLOW, RULES)
    assert add(once, ALLOW, RULES) == once


@given(documents(), st.booleans(), st.booleans())
@example("{}", True, True)
@example('{"hooks":{}}', True, False)
def test_two_lists_come_out_in_either_order(text: str, hooks_in_first: bool, hooks_out_first: bool) -> None:
    assume(held(text, ALLOW, RULES) < len(RULES) and not held(text, HOOKS, HANDLERS))
    lists = [(ALLOW, RULES), (HOOKS, HANDLERS)]
    changed: str | None = text
    for keys, entries in sorted(lists, reverse=not hooks_in_first):
        changed = add(changed, keys, entries)
    for keys, entries in sorted(lists, reverse=not hooks_out_first):
        assert changed is not None
        changed = remove(changed, keys, entries)
    assert changed == text


@given(documents(), values)
def test_what_someone_edits_in_between_is_kept_to_the_byte(text: str, value: Any) -> None:
    mark = '"the place of the edit"'
    assume(held(text, ALLOW, RULES) < len(RULES))
    body, bracket, rest = text.partition("{")
    member = f'"edited"\t:{mark}' + ("" if rest.lstrip(" \t\r\n").startswith("}") else ",")
    before = body + bracket + member + rest
    edited = json.dumps(value, indent=3)
    added = add(before, ALLOW, RULES)
    assert remove(added.replace(mark, edited), ALLOW, RULES) == before.replace(mark, edited)


@pytest.mark.parametrize("blank", ["", "\n", "\r\n", "  \n\n", "\ufeff", "\ufeff\n"])
def test_a_blank_file_is_blank_again(blank: str) -> None:
    added = add(blank, ALLOW, RULES)
    assert parsed(added.strip("\ufeff \r\n")) == {"permissions": {"allow": list(RULES)}}
    assert remove(add(added, HOOKS, HANDLERS), HOOKS, HANDLERS) == added
    assert remove(added, ALLOW, RULES) == blank


def test_a_file_made_for_the_entries_is_given_up_with_them() -> None:
    made = add(None, ALLOW, RULES)
    assert made == json.dumps({"permissions": {"allow": list(RULES)}}, indent=2) + "\n"
    assert remove(made, ALLOW, RULES) is None
    both = add(made, HOOKS, HANDLERS)
    kept = remove(both, ALLOW, RULES)
    assert kept is not None
    assert parsed(kept) == {"hooks": {"PostToolUse": list(HANDLERS)}}
    assert remove(kept, HOOKS, HANDLERS) is None


def test_a_made_file_that_someone_wrote_into_stays() -> None:
    made = add(None, ALLOW, RULES)
    assert remove(made.replace("{\n", '{\n  "model": "opus",\n', 1), ALLOW, RULES) == (
        '{\n  "model": "opus"\n}\n'
    )


def test_the_layout_of_the_file_is_kept() -> None:
    assert add(PRETTY, ALLOW, RULES) == PRETTY.replace(
        '"Read"\n', '"Read",\n      "Bash(one:*)",\n      "Bash(two:*)"\n'
    )
    tabs = '{\n\t"model": "opus"\n}'
    assert add(tabs, ALLOW, RULES[:1]) == (
        '{\n\t"model": "opus",\n\t"permissions": {\n\t\t"allow": [\n\t\t\t"Bash(one:*)"\n\t\t]\n\t}\n}'
    )
    assert add('{"model":"opus"}', ALLOW, RULES) == (
        '{"model":"opus","permissions":{ "allow":[ "Bash(one:*)","Bash(two:*)" ] }}'
    )
    inline = '{"permissions": {"allow": ["Read"]}}'
    assert add(inline, ALLOW, RULES[:1]) == '{"permissions": {"allow": ["Read", "Bash(one:*)"]}}'
    assert "\n" not in add("{\r\n}", ALLOW, RULES).replace("\r\n", "")


def test_an_object_entry_is_laid_out_as_the_file_is() -> None:
    assert (
        add(PRETTY, HOOKS, HANDLERS)
        == json.dumps({**json.loads(PRETTY), "hooks": {"PostToolUse": list(HANDLERS)}}, indent=2).replace(
            '"deny": []', '"deny": []'
        )
        + "\n"
    )


@pytest.mark.parametrize(
    "theirs", ['"Before", "Bash(one:*)", "Bash(two:*)", "After"', '"Bash(one:*)", "X", "Bash(two:*)"']
)
def test_entries_among_someone_elses_are_found_and_taken_out(theirs: str) -> None:
    text = f'{{"permissions": {{"allow": [{theirs}]}}}}'
    left = remove(text, ALLOW, RULES)
    assert left is not None
    assert [rule for rule in parsed(text)["permissions"]["allow"] if rule not in RULES] == (
        parsed(left)["permissions"]["allow"]
    )


def test_a_rule_that_was_there_before_is_not_taken_with_ours() -> None:
    text = PRETTY.replace('"Read"', '"Bash(two:*)"')
    assert remove(add(text, ALLOW, RULES), ALLOW, RULES) == text
    assert remove(text, ALLOW, RULES) == text


def test_entries_survive_another_formatter() -> None:
    value = json.loads(add(PRETTY, ALLOW, RULES))
    for indent in (None, 1, 4):
        left = remove(json.dumps(value, indent=indent), ALLOW, RULES)
        assert left is not None
        assert json.loads(left) == json.loads(PRETTY)


def test_an_escaped_key_and_the_last_of_two_equal_keys_count() -> None:
    text = '{"permissions": 1, "permi\\u0073sions": {"allow": ["X"]}}'
    assert add(text, ALLOW, RULES[:1]) == (
        '{"permissions": 1, "permi\\u0073sions": {"allow": ["X", "Bash(one:*)"]}}'
    )


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('{\n  "a": 1,\n}', 3, "property name"),
        ('{\n  // note\n  "a": 1\n}', 2, "a comment"),
        ('{\n  "a": 1 /* note */\n}', 2, "a comment"),
        ('{"NaN": 1,\n"a": NaN}', 2, "NaN is no JSON value"),
        ("[\n]", 1, "the document is not an object"),
        ('{\n\n"permissions": []}', 3, "permissions is not an object"),
        ('{"permissions":\n{"allow": "all"}}', 2, "permissions.allow is not a list"),
        ('{"permissions": null}', 1, "permissions is not an object"),
        ('{"a": ' + "[" * 100_000, 1, "too deep"),
        ('{"a": 1} x', 1, "Extra data"),
    ],
)
def test_a_file_that_cannot_take_the_entries_is_named_with_its_line(
    text: str, line: int, reason: str
) -> None:
    with pytest.raises(NotJson) as caught:
        add(text, ALLOW, RULES)
    assert caught.value.line == line
    assert reason in caught.value.reason


@st.composite
def server_documents(draw: st.DrawFn) -> str:
    """A file of servers: their object is full, empty or absent."""
    members = draw(st.dictionaries(words, values, max_size=2))
    if draw(st.booleans()):
        members["mcpServers"] = draw(st.dictionaries(words, values, max_size=2))
    return "".join(piece if piece else draw(blanks) for piece in tokens(members))


@given(server_documents())
@example("{}")
@example('{"mcpServers":{}}')
@example('{"mcpServers":{ "other": {} }}\n')
def test_a_member_goes_in_once_and_comes_out_to_the_byte(text: str) -> None:
    added = add(text, SERVERS, SERVER)
    expected = parsed(text)
    expected.setdefault("mcpServers", {}).update(SERVER)
    assert parsed(added) == expected
    assert add(added, SERVERS, SERVER) == added
    assert remove(added, SERVERS, SERVER) == text


def test_a_member_in_a_file_made_for_it_takes_the_file_along() -> None:
    made = add(None, SERVERS, SERVER)
    assert parsed(made) == {"mcpServers": SERVER}
    assert remove(made, SERVERS, SERVER) is None


def test_a_member_with_another_value_is_a_rival_and_stays() -> None:
    text = '{"mcpServers": {"valor": {"command": "mine"}}}'
    assert rivals(text, SERVERS, SERVER) == ["valor"]
    assert rivals(add("{}", SERVERS, SERVER), SERVERS, SERVER) == []
    assert rivals(None, SERVERS, SERVER) == []
    assert remove(text, SERVERS, SERVER) == text
