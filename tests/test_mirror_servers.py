"""One mirror, every kind of server: embedded, the system's, a cluster, behind a password, over TLS."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import servers
from mirrored import Checkout, id_of, line, mark

from valor import answer, server
from valor.errors import Unavailable
from valor.window import prompt_query

ZEPPELIN = line(70, summary="the zeppelin leaves its hangar before the wind is read")


@contextmanager
def plain(name: str) -> Iterator[str]:
    with servers.running(name) as one:
        yield f"unix://{one.path}"


@contextmanager
def behind_a_password() -> Iterator[str]:
    """The user that the manual makes."""
    page = Path(__file__).parents[1] / "docs" / "how-to" / "own-redis.md"
    (said,) = (each for each in page.read_text("utf-8").splitlines() if each.startswith("ACL SETUSER"))
    with servers.running("wheel") as one:
        one.connect().pipeline([said.split()])
        yield f"unix://valor:sec{'ret'}@{one.path}?db=1"


@contextmanager
def over_tls(folder: Path) -> Iterator[str]:
    certificates = servers.make_certificate(folder)
    port = servers.free_ports(1)[0]
    with servers.running("system", *servers.tls_options(port, certificates)):
        yield f"rediss://localhost:{port}?ssl_ca_certs={certificates}/cert.pem"


@contextmanager
def clustered() -> Iterator[str]:
    with servers.cluster() as ports:
        yield f"redis://127.0.0.1:{ports[0]}"


KINDS: dict[str, Callable[[Path], Any]] = {
    "embedded": lambda _: plain("wheel"),
    "system": lambda _: plain("system"),
    "password": lambda _: behind_a_password(),
    "tls": over_tls,
    "cluster": lambda _: clustered(),
}


@pytest.fixture(scope="module", params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with KINDS[request.param](tmp_path_factory.mktemp(request.param)) as found:
        yield found


def told(checkout: Checkout) -> list[str]:
    config = checkout.workspace.config
    view = answer.find_view(str(config.root), str(config.state), str(config.root))
    assert view is not None
    found = answer.answer(view, prompt_query("zeppelin hangar"), set(), time.time(), time.monotonic() + 10)
    return [each.id for each in found]


@pytest.mark.parametrize("project", range(3))
def test_a_mirror_is_made_changed_swapped_asked_and_read_back(url: str, project: int) -> None:
    """Several projects, so that in a cluster they lie on several nodes."""
    with servers.own_config(redis_url=url) as config:
        checkout = Checkout(config)
        checkout.write(*map(line, range(20)), ZEPPELIN)
        assert checkout.sync().how == "rebuilt"
        assert told(checkout) == [id_of(70)]
        checkout.append(line(21))
        assert checkout.sync().how == "appended"
        checkout.append(mark(1, [id_of(3)], None))
        assert checkout.sync().how == "changed"
        assert checkout.sync(rebuild=True).how == "rebuilt"
        assert checkout.differences() == []
        assert told(checkout) == [id_of(70)]


@pytest.mark.parametrize("name", ["wheel", "system"])
def test_a_full_server_refuses_and_the_view_stays_as_it_was(name: str) -> None:
    with (
        servers.running(name, "--maxmemory-policy", "noeviction") as one,
        servers.own_config(redis_url=f"unix://{one.path}") as config,
    ):
        checkout = Checkout(config)
        checkout.write(*map(line, range(20)), ZEPPELIN)
        checkout.sync()
        before = checkout.held()
        one.connect().call("CONFIG", "SET", "maxmemory", 1)
        checkout.append(line(21))
        for how in ({}, {"rebuild": True}):
            with pytest.raises(Unavailable, match="full"):
                checkout.sync(**how)
        assert checkout.held() == before
        assert told(checkout) == [id_of(70)]
        one.connect().call("CONFIG", "SET", "maxmemory", 0)
        checkout.sync()
        assert checkout.differences() == []
        with server.client(server.address(config)) as client:
            assert not [key for key in client.keys("*") if b":load-" in key]


def test_a_server_swapped_for_an_older_or_newer_one_is_filled_anew() -> None:
    with servers.own_config() as config:
        for name in ("wheel", "system", "wheel"):
            with servers.running(name) as one:
                checkout = Checkout(config._replace(redis_url=f"unix://{one.path}"))
                checkout.write(*map(line, range(20)), ZEPPELIN)
                assert checkout.sync().how == "rebuilt"
                assert told(checkout) == [id_of(70)]
            assert told(checkout) == []
