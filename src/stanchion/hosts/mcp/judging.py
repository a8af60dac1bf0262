"""Judging what passes: requests as calls, in both directions, and everything else that is read as
their results."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, REQUEST_TIMEOUT

from stanchion.hosts import Hosted, Refusal
from stanchion.hosts.mcp.link import Unreachable
from stanchion.hosts.mcp.words import CALL, REFUSED, Request, failed, said_no

LOG: Final = logging.getLogger("stanchion.mcp")
OWN_FAILURE: Final = (
    "this could not be judged, so it did not happen: try something else, or tell "
    "the user that Stanchion failed"
)

Carry = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
Lets = Callable[[Refusal], Awaitable[bool]]
"""Says whether a request that waits for a person may be made again by now."""


class Judging:
    """The run of one client."""

    def __init__(self, hosted: Hosted) -> None:
        self._hosted = hosted

    async def call(
        self, method: str, tool: str, args: Any, carry: Carry, lets: Lets | None = None
    ) -> dict[str, Any]:
        """Have a request judged, carried out and its result judged; raises `MCPError`. One that
        waits for a person is made once more where `lets` says that it may be."""
        request = Request(method)
        try:
            result = await self._called(request, tool, args, carry)
        except MCPError:
            if not await _is_let(request, lets):
                raise
        else:
            if not await _is_let(request, lets):
                return result
        return await self._called(Request(method), tool, args, carry)

    async def _called(self, request: Request, tool: str, args: Any, carry: Carry) -> dict[str, Any]:
        faults: list[MCPError] = []

        async def carried(given: dict[str, Any]) -> dict[str, Any]:
            try:
                return await carry(given)
            except MCPError as error:
                faults.append(error)
                raise

        try:
            result: dict[str, Any] = await self._hosted.acall(tool, args, carried, about=request)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong, the client gets an answer that it understands
            return await self._failure(request.method, error, faults)
        return self._with_notices(result) if request.method == CALL else result

    async def read(self, method: str, value: Any) -> Any:
        """Have judged what a client is about to read; gives it as it may be read. Raises
        `MCPError`."""
        try:
            told = await self._hosted.areport(
                "tool_result", tool=method, result=value, about=Request("")
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


async def _is_let(request: Request, lets: Lets | None) -> bool:
    return request.waiting is not None and lets is not None and await lets(request.waiting)
