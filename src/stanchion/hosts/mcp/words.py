"""How the proxy says no: as a failed result where a model reads it, as an error everywhere else."""

from __future__ import annotations

from typing import Any, Final

from mcp.shared.exceptions import MCPError

from stanchion.hosts import Host, Refusal

REFUSED: Final = -32080
"""The code of errors that say a request was refused."""

CALL: Final = "tools/call"
"""The one request whose answer a model reads."""


class Request:
    """A request on its way, for the words of its refusal; remembers one that waits for a person."""

    __slots__ = ("method", "waiting")

    def __init__(self, method: str) -> None:
        self.method = method
        self.waiting: Refusal | None = None


def failed(text: str) -> dict[str, Any]:
    """A tool's result that says what went wrong."""
    return {"content": [{"type": "text", "text": text}], "isError": True}


def said_no(method: str, text: str) -> dict[str, Any]:
    """What the client gets in place of what it asked for; raises where that is an error."""
    if method == CALL:
        return failed(text)
    raise MCPError(REFUSED, text)


def _refused(refusal: Refusal) -> dict[str, Any]:
    request: Request = refusal.about
    if refusal.waits and refusal.ticket is not None and not refusal.happened:
        request.waiting = refusal
    return said_no(request.method, str(refusal))


HOST: Final = Host(
    "mcp",
    can=["warn", "redact", "retry", "queue", "escalate"],
    refused=_refused,
    ended=_refused,
)
"""The proxy, as Stanchion sees it. What it carries out it carries out in both directions."""
