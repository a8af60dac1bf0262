"""The person before a client: asked by elicitation whether a call that waits may go ahead.

The ticket alone decides. What the person says is an answer to it, by the operator
`host:mcp:CLIENT`. Whoever says nothing, declines or cancels has not answered, and the ticket waits
on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import anyio
import msgspec
from mcp.shared.exceptions import MCPError

from stanchion.approvals.act import Way
from stanchion.approvals.errors import TicketError
from stanchion.approvals.rules import Answering, refusal
from stanchion.approvals.ticket import Kind, Ticket
from stanchion.hosts import Host, Hosted, Refusal
from stanchion.hosts.mcp.caller import Caller
from stanchion.hosts.mcp.words import HOST
from stanchion.kernel.autonomy import OPERATOR
from stanchion.kernel.shown import visible

ELICIT: Final = "elicitation/create"
ANSWER_S: Final = 300.0
"""How long the person may take."""
LONGEST: Final = 4000
"""How many characters of a call are shown. What is longer nobody reads in a dialog: it waits in the
inbox alone."""
FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow this"}},
    "required": ["allow"],
}

Ask = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Puts a question to the client of one request, and gives its raw answer; raises `MCPError`."""


class Person:
    """Whoever sits before one client that the policy names."""

    def __init__(self, hosted: Hosted, name: str) -> None:
        self._run = hosted.run
        self._hosted = Host(name, can=HOST.can).on(hosted.run)
        self._as = f"host:{name}"

    async def lets(self, ask: Ask, waiting: Refusal) -> bool:
        """Whether a call that waits may be made again by now; asks where this person may say so."""
        ticket = await asyncio.to_thread(self._ticket, waiting)
        question = "" if ticket is None else _question(ticket)
        if not question:
            return False
        try:
            with anyio.fail_after(ANSWER_S):
                answer = await ask({"message": question, "requestedSchema": FORM})
        except (MCPError, TimeoutError):
            return False
        says = _says(answer)
        if says is None:
            return False
        counts = await asyncio.to_thread(self._hosted.answered, waiting, says)
        return counts and says

    def _ticket(self, waiting: Refusal) -> Ticket | None:
        """What is asked, where the yes of this person would count for it."""
        try:
            ticket: Ticket = self._run.desk.shield.ticket(waiting.ticket)
        except TicketError:
            return None
        answering = Answering(Way.DIALOG, self._as, OPERATOR)
        return None if refusal(ticket.asked, answering) else ticket


def person_before(shield: Any, hosted: Hosted, caller: Caller) -> Person | None:
    """The person before a client; none unless the policy names the client, it can ask, and nobody
    else could claim to be it: who comes by HTTP may say any name, whoever stands at our standard
    streams has started us."""
    name = f"mcp:{caller.info.get('name')}"
    if (
        caller.by_http
        or name not in shield.policy.file.escalation.dialogs
        or not _has_forms(caller)
    ):
        return None
    return Person(hosted, name)


def _has_forms(caller: Caller) -> bool:
    """Whether a client can show a form: so it is unless it says that it can only do something
    else."""
    able = caller.capabilities.get("elicitation")
    return isinstance(able, Mapping) and (not able or "form" in able)


def _question(ticket: Ticket) -> str:
    """What the person reads; nothing where that would be too long."""
    if ticket.kind is Kind.VALUE:
        return visible(ticket.message) if len(ticket.message) <= LONGEST else ""
    content = visible(msgspec.json.encode(ticket.content).decode())
    if len(content) > LONGEST:
        return ""
    return (
        f"The agent wants to use `{visible(ticket.tool)}` with {content}\n\nIt waits: "
        f"{visible(ticket.message)}"
    )


def _says(answer: Mapping[str, Any]) -> bool | None:
    """Yes or no, where the person has said one of them."""
    content = answer.get("content")
    if answer.get("action") != "accept" or not isinstance(content, Mapping):
        return None
    allow = content.get("allow")
    return allow if isinstance(allow, bool) else None
