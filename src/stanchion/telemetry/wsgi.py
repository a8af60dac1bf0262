"""A WSGI app that serves a shield's figures to Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from stanchion.telemetry.exposition import Collect, answer

App = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def app(collect: Collect) -> App:
    """An app that answers on every path, so that it can be mounted anywhere:
    `app(shield.telemetry.collect)`."""

    def served(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        made = answer(
            collect, str(environ.get("REQUEST_METHOD", "GET")), str(environ.get("HTTP_ACCEPT", ""))
        )
        start_response(f"{made.status} {made.reason}", made.headers)
        return [made.body]

    return served
