"""The record for programs: read it, search it, add to it.

    from valor.memory import Memory

    Memory = Memory.at("/path/to/checkout")
    for memory in Memory.query.filter(type="error", tags="ci").search("socket"):
        print(memory.id, memory.importance, memory.summary)
    Memory("The pool hands out dead sockets after a fork", type="error").save()

``Memory.at`` binds the class to a checkout; neither the environment nor the working directory is
asked behind the caller's back. Reference: docs/reference/python-api.md.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

from valor import config, record
from valor.errors import NotAProject, UsageError
from valor.fold import View
from valor.lazy_query import Query, warn_of_bad_lines
from valor.leaks import masked
from valor.log import Line
from valor.observe import observe
from valor.query import find
from valor.record import Record
from valor.supersede import supersede
from valor.workspace import Workspace

M = TypeVar("M", bound="Memory")
_KNOWN = (*record.KEY_ORDER, "supersedes", "routed")
_READ = (*_KNOWN, "extra", "live", "superseded_by")


class _BoundQuery:
    """The attribute ``Memory.query``: a question to the checkout that the class is bound to."""

    def __get__(self, memory: Memory | None, owner: type[M]) -> Query[M]:
        return Query(owner.workspace(), owner._of)


class Memory:
    """One observation.

    Made by a program, it is a draft until ``save`` puts it in the log; then, and where it came from
    there, it cannot be changed, since no line ever is: say something new that ``supersedes`` it.
    What an older tool stored with a secret in it reads masked.

    ``id`` ("" in a draft), ``timestamp`` (as the line has it), ``session_id``, ``type``, ``summary``
    (one line), ``details``, ``tags``, ``references`` (both with what it inherited from duplicates
    that it superseded), ``tool`` (what wrote it), ``private``, ``source``,
    ``importance`` (0 to 10), ``supersedes`` (ids), ``routed`` ("", ambiguous or override),
    ``extra`` (the line's other fields); and from the view at the time of reading: ``live``,
    ``superseded_by`` (the live id it leads to; None where it is live or retracted). ``notes`` is what
    ``save`` had to say.
    """

    id: str
    timestamp: str
    session_id: str
    type: str
    summary: str
    details: str
    tags: list[str]
    references: list[str]
    tool: str
    private: bool
    source: str
    importance: float
    supersedes: list[str]
    routed: str
    extra: dict[str, Any]
    live: bool
    superseded_by: str | None
    notes: tuple[str, ...]

    query: ClassVar[_BoundQuery] = _BoundQuery()
    _workspace: ClassVar[Workspace | None] = None

    def __init__(
        self,
        summary: str,
        *,
        type: str = record.DEFAULT_TYPE,
        details: str = "",
        tags: str | Sequence[str] = (),
        references: str | Sequence[str] = (),
        importance: float | None = None,
        source: str = "intentional",
        supersedes: str | Sequence[str] = (),
        session_id: str = "",
        timestamp: str = "",
        tool: str = "",
        private: bool = False,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """A draft. Lists may be texts with commas between their items; importance comes from the
        source unless given. Nothing is checked before ``save``, except that ``extra`` (fields that
        valor does not know) names none that it does: UsageError."""
        taken = [key for key in extra or () if key in (*_KNOWN, "owner")]
        if taken:
            raise UsageError(f"extra holds {', '.join(taken)}", "pass it by its own name")
        self.__dict__.update(
            id="",
            timestamp=timestamp,
            session_id=session_id,
            type=type,
            summary=summary,
            details=details,
            tags=_listed(tags),
            references=_listed(references),
            tool=tool,
            private=private,
            source=source,
            importance=record.default_importance(source, type) if importance is None else importance,
            supersedes=_listed(supersedes),
            routed="",
            extra=dict(extra or {}),
            live=False,
            superseded_by=None,
            notes=(),
        )

    @classmethod
    def at(
        cls, path: str | os.PathLike[str], *, env: Mapping[str, str] | None = None, session_id: str = ""
    ) -> builtins.type[Self]:
        """This class, bound to the checkout that ``path`` lies in.

        ``env`` is what to heed of docs/reference/environment.md: pass the process's environment for
        settings as the commands have them; by default no variable counts, files of settings do. PROJECT_ROOT
        never does, ``path`` says it. ``session_id`` is recorded with what is saved. Raises
        NotAProject outside a git checkout and UsageError for a setting that does not parse.
        """
        here = Path(os.path.abspath(path))  # noqa: PTH100 (resolve() would follow links)
        if not here.exists():
            raise NotAProject(f"{here} does not exist", "name a folder of the checkout")
        heeded = {key: value for key, value in (env or {}).items() if key != "PROJECT_ROOT"}
        try:
            resolved = config.resolve(heeded, here)
        except NotAProject as error:
            raise NotAProject(error.message, "name a folder of a git checkout, or bind with of()") from None
        return cls.of(Workspace(resolved._replace(session_id=session_id or resolved.session_id)))

    @classmethod
    def of(cls, workspace: Workspace) -> builtins.type[Self]:
        """This class, bound to a workspace that is open already."""
        return cast("builtins.type[Self]", builtins.type(cls.__name__, (cls,), {"_workspace": workspace}))

    @classmethod
    def workspace(cls) -> Workspace:
        """What the class is bound to. Raises UsageError where it is not."""
        if cls._workspace is None:
            raise UsageError(
                "Memory is bound to no checkout", 'bind it first: Memory = Memory.at("/path/to/checkout")'
            )
        return cls._workspace

    @classmethod
    def get(cls, id: str) -> Self:
        """The observation whose id is ``id`` or begins with it, superseded or not; a private one
        answers to its whole id alone. Raises UsageError where none or several do."""
        view = cls.workspace().view()
        warn_of_bad_lines(view, 2)
        return cls._of(find(view, id), view)

    def save(self, *, redact: bool = False, owner: str = "") -> str:
        """Write the draft down (it is ``valor observe``); its id.

        Where the same text is there already, this becomes that observation. Saving again writes
        nothing. ``redact`` replaces secrets, ``owner="observations"`` skips the routing question. ""
        where memory is switched off. Raises UsageError, OwnedElsewhere, SecretRefused, JunkRefused,
        RefusedContent, or Unavailable; nothing is written then.
        """
        workspace = self.workspace()
        if self.id:
            return self.id
        [fate] = observe(workspace, [self._entry(owner)], redact=redact)
        if fate.error:
            raise fate.error
        if fate.record:
            self._fill(fate.record, None)
        elif fate.id:
            view = workspace.view()
            self._fill(view.shown(view.observations[fate.id]), view)
        self.__dict__["notes"] = fate.notes
        return fate.id

    def supersede(self, *, by: Memory | str | None, reason: str = "") -> str:
        """Mark this as replaced by another observation, or (None) as true no longer; the mark's id.

        The line stays in the file; ``valor consolidate --undo`` with the mark's id brings it back.
        Saying it twice writes nothing. Raises UsageError for a draft, for an id nobody has, where
        ``by`` is not live and where something else superseded this; else as ``save``.
        """
        if not self.id or (isinstance(by, Memory) and not by.id):
            raise UsageError("a draft has no id to mark", "save() it first")
        id_ = by.id if isinstance(by, Memory) else by
        mark = supersede(self.workspace(), self.id, id_, reason=reason, tool="python")
        said = record.identifier(mark)
        # A line that supersedes by itself is its own mark.
        by_ = mark.get("by") if mark.get("type") in record.MARKS else said
        self.__dict__.update(live=False, superseded_by=by_)
        return said

    def __repr__(self) -> str:
        return f"<Memory {self.id or 'draft'} [{self.type}] {self.summary}>"

    @classmethod
    def _of(cls, line: Line, view: View) -> Self:
        memory = cls.__new__(cls)
        memory.__dict__.update(_line=line, _view=view, notes=())
        return memory

    # Out of the type checker's sight: to it the attributes are the ordinary ones declared above.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Fill a record that was read, at the first use of it: masking is not free."""
            if name not in _READ or "_line" not in self.__dict__:
                raise AttributeError(f"Memory has no attribute {name!r}")
            line, view = self.__dict__.pop("_line"), self.__dict__.pop("_view")
            self._fill(view.shown(line), view)
            return self.__dict__[name]

        def __setattr__(self, name: str, value: Any) -> None:
            if name not in _READ or name in ("id", "live", "superseded_by", "routed"):
                raise AttributeError(f"{name!r} is nothing to set in a Memory")
            if self.id:
                raise UsageError(
                    f"{self.id} is in the log, where no line is changed",
                    f'save a new Memory that replaces it: Memory("…", supersedes="{self.id}")',
                )
            self.__dict__[name] = value

    def _fill(self, data: Record, view: View | None) -> None:
        clean = masked(data)
        id_ = record.identifier(data)
        self.__dict__.update({key: record.text(clean, key) for key in _KNOWN})
        self.__dict__.update(
            id=id_,
            type=record.kind(clean),
            source=record.text(clean, "source") or record.DEFAULT_SOURCE,
            importance=record.importance(data),
            private=record.is_private(data),
            extra={key: value for key, value in clean.items() if key not in _KNOWN},
            live=view is None or view.is_live(id_),
            superseded_by=None if view is None or view.is_live(id_) else view.survivor(id_),
        )
        for key in ("tags", "references", "supersedes"):
            self.__dict__[key] = record.texts(clean, key)

    def _entry(self, owner: str) -> dict[str, Any]:
        """The draft as ``observe`` takes it."""
        given = {key: getattr(self, key) for key in _KNOWN if key not in ("id", "routed")}
        entry = {key: value for key, value in given.items() if value not in ("", None)}
        return self.extra | entry | {"summary": self.summary} | ({"owner": owner} if owner else {})


def _listed(value: str | Sequence[str]) -> list[str]:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return list(value)
