"""One line of the log: its shape, its defaults, how it is read and how it is written.

A record travels as the plain ``dict`` that its line holds, so that fields valor does not know
survive; the functions here give the known fields their defaults and types. Line format v1:
docs/reference/record-format.md.
"""

from __future__ import annotations

import os
import re
import time
from datetime import UTC, datetime
from math import isfinite
from typing import Any

import orjson

Record = dict[str, Any]

TYPES = ("discovery", "learning", "pattern", "error", "decision", "correction", "surprise")
SUPERSESSION = "supersession"
REINSTATEMENT = "reinstatement"
MARKS = (SUPERSESSION, REINSTATEMENT)
SOURCES = ("agent", "human", "merge", "intentional")

DEFAULT_TYPE = "discovery"
DEFAULT_SOURCE = "agent"
IMPORTANCE = {"agent": 1.0, "human": 6.0, "merge": 7.0, "intentional": 8.0}
AGENT_JUDGEMENT_IMPORTANCE = 4.0  # an agent's correction or decision

KEY_ORDER = (
    "id",
    "timestamp",
    "session_id",
    "type",
    "summary",
    "details",
    "tags",
    "references",
    "tool",
    "private",
    "source",
    "importance",
)

MAX_LINE_BYTES = 64 * 1024  # of one line that valor writes, newline included; longer ones are read
BOM = b"\xef\xbb\xbf"
_CONFLICT = re.compile(rb"^(<{7}|={7}|>{7}|\|{7})( |$)")
_YEAR_10000 = 253_402_300_800  # unix seconds
_LONG_NUMBER = re.compile(rb"\d{19}")
_ID_SECONDS = re.compile(r"^(?:obs|sup|rei)-(\d{9,11})-")


class BadLine(Exception):
    """A line that is no record; ``reason`` says why in a few words."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def parse(raw: bytes) -> Record:
    """The record in ``raw`` (one line, with or without its end). Raises BadLine."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        if raw.startswith(BOM):
            return parse(raw[len(BOM) :])
        raise BadLine(_diagnose(raw)) from None
    if type(value) is not dict:
        raise BadLine("not a JSON object")
    return value


def _diagnose(raw: bytes) -> str:
    """Why ``raw`` failed to parse, for the person who has to mend it."""
    if _CONFLICT.match(raw):
        return "merge conflict marker"
    if b"\0" in raw:
        return "NUL bytes"
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return "not UTF-8"
    if re.search(r"\}\s*\{", text) and text.lstrip().startswith("{"):
        return "two objects on one line"
    if re.search(r"(?<![\w\"])(NaN|-?Infinity)(?![\w\"])", text):
        return "NaN or Infinity is not JSON"
    if text.count("[") + text.count("{") > 1000:
        return "nested too deep"
    if text.lstrip().startswith("{") and not text.rstrip().endswith("}"):
        return "torn: the line ends in the middle"
    return "not JSON"


def parse_exact(raw: bytes) -> Record:
    """As ``parse``, with integers beyond 64 bits kept whole: for copying a line, not for the fold."""
    record = parse(raw)
    if _LONG_NUMBER.search(raw):
        import json

        exact: Record = json.loads(raw.removeprefix(BOM))
        return exact
    return record


def encode(record: Record) -> bytes:
    """``record`` as one line: known keys in their order, then the others as they came, compact
    UTF-8, ``\\n`` at the end."""
    ordered = {key: record[key] for key in KEY_ORDER if key in record}
    ordered.update(record)
    return dumps(ordered) + b"\n"


def dumps(value: object, *, sort_keys: bool = False) -> bytes:
    """``value`` as compact JSON, UTF-8 unescaped."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort_keys else 0)
    except TypeError:  # an integer beyond 64 bits, or nested deeper than 254
        import json

        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=sort_keys)
        return text.encode()


def identifier(record: Record) -> str:
    """The record's id; one derived from its content where the line has none."""
    value = record.get("id")
    if type(value) is str and value:
        return value
    if type(value) is int:
        return str(value)
    import hashlib  # rare, and not free

    digest = hashlib.sha256(dumps(record, sort_keys=True)).hexdigest()[:12]
    return f"obs-{max(0, int(moment(record)))}-{digest}"


def new_id(kind: str = "obs", now: float | None = None) -> str:
    """A fresh id, ``<kind>-<unix seconds>-<12 hex>``; 48 random bits keep offline clones apart."""
    return f"{kind}-{int(time.time() if now is None else now)}-{os.urandom(6).hex()}"


def stamp(now: float | None = None) -> str:
    """``now`` (unix seconds) as the log writes it: UTC, whole seconds, ``Z``."""
    at = datetime.fromtimestamp(time.time() if now is None else now, UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(value: object) -> float | None:
    """A timestamp in any form people write, as unix seconds; None where it is none.

    ISO 8601 with ``Z``, an offset, none (taken as UTC, whatever TZ says) or a date alone; numbers
    are unix seconds, or milliseconds from 1e11 on. Nothing before 1970 or after 9999 is a time.
    """
    at: float
    if isinstance(value, str):
        try:
            parsed = datetime.fromisoformat(value.strip())
            at = (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        at = float(value) / 1000 if abs(value) >= 1e11 else float(value)
    else:
        return None
    return at if 0 <= at < _YEAR_10000 else None


def moment(record: Record) -> float:
    """When the record was made, unix seconds: its timestamp, else the seconds in its id, else 0."""
    at = seconds(record.get("timestamp"))
    if at is None:
        found = _ID_SECONDS.match(str(record.get("id") or ""))
        at = float(found[1]) if found else 0.0
    return at


def is_plain_stamp(value: object) -> bool:
    """Whether the timestamp is as valor writes it, ``2026-11-30T18:00:00Z``: such sort as they read."""
    if type(value) is not str or len(value) != 20 or value[7::3] != "-T::Z":
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def text(record: Record, key: str) -> str:
    """The field as a string: "" where it is missing or null, ``str`` of anything else."""
    value = record.get(key)
    if type(value) is str:
        return value
    return "" if value is None else str(value)


def texts(record: Record, key: str) -> list[str]:
    """The field as a list of strings; a bare string counts as a comma-separated list."""
    value = record.get(key)
    if isinstance(value, list):
        return [item if type(item) is str else str(item) for item in value if item is not None]
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return []


def kind(record: Record) -> str:
    """The record's type; ``discovery`` where the line has none."""
    return text(record, "type") or DEFAULT_TYPE


def is_private(record: Record) -> bool:
    """Whether the record must stay out of lists. Any truthy spelling counts: an error hides."""
    value = record.get("private")
    return value not in (None, False, 0, "", "false", "False", "no", "0")


def default_importance(source: str, type_: str) -> float:
    """The importance a line takes from its source: agent 1, human 6, merge 7, intentional 8;
    an agent's correction or decision 4."""
    if source == "agent" and type_ in ("correction", "decision"):
        return AGENT_JUDGEMENT_IMPORTANCE
    return IMPORTANCE.get(source, IMPORTANCE[DEFAULT_SOURCE])


def importance(record: Record) -> float:
    """The record's importance; by its source and type where the line has no number for it."""
    value = record.get("importance")
    if isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value):
        return float(value)
    return default_importance(text(record, "source") or DEFAULT_SOURCE, kind(record))
