"""A secret told in prose: "login: admin / …", "the password is …", in the languages people write.

``valor.secrets`` finds secrets by their own shape or by assignment; people also tell them in a
sentence. This module knows those sentences. It would rather find one too many: all that follows is
that the text is not routed to a store.
"""

from __future__ import annotations

import re
from functools import cache

# One of these is in every text that the patterns below match; most texts have none and stop here.
_HINTS = """
    pass pwd pw pin login auth admin root/ root: hvs. log-in credential secret token key account user
    code contraseñ clave secreto mdp jeton kennwort zugang geheim parola segreto senha segredo
    wachtwoord sandi acceso парол секрет токен логин 비밀번호 암호 토큰 계정 密码 口令 密钥 账号
    パスワード 暗証番号 合言葉 トークン アカウント akia asia ghp_ gho_ ghs_ ghu_ ghr_ sk- xox glpat ://
"""
_START = r"(?<![A-Za-z0-9_-])"
_NAMES = (
    r"(?:pass(?:word|wd|phrase|code|key)?|pwd?|pw|pin|login|credentials?|secret|token|(?:basic )?auth"
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
_VALUES = (
    rf"{_START}{_NAMES}(?:[^.;\n]{{0,60}}?\s*{_IS}\s*|\s+){_OPEN}{_VALUE}",
    rf"{_START}{_ACCOUNTS}\b[^\n.;/]{{0,30}}?[\s:=]{_OPEN}[\w.@-]{{2,}}\s*[/|:]\s*{_VALUE}",
    rf"{_START}log[ -]?in with \S+ (?:and|/) {_OPEN}{_STRONG}",
    rf"{_START}(?:admin|root|guest|operator|postgres|sa)\s*[/:]\s*{_STRONG}",
    rf"{_START}(?:pass\w+|парол\w*|\w{{0,20}}passwort|contraseñ\w+|senha|wachtwoord)(?:\s+[^\W\d_]+){{1,4}}\s+"
    r"((?-i:[A-Z])[^\W\d_]+(?:-[^\W\d_]+)+-\d+)",
)
_WORDS = (
    rf"(?:with|using|and|,|/)\s+(?:the\s+)?{_NAMES}\s*[:=]?\s+(?!is\b|for\b|from\b|in\b|of\b|or\b|and\b|to\b){_WORD}",
    rf"{_START}{_NAMES}(?:\s+[^\W\d_]+){{0,6}}?\s*(?:\bis\b|=|:)\s*{_WORD}",
)
_CERTAIN = (
    rf"{_START}(?:pass(?:word|phrase|code)?|pwd?|pw)\s*(?:is|was|=|:)?\s*"
    r"(?:\"[^\"\n]{4,40}\"|'[^'\n]{4,40}')",
    r"\bhvs\.\w{10,}",
    rf"{_START}(?:pin|passcode|password|code|비밀번호|密码|暗証番号|парол\w*)\W+(?:is |= ?|: ?)?"
    r"\d{4,8}(?!\w)",
    r"(?-i:\b(?:AKIA|ASIA)[A-Z0-9]{16}\b)|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bsk-[\w-]{16,}|\bxox[abprs]-[\w-]{10,}"
    r"|\bglpat-[\w-]{16,}|://[^\s/:@]+:[^\s/@]{3,}@",
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
    if not any(hint in low for hint in _split(_HINTS)):
        return False
    if any(_pattern(form).search(text) for form in _CERTAIN):
        return True
    values = (match[1] for form in _VALUES for match in _pattern(form).finditer(text))
    if any(not _pattern(_NOT_VALUE).search(value.rstrip(".:]}\"'`”’»」")) for value in values):
        return True
    return any(_is_word(match[1]) for form in _WORDS for match in _pattern(form).finditer(text))


@cache
def _pattern(form: str) -> re.Pattern[str]:
    return re.compile(form, re.IGNORECASE)


@cache
def _split(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _is_word(word: str) -> bool:
    return word.lower() not in _split(_NOT_WORD) and not word.lower().endswith(
        ("ed", "ing", "able", "ly", "s")
    )
