"""What the tools do, as functions of plain values; the server around them knows the protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from valor import config, query, record
from valor.errors import NotAProject, UsageError
from valor.fold import View
from valor.lookup import resolve
from valor.mcp.answers import Found, Hit, Observation, Routed, Row, Written
from valor.observe import observe
from valor.selection import Selection, instant
from valor.suggest import one_of
from valor.workspace import Workspace

_SHOWN_BAD = 10
_WORTH_NAMING = 0.01  # the share from which an owner is in the running


class Calls:
    """The tools of one server process."""

    def __init__(self, env: Mapping[str, str], start: Path) -> None:
        self._env = env
        self._start = start

    def search(
        self,
        cwd: str,
        words: str,
        *,
        level: str,
        limit: int,
        type_: str,
        tags: Sequence[str],
        since: str,
        until: str,
        session: str,
    ) -> Found:
        """memory_search."""
        one_of(level, (query.INDEX, query.SUMMARY), "level")
        selection = Selection(
            type=type_,
            tags=tuple(tag.strip().casefold() for tag in tags if tag.strip()),
            since=instant(since, "since") if since else None,
            until=instant(until, "until", end_of_day=True) if until else None,
            session=session,
        )
        answer = query.query(self._workspace(cwd), selection, words, limit=limit)
        return Found(
            hits=[Hit(**query.disclose(line, answer.view, level)) for line in answer.lines],
            suggestions=list(answer.suggestions),
            skipped_lines=[f"line {bad.number}: {bad.reason}" for bad in answer.view.bad[:_SHOWN_BAD]],
        )

    def get(self, cwd: str, typed: str) -> Observation:
        """memory_get. Raises UsageError for an id nobody has, and for one without live successor."""
        view = self._workspace(cwd).view()
        public = {id_ for id_, line in view.observations.items() if not record.is_private(line.record)}
        asked = resolve(typed.strip(), public)
        id_ = asked if view.is_live(asked) else _successor(view, asked, public)
        data = query.disclose(view.observations[id_], view, query.FULL)
        return Observation(
            id=id_,
            type=record.kind(data),
            timestamp=record.text(data, "timestamp"),
            summary=record.text(data, "summary"),
            details=record.text(data, "details"),
            tags=record.texts(data, "tags"),
            references=record.texts(data, "references"),
            importance=record.importance(data),
            source=record.text(data, "source") or record.DEFAULT_SOURCE,
            session_id=record.text(data, "session_id"),
            replaces="" if id_ == asked else asked,
        )

    def observe(self, cwd: str, entry: Mapping[str, Any], *, redact: bool) -> Written:
        """memory_observe. Raises what ``observe`` refuses the entry for."""
        [fate] = observe(self._workspace(cwd), [{**entry, "tool": "mcp"}], redact=redact)
        if fate.error:
            raise fate.error
        return Written(status=fate.status, id=fate.id, routed=fate.routed, notes=list(fate.notes))

    def route(self, cwd: str, text: str) -> Routed:
        """memory_route."""
        if not text.strip():
            raise UsageError("there is no text", "say the fact as it would be written down")
        decision = self._workspace(cwd).router().decide(text)
        return Routed(
            owner=decision.owner,
            store=decision.store,
            row=decision.row,
            example=decision.example,
            confidence=round(decision.confidence, 3),
            reasons=list(decision.reasons),
            candidates=[
                Row(owner=one.owner, store=one.store, row=one.row, share=round(one.share, 3))
                for one in decision.candidates
                if one.share >= _WORTH_NAMING
            ],
        )

    def _workspace(self, cwd: str) -> Workspace:
        """The checkout that this call is about. A cwd that was passed counts for more than PROJECT_ROOT."""
        env, here = self._env, self._start
        if cwd:
            here = self._start / Path(cwd).expanduser()
            env = {key: value for key, value in env.items() if key != "PROJECT_ROOT"}
            if not here.is_dir():
                raise NotAProject(f"{here} is no folder", "pass cwd, a folder in the repository")
        try:
            return Workspace(config.resolve(env, here))
        except NotAProject as error:
            raise NotAProject(error.message, "pass cwd, a folder in the repository") from None


def _successor(view: View, id_: str, public: set[str]) -> str:
    survivor = view.survivor(id_)
    if survivor is None:
        raise UsageError(f"{id_} was retracted: what it says holds no more", "search for something newer")
    if survivor not in public:
        raise UsageError(f"{id_} was replaced by an observation that is private", "ask who wrote it")
    return survivor
