"""Private key blocks: PEM, OpenSSH, PGP and PuTTY, whole or cut at either end.

The newlines inside may be real, escaped (``\\n`` in JSON or an env file) or lost to
wrapping; each line may carry a diff or quote mark. A header named in passing, without
a body, is talk about keys and no key.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from valor.secrets.kinds import Span
from valor.secrets.lazy import pattern
from valor.secrets.values import word_share

KIND = "private-key"

_BREAK = r"(?:\\+[nrt]|[\s>#+*\"',|\\-])"
_RUN = r"[A-Za-z0-9+/=]{16,}+"
_LONGEST = 20_000  # characters; an 8192-bit RSA key in PEM has 6,400


def key_blocks(text: str) -> Iterator[Span]:
    """Yield (kind, start, end) of the private keys in ``text``."""
    if "PRIVATE KEY" in text:
        yield from _armoured(text)
    if "Private-Lines:" in text:
        for match in pattern(rf"Private-Lines: \d+{_BREAK}+{_RUN}(?:{_BREAK}+{_RUN})*+").finditer(text):
            yield KIND, match.start(), match.end()


def _armoured(text: str) -> Iterator[Span]:
    mark = pattern(r"-{3,5} ?(BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?(?: ?-{3,5})?")
    marks = list(mark.finditer(text))
    done = floor = 0
    for here, then in zip_longest(marks, marks[1:]):
        start, stop = here.start(), None
        if start < done:
            continue
        if here[1] == "END":
            start, stop = _tail(text, floor, start), here.end()
        elif then and then[1] == "END" and _holds_body(text, here.end(), then.start()):
            stop = then.end()
        else:
            stop = _cut_body(text, here.end())
        floor = here.end()
        if stop and start < stop:
            done = stop
            yield KIND, start, stop


def _holds_body(text: str, start: int, stop: int) -> bool:
    """Whether a key, or its first characters, stands between BEGIN and END."""
    inside = text[start : min(stop, start + 400)]
    begins = pattern(r"\s*(?:\\+[nr]|\n)[\s>+#\\nr]*[A-Za-z0-9+/]{3}")
    return stop - start < _LONGEST and bool(begins.match(inside) or pattern(_RUN).search(inside))


def _cut_body(text: str, start: int) -> int | None:
    """Where the base64 lines behind a BEGIN without END stop; None if there are none."""
    first = pattern(_RUN).search(text, start, start + 300)
    if not first or word_share(first[0][:60]) >= 0.6:
        return None
    lines = pattern(rf"{_RUN}(?:{_BREAK}{{1,8}}{_RUN})*+(?:{_BREAK}{{1,8}}[A-Za-z0-9+/]{{1,15}}=+)?")
    match = lines.match(text, first.start())
    return match.end() if match else None


def _tail(text: str, floor: int, stop: int) -> int:
    """Where the base64 lines right before an END without BEGIN start; past ``stop`` if there are none."""
    start = len(text) + 1
    lines = list(pattern(r"[^\s\\]+").finditer(text, max(floor, stop - _LONGEST), stop))
    for line in reversed(lines):
        body = line[0].lstrip("nr>+#") if line.start() and text[line.start() - 1] == "\\" else line[0]
        if not pattern(r"[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]+={1,2}").fullmatch(body):
            break
        start = line.start()
    return start
