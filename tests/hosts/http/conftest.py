"""What tests of HTTP clients share: each of the four clients, and servers that count who
connects."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.hosts.http.clients import CLIENTS, Send
from tests.hosts.http.servers import Server, serving


@pytest.fixture(params=CLIENTS)
def send(request: pytest.FixtureRequest) -> Send:
    """Sends requests with one of the clients."""
    return CLIENTS[request.param]


@pytest.fixture
def outside() -> Iterator[Server]:
    """A server that a test lets its run reach."""
    with serving() as server:
        yield server


@pytest.fixture
def inside() -> Iterator[Server]:
    """A server that no run may reach."""
    with serving() as server:
        yield server
