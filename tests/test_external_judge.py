"""A judge is somebody else's program: real children that answer, hang, die and print garbage."""

from __future__ import annotations

import json
import os
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valor import child
from valor.consolidate.external_judge import LONGEST_LINE, Answers, Question, _Hearing, ask

LONG = 60.0  # a time-out that no test waits for
PAGE = Path(__file__).parents[1] / "docs/how-to/judge-with-a-model.md"
KEY = "AKIA" + "Q7RZ2LMNP4TV6WXY"

# What each judge begins with. It holds the test's pipe open for as long as it lives, and so does its child.
START = """\
import json, os, signal, sys, time
alive = os.open({fifo!r}, os.O_WRONLY)
def say(id, verdict="duplicate", **more):
    print(json.dumps({{"id": id, "verdict": verdict, **more}}), flush=True)
def hang():
    while True:
        time.sleep(600)
os.write(alive, b"judge ")
"""


class Judges:
    """Judges made of a few lines of Python, and whether they are gone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.fifo = folder / "alive"
        os.mkfifo(self.fifo)
        self._alive = os.open(self.fifo, os.O_RDONLY | os.O_NONBLOCK)

    def command(self, source: str) -> str:
        script = self.folder / "a judge.py"
        script.write_text(START.format(fifo=str(self.fifo)) + source)
        return shlex.join([sys.executable, "-I", "-S", str(script)])

    def ask(self, source: str, count: int = 3, timeout: float = LONG) -> Answers:
        return put(self.command(source), self.folder, count, timeout)

    def gone(self) -> str:
        """Who was there, once nobody is any more. Fails where somebody stays."""
        said, until = b"", time.monotonic() + 20
        while time.monotonic() < until:
            if select.select([self._alive], [], [], 0.5)[0]:
                piece = os.read(self._alive, 4096)
                if not piece:
                    return said.decode()
                said += piece
        raise AssertionError(f"still there: {said.decode()}")

    def word(self) -> str:
        """The next that somebody says, however long it takes."""
        while True:
            select.select([self._alive], [], [], 20)
            if said := os.read(self._alive, 4096):
                return said.decode()

    def close(self) -> None:
        os.close(self._alive)


@pytest.fixture
def judges(tmp_path: Path) -> Iterator[Judges]:
    made = Judges(tmp_path)
    yield made
    made.close()


def questions(count: int, size: int = 10) -> list[dict[str, Any]]:
    a, b = ({"id": f"obs-{n}", "summary": letter * size} for n, letter in enumerate("ab"))
    return [
        Question(id=str(n), relation="duplicate", why="near", a=a, b=b).row() for n in range(1, count + 1)
    ]


def put(command: str, cwd: Path, count: int = 3, timeout: float = LONG, **env: str) -> Answers:
    environment = {"PATH": os.environ["PATH"], **env}
    return ask(command, questions(count), timeout=timeout, cwd=cwd, environment=environment)


def words(answers: Answers) -> dict[str, str]:
    return {id_: verdict.verdict for id_, verdict in answers.verdicts.items()}


def test_answers_count_in_whatever_order_they_come(judges: Judges) -> None:
    answers = judges.ask(
        "rows = [json.loads(line) for line in sys.stdin]\n"
        "for row, word in zip(reversed(rows), ['distinct', 'supersedes', 'duplicate', 'unsure']):\n"
        "    say(row['id'], word, reason='because')\n",
        count=4,
    )
    assert words(answers) == {"4": "distinct", "3": "supersedes", "2": "duplicate", "1": "unsure"}
    assert {verdict.reason for verdict in answers.verdicts.values()} == {"because"}
    assert (answers.unanswered, answers.ignored, answers.ended) == (0, 0, "")


def test_what_was_answered_before_the_time_out_counts_and_nobody_stays(judges: Judges) -> None:
    answers = judges.ask(
        "say('1'); say('2')\nif os.fork() == 0:\n    os.write(alive, b'grandchild ')\nhang()\n", timeout=2
    )
    assert words(answers) == {"1": "duplicate", "2": "duplicate"}
    assert answers.unanswered == 1
    assert answers.ended == "the judge ran into the time-out of 2 s"
    assert sorted(judges.gone().split()) == ["grandchild", "judge"]


def test_a_judge_that_dies_half_way_has_said_what_it_said(judges: Judges) -> None:
    answers = judges.ask(
        "say('1')\nsys.stderr.write('Traceback\\n  no credit left\\x1b[0m\\n\\n')\nsys.exit(3)\n"
    )
    assert words(answers) == {"1": "duplicate"}
    assert answers.ended == "the judge ended with exit status 3: no credit left"


def test_a_complaint_on_standard_output_is_shown_where_there_is_no_other(judges: Judges) -> None:
    answers = judges.ask("print('Invalid API key')\nsay('1')\nsys.exit(1)\n")
    assert answers.ended == "the judge ended with exit status 1: Invalid API key"
    assert answers.ignored == 1


def test_a_signal_is_named(judges: Judges) -> None:
    assert judges.ask("os.kill(os.getpid(), signal.SIGKILL)\n").ended == "the judge was ended by SIGKILL"


def test_the_last_words_hold_no_secret_and_end_some_time(judges: Judges) -> None:
    ended = judges.ask(f"sys.stderr.write('key {KEY[:6]}' '{KEY[6:]} ' + 'x ' * 9000)\nsys.exit(1)\n").ended
    assert ended == "the judge ended with exit status 1"  # its start is lost, so it is not shown
    ended = judges.ask(f"sys.stderr.write('key {KEY[:6]}' '{KEY[6:]} ' + 'x ' * 900)\nsys.exit(1)\n").ended
    assert ended.startswith("the judge ended with exit status 1: key [redacted:")
    assert len(ended) < 260


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"Here are the verdicts:", "prose"),
        (b"```json", "a fence"),
        (b'{"id":"1","verdict":"duplicate"', "torn"),
        (b'{"id":"1","verdict":"duplicate"}{"id":"2","verdict":"duplicate"}', "two in a line"),
        (b'[{"id":"1","verdict":"duplicate"}]', "a list"),
        (b'{"id":"1","verdict":"Duplicate!"}', "an unknown word"),
        (b'{"id":"1","verdict":["duplicate"]}', "no word"),
        (b'{"id":"1","verdict":{"duplicate":1}}', "no word"),
        (b'{"id":"9","verdict":"duplicate"}', "an unknown id"),
        (b'{"id":true,"verdict":"duplicate"}', "no id"),
        (b'{"id":["1"],"verdict":"duplicate"}', "no id"),
        (b'{"verdict":"duplicate"}', "no id"),
        (b'{"id":"1","verdict":"duplicate","score":NaN}', "no JSON"),
        (b'"verdict"', "no object"),
        (b'{"id":"1","verdict":"duplicate","reason":"\xff"}', "not UTF-8"),
        (b"\x00\x01\xfe\xff verdict", "binary"),
        (b'{"id":"1","verdict":"duplicate","reason":"' + b"x" * LONGEST_LINE + b'"}', "too long"),
        (b'{"a":' * 5000 + b'"verdict"' + b"}" * 5000, "too deep"),
    ],
)
def test_a_line_that_is_no_verdict_costs_itself_alone(line: bytes, why: str) -> None:
    hearing = _Hearing(["1", "2"])
    hearing.hear(line + b'\n{"id":"2","verdict":"distinct"}\n')
    hearing.over()
    assert list(hearing.verdicts) == ["2"], why
    assert hearing.ignored == 1


def test_verdicts_in_a_code_fence_and_without_a_last_line_end_count(judges: Judges) -> None:
    answers = judges.ask(
        'sys.stdout.write(\'Sure!\\r\\n\\r\\n```json\\r\\n  {"id":1,"verdict":"distinct"}\\r\\n```\\n\\n\')\n'
        'sys.stdout.write(\'{"id":"2","verdict":"unsure","reason":7}\')\n'
    )
    assert words(answers) == {"1": "distinct", "2": "unsure"}
    assert answers.ignored == 3


def test_who_answers_both_ways_has_not_answered(judges: Judges) -> None:
    answers = judges.ask(
        "for word in ('duplicate', 'distinct', 'duplicate'):\n    say('1', word)\n    say('2', 'unsure')\n"
    )
    assert words(answers) == {"2": "unsure"}
    assert (answers.unanswered, answers.ignored) == (2, 2)


_LINES = st.lists(
    st.one_of(
        st.builds(
            lambda id_, word: json.dumps({"id": id_, "verdict": word}).encode(),
            st.sampled_from("1234"),
            st.sampled_from(["duplicate", "supersedes", "distinct", "unsure", "maybe"]),
        ),
        st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")),
    ),
    max_size=12,
)


@given(lines=_LINES, data=st.data())
def test_neither_order_nor_how_output_is_cut_into_pieces_changes_what_it_says(
    lines: list[bytes], data: st.DataObject
) -> None:
    def heard(lines: list[bytes], cuts: list[int]) -> dict[str, str]:
        hearing, output = _Hearing("123"), b"\n".join(lines)
        places = [0, *sorted(cut % (len(output) + 1) for cut in cuts), len(output)]
        for start, end in pairwise(places):
            hearing.hear(output[start:end])
        hearing.over()
        return {id_: verdict.verdict for id_, verdict in hearing.verdicts.items()}

    cuts = data.draw(st.lists(st.integers(0, 999), max_size=6))
    assert heard(data.draw(st.permutations(lines)), cuts) == heard(lines, [])


def test_megabytes_without_a_line_end_are_one_line(judges: Judges) -> None:
    answers = judges.ask("say('1')\nsys.stdout.write('x' * 3_000_000 + '\\n')\nsay('2')\n")
    assert words(answers) == {"1": "duplicate", "2": "duplicate"}
    assert answers.ignored == 1


def test_a_line_that_never_ends_is_not_kept() -> None:
    hearing = _Hearing(["1"])
    for _ in range(50):
        hearing.hear(b"x" * LONGEST_LINE)
    assert len(hearing._line) <= 2 * LONGEST_LINE


def test_who_prints_without_end_is_ended(judges: Judges) -> None:
    answers = judges.ask("say('1')\nwhile True:\n    os.write(1, os.urandom(65536))\n")
    assert words(answers) == {"1": "duplicate"}
    assert answers.ended.startswith("the judge printed more than 4,197,376 bytes")
    assert judges.gone() == "judge "


def test_five_megabytes_that_nobody_reads_are_no_error(judges: Judges) -> None:
    many = questions(500, size=5_000)
    assert len(json.dumps(many)) > 5_000_000
    command = judges.command("say('500')\n")
    answers = ask(command, many, timeout=LONG, cwd=judges.folder, environment={})
    assert (words(answers), answers.unanswered, answers.ended) == ({"500": "duplicate"}, 499, "")


def test_five_megabytes_that_are_never_read_do_not_outlast_the_time_out(judges: Judges) -> None:
    command = judges.command("say('500')\nhang()\n")
    answers = ask(command, questions(500, size=5_000), timeout=2, cwd=judges.folder, environment={})
    assert words(answers) == {"500": "duplicate"}
    assert answers.ended == "the judge ran into the time-out of 2 s"
    assert judges.gone() == "judge "


def test_who_talks_before_it_listens_is_heard(judges: Judges) -> None:
    command = judges.command(
        "sys.stdout.write(('prose ' * 200 + '\\n') * 1000)\nsys.stderr.write('noise ' * 50_000)\n"
        "rows = list(sys.stdin)\nfor row in rows:\n    say(json.loads(row)['id'])\n"
    )
    answers = ask(command, questions(500, size=5_000), timeout=LONG, cwd=judges.folder, environment={})
    assert (len(answers.verdicts), answers.ignored, answers.ended) == (500, 1000, "")


@pytest.mark.parametrize("stream", [0, 1, 2])
def test_a_stream_closed_early_is_no_reason_to_wait(judges: Judges, stream: int) -> None:
    answers = judges.ask(f"say('1')\nos.close({stream})\nos._exit(0)\n", count=2000)
    assert (words(answers), answers.ended) == ({"1": "duplicate"}, "")


def test_who_closes_its_output_and_goes_on_is_not_waited_for(judges: Judges) -> None:
    answers = judges.ask("say('1')\nos.close(1)\nhang()\n")
    assert words(answers) == {"1": "duplicate"}
    assert answers.ended == "the judge closed its output and went on"
    assert judges.gone() == "judge "


def test_a_grandchild_that_keeps_the_output_open_is_not_waited_for(judges: Judges) -> None:
    answers = judges.ask("say('1')\nif os.fork() == 0:\n    hang()\nsay('2')\n")
    assert words(answers) == {"1": "duplicate", "2": "duplicate"}
    assert answers.ended == "the judge ended, and left a process that kept its output open"
    assert judges.gone() == "judge "


def test_what_a_grandchild_still_says_after_the_judge_is_heard(judges: Judges) -> None:
    answers = judges.ask(
        "parent = os.getpid()\nif os.fork() == 0:\n"
        "    while os.getppid() == parent:\n        time.sleep(0.001)\n    say('3')\n"
    )
    assert words(answers) == {"3": "duplicate"}
    assert answers.ended == ""


def test_a_silent_grandchild_is_ended_with_the_judge(judges: Judges) -> None:
    answers = judges.ask("say('1')\nif os.fork() == 0:\n    [os.close(n) for n in (0, 1, 2)]\n    hang()\n")
    assert (words(answers), answers.ended) == ({"1": "duplicate"}, "")
    assert judges.gone() == "judge "


def test_who_left_the_session_cannot_hold_us(judges: Judges) -> None:
    answers = judges.ask(
        "if os.fork() == 0:\n    os.setsid()\n    os.write(alive, b'%d' % os.getpid())\n"
        "    while True:\n        os.write(2, bytes(65536))\n"
        "os.read(0, 1)\n"
    )
    assert answers.ended == "the judge ended, and left a process that kept its output open"
    judges.gone()  # nobody hears it any more, and that ends it


def test_who_ignores_being_asked_to_end_is_ended(judges: Judges, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "GRACE", 0.3)
    answers = judges.ask("signal.signal(signal.SIGTERM, signal.SIG_IGN)\nsay('1')\nhang()\n", timeout=2)
    assert words(answers) == {"1": "duplicate"}
    assert answers.ended == "the judge ran into the time-out of 2 s"
    assert judges.gone() == "judge "


def test_what_is_said_on_being_asked_to_end_counts(judges: Judges) -> None:
    answers = judges.ask(
        "def last(*_):\n    print('prose ' * 50_000)\n    say('1')\n    sys.exit()\n"  # beyond a pipe
        "signal.signal(signal.SIGTERM, last)\nhang()\n",
        timeout=2,
    )
    assert words(answers) == {"1": "duplicate"}


@pytest.mark.parametrize("stubborn", [False, True], ids=["gentle", "stubborn"])
def test_an_interrupt_ends_the_judge_and_goes_on_up(judges: Judges, stubborn: bool) -> None:
    ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" if stubborn else ""
    command = judges.command(f"{ignore}if os.fork():\n    os.write(alive, b'ready ')\nhang()\n")
    asking = (
        "import signal; from pathlib import Path; from valor.consolidate.external_judge import ask\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a job in the background ignores it
        f"ask({command!r}, [{{'id': '1'}}], timeout=600, cwd=Path('.'), environment={{}})\n"
    )
    asker = subprocess.Popen([sys.executable, "-c", asking], stderr=subprocess.PIPE)
    while "ready" not in judges.word():
        pass
    asker.send_signal(signal.SIGINT)
    _, error = asker.communicate(timeout=30)
    assert error.strip().endswith(b"KeyboardInterrupt")
    assert asker.returncode != 0
    judges.gone()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("no-such-judge --fast", "no-such-judge: No such file or directory"),
        ("./data", "./data: Permission denied"),
        ("/", "/: Permission denied"),
        ("judge 'half", "no closing quotation"),
        ("  ", "the command is empty"),
        ("judge \0", "embedded null byte"),
    ],
)
def test_a_judge_that_cannot_be_started_answers_nothing(tmp_path: Path, command: str, why: str) -> None:
    (tmp_path / "data").write_text("#!/bin/sh\n")
    answers = put(command, tmp_path)
    assert (answers.verdicts, answers.unanswered, answers.ignored) == ({}, 3, 0)
    assert answers.ended == f"the judge could not be started: {why}"


def test_nobody_is_started_where_there_is_nothing_to_ask(tmp_path: Path) -> None:
    assert put("touch started", tmp_path, count=0).ended == ""
    assert not (tmp_path / "started").exists()


def test_the_command_is_split_but_no_shell_reads_it(tmp_path: Path) -> None:
    put("touch '$HOME and more' ;", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["$HOME and more", ";"]


def test_git_variables_of_a_hook_do_not_reach_the_judge(tmp_path: Path) -> None:
    put("sh -c 'pwd > where; env > variables'", tmp_path, GIT_DIR="/elsewhere", MODEL="small")
    variables = (tmp_path / "variables").read_text()
    assert "MODEL=small" in variables
    assert "GIT_DIR" not in variables
    assert Path((tmp_path / "where").read_text().strip()).samefile(tmp_path)


def sent(tmp_path: Path, *asked: Question) -> list[dict[str, Any]]:
    rows = [question.row() for question in asked]
    ask("tee sent", rows, timeout=LONG, cwd=tmp_path, environment={"PATH": os.environ["PATH"]})
    return [json.loads(line) for line in (tmp_path / "sent").read_bytes().splitlines()]


def test_what_is_sent_holds_what_a_judge_needs_and_no_more(tmp_path: Path) -> None:
    a = {
        "id": "obs-1790000000-3f9a1c2b7d04",
        "timestamp": "2026-11-30T18:00:00Z",
        "session_id": "s",
        "type": "error",
        "summary": "Zeilen\nmit ünïcode",
        "tags": ["ci"],
        "references": ["a.py:1"],
        "importance": 8.0,
        "unknown": "x",
    }
    (row,) = sent(
        tmp_path, Question(id="1", relation="conflict", why="8080 against 8081", a=a, b={"id": "b"})
    )
    kept = ("id", "timestamp", "type", "summary", "tags", "references")
    assert row == {
        "id": "1",
        "relation": "conflict",
        "why": "8080 against 8081",
        "a": {key: a[key] for key in kept},
        "b": {"id": "b"},
    }


def test_secrets_and_private_blocks_stay_here(tmp_path: Path) -> None:
    a = {
        "id": "a",
        "summary": f"The key is {KEY}",
        "tags": [KEY],
        "details": "one <private>two</private> three",
    }
    b = {"id": "b", "summary": "The database password is:", "details": "hunter2" + "Xq9zL4"}
    (row,) = sent(tmp_path, Question(id="1", relation="duplicate", why=f"both say {KEY}", a=a, b=b))
    text = json.dumps(row)
    assert KEY not in text
    assert "Xq9zL4" not in text
    assert "two" not in text
    assert row["a"]["details"] == "one three"
    assert (row["id"], row["a"]["id"], row["b"]["id"]) == ("1", "a", "b")


@pytest.mark.parametrize(
    ("reason", "kept"),
    [
        ("plain", "plain"),
        (" two\nlines \x1b[31mred\x1b[0m\u202e\x00 ", "two lines red"),
        ("says <private>who</private> so", "says so"),
        (f"b has {KEY}", ""),
        (f"b has {KEY[:9]}\u200b{KEY[9:]}", ""),
        ("<private>all", ""),
        ("long " * 100, ("long " * 100)[:299] + "…"),
        ("x" * 300, "x" * 300),
        ("x" * 280 + f" then {KEY}", ""),
        (None, ""),
        (["why"], ""),
    ],
)
def test_a_reason_is_made_fit_to_be_stored(reason: Any, kept: str) -> None:
    hearing = _Hearing(["1"])
    hearing.hear(json.dumps({"id": "1", "verdict": "duplicate", "reason": reason}).encode())
    hearing.over()
    assert hearing.verdicts["1"].reason == kept


@pytest.fixture(scope="module")
def examples() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)


Pair = Callable[[str, str, str], dict[str, Any]]


@pytest.fixture
def pair() -> Pair:
    def make(id_: str, one: str, other: str) -> dict[str, Any]:
        a, b = {"id": "a", "summary": one}, {"id": "b", "summary": other}
        return Question(id=id_, relation="duplicate", why="near", a=a, b=b).row()

    return make


def test_the_judge_without_a_model_on_the_page_works(tmp_path: Path, examples: list[str], pair: Pair) -> None:
    (tmp_path / "judge.py").write_text(examples[1])
    answers = ask(
        f"{sys.executable} judge.py",
        [pair("1", "The port is 8080.", "the port is 8080"), pair("2", "port 8080", "port 8081")],
        timeout=LONG,
        cwd=tmp_path,
        environment={},
    )
    assert words(answers) == {"1": "duplicate", "2": "unsure"}
    assert (answers.ignored, answers.ended) == (0, "")


# A model as models are: it greets, fences its answer, and forgets the last line end.
MODEL = r"""
import json, os, re, sys
prompt = sys.stdin.read()
assert os.environ["LOA_MEMORY_ENABLED"] == "false"
with open("prompts", "a") as file:
    file.write("x")
rows = [json.loads(line) for line in prompt.splitlines() if line[:6] == '{"id":' and '"why"' in line]
answers = [json.dumps({"id": row["id"], "verdict": "supersedes", "reason": "so"}) for row in rows]
sys.stdout.write("Here you are:\n```json\n" + "\n".join(answers))
"""


def test_the_judge_with_a_model_on_the_page_works(tmp_path: Path, examples: list[str], pair: Pair) -> None:
    (tmp_path / "judge.py").write_text(examples[0])
    (tmp_path / "model.py").write_text(MODEL)
    rows = [pair(str(n), "old", "new") for n in range(1, 46)]
    command = f"{sys.executable} judge.py {sys.executable} model.py"
    answers = ask(command, rows, timeout=LONG, cwd=tmp_path, environment={})
    assert (len(answers.verdicts), answers.unanswered, answers.ended) == (45, 0, "")
    assert answers.ignored == 6
    assert (tmp_path / "prompts").read_text() == "xxx"


def test_a_model_that_fails_on_the_page_is_told(tmp_path: Path, examples: list[str], pair: Pair) -> None:
    (tmp_path / "judge.py").write_text(examples[0])
    answers = ask(
        f"{sys.executable} judge.py sh -c 'echo quota exceeded >&2; exit 7'",
        [pair("1", "old", "new")],
        timeout=LONG,
        cwd=tmp_path,
        environment={"PATH": os.environ["PATH"]},
    )
    assert answers.ended == "the judge ended with exit status 7: quota exceeded"


def test_the_page_says_what_the_code_does() -> None:
    from valor.consolidate import external_judge

    page = PAGE.read_text("utf-8")
    for field in ("id", "relation", "why", *external_judge._SENT, *external_judge.VERDICTS):
        assert f"`{field}`" in page
    assert f"({external_judge.TIMEOUT:g} where" in page
    assert f"at most {external_judge.LONGEST_REASON} characters" in page
