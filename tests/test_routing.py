"""Who owns a text: the shipped table, lures, secrets, languages, and what an added example changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor.routing import model
from valor.routing.credentials import tells_secret
from valor.routing.features import Reading
from valor.routing.match import decide
from valor.routing.signals import read
from valor.routing.table import AMBIGUOUS, NOWHERE, OWNERS, Table, load, parse

SHIPPED = Path(__file__).parents[1] / "valor" / "templates" / "memory-reference.md"
SMALL = """
| Scope | Owner | Storage | Signals | Examples |
|---|---|---|---|---|
| Tools | observations | log.jsonl | — | The compiler drops the flag without a warning. |
| People | auto-memory | MEMORY.md | — | She wants short answers.<br>He prefers to be asked. |
| Rules | instructions | CLAUDE.md | — | Every module has an owner.<br>All changes are reviewed. |
| Rest | nowhere | — | — | Continue with the menu tomorrow. |
"""


@pytest.fixture(scope="module")
def table() -> Table:
    return load(SHIPPED)


def owner(table: Table, text: str) -> str:
    return decide(table, text).owner


# --- whose behaviour is it ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("User prefers dark mode", "auto-memory"),
        ("The user wants short answers without headings", "auto-memory"),
        ("Never push without asking", "auto-memory"),
        ("The user is a senior backend engineer", "auto-memory"),
        ("The socket pool is not rebuilt after a fork, so the first request hangs", "observations"),
        ("Root cause of the flaky test: the clock is read twice", "observations"),
        ("The API returns 200 with an error in the body", "observations"),
        ("All commits must be signed", "instructions"),
        ("Every pull request needs a review", "instructions"),
        ("Tests must pass before merging", "instructions"),
        ("Currently working on PR #42", "nowhere"),
        ("Tomorrow: fix the login test", "nowhere"),
        ("The main function is in src/main.py", "nowhere"),
    ],
)
def test_plain_facts_go_home(table: Table, text: str, expected: str) -> None:
    assert owner(table, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The allocator prefers the smallest free block, which fragments the arena after a day.",
        "The user table always locks when the pattern cache commits its memory twice.",
        "A commit hook of the old style fails silently when the user name holds a space.",
        "He noticed that the export drops rows: the cursor is closed too early.",
    ],
)
def test_words_about_people_prove_nothing(table: Table, text: str) -> None:
    assert owner(table, text) == "observations"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("사용자는 짧은 답변을 선호한다", "auto-memory"),
        ("用户喜欢简短的回答", "auto-memory"),
        ("ユーザーは簡潔な回答を好む", "auto-memory"),
        ("Der Nutzer mag keine Emojis", "auto-memory"),
        ("L'utilisateur préfère les réponses courtes", "auto-memory"),
        ("El usuario prefiere respuestas cortas", "auto-memory"),
        ("Пользователь просит отвечать кратко", "auto-memory"),
        ("测试失败是因为缓存没有清空", "observations"),
        ("Der Build bricht ab, weil der Pfad Umlaute enthält", "observations"),
        ("Mañana seguir con la prueba que falta", "nowhere"),
        ("明天继续写解析器", "nowhere"),
        ("내일 로그인 테스트를 이어서 고친다", "nowhere"),
    ],
)
def test_other_languages_go_home_too(table: Table, text: str, expected: str) -> None:
    assert owner(table, text) == expected


def test_a_secret_belongs_nowhere_whatever_else_is_said(table: Table) -> None:
    value = "-".join(("Autumn", "River", "58"))
    for text in (
        f"The user prefers the demo account, password {value}.",
        f"Root cause: the pool reused a dead socket. Database password is {value}, host 10.1.1.1.",
        f"Console login: admin / {value}!!",
        f"Das Passwort lautet {value}",
        f"Root password for the host is {value}, user root.",
        f"サーバーのパスワードは{value}です",
        "Log in with user test and password " + "test" + "123",
        "Admin panel: admin/" + "Example" + "2024!",
        f"La contraseña de la base es {value}",
        f"数据库密码是 {value}",
        "The key is " + "AKIA" + "ABCDEFGHIJKLMNOP",
        "Push with " + "ghp_" + "a1B2c3D4" * 5,
        "postgres://" + "app:" + value + "@db.internal/app",
    ):
        decision = decide(table, text)
        assert decision.owner == NOWHERE, text
        assert (decision.store, decision.confidence, decision.row) == ("", 1.0, "Secret values")
        assert value not in decision.why()


def test_a_secret_belongs_nowhere_even_where_the_table_has_no_such_row() -> None:
    rows = parse(SMALL.replace("| Rest | nowhere | — |", "| Rest | instructions | docs |"))
    decision = decide(rows, "The admin password is " + "hunter" + "22")
    assert (decision.owner, decision.row) == (NOWHERE, "")


@pytest.mark.parametrize(
    "text",
    [
        "The deploy tool reads its token from ~/.config/deploy/token; the variable is ignored.",
        "The signing key is in the vault under 'release'.",
        "The password field is required and hashed with SHA-256.",
        "Token is missing in the header, so the gateway answers 401.",
        "The login page is slow because the session token is stored in the database.",
        "The token is UTF-8 and at most 4096 bytes long.",
        "All tests pass after the change to user/src/models.",
    ],
)
def test_talk_about_secrets_is_no_secret(text: str) -> None:
    assert not tells_secret(text)


def test_a_pointer_to_a_secret_is_an_observation(table: Table) -> None:
    assert (
        owner(table, "The uploader takes its key from the keychain; the environment is ignored.")
        == "observations"
    )


def test_two_facts_of_two_owners_are_ambiguous(table: Table) -> None:
    decision = decide(table, "User prefers tabs; the build fails on Windows because paths use backslashes.")
    assert decision.owner == AMBIGUOUS
    assert "two facts" in decision.why()
    assert {"auto-memory", "observations"} <= {each.owner for each in decision.candidates[:3]}


def test_a_fact_with_its_reason_is_one_fact(table: Table) -> None:
    assert owner(table, "User wants small steps. Large diffs tire her.") == "auto-memory"


@pytest.mark.parametrize("text", ["", " \n", "…", "zxqv wvrk"])
def test_what_says_nothing_is_ambiguous(table: Table, text: str) -> None:
    assert owner(table, text) == AMBIGUOUS


def test_a_third_persons_wish_is_ambiguous_and_shows_its_rows(table: Table) -> None:
    decision = decide(table, "The client's designer would like larger icons.")
    assert decision.owner == AMBIGUOUS
    assert not decision.decided
    assert decision.store == ""
    assert len(decision.candidates) >= 2
    assert AMBIGUOUS not in {each.owner for each in decision.candidates}
    assert all(each.row and each.line for each in decision.candidates)


def test_in_a_long_text_the_beginning_decides_nothing(table: Table) -> None:
    opening = "The user prefers short answers."
    facts = [
        f"Worker {number} drops its queue after a restart because the offset file is stale and none notice."
        for number in range(40)
    ]
    assert owner(table, " ".join([opening, *facts])) != "auto-memory"
    assert owner(table, " ".join(facts)) == "observations"


def test_of_a_very_long_text_samples_from_end_to_end_are_read(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    wish = "The user prefers short answers without headings. "
    fact = "The worker drops its queue after a restart because the offset file is stale. "
    text = wish * 200 + fact * 900 + wish * 200
    read: list[str] = []

    class Spy(Reading):
        def __init__(self, text: str) -> None:
            read.append(text)
            super().__init__(text)

    monkeypatch.setattr(model, "Reading", Spy)
    assert owner(table, text) != "auto-memory"
    assert sum(map(len, read)) < 60_000 < len(text)
    assert "user prefers" in read[0][:500]
    assert "user prefers" in read[0][-500:]
    assert "offset file" in read[0][10_000:14_000]


def test_a_fenced_block_is_code_and_no_prose(table: Table) -> None:
    said = "The tool prints this and exits 0:\n"
    block = "```\nThe user prefers short answers.\n```\n"
    assert Reading(said + block).features() == Reading(said + "`x`\n").features()
    assert "C:person" in Reading("Wrap it in ``` for the user").features()
    assert "C:person" in Reading(said + "```\nnever closed, says the user").features()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I prefer early returns to nested branches, write it that way for me", "auto-memory"),
        ("My evenings are free, mornings are for the children", "auto-memory"),
        ("I found that the importer skips the header twice, so the first row is lost", "observations"),
        ("Explain the timeout in the readme, since its default surprised several people", "observations"),
    ],
)
def test_who_says_i_is_told_by_what_is_said(table: Table, text: str, expected: str) -> None:
    assert owner(table, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Rename the column and pass the new name on. The old one is a keyword in the next version.",
        "Handle an empty `Range` in the reader.\n\nIt sent `bytes=-` and the server answers 416.",
        "Do not cache the lookup of tags\n* a tag may move\n* the key has no commit in it",
        "Don't reuse the buffer between reads: the decoder keeps a view into it",
        "Document `retry_after`\n\nIt returned seconds or a date, and callers treated both as seconds.",
    ],
)
def test_what_an_author_says_of_a_change_is_no_wish_of_a_person(table: Table, text: str) -> None:
    assert owner(table, text) in ("observations", AMBIGUOUS)


def test_a_text_without_a_word_about_people_is_known_as_such() -> None:
    assert "S:impersonal" in Reading("The parser drops the last line.").features()
    for text in ("The user likes it", "Ask her", "I like it", "사용자가 좋아한다", ""):
        assert "S:impersonal" not in Reading(text).features()


@given(st.text(max_size=400))
def test_any_text_gets_a_verdict_from_the_vocabulary(text: str) -> None:
    decision = decide(parse(SMALL), text)
    assert decision.owner in (*OWNERS, AMBIGUOUS)
    assert 0 <= decision.confidence <= 1
    assert decision.why() or not decision.reasons


def test_a_long_text_is_no_surer_than_a_long_sentence(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    wish = "Report {0} should be short and start with the conclusion, she reads on the phone"
    bug = "import {0} drops rows when the export has no header"
    text = ", ".join(part.format(number) for number in range(6) for part in (wish, bug))
    weighed = decide(table, text).confidence
    monkeypatch.setattr(model, "LONG", 10**9)
    assert weighed < decide(table, text).confidence


# --- the verdict explains itself ---------------------------------------------------------------------


def test_a_verdict_names_store_row_line_example_and_reasons(table: Table) -> None:
    decision = decide(table, "The installer exits 0 although the download failed.")
    assert (decision.owner, decision.store) == ("observations", "grimoires/loa/memory/observations.jsonl")
    row = next(row for row in table.rows if row.scope == decision.row)
    assert (decision.line, decision.example in row.examples) == (row.line, True)
    assert 0.6 < decision.confidence <= 1
    assert decision.reasons
    assert decision.row in decision.why()
    assert sum(each.share for each in decision.candidates) == pytest.approx(1)
    assert decision.candidates[0].share == decision.confidence


def test_the_same_text_gets_the_same_verdict(table: Table) -> None:
    text = "Branches are deleted after the merge, and the cache is stale."
    assert decide(table, text) == decide(load(SHIPPED), text)


# --- the table is the truth --------------------------------------------------------------------------


def test_every_example_of_the_page_is_routed_to_its_own_row(table: Table) -> None:
    for row in table.rows[::5]:
        for example in row.examples[::3]:
            if not tells_secret(example):
                assert owner(table, example) == row.owner, example


def test_adding_an_example_changes_the_verdict_at_once(table: Table) -> None:
    text = "The parser drops the last line when the file has no newline."
    assert owner(table, text) == "observations"
    page = SHIPPED.read_text("utf-8")
    changed = page.replace("Nice work everybody.", f"Nice work everybody.<br>{text}", 1)
    decision = decide(parse(changed), text)
    assert (decision.owner, decision.row, decision.example) == (NOWHERE, "Chatter", text)


def test_an_added_example_is_felt_by_a_text_close_to_it(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    close = "The parser drops the last line whenever the file has no newline."
    taught = "The parser drops the last line when the file has no newline."
    assert owner(table, close) == "observations"
    changed = parse(SHIPPED.read_text("utf-8").replace("Nice work everybody.", taught, 1))
    decision = decide(changed, close)
    assert decision.owner == NOWHERE
    monkeypatch.setattr(model, "NEAR", 0.0)
    assert decide(changed, close).confidence < decision.confidence


def test_adding_a_row_changes_the_verdict_of_texts_like_it() -> None:
    text = "Lunch at the blue table is at noon on Fridays."
    assert owner(parse(SMALL), text) != "instructions"
    row = "| Lunch | instructions | docs/lunch.md | — | Lunch at the long table is at noon on Mondays. |\n"
    decision = decide(parse(SMALL.strip() + "\n" + row), text)
    assert (decision.owner, decision.store, decision.row) == ("instructions", "docs/lunch.md", "Lunch")


def test_an_owner_s_store_is_what_the_row_says() -> None:
    decision = decide(
        parse(SMALL.replace("log.jsonl", "notes/log.md")), "The compiler drops the flag without a warning."
    )
    assert decision.store == "notes/log.md"


def test_an_example_of_two_owners_is_ambiguous() -> None:
    both = SMALL.replace("All changes are reviewed.", "She wants short answers.")
    decision = decide(parse(both), "She wants short answers.")
    assert decision.owner == AMBIGUOUS
    assert "two owners" in decision.why()


def test_a_signal_tips_the_balance() -> None:
    text = "Gallery wall: hang frames by eye."
    without = decide(parse(SMALL), text)
    signalled = parse(
        SMALL.replace(
            "| Rules | instructions | CLAUDE.md | — |",
            "| Rules | instructions | CLAUDE.md | gallery wall; frames |",
        )
    )
    shares = {each.owner: each.share for each in decide(signalled, text).candidates}
    assert shares["instructions"] > {each.owner: each.share for each in without.candidates}["instructions"]


@pytest.mark.parametrize(
    ("said", "text", "expected"),
    [
        ("in his voice", "Write it In His voice, please", True),
        ("in his voice", "in his own voice", False),
        ("annoy*", "it was annoying", True),
        ("annoy", "it was annoying", False),
        ("@person + @wants", "The user would like tea", True),
        ("@person + @wants", "The compiler would like tea", False),
        ("@person", "사용자가 물었다", True),
        ("^status", "Status: half done", True),
        ("^status", "the status is open", False),
        ("^@order", "Keep it short", True),
        ("^@order + short", "It is best that we should keep it short", False),
        ("'quoted words'", "with quoted words inside", True),
        ("没有", "缓存没有清空", True),
    ],
)  # fmt: skip
def test_signals_match_as_documented(said: str, text: str, expected: bool) -> None:
    reading = Reading(text)
    assert read(said).matches(reading.words(), reading.features()) is expected


# --- what it costs -----------------------------------------------------------------------------------


def test_routing_imports_nothing_heavy() -> None:
    code = "import sys, valor.routing.match; print(' '.join(sys.modules))"
    loaded = set(
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.split()
    )
    assert "valor.routing.match" in loaded
    assert not loaded & {
        "rapidfuzz",
        "numpy",
        "rich",
        "typer",
        "git",
        "redis",
        "markdown_it",
        "yaml",
        "asyncio",
        "socket",
    }
