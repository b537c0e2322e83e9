"""Does a string look like a secret's value, a placeholder, or just words?

The judges below see a value alone. What stands before it (a key-like name, a copula, a
URL) decides in :mod:`valor.secrets.assignments` and :mod:`valor.secrets.carriers` which
of them is asked. They err towards "not a secret" for what a person would write as text
or code.
"""

from __future__ import annotations

import re

# What stands for a secret: <token>, [redacted:x], {{ x }}, ${TOKEN}, $(cmd), $env:X, %PW%, %(x)s, @PW@.
_STANDS_FOR = re.compile(
    r"[<\[{(][<\[{(%]?[\w\s.:|\"'/-]*[%>\]})]*\Z|[$%][({]|\$env:|\$[A-Z][A-Z0-9_]*\Z|<%"
    r"|%[\w-]+%\Z|%[sdrv]\Z|@[\w-]+@\Z"
)
# What is filled in when code runs: f"{x}", "#{x}", "${x}", "%s"; and a character class.
_INTERPOLATED = re.compile(r"[#$]\{|\{(?:[A-Za-z_][^{}]{0,60})?\}|\[\^?\w-\w|%(?:[sd]\b|\()|\$\(")
_VARIABLE = re.compile(r"[$&*]([A-Za-z_][\w.]*)\Z")
# Elided or masked: abc..., ****, sk-xxxx, 0000000000.
_MASKED = re.compile(r"\.\.\.|…|\*{3,}|[xX]{4,}|•{2,}|#{4,}|_{4,}|-{4,}|\A[0.\-]+\Z|\A[xX]+\Z|\?{3,}")
_SLOT = re.compile(  # an order to the reader to put something else here
    r"your|change[-_ ]?(?:me|it)|replace|placeholder|redacted|insert|todo|to-?be-|goes[-_]?here|not-?a-?real"
    r"|some[-_]|my[-_](?:token|key|secret|pass)"
)
_MOCK = re.compile(r"example|dummy|sample|fake|mock|foo|bar(?![a-z])|\bbaz|lorem")  # made up for a text
_FILLER = re.compile(r"[\W_]|token|api|key|secret|password|passwd|pass|test|value|here")
_SHOUTED = re.compile(r"[A-Z]+(?:[_-][A-Z]+)*\Z")  # PASSWORD, YOUR_TOKEN: a slot, not a value

_CHUNK = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_WORD = re.compile(r"(?i)(?=[a-z]*[aeiouy])(?![a-z]*[bcdfghjklmnpqrstvwxz]{5})[a-z]{3,}\Z")
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")
_DIGIT_INSIDE = re.compile(r"\d[A-Za-z]")
_MARK = re.compile(r"[!@#$%^&*?+=~]")
_WORD_AND_DIGITS = re.compile(r"[A-Za-z]{3,}\d+\Z")
_WORD_DASH_NUMBER = re.compile(r"[A-Za-z]{5,}-\d{2,3}\Z")
_SPLIT = re.compile(r"[-_./:\\=]+")
_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\Z")
_HEX = re.compile(r"(?:[0-9a-f]+|[0-9A-F]+)\Z")
_DIGEST = re.compile(r"(?i)(?:sha-?\d{1,3}|md5|crc32|blake\w*|h1)[-:=]")
_NUMBER_LIKE = re.compile(r"[vV=~^<>]*\d[\d.,:/xX%+-]*(?:[a-z]{1,3}|rc\d+|beta\d*)?\Z")  # 1.2.3, 10ms, 3x
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+\Z")
_PUBLIC = re.compile(r"ssh-(?:rsa|ed25519|dss)|AAAA[BCE][3-5]?Nza|-----BEGIN|MII[A-Z]\w{0,3}\Z")
# `name(`, `x[i]`, `a::b`, `a->b`, `Klass#method`: code that yields the value instead of being it.
_CODE = re.compile(r"[A-Za-z_][\w.]*[(\[{]|[\w)\]]::|->|=>|\)|&&|\|\||\[\^?\w-\w|\A[A-Za-z_]+#[a-z_]+\Z")
_DOTTED = re.compile(r"[!&*]?[A-Za-z_]\w*(?:(?:\??\.|=)\w+)+\Z")  # a.b.c, name=value
_PATH = re.compile(r"(?:\.{0,2}|~|[A-Za-z]:)[/\\]|(?:[\w.-]+/)+[\w.-]+\.[a-z]{1,5}\Z|\w+://")
_NAMED_NUMBER = re.compile(  # sha256, oauth2, python3, arg1: a word that wears a number
    r"(?i)(?:sha|md|base|utf|iso|latin|cp|rfc|pep|cve|crc|blake|keccak|hmac|pbkdf|bcrypt|scrypt|pkcs|aes|rsa|des|ed|"
    r"ecdsa|tls|ssl|oauth|oidc|saml|ntlm|socks|http|ip|ipv|python|py|ruby|node|java|jdk|php|go|perl|lua|swift|"
    r"es|ecma|sqlite|mysql|postgres(?:ql)?|redis|mongo(?:db)?|boto|ec|psycopg|jinja|urllib|win(?:dows)?|ubuntu|"
    r"debian|arg|argv|param|line|field|user|item|str|string|tmp|temp|var|val|value|key|col|column|row|version|"
    r"part|group|match|step|phase|section|chapter|issue|level|layer|stage|tier|option|case|type|mode|opt|num|"
    r"int|uint|float|pw|pass|password|passwd|secret|token|[a-z])[-_]?\d{1,4}\Z"
    r"|argon2\w*|(?:k8s|i18n|l10n|p2p|b64|2fa|mfa|w3c|e2e|s3|ec2)\b"
)
_PHRASE = re.compile(r"[A-Za-z0-9]{3,12}(?:[ -][A-Za-z0-9]{1,12}){2,9}\Z")
_SENTENCE_WORD = re.compile(
    r"(?i)\b(?:the|an?|is|are|of|for|to|in|at|not|no|must|should|can|your|my|enter|please|type|invalid)\b"
)
_NOTORIOUS = re.compile(r"(?i)(?:letmein|qwerty\w*|swordfish|iloveyou|trustno|correct-?horse\S*)\Z")


def is_placeholder(value: str) -> bool:
    """Whether ``value`` visibly stands for a secret (``${PW}``, ``<token>``, ``***``, ``[redacted:x]``)."""
    if not any(c.isalnum() for c in value) or _STANDS_FOR.match(value) or _INTERPOLATED.search(value, 0, 100):
        return True
    if _MASKED.search(value, 0, 80):
        return True
    variable = _VARIABLE.match(value)
    if variable and (len(value) < 6 or all(map(_is_plain, _SPLIT.split(variable[1])))):
        return True
    if _SHOUTED.match(value) and (len(value) < 12 or "_" in value or word_share(value) > 0.7):
        return True
    slot = len(value) <= 80 and _SLOT.search(value.lower())
    return bool(slot) and (len(value) < 20 or word_share(value) >= 0.6)


def is_mock(value: str) -> bool:
    """Whether ``value`` says that it is made up (``example-token-1``, ``foo123``) and is no more."""
    lower = value.lower()
    if len(value) > 80 or not _MOCK.search(lower):
        return False
    rest = _FILLER.sub("", _MOCK.sub("", lower))
    substance = len(rest) >= 6 and _LETTER.search(rest) and _DIGIT.search(rest)
    mixed = all(re.search(c, value) for c in ("[a-z]", "[A-Z]", r"\d"))  # still a password
    return not (substance or mixed)


def word_share(value: str) -> float:
    """Share (0..1) of the letters of ``value`` that lie in pronounceable runs of three or more.

    About 1 for identifiers in any case style, about 0.3 for random base62.
    """
    chunks = [c for c in _CHUNK.findall(value) if c[0].isalpha()]
    letters = sum(map(len, chunks))
    return sum(len(c) for c in chunks if _WORD.match(c)) / letters if letters else 0.0


def is_code_or_text(value: str) -> bool:
    """Whether an unquoted ``value`` is an expression, a path, a number, a date, an address or a digest."""
    return bool(
        _CODE.search(value)
        or (_DOTTED.match(value) and all(map(_is_plain, _SPLIT.split(value.lstrip("!&*")))))
        or _PATH.match(value)
        or _NUMBER_LIKE.match(value)
        or _DATE.match(value)
        or _EMAIL.match(value)
        or _DIGEST.match(value)
    )


def is_uuid(value: str) -> bool:
    """Whether ``value`` is a UUID: a name as often as a key."""
    return bool(_UUID.match(value))


def is_hex(value: str) -> bool:
    """Whether ``value`` is hexadecimal in one case: a hash as often as a key."""
    return bool(_HEX.match(value))


def is_random(value: str, least: int = 16) -> bool:
    """Whether ``value`` (at least ``least`` characters, no blank) looks generated rather than written."""
    if len(value) < least or " " in value or len(set(value)) < min(8, least // 2 + 1):
        return False
    if _PUBLIC.match(value) or _DIGEST.match(value) or _DATE.match(value) or _NUMBER_LIKE.match(value):
        return False
    if not _DIGIT.search(value):
        return len(value) >= 12 and _is_scrambled_case(value)
    if not _LETTER.search(value) or all(map(_is_plain, _SPLIT.split(value))):
        return False
    if is_hex(value) and len(value) >= 24:
        return True
    share = word_share(value)
    one_piece = len(value) >= 16 and not _SPLIT.search(value.rstrip("="))
    if one_piece and share < 0.95 and _DIGIT_INSIDE.search(value):
        return True
    digits = len(re.findall(r"\d+", value))
    return share < 0.6 or digits >= 3 or (digits == 2 and share < 0.8)


def _is_plain(segment: str) -> bool:
    """``v2``, ``2024``, ``retry``, ``parseToken2``: what identifiers and kebab names are made of."""
    if not segment or segment.isdigit() or (segment.isalpha() and word_share(segment) >= 0.6):
        return True
    numbers = [chunk for chunk in _CHUNK.findall(segment) if chunk.isdigit()]
    return len(numbers) <= 1 and len(segment) <= 24 and (len(segment) <= 3 or word_share(segment) >= 0.75)


def _is_scrambled_case(value: str) -> bool:
    """Upper and lower case mixed more finely than in any camelCase name."""
    if len(value) < 8 or value == value.upper() or (len(value) < 24 and _SPLIT.search(value)):
        return False
    return word_share(value) < 0.6 and len(_CHUNK.findall(value)) >= max(3, len(value) / 3.5)


def is_password(value: str, *, quoted: bool) -> bool:
    """Whether ``value`` could be a password someone chose: digits, mixed classes, marks; no plain word."""
    if not 6 <= len(value) <= 256 or " " in value or "\t" in value or _PUBLIC.match(value):
        return False
    if _EMAIL.match(value) or _DIGEST.match(value) or _PATH.match(value) or _NAMED_NUMBER.match(value):
        return False
    if value.isdigit() or is_notorious(value):
        return True
    if _NUMBER_LIKE.match(value) or _DATE.match(value):
        return False
    if not quoted and (is_code_or_text(value) or not value[0].isascii()):
        return False
    marks = len(_MARK.findall(value[:-1]))
    if _LETTER.search(value) and _DIGIT.search(value):
        return marks > 0 or _is_uncommon(value)
    if _LETTER.search(value) and marks:
        return quoted or marks > 1 or (value != value.lower() and value != value.upper())
    return _is_scrambled_case(value)


def _is_uncommon(value: str) -> bool:
    """Whether letters and digits meet in ``value`` otherwise than in ``db-creds-2`` or ``app_secret_v2``."""
    segments = [segment for segment in _SPLIT.split(value) if segment]
    if len(segments) == 1 or not all(map(_is_plain, segments)):
        return True
    if any(_WORD_AND_DIGITS.match(segment) and not _NAMED_NUMBER.match(segment) for segment in segments):
        return True
    if _WORD_DASH_NUMBER.match(value) and not _NAMED_NUMBER.match(value):
        return True
    return len(value) >= 10 and value not in (value.lower(), value.upper())


def is_phrase(value: str) -> bool:
    """Whether ``value`` is a handful of bare words, as a passphrase is, and no sentence about one."""
    return bool(_PHRASE.match(value)) and not _SENTENCE_WORD.search(value)


def is_notorious(value: str) -> bool:
    """Whether ``value`` is a plain word and a password all the same."""
    return bool(_NOTORIOUS.match(value))


def is_scrambled(value: str) -> bool:
    """Whether ``value`` is what a password generator makes of all classes: no text or code mixes them so."""
    if not 10 <= len(value) <= 128 or value in (value.lower(), value.upper()) or _CODE.search(value):
        return False
    words = sum(len(chunk) for chunk in _CHUNK.findall(value) if _WORD.match(chunk))
    marks = {c for c in value if not c.isalnum()}
    return bool(_DIGIT.search(value)) and len(marks) >= 2 and words < 0.4 * len(value)
