"""Which of many records may hold a secret: a quick look that errs towards yes alone.

:mod:`valor.secrets.detect` looks at a text in a dozen ways. Each of them needs some word that a text
cannot do without: a name such as ``token``, a ``://`` with an ``@`` behind it, the beginning of an
issued key. Records say the same words over and over, so each distinct word is judged once, and a
record whose words are all harmless is done. What is left is searched once more, for such a word in
the company that a secret needs.

Whatever is added to the detector has to be let through here as well: tests/test_screen.py holds it to
every labelled secret, wherever in a record it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from valor.secrets import names
from valor.secrets.kinds import anchored, anchors, issued
from valor.secrets.lazy import pattern
from valor.secrets.prose import OTHER_SCRIPTS

_REMEMBERED = 200_000  # words judged that are kept at hand; then the memory starts afresh

# Names of secrets, in lower case, that every key-like name ends in but for its tail.
_NAMES = {
    *(*names.PASSWORDS, *names.WHOLE_PASSWORDS, *names.PASSWORD_ENDS, "passe", "passord", "adgangskode"),
    *(*names.SECRETS, *names.SECRET_ENDS, *names.KEYS, "requirepass", "masterauth", "contrasenya"),
    *("clave", "parola", "heslo", "salasana", "sandi", "khẩu"),
}
_LETTERS = (  # each word that is no harmless one has a piece of these; non-ASCII words are judged anyway
    *(*_NAMES, "log", "sig", "basic", "user", "account", "pin", "seed", "recovery", "mnemonic"),
    *("wifi", "wi-fi", "wlan", "wpa", "://", "@tcp(", "@unix(", "private-lines", "eyj", ":5432:", "pgpass"),
    *("curl", "wget", "http", "xh", "docker", "mysql", "mariadb", "-cli", "identified", "\\", "\x1b"),
)


def _any(words: Iterable[str], *, reduced: bool = True) -> str:
    """An expression for any of the words, branched by their first letter; ``reduced``: without words
    that hold another one."""
    every = set(words)
    kept = {w for w in every if not any(o != w and o in w for o in every)} if reduced else every
    by_letter: dict[str, list[str]] = {}
    for word in sorted(kept, key=lambda word: (-len(word), word)):
        by_letter.setdefault(word[0], []).append(re.escape(word[1:]))
    return "|".join(f"{re.escape(letter)}(?:{'|'.join(rest)})" for letter, rest in by_letter.items())


_NAME = (
    f"(?:{_any(_NAMES, reduced=False)})"
    rf"(?:[^a-z\s]{{0,80}}(?:{_any(names.TAILS, reduced=False)})){{0,8}}(?![a-z])"
)
# Words that may be a secret, or that hide one: a flag that takes one, zero-width and full-width
# characters, letters that an expression takes for ASCII ones whatever their case.
_ENOUGH = (
    r"://.*@|@(?:tcp|unix)\(|authorization|private-lines:|eyj|:5432:|pgpass|\\\Z|\x1b"
    rf"|(?<![\w-])--?(?=[a-z])[\w-]*?{_NAME}[\d_-]*\Z"
    "|[\uff01-\uff5e\u017f\u0130\u0131\u212a\u212b\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]|"
) + "|".join(word.split()[0] for word in "|".join(OTHER_SCRIPTS.values()).split("|"))
# Words that tell in company.
_TELLING = (
    rf"{_NAME}|\Akey|(?:auth|cred|login)\w*(?:\Z|[=:(])|\bpin(?:\Z|[:=\d]|-?code)"
    r"|\b(?:log(?:ged|ging)?-?in|sign(?:ed)?-?in|account|user(?:name)?)\b|\b(?:log(?:ged|ging)?|sign(?:ed)?)\Z"
    r"|\b(?:seed|recovery|mnemonic)(?:is|:|=)?\Z|\b(?:wi-?fi|wlan|wpa2?|basic|identified|docker)\Z"
    r"|\b(?:curl|wget|https?|xh|sshpass|mysql\w*|mariadb[\w-]*|(?:redis|valkey)-cli)\Z"
)
_LOGIN = r"[a-z][\w.+@-]{1,40}"
_CHOSEN = r"(?=\S{0,79}\d)[^\s\"'`/]{6}"
_COMPANY = "|".join((  # each begins at one of the _LETTERS
    rf"{_NAME}[\d_$.-]{{0,80}}[\\\"'`\])}}*?!]{{0,6}}(?:\s{{0,20}}(?:[:=：→⇒|]|->|[?!+]=|%3|,\s{{0,4}}\\*[\"'`]"
    r"|[,;]?\s{0,20}[\"'`]?value|\w{1,20}\s{1,3}=)|\(\\*[\"'`]|>[^<>\s])",
    r"(?P<said>(?:(?<![^\W_])(?:key|token|secret)|(?<=api)key)[\"'`*]{0,3}[\s,])",
    r"(?<=private )key|(?<=api )key|(?<=secret )key|(?<=access )token|(?<=require)pass|(?<=master)auth",
    r"(?:password|passphrase|passcode|passwd|pwd|pw|passwort|kennwort|wachtwoord|passord"
    r"|lösenord|adgangskode|contraseña|contrasenya|clave|senha|parola|passe|hasło|heslo|salasana|jelszó|şifre"
    r"|sandi|khẩu|(?:wi-?fi|wlan|wpa2?) (?:key|code|pass))(?![a-z])",
    r"(?:bearer|basic)\s{1,4}[\"'`]?[a-z0-9._~+/=-]{6}",
    rf"creds?(?:ential)?s?\b[^\n]{{0,40}}?[\s\"'`(]{_LOGIN}(?: ?[/:] ?| and ){_CHOSEN}",
    r"(?:log(?:ged|ging)?[ -]?in|sign(?:ed)?[ -]?in|basic auth|account|user)\b"
    rf"[^\n]{{0,40}}?[\s\"'`(]{_LOGIN}(?: / |:){_CHOSEN}",
    r"(?:auth|cred|login)\w{0,20}\s{0,3}[=:(]{1,2}\s{0,3}\(?[\"'`]",
    r"(?:user(?:name)?|login|account)[ :=]{1,3}\S{1,60}[ ,/]{1,3}(?:and |with )?pass",
    r"login\s+\S+\s+password|identified\s+(?:with\s+\S+\s+)?by\s+['\"]",
    r"pin(?:[ -]?code)?(?: (?:for|of|on)(?: \w{1,20}){1,4}?)?(?: is| was|:| =)? ?\d{4}",
    r"(?:seed|recovery|mnemonic)(?: phrase| words)?\s?(?:is|:|=)\s{1,3}[\"'`]?(?:[a-z]{3,8} ){11}",
    r"(?:curl|wget|https?|xh|mysql\w*|mariadb[\w-]*|-cli|(?<=ssh)pass|docker login)\s"
    r"(?s:.{0,450}?)\s?-(?:u|a|p|-user|-auth|-proxy-user|-pass)",
))  # fmt: skip
# What "the key is …" and its like call a secret: a long run with a digit or of mixed case.
_GENERATED = r"(?=[^ \n]{10})(?:[^ \n]*\d|(?=[^ \n]*[A-Z])[^ \n]*[a-z])"
_REACH = 1_000  # characters behind the name
_WRAP = r"[\w.-]{16}=?\r?\n[ \t]*[A-Za-z_.-]*\d"


class Screen:
    """A look at the words of records; what it learns of them it keeps for the records to come."""

    def __init__(self) -> None:
        self._judged: set[str] = set()
        self._enough: set[str] = set()
        self._telling: dict[str, list[int]] = {}  # and where in them company is looked for
        self._wrapping: set[str] = set()  # holding an anchor of an issued key that may go on below

    def suspects(self, records: Sequence[Sequence[str]]) -> list[list[str]]:
        """Of each record, given as the texts in it, the texts that may hold a secret."""
        said = [" ".join(texts).split() for texts in records]
        if len(self._judged) > _REMEMBERED:
            for words in (self._judged, self._enough, self._wrapping, self._telling):
                words.clear()
        fresh = set().union(*said) - self._judged
        self._judge(fresh)
        self._judged |= fresh
        harmless = {*self._enough, *self._telling, *self._wrapping}.isdisjoint
        return [
            [] if harmless(words) else [text for text in texts if self._is_suspect(text)]
            for words, texts in zip(said, records, strict=True)
        ]

    def _is_suspect(self, text: str) -> bool:
        words = set(text.split())
        if not self._enough.isdisjoint(words):
            return True
        if not self._wrapping.isdisjoint(words) and pattern(_WRAP).search(text):
            return True
        telling = words & self._telling.keys()
        return bool(telling) and self._is_accompanied(telling, text)

    def _is_accompanied(self, telling: set[str], text: str) -> bool:
        lower, company = text.lower(), pattern(_COMPANY)
        for word in telling:
            at = lower.find(word.lower())
            while at >= 0:
                for offset in self._telling[word]:
                    match = company.match(lower, at + offset)
                    if match and (match.lastgroup != "said" or _is_generated_near(text, match.end())):
                        return True
                at = lower.find(word.lower(), at + 1)
        return False

    def _judge(self, fresh: set[str]) -> None:
        plain = "\n".join([word for word in fresh if word.isascii()])
        candidates = list(_lines_with(_letters(), plain.lower(), plain))
        candidates += [word for word in fresh if not word.isascii()]
        for word in candidates:
            lower = word.lower()
            if pattern(_ENOUGH).search(lower) or pattern(_ENOUGH).search(word):
                self._enough.add(word)
            elif pattern(_TELLING).search(lower):
                self._telling[word] = [at for at in range(len(lower)) if _letters().match(lower, at)]
        long = "\n".join([word for word in fresh if len(word) >= 15])
        for word in _lines_with(_anchors(), long, long):
            rows = anchored(word)
            if rows:
                (self._enough if any(issued(word, rows)) else self._wrapping).add(word)


def _is_generated_near(text: str, end: int) -> bool:
    return bool(pattern(_GENERATED).search(text, end, end + _REACH))


@cache
def _letters() -> re.Pattern[str]:
    return re.compile(_any(_LETTERS))


@cache
def _anchors() -> re.Pattern[str]:
    return re.compile(_any(anchors()))


def _lines_with(expression: re.Pattern[str], searched: str, lines: str) -> Iterator[str]:
    """Each of the ``lines`` that holds a match in ``searched``, which is as long."""
    search, at = expression.search, 0
    while match := search(searched, at):
        at = searched.find("\n", match.end())
        at = len(searched) if at < 0 else at
        yield lines[searched.rfind("\n", 0, match.start()) + 1 : at]
