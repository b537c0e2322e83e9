"""How key-like is a name? ``DB_PASSWORD`` and ``client-secret`` are, ``token_count`` is not."""

from __future__ import annotations

import re

PASSWORD = "password"  # what a person chose: any value that is no plain word counts
SECRET = "secret"  # what a machine issued: the value must look generated, hexadecimal included
KEY = "key"  # the name proves little: only a long random value counts

# One of these, in lower case, is in every ASCII text with a key-like name.
ANCHORS = (
    *("pass", "pwd", "pw", "secret", "token", "key", "auth", "cred", "sig", "wi-fi code", "wifi code"),
    *("senha", "contrase", "wort", "clave", "parola", "hasło", "heslo", "adgangsk", "salasana", "jelszó"),
    *("şifre", "kata sandi", "mật khẩu", "wachtwoord", "lösenord"),
)

# And one of these in every ASCII text that tells a secret in any way but by its format.
HINTS = (
    *(
        *ANCHORS,
        "://",
        "@tcp(",
        "@unix(",
        "eyj",
        "bearer",
        "basic",
        "login",
        "log in",
        "logged",
        "sign",
        "user",
    ),
    *(
        "account",
        "curl",
        "wget",
        "http",
        "mysql",
        "mariadb",
        "-cli",
        "docker",
        "identified",
        "5432",
        "pin",
        "seed",
    ),
    *("recovery", "mnemonic", "private-lines"),
)

_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PASSWORDS = _words(
    "password passwd passwort passphrase passcode pwd pass pw psw senha kennwort contrasena wachtwoord haslo"
)
# Words that the splitting below would cut at a letter beyond ASCII, and "mot de passe".
WHOLE_PASSWORDS = _words("contraseña hasło jelszó lösenord şifre")
PASSWORD_ENDS = ("password", "passwd", "passphrase", "passwort", "pass", "pwd")
_NO_PASSWORDS = _words("compass bypass trespass overpass underpass surpass encompass cwd")
SECRETS = _words("secret secrets token tokens apikey apikeys passwords bearer")
SECRET_ENDS = ("secret", "token", "apikey", "accesskey", "secretkey", "privatekey", "authkey", "accountkey")
KEYS = _words("key keys auth authorization credential credentials cred creds signature sig")

# What makes a key a secret one.
_SECRET_KEYS = _words(
    "api secret access private signing encryption decryption master account shared auth app license deploy "
    "service hmac jwt session webhook aes client admin root user consumer subscription project server sas"
)
# What makes a key or token a place in a collection, a page or a text instead.
_OTHER_KEYS = _words(
    "public foreign cache sort partition hash range idempotency dedup dedupe lookup dict map row group "
    "routing registry bucket index composite translation query react pub host publishable known column yaml "
    "json toml cancellation page next continuation pad eos bos unk sep mask start end cursor field sync csrf"
)
# Suffixes that leave a name what it is: API_KEY_PROD, secret_key_base, tokenValue.
TAILS = _words(
    "prod production dev staging test live local ci value val str string text default env var old new base "
    "raw plain current previous b v"
)


def strength(name: str, before: str = "") -> str | None:
    """PASSWORD, SECRET or KEY for a key-like ``name``, None for any other.

    ``before`` is the word in front of a one-word name: ``api`` in "api key".
    """
    if name.lower() in WHOLE_PASSWORDS or (name.lower() == "passe" and before.lower() == "de"):
        return PASSWORD
    parts = [part.lower() for part in _PARTS.findall(name)]
    while len(parts) > 1 and (parts[-1] in TAILS or parts[-1].isdigit()):
        parts.pop()
    if not parts or name.endswith("."):
        return None
    last = parts[-1]
    rest = {*parts[:-1], before.lower()}
    if rest & _OTHER_KEYS:
        return None
    if last in PASSWORDS or (last.endswith(PASSWORD_ENDS) and last not in _NO_PASSWORDS):
        return PASSWORD
    if last in SECRETS or last.endswith(SECRET_ENDS):
        return SECRET
    if last in KEYS:
        return SECRET if last.startswith("key") and rest & _SECRET_KEYS else KEY
    return None
