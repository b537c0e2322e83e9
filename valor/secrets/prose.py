"""Secrets told in a sentence: "the staging password is …", "log in as admin / …", "密码是…".

Sentences talk about passwords far more often than they tell one. So a value must stand
where a value stands (behind a copula, a colon, a quote, the name itself) and look like
nothing a sentence is made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from valor.secrets.assignments import is_secret, kind_of, trimmed, value_at
from valor.secrets.kinds import Span
from valor.secrets.lazy import pattern
from valor.secrets.names import PASSWORD, SECRET
from valor.secrets.values import is_mock, is_password, is_placeholder, is_random

# Words for a password in languages that use Latin letters, or for a key; not those for a property of one.
_NAME = r"""(?i)(?<![\w-])(?:[a-z0-9äöü]{1,20}+[_-]){0,6}(?:
      ( pass(?:word|phrase|code|wd) | pwd | pw | requirepass | masterauth | passwort | kennwort | wachtwoord
      | lösenord | passord | adgangskode | contraseña | contrasenya | clave | senha | parola | mot\ de\ passe
      | hasło | heslo | salasana | jelszó | şifre | kata\ sandi | mật\ khẩu
      | (?:wi-?fi|wlan|wpa2?)\ (?:key|code|pass) )
    | (?: (?:api|access|secret|auth|private|signing|encryption|deploy|service|account|license|master|app)
          [ _-] ){0,2} (?:key|token|secret)
    | apikey )
    (?=["'`*]{0,3}[\s,])
    (?!\s(?:hash|hashing|length|size|type|policy|field|prompt|file|path|url|id|ids|regex|pattern|header
      |algorithm|format|manager|name|version|count|limit|rules?|expiry|lifetime|ttl|reset|strength|generation
      |rotation|validation|variable|env|var|prefix|suffix)\b)"""
# Where a value is about to come: behind a copula, a change "to", a colon, an arrow.
_STATED = r"""(?: \s+(?i:is|was|are|be|ist|war|lautet|luidt|es|est|é|è|är|er|je|jest|là|adalah|equals)
      (?:\s+(?i:now|still|just|currently|simply|literally|set\ to))?
    | \s+(?i:to) | (?<=[\w)`*]):  | \s*(?:=|->|→|=>) )(?=[\s"'`“‘(*])"""
_CHANGE = r"(?i)\b(?:set|chang|reset|updat|rotat|switch|default)\w*\b"  # "changed the password to …"
_SENTENCE_END = r"[.!?;](?=\s+[A-Z])|\n\s*[\n*-]|\"\s*[,}]"
_REACH = 100  # how far behind its name a value is looked for, in characters

_NAMED = r"[A-Za-z][\w.+@-]{1,40}"
_CHOSEN = r"((?=\S{0,79}\d)[^\s\"'`/]{6,80})"
_LOGINS = (
    # credentials: admin/…, credentials for the box are admin and …
    rf"(?i:\b(?:creds?|credentials?)\b[^\n]{{0,40}}?[\s\"'`(]){_NAMED}(?: ?[/:] ?| and ){_CHOSEN}",
    # log in as admin:…, user admin / …
    r"(?i:\b(?:log(?:ged|ging)?[ -]?in|sign(?:ed)?[ -]?in|basic auth|account|user)\b[^\n]{0,40}?[\s\"'`(])"
    rf"{_NAMED}(?: / |:){_CHOSEN}",
    # auth=("admin", "…")
    r"(?i:auth|cred|login)\w{0,20}\s{0,3}[=:(]{1,2}\s{0,3}\(?"
    r"[\"'][^\"'\n]{1,60}[\"'],\s{0,3}[\"']([^\"'\s]{6,80})[\"']",
    # user admin, pass …
    r"(?i:\b(?:user(?:name)?|login|account)[ :=]{1,3}\S{1,60}[ ,/]{1,3}(?:and |with )?pass(?:word)?)"
    r"[ :=]{1,3}[\"'`]?([^\s\"'`]{6,80})",
)
_BEFORE_NAME = (  # … is the password, … as the passphrase of
    r"(?<!\S)[\"'`(]?([^\s\"'`(]{6,80})[\"'`]? (?i:(?:is|was|as|for) (?:the |its |his |her |our |a )?"
    r"(?:\w{1,20} ){0,2}?(?:password|passphrase|passcode|pwd|api key|secret key|access token)\b)"
    r"(?! (?:hash|algorithm|manager|file|field|policy|encoder|type|store|backend|provider|form))"
)
OTHER_SCRIPTS = {
    PASSWORD: "密码|密碼|口令|パスワード|비밀번호|암호|пароль|סיסמה|पासवर्ड|รหัสผ่าน|κωδικός"
    "|كلمة المرور|كلمة السر",
    SECRET: "密钥|密鑰|令牌|トークン|キー|シークレット|토큰|키|токен|ключ",
}
_BEHIND_NAME = (
    r"(?:(?:[^\x00-\x7f\n]| ){0,30}?(?:[是为為は은는「『]|это|هي|हैं?|[:=])|(?=\s))"
    r"\s{0,3}[「『\"'`]?([!-~]{6,200})"
)
_PIN = (
    r"\b(?:PIN|[Pp]in[ -]?code)(?: (?:for|of|on)(?: \w{1,20}){1,4}?)?"
    r"(?: is| was|:| =)? ?(\d{4,8})\b(?![.:/-])"
)
_SEED = (
    r"(?i:\b(?:seed|recovery|mnemonic)(?: phrase| words)?\s?(?:is|:|=)\s{1,3}[\"'`]?)"
    r"((?:[a-z]{3,8} ){11,23}[a-z]{3,8})\b"
)
_LOGIN_WORDS = ("cred", "login", "log in", "logged in", "sign", "auth", "account", "user")


def stated(text: str) -> Iterator[Span]:
    """Yield (kind, start, end) of what ``text`` says a password, key or token is."""
    for name in pattern(_NAME, re.VERBOSE).finditer(text):
        strength = PASSWORD if name[1] else SECRET
        for place in _places(text, name.start(), name.end()):
            value, start, quoted = value_at(text, place)
            bare_word = place == name.end() and not quoted and not is_stark(value)
            if not bare_word and is_secret(strength, name[0], value, quoted=quoted, in_prose=True):
                yield kind_of(strength, name[0]), start, start + len(value)
                break
    yield from _named_afterwards(text)


def _named_afterwards(text: str) -> Iterator[Span]:
    """ "Use … as the password": here the value alone has to convince, so case or marks must be mixed too."""
    for match in pattern(_BEFORE_NAME).finditer(text):
        value = trimmed(match[1])
        if is_stark(value) and not (value.islower() and value.isalnum()):
            yield "password", match.start(1), match.start(1) + len(value)


def told_by_phrase(text: str, lower: str) -> Iterator[Span]:
    """Yield (kind, start, end) of logins, PINs and seed phrases in ``text``; ``lower`` is its lower case."""
    if any(word in lower for word in _LOGIN_WORDS):
        for expression in _LOGINS:
            for match in pattern(expression).finditer(text):
                value = trimmed(match[1])
                if is_stark(value):
                    yield "password", match.start(1), match.start(1) + len(value)
    if "PIN" in text or "pin code" in lower or "pin-code" in lower or "pincode" in lower:
        yield from (("pin", m.start(1), m.end(1)) for m in pattern(_PIN).finditer(text))
    if "seed" in lower or "recovery" in lower or "mnemonic" in lower:
        yield from (("seed-phrase", m.start(1), m.end(1)) for m in pattern(_SEED).finditer(text))


def told_in_other_scripts(text: str, lower: str) -> Iterator[Span]:
    """Yield (kind, start, end) of secrets told in languages that do not use Latin letters."""
    for strength, words in OTHER_SCRIPTS.items():
        if not any(word in lower for word in words.split("|")):
            continue
        for match in pattern(f"(?i:{words}){_BEHIND_NAME}").finditer(text):
            value = trimmed(match[1])
            generated = strength == SECRET and is_random(value, 12) and not is_placeholder(value)
            if generated or (strength == PASSWORD and is_stark(value)):
                yield kind_of(strength, ""), match.start(1), match.start(1) + len(value)


def _places(text: str, start: int, end: int) -> Iterator[int]:
    """Where the value of the name at ``start``..``end`` may begin, the likeliest place first."""
    stated = list(islice(pattern(_STATED, re.VERBOSE).finditer(text, end, end + _REACH), 3))
    stop = pattern(_SENTENCE_END).search(text, end, stated[-1].end()) if stated else None
    for match in stated:
        if stop and match.start() > stop.start():
            break
        to = match[0].strip().lower() == "to"
        if not to or pattern(_CHANGE).search(text, max(0, start - 40), match.start()):
            yield match.end()
    yield end


def is_stark(value: str) -> bool:
    """Whether ``value`` could be nothing but a password: letters and digits, in no shape of text or code."""
    mixed = len(value) <= 80 and pattern(r"\d").search(value) and pattern(r"[^\W\d_]").search(value)
    stands_for = is_placeholder(value) or is_mock(value)
    return bool(mixed) and not stands_for and is_password(value, quoted=False)
