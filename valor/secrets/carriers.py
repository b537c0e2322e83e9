"""Secrets told by what carries them: JWTs, URLs, headers, netrc, command lines.

A carrier says that what it holds is a credential, so any value in it counts unless it
visibly stands for one (``https://user:***@host``, ``Authorization: Bearer $TOKEN``).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from valor.secrets.kinds import Span
from valor.secrets.lazy import pattern
from valor.secrets.values import is_hex, is_password, is_placeholder, is_random


def carried(text: str, lower: str) -> Iterator[Span]:
    """Yield (kind, start, end) of the carried secrets in ``text``; ``lower`` is its lower-case form."""
    if "eyJ" in text:
        yield from jwts(text)
    if "://" in text or "@tcp(" in text or "@unix(" in text:
        yield from _urls(text)
    if "bearer" in lower or "basic" in lower or "authorization" in lower:
        yield from _headers(text)
    if "login" in lower and "password" in lower:
        yield from _netrc(text)
    if "-" in text and any(tool in lower for tool in _TOOLS):
        yield from _command_lines(text)
    if '"auth' in lower:
        yield from _docker_logins(text)
    if "pgpass" in lower or ":5432:" in text:
        place = r"(?<![\w.*-])[\w.*-]{1,100}:(?:\d{4,5}|\*):[\w*-]{1,60}:[\w*-]{1,60}:"
        entry = pattern(place + r"([^\s:\"'`]{4,200})")
        yield from _values("password", entry.finditer(text))
    if "identified" in lower:
        by = pattern(r"(?i)\bidentified\s+(?:with\s+\S+\s+)?by\s+['\"](?![a-z]+['\"])([^'\"\n]{1,200})['\"]")
        yield from _values("password", by.finditer(text))


def _values(kind: str, matches: Iterator[re.Match[str]]) -> Iterator[Span]:
    """The first group of each match, unless it stands for a secret."""
    for match in matches:
        if not is_placeholder(match[1]):
            yield kind, match.start(1), match.end(1)


def aws_secret_keys(text: str) -> Iterator[Span]:
    """Yield the 40 characters that go with an access key, for a ``text`` that holds an access key."""
    for match in pattern(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])").finditer(text):
        if is_random(match[0]) and not is_hex(match[0]):
            yield "aws-secret-key", match.start(), match.end()


def jwts(text: str) -> Iterator[Span]:
    """Yield (kind, start, end) of the JSON web tokens in ``text``."""
    token = pattern(r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=%3D))eyJ[\w-]{8,}+((?:\.[\w-]*+){1,4})")
    for match in token.finditer(text):
        head, _, rest = match[0].partition(".")
        if len(rest) >= 10 and "..." not in match[0] and _is_jose_header(head, rest):
            yield "jwt", match.start(), match.start() + len(match[0].rstrip("."))


def _is_jose_header(head: str, rest: str) -> bool:
    """A JWT's first part is base64url of a JSON object that names its algorithm or type."""
    try:
        header = base64.urlsafe_b64decode(head[: len(head) // 4 * 4])
    except ValueError:
        return False
    named = any(key in header for key in (b'"alg"', b'"typ"', b'"kid"', b'"enc"', b'"cty"'))
    return header.startswith(b'{"') and (named or rest.startswith("eyJ"))


def _urls(text: str) -> Iterator[Span]:
    with_password = pattern(
        r"://([^\s/:@\"'`<>\[\](){}|\\,;]{0,100}):([^\s/\"'`<>|\\]{1,300})@(?=[\w\[{$<%*.-])"
    )
    for match in with_password.finditer(text):
        if not is_placeholder(match[2]):
            yield "url-credentials", match.start(2), match.end(2)
    for match in pattern(r"://([\w.~%+=-]{20,300})@(?=[\w\[])").finditer(text):
        if is_random(match[1]):
            yield "url-credentials", match.start(1), match.end(1)
    dsn = pattern(r"(?<![\w.-])[\w.-]{1,60}:([^\s@\"'`/]{1,200})@(?:tcp|unix)\(")
    yield from _values("url-credentials", dsn.finditer(text))


def _headers(text: str) -> Iterator[Span]:
    header = pattern(
        r"(?i)(\bauthorization\\*[\"']?\s{0,4}[:=,]\s{0,4}\\*[\"'`]?\s?)?"
        r"\b(bearer|basic|token|apikey|digest)\s{1,4}[\"'`]?([A-Za-z0-9._~+/=-]{6,}+)"
    )
    for match in header.finditer(text):
        value = match[3]
        if is_placeholder(value) or "..." in text[match.end(3) : match.end(3) + 3]:
            continue
        if match[2].lower() == "basic":
            found = _is_user_and_password(value)
        elif match[1]:
            found = is_random(value, 8) or is_password(value, quoted=False)
        else:
            found = match[2].lower() == "bearer" and is_random(value, 12)
        if found:
            yield "authorization-header", match.start(3), match.end(3)


def _is_user_and_password(value: str) -> bool:
    """Whether ``value`` is base64 of ``user:password``."""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except ValueError:
        return False
    _, colon, password = plain.partition(":")
    return bool(colon) and plain.isprintable() and not is_placeholder(password)


def _docker_logins(text: str) -> Iterator[Span]:
    """``"auth": "…"`` of a Docker configuration: base64 of ``user:password``."""
    for match in pattern(r"\\*\"auth\\*\"\s*:\s*\\*\"([A-Za-z0-9+/=]{8,400})").finditer(text):
        if _is_user_and_password(match[1]):
            yield "docker-login", match.start(1), match.end(1)


def _netrc(text: str) -> Iterator[Span]:
    entry = pattern(r"(?i)\bmachine\s+\S+\s+login\s+\S+\s+password\s+([^\s\"'`]{1,200})")
    yield from _values("netrc", entry.finditer(text))
    bare = pattern(r"(?i)\blogin\s+\S+\s+password\s+([^\s\"'`]{1,200})")
    for match in bare.finditer(text):
        if is_password(match[1], quoted=False) and not is_placeholder(match[1]):
            yield "netrc", match.start(1), match.end(1)


_TOOLS = ("curl", "wget", "http ", "mysql", "mariadb", "redis-cli", "valkey-cli", "sshpass", "docker login")
_COMMANDS: tuple[tuple[str, str], ...] = (
    # the command, then the flag with its value; -u 1000:1000 belongs to docker run and is none
    (
        r"\b(?:curl|wget|https?|xh)(?=\s)",
        r"\s(?:-u|-U|-a|--user|--auth|--proxy-user)[ =]?[\"']?[^\s:\"'$]{1,80}:([^\s\"'`]{1,200})",
    ),
    (r"\b(?:mysql\w*|mariadb[\w-]*)(?=\s)", r"\s-p([^\s\"'`=]{4,200})"),
    (r"\b(?:redis|valkey)-cli(?=\s)", r"\s(?:-a|--pass)[ =]?[\"']?([^\s\"'`]{4,200})"),
    (r"\bsshpass(?=\s)", r"\s-p ?[\"']?([^\s\"'`]{4,200})"),
    (r"\bdocker login(?=\s)", r"\s-p[ ]?[\"']?([^\s\"'`]{4,200})"),
)


def _command_lines(text: str) -> Iterator[Span]:
    for command, flag in _COMMANDS:
        for match in pattern(rf"(?i:{command})(?:[^\n\\]|\\.){{0,200}}?{flag}", re.DOTALL).finditer(text):
            strict = command.startswith((r"\b(?:mysql", r"\b(?:redis"))
            if not is_placeholder(match[1]) and (not strict or is_password(match[1], quoted=True)):
                yield "password", match.start(1), match.end(1)
