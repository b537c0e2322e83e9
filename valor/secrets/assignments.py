"""Secrets told by a key-like name: ``DB_PASSWORD=…``, ``"api_key": "…"``, ``--token …``.

The name sets how suspicious a value must look (:mod:`valor.secrets.names`), the value is
judged in :mod:`valor.secrets.values`. Assignments of all languages read alike here: a
name, what may close it, a separator, what may open the value, the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from valor.secrets import names
from valor.secrets.kinds import Span
from valor.secrets.lazy import pattern
from valor.secrets.names import KEY, PASSWORD
from valor.secrets.values import (
    is_code_or_text,
    is_hex,
    is_mock,
    is_notorious,
    is_password,
    is_phrase,
    is_placeholder,
    is_random,
    is_scrambled,
    is_uuid,
)

# A name and, looked ahead for, its separator: `x: str = "…"`, `x string = "…"`, `x = …` and its kin (`:`,
# `=>`, a table's `|`, percent-encoding), `name: x, value: …`, `f("x", "…")`, `x("…")`, `<x>…</x>`.
_ASSIGN = r"""(?<![\w$.-])([\w$.-]{2,80}+)(?=[\\"'`\])}*?!]{0,6}
    (?: [ \t]{0,8}:[ \t]{0,3}&?'?[\w.\[\]|<> ]{1,40}?[ \t]{0,3}=(?=[\s(]{0,9}[\w.]{0,30}\(?\\*["'`])
      | [ \t]{1,3}\w{1,20}[ \t]{1,3}=(?=[ \t]{0,3}["'`])
      | [ \t]{0,8}(?:[:?!+|]?={1,3}>?|:(?!:)|：|->|→|⇒|\||%3[aAdD]|=3D)
      | (?:[,;]\s{0,20}|\s{1,20})["'`]?value["'`]?\s{0,4}[:=]
      | (?<=["'`])[ \t]{0,3},(?=\s{0,4}\\*["'`])
      | \((?=\\*["'`])
      | >(?=[^<>\s]{1,200}</)
    )())"""
_FLAG = r"(?<![\w-])(--?[a-zA-Z][\w-]{1,60}+)[ \t]{1,4}(?![-&|>])"
_VALUE = r"""[\s*_(]{0,20}(?:(?:[A-Za-z_][\w.:]{0,40}\(|[bruf]{1,2})(?=\\*["'`]))?
    (?: \\*"([^"\n]{1,400}) | \\*'([^'\n]{1,400}) | \\*`([^`\n]{1,400}) | [“‘«「『]([^”’»」』\n]{1,400})
      | (?P<bare>[^\s"'`,;“”<>|\\&]{0,400}+(?:&(?!\w{1,40}=)[^\s"'`,;“”<>|\\&]{0,400}+){0,8})
    )"""
_CONNECTION = re.compile(r"(?i)\b(?:server|host|addr|address|data source|user ?id|uid|user|database)\s?=")
_LONG_NUMBER = re.compile(r"[\w.-]*?(?<!\d)(?!19\d\d(?!\d)|20\d\d(?!\d))\d{4,}[\w.-]*")
_LONG = 60  # from this length on, names inside an unquoted value are not looked at: a=b=c=… stays cheap
_TRAILING = ".,:;)]}*_"


def assigned(text: str) -> Iterator[Span]:
    """Yield (kind, start, end) of the values assigned to key-like names in ``text``."""
    yield from _in_assignments(text)
    yield from _in_flags(text)


def _in_assignments(text: str) -> Iterator[Span]:
    judged = 0
    for match in pattern(_ASSIGN, re.VERBOSE).finditer(text):
        if match.start() < judged:
            continue
        name = match[1]
        strength = names.strength(name, _word_before(text, match.start()))
        if strength is None or not _is_call_or_pair(text, match):
            continue
        value, start, quoted = value_at(text, match.end(2))
        stop = start + len(value)
        if not quoted and len(value) > _LONG:
            judged = stop
        if is_secret(strength, name, value, quoted=quoted) or (
            strength == PASSWORD and not quoted and _in_connection_string(text, match.start(), stop, value)
        ):
            yield kind_of(strength, name), start, stop


def _is_call_or_pair(text: str, match: re.Match[str]) -> bool:
    """Whether a comma behind a quoted name is that of ``f("name", "value")``, not one of a list."""
    return text[match.end(2) - 1] != "," or text[max(0, match.start() - 2) : match.start() - 1] == "("


def _in_flags(text: str) -> Iterator[Span]:
    """``--token abc``: a flag and its value with nothing but a blank between."""
    if " -" not in text and not text.startswith("-"):
        return
    for match in pattern(_FLAG).finditer(text):
        strength = names.strength(match[1])
        if strength:
            value, start, quoted = value_at(text, match.end())
            if is_secret(strength, match[1], value, quoted=quoted):
                yield kind_of(strength, match[1]), start, start + len(value)


def is_secret(strength: str, name: str, value: str, *, quoted: bool, in_prose: bool = False) -> bool:
    """Whether ``value`` behind a ``name`` of this ``strength`` is a secret; in prose more is asked of it."""
    if not pattern(r"[\dA-Z !@#$%^&*?+=~]").search(value):
        return strength == PASSWORD and is_notorious(value)
    if len(value) < 6:
        return False
    convincing = _is_convincing(strength, name.lower(), value, quoted, in_prose)
    return convincing and not is_placeholder(value) and not is_mock(value)


def _is_convincing(strength: str, name: str, value: str, quoted: bool, in_prose: bool) -> bool:
    """Whether ``value`` looks as secret as a name of this ``strength`` asks for."""
    if strength == PASSWORD:
        return is_password(value, quoted=quoted) or (quoted and "passphrase" in name and is_phrase(value))
    if not quoted and is_code_or_text(value):
        return False
    if strength == KEY:
        return is_random(value, 20) and not is_hex(value) and not is_uuid(value)
    if is_uuid(value):
        return any(word in name for word in ("api", "secret", "access"))
    if is_random(value, 12 if in_prose else 8):
        return True
    if in_prose:  # a name with a long number in it, said to be the key: no word of prose, and no hash either
        return len(value) >= 10 and bool(_LONG_NUMBER.fullmatch(value)) and not is_hex(value)
    chosen = name.endswith("secret") and value.isalnum() and len(value) >= 8
    return chosen and is_password(value, quoted=quoted)


def value_at(text: str, place: int) -> tuple[str, int, bool]:
    """The value that opens at ``place``: itself ("" for none), where it starts, whether it is quoted."""
    match = pattern(_VALUE, re.VERBOSE).match(text, place)
    if not match:
        return "", place, False
    group = match.lastindex or 0
    value = match[group]
    quoted = match["bare"] is None
    if not quoted:
        value = _whole(text, match.start(group), match.end()) or trimmed(value)
    return value.rstrip("\\"), match.start(group), quoted


def _whole(text: str, start: int, stop: int) -> str:
    """All of an unquoted password that holds quotes, commas or brackets itself; "" where it holds none."""
    if text[stop : stop + 1] in ("", "&", " ", "\n"):
        return ""
    run = pattern(r"\S*").match(text, start, start + 128)
    longer = run[0].rstrip("\"'`,;.)") if run else ""
    return longer if is_scrambled(longer) else ""


def trimmed(value: str) -> str:
    """``value`` without the punctuation of the sentence around it."""
    value = value.rstrip(_TRAILING)
    return value if pattern(r"\d").search(value) else value.rstrip(_TRAILING + "!?")


def _word_before(text: str, start: int) -> str:
    """The word right before ``start``, where only a blank, a dash or an underscore lies between."""
    if text[start - 1 : start] not in (" ", "_", "-"):
        return ""
    match = re.search(r"([A-Za-z]{2,20})[ _-]\Z", text[max(0, start - 24) : start])
    return match[1] if match else ""


def _in_connection_string(text: str, start: int, stop: int, value: str) -> bool:
    """Whether ``Password=value`` is a part of a connection string, where a plain word is a value too."""
    among = text[stop : stop + 1] == ";" or text[max(0, start - 1) : start] == ";"
    near = text[max(0, start - 200) : stop + 200]
    return among and len(value) >= 3 and not is_placeholder(value) and bool(_CONNECTION.search(near))


def kind_of(strength: str, name: str) -> str:
    """What to call a secret behind ``name``."""
    lower = name.lower()
    if strength == PASSWORD:
        return "password"
    if "aws" in lower and "secret" in lower:
        return "aws-secret-key"
    if "accountkey" in lower or "sharedaccess" in lower:
        return "azure-key"
    return "token" if "token" in lower else "secret-key"
