"""Judging what passes: requests as calls, in both directions, and everything else that is read as
their results. A person before the client may be asked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import anyio
import msgspec
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, REQUEST_TIMEOUT

from stanchion.approvals.act import Way
from stanchion.approvals.errors import TicketError
from stanchion.approvals.rules import AnswererRole, refusal
from stanchion.approvals.ticket import Kind, Ticket
from stanchion.hosts import Host, Hosted, Refusal
from stanchion.hosts.contract.elements import ActedOn
from stanchion.hosts.mcp.eras import Caller
from stanchion.hosts.mcp.server_link import Unreachable
from stanchion.kernel.autonomy import OPERATOR
from stanchion.kernel.shown import visible

REFUSED: Final = -32080
"""The code of errors that say a request was refused."""

CALL: Final = "tools/call"
"""The one request whose answer a model reads."""


class JudgedRequest:
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
    request: JudgedRequest = refusal.about
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


LOG: Final = logging.getLogger("stanchion.mcp")
OWN_FAILURE: Final = (
    "this could not be judged, so it did not happen: try something else, or tell "
    "the user that Stanchion failed"
)

Carry = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
Lets = Callable[[Refusal], Awaitable[bool]]
"""Says whether a request that waits for a person may be made again by now."""


class JudgedTraffic:
    """The run of one client."""

    def __init__(self, hosted: Hosted) -> None:
        self._hosted = hosted

    async def call(
        self,
        method: str,
        tool: str,
        args: Any,
        carry: Carry,
        lets: Lets | None = None,
        on: Sequence[ActedOn] = (),
    ) -> dict[str, Any]:
        """Have a request judged, carried out and its result judged; raises `MCPError`. One that
        waits for a person is made once more where `lets` says that it may be."""
        request = JudgedRequest(method)
        try:
            result = await self._called(request, tool, args, carry, on)
        except MCPError:
            if not await _is_let(request, lets):
                raise
        else:
            if not await _is_let(request, lets):
                return result
        return await self._called(JudgedRequest(method), tool, args, carry, on)

    async def _called(
        self, request: JudgedRequest, tool: str, args: Any, carry: Carry, on: Sequence[ActedOn]
    ) -> dict[str, Any]:
        faults: list[MCPError] = []

        async def carried(given: dict[str, Any]) -> dict[str, Any]:
            try:
                return await carry(given)
            except MCPError as error:
                faults.append(error)
                raise

        try:
            result: dict[str, Any] = await self._hosted.acall(
                tool, args, carried, about=request, on=on
            )
        except Exception as error:  # noqa: BLE001 - whatever goes wrong, the client gets an answer that it understands
            return await self._failure(request.method, error, faults)
        return self._with_notices(result) if request.method == CALL else result

    async def read(self, method: str, value: Any) -> Any:
        """Have judged what a client is about to read; gives it as it may be read. Raises
        `MCPError`."""
        try:
            told = await self._hosted.areport(
                "tool_result", tool=method, result=value, about=JudgedRequest("")
            )
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - what nobody has judged is not passed on
            LOG.error("`%s` could not be judged: %s", method, type(error).__name__)
            raise MCPError(REFUSED, OWN_FAILURE) from None
        return told.content if told.proceeds else said_no("", str(told.answer))

    async def close(self) -> None:
        """End the run."""
        await self._hosted.aclose()

    async def _failure(
        self, method: str, error: Exception, faults: list[MCPError]
    ) -> dict[str, Any]:
        if isinstance(error, MCPError) and error.code == REFUSED:
            raise error
        if not faults:
            LOG.error("`%s` could not be judged: %s", method, type(error).__name__)
            return said_no(method, OWN_FAILURE)
        fault = faults[-1]
        if method == CALL and (isinstance(fault, Unreachable) or fault.code == REQUEST_TIMEOUT):
            return failed(str(error))
        if isinstance(error, MCPError) and error.data is not None:
            raise MCPError(error.code, error.message, await self.read(method, error.data))
        raise MCPError(fault.code if fault.code else INTERNAL_ERROR, str(error))

    def _with_notices(self, result: dict[str, Any]) -> dict[str, Any]:
        """A tool's result with the warnings for whoever reads it."""
        notices = self._hosted.notices()
        if not notices or not isinstance(result.get("content"), list):
            return result
        told = [{"type": "text", "text": f"Warning: {words}"} for words in notices]
        return {**result, "content": [*result["content"], *told]}


async def _is_let(request: JudgedRequest, lets: Lets | None) -> bool:
    return request.waiting is not None and lets is not None and await lets(request.waiting)


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


class PersonBefore:
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
            shield = self._run.desk.shield
            ticket: Ticket = shield.ticket(waiting.ticket)
        except TicketError:
            return None
        answering = AnswererRole(Way.DIALOG, self._as, OPERATOR)
        return None if refusal(shield.authority.asked(ticket.asked), answering) else ticket


def person_before(shield: Any, hosted: Hosted, caller: Caller) -> PersonBefore | None:
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
    return PersonBefore(hosted, name)


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
