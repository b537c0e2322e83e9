"""Questions to the log: list, search, one in full, statistics.

Three levels of disclosure, so that an agent pays for what it needs: *index* (about 50 tokens an
observation), *summary* (about 200), *full* (all of it).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from valor import fold, log, record
from valor.errors import UsageError
from valor.fold import View
from valor.leaks import masked
from valor.log import Bad, Line
from valor.lookup import resolve
from valor.record import Record
from valor.secrets.detect import redact
from valor.selection import Selection
from valor.suggest import one_of
from valor.workspace import Workspace

if TYPE_CHECKING:
    from valor.search import Hit

INDEX, SUMMARY, FULL = "index", "summary", "full"
# Characters, at about four to a token.
_WORD, _INDEX_SUMMARY, _SUMMARY_SUMMARY, _SUMMARY_DETAILS = 40, 100, 300, 400
_FULL_FIELD = 60_000  # a line that another tool wrote may be megabytes long


class Answer(NamedTuple):
    """The lines found, best or newest first.

    ``why`` explains each hit of a search by line number; ``suggestions`` are words that the log
    has, where nothing matched; ``view`` is the fold the answer came from.
    """

    lines: Sequence[Line]
    view: View
    why: Mapping[int, Mapping[str, Any]] = MappingProxyType({})
    suggestions: Sequence[str] = ()


def query(
    workspace: Workspace,
    selection: Selection,
    words: str = "",
    *,
    limit: int = 10,
    hidden: bool = False,
    as_of: float | None = None,
) -> Answer:
    """The observations that pass the selection: ranked against ``words``, else newest first.

    ``limit`` 0 means all of them, ``hidden`` brings superseded ones too, ``as_of`` (unix seconds)
    answers from the lines that were there then. Raises UsageError for a type nobody knows.
    """
    view = view_at(workspace, as_of, selection.accepts)
    _admit_heirs(view, selection)
    shown = view.observations.values() if hidden else view.live()
    matching = [line for line in shown if line.held is not None]
    if not matching:
        for one in (selection, *selection.also):
            check_type(one.type, view)
    if words.strip():
        return _search(view, matching, words, limit)
    newest = in_time(matching)[::-1]
    return Answer(lines=newest[: limit or None], view=view)


def _admit_heirs(view: View, selection: Selection) -> None:
    """Keep what passes the selection by what it inherited: the fold judged the bare line."""
    for id_ in view.inherited:
        line = view.observations[id_]
        if line.held is None and selection.accepts(view.shown(line)):
            line.held = line.record


def view_at(workspace: Workspace, as_of: float | None, keep: Callable[[Record], bool] | None = None) -> View:
    """The view of the lines that were there at ``as_of`` (unix seconds; None: now); ``keep`` as in
    ``fold.fold``."""
    lines = log.lines(workspace.log)
    if as_of is not None:
        lines = (line for line in lines if isinstance(line, Bad) or record.moment(line.record) <= as_of)
    return fold.fold(lines, keep)


def in_time(lines: list[Line]) -> list[Line]:
    """The lines from oldest to newest; of one moment, in the order of the log."""
    stamps = [line.record.get("timestamp") for line in lines]
    if all(map(record.is_plain_stamp, stamps)):  # a third of the cost, and nearly always so
        return [line for _, line in sorted(zip(stamps, lines, strict=True), key=itemgetter(0))]
    return sorted(lines, key=lambda line: record.moment(line.record))


def _search(view: View, matching: list[Line], words: str, limit: int) -> Answer:
    from valor.search import Corpus

    # Ties go to the later document, so the newest comes last.
    matching = in_time(matching)
    corpus = Corpus(document(view.shown(line)) for line in matching)
    hits = corpus.search(words, limit or len(matching))
    lines = [matching[hit.index] for hit in hits]
    why = {line.number: _explain(hit) for line, hit in zip(lines, hits, strict=True)}
    return Answer(lines=lines, view=view, why=why, suggestions=() if hits else corpus.suggest(words))


def document(data: Record) -> tuple[str, str, list[str]]:
    """The record as search reads it: summary, details, tags."""
    return record.text(data, "summary"), record.text(data, "details"), record.texts(data, "tags")


def _explain(hit: Hit) -> dict[str, Any]:
    """A hit's score and its parts; a term that stood in for an unknown word names that as ``for``."""
    terms = []
    for part in hit.terms:
        term: dict[str, Any] = {"term": part.term, "tf": round(part.tf, 2), "idf": round(part.idf, 3)}
        if part.mapped:
            term |= {"for": part.asked, "similarity": round(part.similarity, 3)}
        terms.append(term | {"gives": round(part.contribution, 3)})
    shares = {"in_summary": round(hit.in_summary, 3), "in_text": round(hit.in_text, 3)}
    return {"score": round(hit.score, 4), "terms": terms, "trigrams": shares}


def check_type(typed: str, view: View) -> None:
    """A type that nobody knows is a slip, not an empty answer; types of other tools are known."""
    if typed:
        own = {record.kind(line.record) for line in view.observations.values()}
        one_of(typed, [*record.TYPES, *sorted(_cut(one, _WORD) for one in own - set(record.TYPES))], "type")


def find(view: View, typed: str) -> Line:
    """The observation whose id is ``typed`` or begins with it. A private one answers to its whole
    id alone."""
    if typed in view.observations:
        return view.observations[typed]
    public = (id_ for id_, line in view.observations.items() if not record.is_private(line.record))
    return view.observations[resolve(typed, public)]


def disclose(line: Line, view: View, level: str) -> dict[str, Any]:
    """The observation at a level of disclosure, secrets masked.

    What it inherited stands behind its own; in full, ``inherited`` says which that is. A hidden one says
    what replaced it (``superseded_by`` is its live survivor, null for a retraction) and by which marks.
    """
    data = view.shown(line)
    id_ = record.identifier(data)
    row = {"id": id_} | _LEVELS[level](data)
    if level == FULL and id_ in view.inherited:
        taken = zip(("tags", "references"), view.inherited[id_], strict=True)
        row["inherited"] = _full({key: list(values) for key, values in taken if values})
    if id_ in view.superseded:
        row["superseded_by"] = view.survivor(id_)
        row["marked_by"] = sorted(view.marked_by.get(id_, ()))
    return row


def _index(data: Record) -> dict[str, Any]:
    return {
        "type": _cut(record.kind(data), _WORD),
        "timestamp": _cut(record.text(data, "timestamp")[:10], _WORD),
        "summary": _cut(record.text(data, "summary"), _INDEX_SUMMARY),
    }


def _summary(data: Record) -> dict[str, Any]:
    row = {
        "type": _cut(record.kind(data), _WORD),
        "timestamp": _cut(record.text(data, "timestamp"), _WORD),
        "summary": _cut(record.text(data, "summary"), _SUMMARY_SUMMARY),
        "details": _cut(record.text(data, "details"), _SUMMARY_DETAILS),
        "tags": [redact(tag) for tag in record.texts(data, "tags")],
        "references": [redact(reference) for reference in record.texts(data, "references")],
    }
    return {key: value for key, value in row.items() if value not in ("", [])}


def _full(data: Record) -> dict[str, Any]:
    return masked(_capped(data))


_LEVELS: Mapping[str, Callable[[Record], dict[str, Any]]] = {INDEX: _index, SUMMARY: _summary, FULL: _full}


def _cut(text: str, most: int) -> str:
    # Masked before it is cut: half a secret would pass the detector.
    text = redact(text[: 4 * most])
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _capped(value: Any) -> Any:
    """The value with its long texts cut."""
    if isinstance(value, str):
        return value if len(value) <= _FULL_FIELD else value[:_FULL_FIELD] + "…"
    if isinstance(value, list):
        return [_capped(item) for item in value]
    if isinstance(value, dict):
        return {key: _capped(item) for key, item in value.items()}
    return value


def statistics(view: View, selection: Selection) -> dict[str, Any]:
    """Counts over the observations that pass the selection: live ones, types, sessions, dates; and
    over the whole log, the lines that are private or bad and the ids that clash."""
    chosen = [data for data in map(view.shown, view.observations.values()) if selection.accepts(data)]
    hidden = sum(1 for data in chosen if record.identifier(data) in view.superseded)
    times = [at for at in map(record.moment, chosen) if at]
    return {
        "total_observations": len(chosen),
        "live": len(chosen) - hidden,
        "superseded": hidden,
        "sessions": len({session for data in chosen if (session := record.text(data, "session_id"))}),
        "date_range": {
            "oldest": record.stamp(min(times))[:10] if times else None,
            "newest": record.stamp(max(times))[:10] if times else None,
        },
        "by_type": [
            {"type": _cut(type_, _WORD), "count": count}
            for type_, count in Counter(map(record.kind, chosen)).most_common()
        ],
        "private": sum(1 for line in view.observations.values() if record.is_private(line.record)),
        "bad_lines": len(view.bad),
        "conflicting_ids": len(view.conflicts),
    }


def level_of(index: bool, summary: bool) -> str:
    """The level the flags ask for: index unless ``--summary``."""
    if index and summary:
        raise UsageError("--index and --summary exclude each other", "pass one of them")
    return SUMMARY if summary else INDEX
