"""A secret told in prose: "login: admin / …", "the password is …", in the languages people write.

``valor.secrets`` finds secrets by their own shape or by assignment; people also tell them in a
sentence. This module knows those sentences. It would rather find one too many: all that follows is
that the text is not routed to a store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_START = r"(?<![A-Za-z0-9_-])"
_NAMES = (
    r"(?:pass(?:wor[dt]|wd|phrase|code|key)?|pwd?|pw|pin|login|credentials?|secret|token|(?:basic )?auth"
    r"|api[ -]?key|access[ -]?key|licen[cs]e[ -]?key"
    r"|private[ -]?key|wi-?fi[ -]key|auth[ -]?key|signing[ -]?key|encryption[ -]?key"
    r"|contraseñ\w+|clave|secreto|mot de passe|mdp|jeton|\w{0,20}passwort|kennwort|zugangsdaten|geheimnis"
    r"|parola d'ordine|segreto|senha|segredo|wachtwoord|geheim|kata sandi|sandi|парол\w*|секрет\w*|токен\w*"
    r"|비밀번호|암호|토큰|密码|口令|密钥|パスワード|暗証番号|合言葉|トークン)"
)
_ACCOUNTS = (
    r"(?:log[ -]?in|credentials?|account|user(?:name)?|acceso|zugang|zugangsdaten|логин|계정|账号|アカウント)"
)
_IS = r"(?:\b(?:is|was|are|es|ist|est|è|é|lautet|это)\b:?|[:=：]|->|→|—|는|은|是|为|は)"
# What a password looks like: one run of 5 or more, letters with a digit or with a sign among them,
# or three capitalised words with hyphens.
_VALUE = (
    r"((?=\S{0,40}[^\W\d_])(?=\S{0,40}[\d!$%&*+^~?#@])\w[^\s\"'`“”«»,;。、()]{4,}"
    r"|(?-i:[A-Z][^\W\d_]+(?:-[A-Z][^\W\d_]+){2,}))"
)
_OPEN = r"\s*[\"'`“‘«「(]?"
_WORD = r"[\"'`“]?([\w!-]{4,})[\"'`”]?(?=\s*(?:[.,;)]|$))"
_STRONG = r"((?=\S{0,40}\d)(?-i:(?=\S{0,40}[A-Z]))[^\s\"'`“”«»,;。、()/]{8,})"
# A form is asked only where one of its words is in the text, and in most texts none is: to compile an
# expression takes longer than to search with it. A word counts where a word starts, * lets it stand
# anywhere; + joins words that must all be there.
_NAMED = """
    pass pw pin login credential secret token auth api+*key acces+*key licen+*key private+*key wi+*key
    signing+*key encryption+*key contraseñ clave mot mdp jeton *passwort kennwort zugangsdaten geheim parola
    segreto senha segredo wachtwoord kata sandi парол секрет токен 비밀번호 암호 토큰 密码 口令 密钥
    パスワード 暗証番号 合言葉 トークン
"""
_SIGNS = frozenset("0123456789!$%&*+^~?#@")
_VALUE_AFTER = rf"(?:[^.;\n]{{0,60}}?\s*{_IS}\s*|\s+){_OPEN}{_VALUE}"
_WORD_SAID = rf"(?:\s+[^\W\d_]+){{0,6}}?\s*(?:\bis\b|=|:)\s*{_WORD}"
_WORD_BEHIND = rf"\s*[:=]?\s+(?!is\b|for\b|from\b|in\b|of\b|or\b|and\b|to\b){_WORD}"
_JOINED = ("with", "using", "and", ",", "/")  # before a name that has its value right behind it
_VALUES = (
    (
        "log+*/ log+*: log+*| credential account user acceso zugang логин 계정 账号 アカウント",
        rf"{_START}{_ACCOUNTS}\b[^\n.;/]{{0,30}}?[\s:=]{_OPEN}[\w.@-]{{2,}}\s*[/|:]\s*{_VALUE}",
    ),
    ("log+with", rf"{_START}log[ -]?in with \S+ (?:and|/) {_OPEN}{_STRONG}"),
    (
        "admin root guest operator postgres sa+*sa/ sa+*sa:",
        rf"{_START}(?:admin|root|guest|operator|postgres|sa)\s*[/:]\s*{_STRONG}",
    ),
    (
        "pass парол *passwort contraseñ senha wachtwoord",
        rf"{_START}(?:pass\w+|парол\w*|\w{{0,20}}passwort|contraseñ\w+|senha|wachtwoord)"
        r"(?:\s+[^\W\d_]+){1,4}\s+((?-i:[A-Z])[^\W\d_]+(?:-[^\W\d_]+)+-\d+)",
    ),
)
_CERTAIN = (
    (
        "pass+*' pass+*\" pw+*' pw+*\"",
        rf"{_START}(?:pass(?:word|phrase|code)?|pwd?|pw)\s*(?:is|was|=|:)?\s*"
        r"(?:\"[^\"\n]{4,40}\"|'[^'\n]{4,40}')",
    ),
    ("hvs.", r"\bhvs\.\w{10,}"),
    (
        "pin pass code 비밀번호 密码 暗証番号 парол",
        rf"{_START}(?:pin|passcode|password|code|비밀번호|密码|暗証番号|парол\w*)\W+(?:is |= ?|: ?)?"
        r"\d{4,8}(?!\w)",
    ),
    (
        "akia asia *ghp_ *gho_ *ghs_ *ghu_ *ghr_ *github_pat_ *sk- *xox *glpat- *://+*@",
        r"(?-i:\b(?:AKIA|ASIA)[A-Z0-9]{16}\b)|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bsk-[\w-]{16,}"
        r"|\bxox[abprs]-[\w-]{10,}|\bglpat-[\w-]{16,}|://[^\s/:@]+:[^\s/@]{3,}@",
    ),
)
# Not values: paths, names of algorithms and units, calls, variables, placeholders.
_NOT_VALUE = (
    r"^[~./$<{%\[]|[/(){}<>\[\]\\=]|^(?-i:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)$|^(?-i:[a-z]+(?:_[a-z0-9]+)+)$|://|^--?\w"
    r"|^(?:utf|sha|md|base|rfc|aes|rsa|oauth|http|tls|argon|hmac|uuid|x|v|py|es|p|id|ed)-?\d|^\d+[a-z]{0,3}$|^\*+$|^x+$"
    r"|\.(?:md|py|json|toml|ya?ml|txt|env|js|ts|cfg|ini|sh|pem|key|com|org|test|net|io)$"
)
_NOT_WORD = """
    required optional wrong empty missing invalid valid hidden read kept never null none true false
    unset unknown stale correct incorrect public private random unique there here gone lost plain
    secret sent used unused global enough short long weak strong found absent present open safe
    different same mandatory broken only again alone instead first twice later now prompt login
    field screen form page store manager vault reset rotation hash check change refresh file flow
    gate type string count limit budget lifetime bucket scope error header support
"""


def tells_secret(text: str) -> bool:
    """Does the text tell the value of a password, a key or a token?"""
    low = text.lower()
    if any(_pattern(form).search(text) for words, form in _CERTAIN if _says(low, words)):
        return True
    if _says(low, _NAMED) and any(_named(text)):
        return True
    values = (
        match[1] for words, form in _VALUES if _says(low, words) for match in _pattern(form).finditer(text)
    )
    return any(map(_is_value, values))


def _named(text: str) -> Iterator[bool]:
    """For each name of a secret in ``text``: does a value follow it?"""
    shaped = "-" in text or not _SIGNS.isdisjoint(text)
    for name in _pattern(_START + _NAMES).finditer(text):
        if shaped and (value := _pattern(_VALUE_AFTER).match(text, name.end())):
            yield _is_value(value[1])
        if said := _pattern(_WORD_SAID).match(text, name.end()):
            yield _is_word(said[1])
        before = text[max(0, name.start() - 20) : name.start()].rstrip().lower()
        joined = before.removesuffix(" the").rstrip().endswith(_JOINED)
        if joined and (behind := _pattern(_WORD_BEHIND).match(text, name.end())):
            yield _is_word(behind[1])


@cache
def _pattern(form: str) -> re.Pattern[str]:
    return re.compile(form, re.IGNORECASE)


@cache
def _split(words: str) -> frozenset[str]:
    return frozenset(words.split())


_INSIDE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")


def _says(low: str, words: str) -> bool:
    return any(all(_stands(low, part) for part in word.split("+")) for word in _split(words))


def _stands(low: str, word: str) -> bool:
    if word.startswith("*"):
        return word[1:] in low
    at = low.find(word)
    while at > 0 and low[at - 1] in _INSIDE:
        at = low.find(word, at + 1)
    return at >= 0


def _is_value(value: str) -> bool:
    return not _pattern(_NOT_VALUE).search(value.rstrip(".:]}\"'`”’»」"))


def _is_word(word: str) -> bool:
    return word.lower() not in _split(_NOT_WORD) and not word.lower().endswith(
        ("ed", "ing", "able", "ly", "s")
    )
