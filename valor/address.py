"""Where a Redis or Valkey server is, and the URLs that say so.

Part of the hot ring. The URLs are redis-py's, less those of its options that are about its own
connections: ``redis://user:password@host:6379/0``, ``rediss://…`` for TLS, ``unix:///path?db=0``;
user, password and path percent-encoded where they hold ``% / ? # @ :``.
"""

from __future__ import annotations

from valor.errors import UsageError

PORT = 6379
TLS_OPTIONS = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs", "ssl_check_hostname")
_FORMS = (
    "use redis://, rediss:// or unix://, e.g. redis://user:password@host:6379/0 or unix:///run/redis.sock"
)


class Address:
    """A ``path`` (unix socket), or ``host`` and ``port``; ``tls`` holds the options of TLS_OPTIONS
    that were given, None for plain TCP. ``password`` None: do not log in; ``user`` "": the default."""

    __slots__ = ("db", "host", "password", "path", "port", "tls", "user")

    def __init__(
        self,
        path: str = "",
        *,
        host: str = "",
        port: int = PORT,
        user: str = "",
        password: str | None = None,
        db: int = 0,
        tls: dict[str, str] | None = None,
    ) -> None:
        self.path = path
        self.host = host
        self.port = port
        self.user = user
        self.password = password
        self.db = db
        self.tls = tls

    def __str__(self) -> str:
        """As a URL, without user and password."""
        if self.path:
            return f"unix://{self.path}" + (f"?db={self.db}" if self.db else "")
        host = f"[{self.host}]" if ":" in self.host else self.host
        scheme = "redis" if self.tls is None else "rediss"
        return f"{scheme}://{host}:{self.port}" + (f"/{self.db}" if self.db else "")

    __repr__ = __str__  # a traceback must not show the password

    def checks_certificate(self) -> bool:
        """Whether the server's certificate must be good."""
        return (self.tls or {}).get("ssl_cert_reqs", "required").lower() != "none"

    def checks_hostname(self) -> bool:
        """Whether the certificate must be for this host."""
        asked = (self.tls or {}).get("ssl_check_hostname", "true").lower()
        return self.checks_certificate() and asked not in ("false", "0", "no", "off")

    def elsewhere(self, host: str, port: int) -> Address:
        """Another node of the same cluster, greeted alike."""
        return Address(host=host, port=port, user=self.user, password=self.password, tls=self.tls)


def parse(url: str) -> Address:
    """The address in a URL. Raises UsageError, which never repeats the URL: it may hold a password."""
    scheme, mark, rest = url.strip().partition("://")
    scheme = scheme.lower()
    if not mark or scheme not in ("redis", "rediss", "unix"):
        raise UsageError("this is no Redis URL", _FORMS)
    if "#" in rest:
        raise UsageError("the Redis URL holds a '#'", "write %23 for it")
    rest, _, query = rest.partition("?")
    authority, slash, path = rest.partition("/")
    login, at, place = authority.rpartition("@")
    user, colon, password = login.partition(":")
    if at and not colon:
        raise UsageError("the Redis URL has a user and no password", "write user:password@ or :password@")
    options = _options(query)
    db = _number(options.pop("db", "") or ("" if scheme == "unix" else path.strip("/")) or "0", "database")
    address = Address(user=decoded(user), password=decoded(password) if colon else None, db=db)
    if options and scheme != "rediss":
        raise UsageError(f"{min(options)} is for rediss:// alone", _FORMS)
    if scheme == "unix":
        if place or path in ("", "/"):
            raise UsageError("the Redis URL names no socket", "write its whole path: unix:///run/redis.sock")
        address.path = decoded(slash + path)
        return address
    address.host, address.port = _host(place)
    address.tls = options if scheme == "rediss" else None
    return address


def _host(place: str) -> tuple[str, int]:
    """Host and port of ``host``, ``host:port``, ``[v6]`` or ``[v6]:port``; localhost where empty."""
    bracket, close, port = place.partition("]")
    if bracket.startswith("["):
        if not close or (port and not port.startswith(":")):
            raise UsageError("the Redis URL's host is off", "write an IPv6 address as [::1]:6379")
        host, port = bracket[1:], port[1:]
    else:
        host, _, port = place.partition(":")
        host = decoded(host)
    if ":" in port or not (host or "x").isascii():
        raise UsageError(
            "the Redis URL's host is off", "bracket an IPv6 address; write other letters as xn--…"
        )
    number = _number(port or str(PORT), "port")
    if not 0 < number < 65536:
        raise UsageError("the Redis URL's port is off", "use a number from 1 to 65535")
    return host.lower() or "localhost", number


def _options(query: str) -> dict[str, str]:
    known = ("db", *TLS_OPTIONS)
    found: dict[str, str] = {}
    for pair in filter(None, query.split("&")):
        name, _, value = pair.partition("=")
        if name not in known:
            raise UsageError("the Redis URL has an unknown option", f"known: {', '.join(known)}")
        found[name] = decoded(value.replace("+", " "))
    return found


def _number(text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UsageError(
            f"the Redis URL's {what} is no number",
            "percent-encode what the password holds of % / ? # @ : (%25 %2F %3F %23 %40 %3A)",
        )
    return int(text)


def decoded(text: str) -> str:
    """``text`` with its %XX undone; what is no %XX stays."""
    first, *parts = text.split("%")
    out = first.encode("utf-8", "surrogateescape")
    for part in parts:
        pair = part[:2]
        if len(pair) == 2 and all(char in "0123456789abcdefABCDEF" for char in pair):
            out += bytes.fromhex(pair) + part[2:].encode("utf-8", "surrogateescape")
        else:
            out += b"%" + part.encode("utf-8", "surrogateescape")
    return out.decode("utf-8", "surrogateescape")
