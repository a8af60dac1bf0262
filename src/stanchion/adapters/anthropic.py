"""Clients of `anthropic`, sync and async: every request judged, every reply as the run may see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from stanchion.adapters.clients.forms import Form
from stanchion.adapters.clients.guarded import guarded
from stanchion.adapters.http.leaving import MAX_BODY
from stanchion.hosting import EVERYTHING, Host

if TYPE_CHECKING:
    from anthropic import Anthropic, AsyncAnthropic

    Client = TypeVar("Client", Anthropic, AsyncAnthropic)

ANTHROPIC: Final = Host("anthropic", can=EVERYTHING)
"""A client that sends a request as it was decided, or raises `Refused`."""

FORMS: Final = (Form("v1/messages", apart="system", among=False), Form("v1/complete", said="prompt"))


def guard(client: Client, run: Any, *, max_body: int = MAX_BODY) -> Client:
    """A client for a run, of the same type and with the same options and connections; the given one stays as it is."""
    made: Client = guarded(client, ANTHROPIC, run, FORMS, max_body)
    return made
