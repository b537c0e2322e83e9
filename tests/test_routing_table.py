"""The routing table's page: what parses, and what is an error with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from valor.errors import BrokenTable, Unavailable, UsageError
from valor.routing.table import AMBIGUOUS, OWNERS, load, parse

PROJECT = Path(__file__).parents[1]
SHIPPED = PROJECT / "valor" / "templates" / "memory-reference.md"
OWN = PROJECT / ".claude" / "loa" / "reference" / "memory-reference.md"

HEADER = "| Scope | Owner | Storage | Signals | Examples |"
RULE = "|---|---|---|---|---|"
TOOLS = "| Tools | observations | `log.jsonl` | exits 0 | The tool exits 0 when it fails. |"
PEOPLE = "| People | auto-memory | MEMORY.md | — | She likes short answers.<br>He reads on the train. |"
REST = "| Rest | nowhere | — | — | Continue tomorrow. |"


def page(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def error(*lines: str) -> BrokenTable:
    with pytest.raises(BrokenTable) as caught:
        parse(page(*lines))
    return caught.value


def test_a_row_becomes_scope_owner_store_signals_and_examples() -> None:
    tools, people, rest = parse(page("# Page", "", HEADER, RULE, TOOLS, PEOPLE, REST)).rows
    assert (tools.scope, tools.owner, tools.store, tools.line) == ("Tools", "observations", "log.jsonl", 5)
    assert tools.signals == ("exits 0",)
    assert people.signals == ()
    assert people.examples == ("She likes short answers.", "He reads on the train.")
    assert rest.store == ""


def test_the_order_of_columns_is_free_and_further_columns_are_ignored() -> None:
    table = parse(
        page(
            "| Owner | Notes | Examples | Scope | Signals | Storage |",
            "|:--|--|--|:-:|--|--:|",
            "| observations | mine | It hangs. | Tools | — | log |",
        )
    )
    assert (table.rows[0].scope, table.rows[0].store, table.rows[0].examples) == (
        "Tools",
        "log",
        ("It hangs.",),
    )


def test_a_bar_in_a_cell_is_escaped() -> None:
    row = parse(
        page(HEADER, RULE, r"| Pipes | observations | log | — | `a \| b` hides the exit code. |")
    ).rows[0]
    assert row.examples == ("`a | b` hides the exit code.",)


def test_prose_other_tables_and_fenced_tables_are_no_part_of_it() -> None:
    table = parse(
        page(
            "| Word | Meaning |", "|---|---|", "| log | a file |", "",
            "```", HEADER, RULE, "| x | y |", "```", "", HEADER, RULE, TOOLS,
        )
    )  # fmt: skip
    assert [row.scope for row in table.rows] == ["Tools"]


def test_kinds_left_ambiguous_come_last_and_own_nothing() -> None:
    table = parse(
        page(
            "| Left ambiguous | Signals | Examples |", "|--|--|--|", "| Others | — | The client likes red. |",
            "", HEADER, RULE, TOOLS,
        )
    )  # fmt: skip
    assert [(row.scope, row.owner, row.store) for row in table.rows][-1] == ("Others", AMBIGUOUS, "")


def test_crlf_and_a_byte_order_mark_are_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_bytes(b"\xef\xbb\xbf" + page(HEADER, RULE, TOOLS).replace("\n", "\r\n").encode())
    assert load(path).rows[0].examples == ("The tool exits 0 when it fails.",)


def test_store_of_says_where_an_owner_writes() -> None:
    table = parse(page(HEADER, RULE, TOOLS, REST))
    assert (table.store_of("observations"), table.store_of("nowhere")) == ("log.jsonl", "")
    for name in ("auto-memory", "memory"):
        with pytest.raises(UsageError):
            table.store_of(name)


NO_OWNER = HEADER.replace("Owner", "Ownr")
NO_EXAMPLES = "| Scope | Owner | Storage | Signals |"
TWO_SCOPES = HEADER + " Scope |"
BARE_BAR = "| a | observations | log | — | a | b hides it |"
NO_PLACE = "| a | instructions | — | — | All must sign. |"
UNDECIDED = "| Left ambiguous | Examples |"


@pytest.mark.parametrize(
    ("line", "says", "lines"),
    [
        (1, "no routing table", ("# Page", "Nothing here.")),
        (1, "lacks the column Owner", (NO_OWNER, RULE, TOOLS)),
        (1, "lacks the column Examples", (NO_EXAMPLES, "|--|--|--|--|", "| a | b | c | d |")),
        (1, "has Scope twice", (TWO_SCOPES, RULE + "---|", TOOLS)),
        (2, "no rule below it", (HEADER, TOOLS)),
        (2, "no rows", ("", HEADER, RULE)),
        (4, "has 4 cells, the header has 5", (HEADER, RULE, TOOLS, "| a | nowhere | — | b |")),
        (3, "has 6 cells", (HEADER, RULE, BARE_BAR)),
        (4, "unknown owner, 'vault'", (HEADER, RULE, TOOLS, TOOLS.replace("observations", "vault"))),
        (4, "unknown owner, 'Owner'", (HEADER, RULE, TOOLS, HEADER)),
        (4, "unknown owner, 'ambiguous'", (HEADER, RULE, TOOLS, "| a | ambiguous | — | — | It is. |")),
        (4, "does not say where", (HEADER, RULE, TOOLS, NO_PLACE)),
        (4, "does not say where", (HEADER, RULE, TOOLS, NO_PLACE.replace("| — | —", "|  | —"))),
        (3, "gives nowhere a place", (HEADER, RULE, "| a | nowhere | log | — | Continue tomorrow. |")),
        (3, "has no scope", (HEADER, RULE, "|  | nowhere | — | — | Continue tomorrow. |")),
        (3, "neither signals nor examples", (HEADER, RULE, "| a | nowhere | — | — |  |")),
        (3, "unknown class, @persn", (HEADER, RULE, "| a | nowhere | — | ^@persn + x | Tomorrow. |")),
        (5, "second routing table", (HEADER, RULE, TOOLS, "", HEADER, RULE, PEOPLE)),
        (5, "lacks the column Signals", (HEADER, RULE, TOOLS, "", UNDECIDED, "|--|--|", "| a | b |")),
    ],
)
def test_a_broken_page_is_an_error_with_its_line_and_a_hint(
    line: int, says: str, lines: tuple[str, ...]
) -> None:
    broken = error(*lines)
    assert says in broken.message
    assert broken.line == line
    assert broken.hint
    assert broken.exit_code == 5


def test_bytes_that_are_no_utf8_are_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_bytes(page(HEADER, RULE).encode() + TOOLS.encode("utf-16"))
    with pytest.raises(BrokenTable) as caught:
        load(path)
    assert caught.value.line == 3


def test_a_missing_page_is_unavailable_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(Unavailable) as caught:
        load(tmp_path / "none.md")
    assert "valor init" in caught.value.hint


def test_the_page_that_init_writes_parses_and_has_rows_for_every_owner() -> None:
    rows = load(SHIPPED).rows
    for owner in OWNERS:
        mine = [row for row in rows if row.owner == owner]
        assert len(mine) >= 5
        assert all(row.examples for row in mine)
    assert len(load(SHIPPED).rows) == len({row.scope for row in rows})


def test_the_page_begins_with_the_boundary() -> None:
    start = " ".join(SHIPPED.read_text("utf-8").split())[:400]
    assert "The harness's auto-memory owns user preferences and working style." in start
    assert "The observations log owns framework patterns and debugging discoveries." in start


def test_this_project_uses_the_page_that_init_writes() -> None:
    assert OWN.read_bytes() == SHIPPED.read_bytes()


def test_no_example_stands_twice_in_the_page() -> None:
    examples = [example for row in load(SHIPPED).rows for example in row.examples]
    assert len(examples) == len(set(examples))
