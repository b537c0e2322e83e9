"""Sockets to a server, opened within a deadline: unix, TCP, TLS.

Part of the hot ring: ``_socket`` (``socket`` where an interpreter lacks that), and ``ssl`` only for TLS.
"""

from __future__ import annotations

from valor.address import Address

try:
    import _socket as socket
except ImportError:  # not CPython
    import socket  # type: ignore[no-redef]

TYPE_CHECKING = False  # typing costs half an interpreter start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def dial(address: Address, left: Callable[[], float]) -> Any:
    """A connected socket. ``left`` gives the seconds that remain and raises TimeoutError where none
    do. Raises OSError, or ValueError for a path or host that cannot be one."""
    if address.path:
        return _connected(socket.AF_UNIX, address.path, left())
    places = _resolved(address, left)
    for number, (family, _, _, _, place) in enumerate(places, 1):
        try:  # an address that swallows packets must leave time for the next one
            made = _connected(family, place, left() / (len(places) - number + 1))
            break
        except OSError:
            if number == len(places):
                raise
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made if address.tls is None else _secured(made, address, left)


def _connected(family: int, place: Any, seconds: float) -> Any:
    made = socket.socket(family, socket.SOCK_STREAM)
    made.settimeout(seconds)
    try:
        made.connect(place)
    except BaseException:  # boundary: whatever it is, it goes on its way, and the socket is closed
        made.close()
        raise
    return made


def _resolved(address: Address, left: Callable[[], float]) -> list[Any]:
    """``getaddrinfo``'s answer. A name is asked for in a thread of its own, since the resolver knows no
    deadline; one that is still asking does not keep the process."""
    # As bytes: for text, the codec "idna" would import half the library.
    question = (address.host.encode("ascii"), address.port, 0, socket.SOCK_STREAM, 0)
    try:
        return socket.getaddrinfo(*question, socket.AI_NUMERICHOST)
    except socket.gaierror:
        pass
    from _thread import allocate_lock, start_new_thread

    answers: list[Any] = []
    waiting = allocate_lock()

    def ask() -> None:
        try:
            answers.append(socket.getaddrinfo(*question))
        except OSError as error:
            answers.append(error)
        waiting.release()

    waiting.acquire()
    start_new_thread(ask, ())
    if not waiting.acquire(True, left()):
        raise TimeoutError
    if isinstance(answers[0], OSError):
        raise answers[0]
    found: list[Any] = answers[0]
    return found


def _secured(made: Any, address: Address, left: Callable[[], float]) -> Any:
    import ssl
    from socket import socket as Socket  # ssl wraps no other

    options = address.tls or {}
    context = ssl.create_default_context(cafile=options.get("ssl_ca_certs"))
    context.check_hostname = address.checks_hostname()
    if not address.checks_certificate():
        context.verify_mode = ssl.CERT_NONE
    if options.get("ssl_certfile"):
        context.load_cert_chain(options["ssl_certfile"], options.get("ssl_keyfile"))
    plain = Socket(fileno=made.detach())
    try:
        plain.settimeout(left())
        return context.wrap_socket(plain, server_hostname=address.host)
    except BaseException:  # boundary: as above
        plain.close()
        raise
