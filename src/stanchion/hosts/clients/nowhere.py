"""Clients that send nothing, for canaries: where a request would leave, a function is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stanchion.hosts.clients.guarded import library_of


def sending_nowhere(client: Any, called: Callable[[], str]) -> Any:
    """A client like that one; its requests are answered as by a provider that fails, once `called`
    has been."""
    library = library_of(client)
    transport = library.MockTransport(lambda _: library.Response(500, text=called()))
    kind = library.AsyncClient if hasattr(client, "__aenter__") else library.Client
    return client.copy(http_client=kind(transport=transport))
