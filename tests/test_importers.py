from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import Repo

from valor import record
from valor.errors import Unavailable, UsageError
from valor.importers import frontmatter, jsonl, markdown_folder, mcp_graph
from valor.importers.entry import Item, Skipped, Unusable
from valor.importers.source import read_lines, read_path

GRAPH: list[dict[str, Any]] = [
    {
        "type": "entity",
        "name": "Session store",
        "entityType": "Web service",
        "observations": ["Loses its keys on restart", "Needs a warm-up\nof two minutes"],
    },
    {"type": "entity", "name": "Gateway", "entityType": "service", "observations": []},
    {"type": "relation", "from": "Gateway", "to": "Session store", "relationType": "depends_on"},
]


def raw(*objects: Any) -> list[bytes]:
    return [json.dumps(one).encode() + b"\n" for one in objects]


def items(entries: Any) -> list[record.Record]:
    return [entry.record for entry in entries if isinstance(entry, Item)]


# JSON lines


def test_a_line_is_taken_as_it_is() -> None:
    line = b'{"x":[1,{"y":null}],"big":123456789012345678901234567890,"summary":"kept whole"}\n'
    [entry] = jsonl.read([line])
    assert isinstance(entry, Item)
    assert entry.record["big"] == 123456789012345678901234567890
    assert list(entry.record) == ["x", "big", "summary"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"summary":"cut', "torn"),
        (b"[1]", "not a JSON object"),
        (b'{"id":"obs-1"}', "it has no summary"),
        (b'{"id":["a"],"summary":"an id of another kind"}', "neither text nor a number"),
        (b'{"type":"supersession","by":"a"}', "a supersession of nothing"),
        (b'{"type":"reinstatement"}', "a reinstatement of nothing"),
    ],
)
def test_a_line_that_is_no_record_says_why(line: bytes, reason: str) -> None:
    [entry] = jsonl.read([line])
    assert isinstance(entry, Unusable)
    assert reason in entry.reason


def test_blank_lines_line_ends_and_a_byte_order_mark_are_passed_over() -> None:
    lines = [b"\xef\xbb\xbf" + raw({"summary": "one"})[0], b"\r\n", b"  \n", b'{"summary":"two"}\r\n']
    assert [entry.place for entry in jsonl.read(lines)] == [1, 4]
    assert [one["summary"] for one in items(jsonl.read(lines))] == ["one", "two"]


def test_a_type_of_a_later_version_passes_with_its_id() -> None:
    assert items(jsonl.read(raw({"id": "gra-1", "type": "grade", "of": "obs-1", "acted": 2})))


# The MCP memory graph


def test_each_observation_of_an_entity_becomes_one_that_names_it() -> None:
    first, second, _ = items(mcp_graph.read(raw(*GRAPH), 1_790_000_000))
    assert (first["summary"], first["details"]) == (
        "Loses its keys on restart",
        "About Session store (Web service)",
    )
    assert first["tags"] == ["web-service"]
    assert first["timestamp"] == "2026-09-21T14:13:20Z"
    assert (second["summary"], second["details"]) == (
        "Needs a warm-up",
        "of two minutes\nAbout Session store (Web service)",
    )


def test_a_relation_becomes_a_sentence() -> None:
    relation = items(mcp_graph.read(raw(*GRAPH), 0))[-1]
    assert relation["summary"] == "Gateway depends on Session store"
    assert relation["details"] == "Gateway -[depends_on]-> Session store"
    assert relation["tags"] == ["relation"]


def test_ids_of_a_graph_follow_from_its_content_alone() -> None:
    ids = [one["id"] for one in items(mcp_graph.read(raw(*GRAPH), 1))]
    assert ids == [one["id"] for one in items(mcp_graph.read(raw(*GRAPH), 2))]
    assert len(set(ids)) == 3


def test_what_a_graph_cannot_say_is_named() -> None:
    lines = [
        b"{torn\n",
        *raw(
            {"type": "entity", "name": "Empty", "entityType": "x", "observations": []},
            {"type": "entity", "entityType": "x", "observations": ["a"]},
            {"type": "entity", "name": "Odd", "observations": [7, "said"]},
            {"type": "relation", "from": "a", "to": "", "relationType": "uses"},
            {"type": "event", "name": "a"},
            {"type": "entity", "name": "Flat", "observations": "said"},
        ),
    ]
    told = [
        (type(entry).__name__, entry.place)
        for entry in mcp_graph.read(lines, 0)
        if not isinstance(entry, Item)
    ]
    assert told == [
        ("Unusable", 1),
        ("Skipped", 2),
        ("Unusable", 3),
        ("Unusable", 4),
        ("Unusable", 5),
        ("Unusable", 6),
        ("Unusable", 7),
    ]


# Markdown


@pytest.mark.parametrize(
    ("text", "head", "body"),
    [
        ("no head\n", {}, "no head"),
        ("---\nname: a\n---\nbody", {"name": "a"}, "body"),
        ("\ufeff---\r\nname: a\r\n---\r\nbody\r\n", {"name": "a"}, "body"),
        ("---\nname: use: colons freely\n---\n", {"name": "use: colons freely"}, ""),
        ('---\nname: "quo\\"ted \\u00e9"\n---\n', {"name": 'quo"ted é'}, ""),
        ("---\nname: 'it''s'\n---\n", {"name": "it's"}, ""),
        ('---\nname: "never closed\n---\n', {"name": '"never closed'}, ""),
        ("---\nmeta:\n  type: feedback\n  node: 'x'\n---\n", {"meta.type": "feedback", "meta.node": "x"}, ""),
        ("---\ntext: >-\n  one: two\n  three\nname: a\n---\n", {"text": "one: two three", "name": "a"}, ""),
        ("---\ntags:\n  - a\n  - b\n---\n", {"tags": "a, b"}, ""),
        ("---\n# a comment\nurl: https://example.test/x\n---\n", {"url": "https://example.test/x"}, ""),
        ("---\nname: open\ntype: project\n\nthe body", {"name": "open", "type": "project"}, "\nthe body"),
        ("---\n: : :\n@@\n\tname: x\n---\nbody", {}, "body"),
        ("---\n---\nbody", {}, "body"),
        ("", {}, ""),
    ],
)  # fmt: skip
def test_a_head_is_read_however_broken(text: str, head: dict[str, str], body: str) -> None:
    assert frontmatter.split(text) == (head, body)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "memories"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("- [Ports](ports.md) — an index\n")
    (folder / "ports.md").write_text(
        "---\nname: ports\ndescription: Staging listens on another port\ntype: project\n"
        "originSessionId: s-7\nmodified: 2026-05-01T08:00:00Z\nnode: kept\n---\n\nSee the compose file.\n"
    )
    (folder / "flüsse-成语.md").write_text(
        "---\nname: Wiederholungen\nmetadata:\n  type: feedback\n  originSessionId: s-8\n---\n"
        "Nie zweimal fragen.\n"
    )
    (folder / "deep").mkdir()
    (folder / "deep" / "plain.md").write_text("# The pool is shared\n\nForks inherit it.\n")
    (folder / "notes.txt").write_text("not Markdown")
    return folder


def test_a_memory_becomes_an_observation_with_its_time_session_and_path(folder: Path) -> None:
    lines = {one["references"][0]: one for one in items(markdown_folder.read(folder))}
    assert set(lines) == {"memories/ports.md", "memories/flüsse-成语.md", "memories/deep/plain.md"}
    ports = lines["memories/ports.md"]
    assert ports["summary"] == "ports: Staging listens on another port"
    assert ports["details"] == "See the compose file."
    assert (ports["timestamp"], ports["session_id"]) == ("2026-05-01T08:00:00Z", "s-7")
    assert (ports["type"], ports["tags"], ports["frontmatter"]) == (
        "discovery",
        ["project"],
        {"node": "kept"},
    )
    nested = lines["memories/flüsse-成语.md"]
    assert (nested["type"], nested["tags"], nested["session_id"]) == ("correction", ["feedback"], "s-8")
    plain = lines["memories/deep/plain.md"]
    assert (plain["summary"], plain["details"]) == ("The pool is shared", "Forks inherit it.")


def test_without_a_time_in_its_head_a_memory_is_as_old_as_its_file(folder: Path) -> None:
    file = folder / "deep" / "plain.md"
    os.utime(file, (1_790_000_000, 1_790_000_000))
    [line] = items(markdown_folder.read(file))
    assert line["timestamp"] == "2026-09-21T14:13:20Z"
    os.utime(file, (1_700_000_000, 1_700_000_000))
    [touched] = items(markdown_folder.read(file))
    assert touched["id"] == line["id"]


def test_the_index_and_empty_files_are_passed_over_by_name(folder: Path) -> None:
    (folder / "empty.md").write_text("---\n---\n\n")
    skipped = [entry.place for entry in markdown_folder.read(folder) if isinstance(entry, Skipped)]
    assert skipped == ["MEMORY.md", "empty.md"]


def test_a_file_that_is_not_utf8_costs_that_file_alone(folder: Path) -> None:
    (folder / "latin.md").write_bytes(b"caf\xe9")
    entries = list(markdown_folder.read(folder))
    assert [entry.place for entry in entries if isinstance(entry, Unusable)] == ["latin.md"]
    assert len(items(entries)) == 3


def test_a_file_name_that_is_not_utf8_can_be_written(folder: Path) -> None:
    name = os.fsdecode(b"caf\xe9.md")
    try:
        (folder / name).write_text("The pool is shared")
    except OSError:
        pytest.skip("the file system takes no such names")
    assert all(record.encode(one) for one in items(markdown_folder.read(folder)))


# Which format it is


def test_the_format_is_guessed_from_what_every_line_is(folder: Path, tmp_path: Path) -> None:
    assert [one["tool"] for one in items(read_lines(raw(*GRAPH)))] == ["import"] * 3
    assert items(read_lines(raw({"type": "entity", "summary": "an observation after all"})))
    assert len(items(read_path(folder))) == 3
    assert len(items(read_path(folder / "ports.md"))) == 1


def test_a_format_that_cannot_be_guessed_is_asked_for(folder: Path) -> None:
    mixed = raw(*GRAPH, {"summary": "of a log"})
    with pytest.raises(UsageError, match="MCP memory graph"):
        read_lines(mixed)
    assert len(items(read_lines(mixed, "jsonl"))) == 1
    with pytest.raises(UsageError, match="no line of it is a JSON object"):
        read_lines([b"prose\n"])
    with pytest.raises(UsageError, match="come as files"):
        read_lines([b"# prose\n"], "markdown")
    with pytest.raises(UsageError, match="is no jsonl file"):
        read_path(folder, "jsonl")
    with pytest.raises(Unavailable):
        read_path(folder / "absent.jsonl")


# As a command


def test_a_graph_lands_once(repo: Repo, tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_bytes(b"".join(raw(*GRAPH)))
    first = repo.valor("import", str(file))
    assert (first.code, first.rows[0]["written"]) == (0, 3)
    assert first.rows[0]["skipped"] == [{"line": 2, "reason": "an entity without observations"}]
    os.utime(file, (1_700_000_000, 1_700_000_000))
    again = repo.valor("import", str(file), "--from", "mcp-memory")
    assert (again.code, again.rows[0]["written"], again.rows[0]["already"]) == (0, 0, 3)
    assert len(repo.lines()) == 3


def test_a_folder_of_memories_lands_once(repo: Repo, folder: Path) -> None:
    first = repo.valor("import", str(folder))
    assert (first.code, first.rows[0]["written"]) == (0, 3)
    again = repo.valor("import", str(folder), "--from", "markdown")
    assert (again.code, again.rows[0]["written"], again.rows[0]["already"]) == (0, 0, 3)
    assert len(repo.lines()) == 3


def test_a_secret_in_a_memory_is_refused_with_its_file(repo: Repo, folder: Path) -> None:
    token = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (folder / "ci.md").write_text(f"CI clones with a token\n\n{token}\n")
    result = repo.valor("import", str(folder))
    assert (result.code, result.rows[0]["written"]) == (4, 3)
    assert result.rows[0]["refused_secret"] == [{"file": "ci.md", "kind": "github-token", "field": "details"}]
    assert token not in result.out + result.err + repo.log.read_text()
