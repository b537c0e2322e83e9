"""An entry as it was handed in, checked and brought into the shape of a line."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

from valor import record
from valor.errors import JunkRefused, UsageError
from valor.record import Record
from valor.routing.table import OWNERS
from valor.suggest import did_you_mean, one_of

_KEYS = (*record.KEY_ORDER, "supersedes", "owner")


def validate(entry: Mapping[str, Any]) -> Record:
    """The entry as a record without id and time where it brings none, ``owner`` still in it.

    A summary of several lines keeps its first; the rest goes to the head of the details. Raises
    UsageError naming the field, JunkRefused where nothing is left to say.
    """
    draft = {key: value for key, value in entry.items() if value is not None}
    _check_encodable(draft)
    draft["summary"], rest = _headline(_string(draft, "summary", required=True))
    details = "\n".join(part for part in (rest, _string(draft, "details").strip()) if part)
    draft["details"] = details
    draft["type"] = one_of(_string(draft, "type") or record.DEFAULT_TYPE, record.TYPES, "type")
    draft["source"] = one_of(_string(draft, "source") or "intentional", record.SOURCES, "source")
    draft["importance"] = _importance(draft)
    draft["session_id"] = _string(draft, "session_id")
    draft["tool"] = _string(draft, "tool") or "observe"
    draft["private"] = record.is_private(draft)
    for key in ("tags", "references", "supersedes"):
        draft[key] = _list(draft, key)
    if not draft["supersedes"]:
        del draft["supersedes"]
    if "owner" in draft:
        draft["owner"] = one_of(_string(draft, "owner"), OWNERS, "owner")
    if "timestamp" in draft and record.seconds(draft["timestamp"]) is None:
        raise UsageError(f"timestamp {draft['timestamp']!r} is no time", "write it as 2026-11-30T18:00:00Z")
    if "id" in draft and not _is_id(draft["id"]):
        raise UsageError(f"id {draft['id']!r} is no id", "leave it out: observe makes one")
    return draft


def _headline(summary: str) -> tuple[str, str]:
    head, _, rest = summary.strip().partition("\n")
    if not head.strip():
        raise JunkRefused("there is nothing to write", "say what was learned in a sentence")
    return head.strip(), rest.strip()


def _string(draft: Mapping[str, Any], key: str, *, required: bool = False) -> str:
    value = draft.get(key)
    if value is None and not required:
        return ""
    if value is None:
        question = did_you_mean(key, [name for name in draft if name not in _KEYS])
        raise UsageError(f"there is no {key}", question or f'add "{key}": what was learned, in a sentence')
    if not isinstance(value, str):
        raise UsageError(f"{key} is {type(value).__name__}, not text", f"write {key} as a string")
    return value


def _list(draft: Mapping[str, Any], key: str) -> list[str]:
    value = draft.get(key, [])
    if not isinstance(value, (str, list)) or (
        isinstance(value, list) and not all(isinstance(item, str) for item in value)
    ):
        raise UsageError(f"{key} is no list of texts", f'write {key} as ["one", "two"]')
    items = (item.strip() for item in record.texts(dict(draft), key))
    return list(dict.fromkeys(item for item in items if item))


def _importance(draft: Mapping[str, Any]) -> float:
    value = draft.get("importance")
    if value is None:
        return record.default_importance(draft["source"], draft["type"])
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not isfinite(value)
        or not 0 <= value <= 10
    ):
        raise UsageError(f"importance is {value!r}", "use a number from 0 to 10")
    return float(value)


def _is_id(value: object) -> bool:
    return (
        isinstance(value, str)
        and 0 < len(value) <= 128
        and value.isprintable()
        and not any(map(str.isspace, value))
    )


def _check_encodable(draft: Mapping[str, Any]) -> None:
    try:
        record.encode(dict(draft))
    except (TypeError, ValueError):
        raise UsageError(
            "the text is not valid Unicode",
            "pass UTF-8; a byte that is none came in from the shell or a file",
        ) from None
