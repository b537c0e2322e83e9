"""Ask a command about pairs of observations: questions as JSON lines, verdicts as JSON lines.

A judge is somebody else's program, mostly a language model behind a command. Nothing it does may harm:
what it does not answer, or not clearly, counts as not answered, and whatever it answered before it
failed is kept. The protocol: docs/how-to/judge-with-a-model.md.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from valor import child
from valor.git import forget_repository_variables
from valor.leaks import leaks, masked
from valor.private import strip_deep, strip_private
from valor.record import BadLine, Record, dumps, parse
from valor.secrets.detect import redact
from valor.stub import plain

DUPLICATE, SUPERSEDES, DISTINCT, UNSURE = "duplicate", "supersedes", "distinct", "unsure"
VERDICTS = (DUPLICATE, SUPERSEDES, DISTINCT, UNSURE)

TIMEOUT = 300.0  # seconds, where nobody says otherwise
LONGEST_LINE = 64 * 1024  # bytes of an answer, its line end not counted
LONGEST_REASON = 300  # characters

_SENT = ("id", "timestamp", "type", "summary", "details", "tags", "references")
_MOST_OUTPUT = 4 * 1024 * 1024  # bytes, and for each question
_MOST_ANSWER = 1024  # bytes more
_LONGEST_ERROR = 200  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A pair to judge: ``a`` is the earlier observation, ``b`` the later, both as whole records.

    ``id`` is a short text that no other question of the run has; ``relation`` is what valor takes the pair
    for (duplicate, supersedes or conflict) and ``why`` its reason.
    """

    id: str
    relation: str
    why: str
    a: Record
    b: Record

    def row(self) -> dict[str, Any]:
        """The question as data, with what a judge needs of both and no more."""
        return {
            "id": self.id,
            "relation": self.relation,
            "why": self.why,
            "a": {key: self.a[key] for key in _SENT if key in self.a},
            "b": {key: self.b[key] for key in _SENT if key in self.b},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The answer to the question of this id: one of ``VERDICTS``, and a reason that may be stored, or "".

    ``supersedes`` says that the later observation replaces the earlier.
    """

    id: str
    verdict: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What came of asking: verdicts by id, how many questions have none, how many lines told nothing.

    ``ended`` is "" where the judge ended well, else a sentence that says how it failed.
    """

    verdicts: dict[str, Verdict]
    unanswered: int
    ignored: int
    ended: str


def ask(
    command: str,
    questions: Iterable[Mapping[str, Any]],
    *,
    timeout: float,
    cwd: Path,
    environment: Mapping[str, str],
) -> Answers:
    """Have the command judge ``questions`` (as ``Question.row`` gives them) within ``timeout`` seconds.

    The command is split as a shell would, and started without one, in ``cwd``, not at all where there is
    nothing to ask. Texts are sent with secrets and private blocks taken out. Raises nothing for what the
    judge does.
    """
    rows = list(questions)
    hearing = _Hearing(str(row["id"]) for row in rows)
    ended = ""
    if rows:
        try:
            words = shlex.split(command)
        except ValueError as error:
            ending = child.Ending(cause=f"could not be started: {str(error).lower()}")
        else:
            ending = _run(words, rows, hearing, timeout, cwd, environment)
        hearing.over()
        ended = _sentence(ending, hearing.noise)
    return Answers(
        verdicts=hearing.verdicts,
        unanswered=len(rows) - len(hearing.verdicts),
        ignored=hearing.ignored,
        ended=ended,
    )


def _run(
    words: list[str],
    rows: list[Mapping[str, Any]],
    hearing: _Hearing,
    timeout: float,
    cwd: Path,
    environment: Mapping[str, str],
) -> child.Ending:
    if not words:
        return child.Ending(cause="could not be started: the command is empty")
    variables = dict(environment)
    forget_repository_variables(variables)
    return child.run(
        words,
        (_line(row) for row in rows),
        hearing.hear,
        seconds=timeout,
        most=_MOST_OUTPUT + _MOST_ANSWER * len(rows),
        cwd=cwd,
        environment=variables,
    )


def _line(row: Mapping[str, Any]) -> bytes:
    """The question as the judge gets it. Each observation is searched as one: its summary may announce a
    secret that its details tell."""
    clean = strip_deep(dict(row))
    observations = {key: masked(value) for key, value in clean.items() if isinstance(value, dict)}
    return dumps(masked({key: clean[key] for key in clean if key not in observations}) | observations) + b"\n"


class _Hearing:
    """Bytes as they come, to verdicts."""

    def __init__(self, asked: Iterable[str]) -> None:
        self.verdicts: dict[str, Verdict] = {}
        self.ignored = 0
        self.noise = b""  # the last line that told nothing: some tools complain on standard output
        self._asked = set(asked)
        self._line = b""

    def hear(self, piece: bytes) -> None:
        """Take a piece of output, whatever it begins or ends with."""
        first, *others = piece.split(b"\n")
        self._add(first)
        for other in others:
            self.over()
            self._add(other)

    def over(self) -> None:
        """The line is whole, or nothing more will come."""
        line, self._line = self._line, b""
        if not line.strip():
            return
        verdict = _read(line)
        if verdict is None or verdict.id not in self._asked:
            self.ignored += 1
            self.noise = line
        elif self.verdicts.setdefault(verdict.id, verdict).verdict != verdict.verdict:
            del self.verdicts[verdict.id]
            self._asked.remove(verdict.id)  # who says both has said neither, whatever follows
            self.ignored += 1

    def _add(self, piece: bytes) -> None:
        if len(self._line) <= LONGEST_LINE:  # what is longer already is no verdict, however it goes on
            self._line += piece


def _read(line: bytes) -> Verdict | None:
    """The verdict in a line; None where it holds none."""
    if len(line) > LONGEST_LINE or b"verdict" not in line:  # the latter because prose may be long
        return None
    try:
        data = parse(line)
    except BadLine:
        return None
    id_, verdict, reason = (data.get(key) for key in ("id", "verdict", "reason"))
    if type(id_) not in (str, int) or verdict not in VERDICTS:
        return None
    return Verdict(id=str(id_), verdict=verdict, reason=_fit(reason) if isinstance(reason, str) else "")


def _fit(reason: str) -> str:
    """The reason as a mark may hold it; "" where it holds a secret, also one that is cut in two."""
    told = strip_private(reason)
    short = _short(told, LONGEST_REASON)
    return "" if leaks({"reason": told}) or leaks({"reason": short}) else short


def _sentence(ending: child.Ending, noise: bytes) -> str:
    """How the judge failed, and the last that it wrote to standard error, else beside its answers."""
    if not ending.cause:
        return ""
    complaint = _last_line(ending.error) or _last_line(noise)
    return f"the judge {ending.cause}: {complaint}" if complaint else f"the judge {ending.cause}"


def _last_line(output: bytes) -> str:
    told = redact(strip_private(output.decode(errors="replace")))
    return next((said for line in reversed(told.splitlines()) if (said := _short(line, _LONGEST_ERROR))), "")


def _short(text: str, limit: int) -> str:
    """One printable line of at most so many characters."""
    text = plain(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"
