"""The answer to a scrape: a status, headers and the figures, for whatever server asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from stanchion.telemetry import loggers
from stanchion.telemetry.exposition import OPENMETRICS, TEXT, exposed, wants_openmetrics
from stanchion.telemetry.figures import Series

Collect = Callable[[], Iterable[Series]]
"""Gives the figures as they are now: `shield.telemetry.collect` does."""

PLAIN: Final = "text/plain; charset=utf-8"


class Answer(NamedTuple):
    """What is sent back."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: bytes


def answer(collect: Collect, method: str, accept: str) -> Answer:
    """Answer a request: the figures in the format that its `Accept` asks for. What went wrong is
    logged, not sent."""
    if method not in ("GET", "HEAD"):
        return _made(
            405, "Method Not Allowed", PLAIN, "ask with GET\n", method, ("Allow", "GET, HEAD")
        )
    try:
        openmetrics = wants_openmetrics(accept)
        text = exposed(collect(), openmetrics)
    except Exception as error:  # noqa: BLE001 - a scrape may fail, its server goes on
        loggers.say(
            loggers.TELEMETRY,
            loggers.ERROR,
            "metrics cannot be read",
            error=type(error).__name__,
            why=error,
        )
        return _made(
            503, "Service Unavailable", PLAIN, "metrics cannot be read: look at the log\n", method
        )
    return _made(200, "OK", OPENMETRICS if openmetrics else TEXT, text, method)


def _made(
    status: int, reason: str, kind: str, text: str, method: str, *more: tuple[str, str]
) -> Answer:
    body = text.encode()
    headers = [
        ("Content-Type", kind),
        ("Content-Length", str(len(body))),
        ("Cache-Control", "no-store"),
        *more,
    ]
    return Answer(status, reason, headers, b"" if method == "HEAD" else body)
