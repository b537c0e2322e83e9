"""The routing table at a page, compiled once for as long as the page stays as it is.

Compiling reads every example of the page, which costs more than all that follows, so the result is
kept in valor's state folder. It is disposable. A file there holds the page it was made from, to the
byte, and is believed only while the page and the code that compiled it are the same; anything else,
damage included, is compiled anew and replaced. A folder that cannot be written costs speed alone.

File layout: a line of _HEAD bytes (JSON: stamp of the code, checksum of the rest; blanks), the page,
then what ``learn`` made of it, as JSON.
"""

from __future__ import annotations

import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from valor.routing import table as tables
from valor.routing.learn import learn
from valor.routing.match import Decision, verdict
from valor.routing.model import Model
from valor.routing.table import Table
from valor.version import __version__

_FORMAT = 1
_HEAD = 512
_AUTO_MEMORY = "<auto-memory>"
# What a page teaches depends on these alone.
_CODE = ("classes.py", "features.py", "learn.py", "lexicon.py", "signals.py", "table.py")


class Router:
    """A routing table, ready to be asked who owns a text."""

    def __init__(self, page: Path, state: Path, auto_memory: Path | None = None) -> None:
        """Of the page at ``page``, with ``state`` as valor's state folder. ``auto_memory`` is what the
        page calls ``<auto-memory>``. Raises Unavailable where there is no page, BrokenTable where it
        does not parse."""
        self._model = _ready(page, state)
        self._auto_memory = str(auto_memory) if auto_memory else _AUTO_MEMORY

    def decide(self, text: str) -> Decision:
        """Who owns ``text``?"""
        decision = verdict(self._model, text)
        return decision._replace(
            store=self._place(decision.store),
            candidates=tuple(one._replace(store=self._place(one.store)) for one in decision.candidates),
        )

    def store_of(self, owner: str) -> str:
        """Where ``owner`` keeps its facts; as ``Table.store_of``."""
        return self._place(Table(rows=self._model.rows).store_of(owner))

    def _place(self, store: str) -> str:
        return store.replace(_AUTO_MEMORY, self._auto_memory)


def _ready(page: Path, state: Path) -> Model:
    content = tables.read(page)
    home = state / "routing" / f"{zlib.crc32(os.fsencode(page.resolve())):08x}"
    stamp = _stamp()
    kept = _kept(home, content, stamp)
    if kept is None:
        learnt = learn(tables.parse_page(page, content))
        _keep(home, content, stamp, learnt)
        kept = Model(learnt)
    return kept


def _kept(home: Path, content: bytes, stamp: list[Any]) -> Model | None:
    """The model in the file at ``home`` if it was made of ``content`` by this code, else None."""
    try:
        raw = memoryview(home.read_bytes())
        head, body = raw[:_HEAD], raw[_HEAD:]
        facts = orjson.loads(head)
        if (
            facts["stamp"] != stamp
            or body[: len(content)] != content
            or facts["checksum"] != zlib.crc32(body)
        ):
            return None
        return Model(orjson.loads(body[len(content) :]))
    except (OSError, ValueError, KeyError, TypeError):
        return None  # no file, or one that a crash or another version left


def _keep(home: Path, content: bytes, stamp: list[Any], learnt: dict[str, Any]) -> None:
    body = content + orjson.dumps(learnt)
    head = orjson.dumps({"stamp": stamp, "checksum": zlib.crc32(body)}).ljust(_HEAD - 1) + b"\n"
    fresh = home.with_name(f"{home.name}.{os.getpid()}.new")  # two processes may compile at once
    with suppress(OSError):
        home.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        home.parent.mkdir(mode=0o700, exist_ok=True)
        try:
            fresh.write_bytes(head + body)
            fresh.replace(home)
        except OSError:
            fresh.unlink(missing_ok=True)


def _stamp() -> list[Any]:
    """What tells this code from any other that could have written the file."""
    folder = Path(__file__).parent
    stamp: list[Any] = [_FORMAT, __version__]
    for name in _CODE:
        with suppress(OSError):  # installed without sources: the version says it
            status = (folder / name).stat()
            stamp += [status.st_size, status.st_mtime_ns]
    return stamp
