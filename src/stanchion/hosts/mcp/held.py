"""Held calls: a server of the handshake era asks its client something in the middle of a call, and
the client can only be asked by an answer to its request. So the call is held while the client asks
its user, and goes on when it is back.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Final

import anyio
import anyio.abc
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

MOST: Final = 1000
"""How many calls are held at once; the oldest is given up first."""
HELD_S: Final = 600.0
"""How long a client may take to answer."""
OURS: Final = "stanchion-"
"""What a token begins with, which tells it from the state of a server that asks the client by
itself."""

Outcome = dict[str, Any] | Exception


class Held:
    """One call: what it asks its client, and what came of it in the end."""

    def __init__(self, what: bytes) -> None:
        self.what = what
        self.token = f"{OURS}{secrets.token_urlsafe(32)}"
        self._scope = anyio.CancelScope()
        self._asked: dict[str, tuple[dict[str, Any], anyio.Event, list[dict[str, Any]]]] = {}
        self._outcome: Outcome | None = None
        self._moved = anyio.Event()
        self._count = 0

    async def run(self, work: Callable[[], Awaitable[dict[str, Any]]]) -> None:
        """Do the work; what it gives or raises is the outcome."""
        try:
            with self._scope:
                try:
                    self._outcome = await work()
                except Exception as error:  # noqa: BLE001 - raised again where the client waits for it
                    self._outcome = error
        finally:
            if self._outcome is None:
                self._outcome = MCPError(INVALID_PARAMS, "the call was given up: make it again")
            self._moved.set()

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Have the client asked; waits for its answer."""
        self._count += 1
        key, answered, answers = f"ask-{self._count}", anyio.Event(), list[dict[str, Any]]()
        request = {"method": method, "params": params} if params else {"method": method}
        self._asked[key] = (request, answered, answers)
        self._moved.set()
        try:
            with anyio.fail_after(HELD_S):
                await answered.wait()
        except TimeoutError:
            raise MCPError(INVALID_PARAMS, "the client has not answered in time") from None
        finally:
            self._asked.pop(key, None)
        return answers[0]

    def answered(self, responses: dict[str, Any]) -> None:
        """Hand in what the client answered."""
        for key, answer in responses.items():
            asked = self._asked.get(key)
            if asked is not None and isinstance(answer, dict):
                asked[2].append(answer)
                asked[1].set()

    async def next(self) -> dict[str, Any]:
        """The result, or what the client is asked before there is one; raises what the work
        raised."""
        while self._outcome is None and not self._open():
            self._moved = anyio.Event()
            await self._moved.wait()
        if self._outcome is None:
            return {
                "resultType": "input_required",
                "inputRequests": {key: asked for key, (asked, _, _) in self._open().items()},
                "requestState": self.token,
            }
        if isinstance(self._outcome, Exception):
            raise self._outcome
        return self._outcome

    @property
    def is_over(self) -> bool:
        """Whether there is an outcome."""
        return self._outcome is not None

    def give_up(self) -> None:
        """End the work."""
        self._scope.cancel()

    def _open(self) -> dict[str, Any]:
        return {key: asked for key, asked in self._asked.items() if not asked[1].is_set()}


class HeldCalls:
    """The held calls of one client, by what it brings back."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, Held] = OrderedDict()

    def find(self, token: Any, what: bytes) -> Held | None:
        """The call that a client comes back to; only with the very request that it made."""
        held = self._held.get(token) if isinstance(token, str) else None
        return held if held is not None and secrets.compare_digest(held.what, what) else None

    def keep(self, held: Held) -> None:
        """Keep a call until its client is back."""
        self._held[held.token] = held
        if len(self._held) > MOST:
            self._held.popitem(last=False)[1].give_up()

    def drop(self, held: Held) -> None:
        """Forget a call that is over."""
        self._held.pop(held.token, None)

    def close(self) -> None:
        """Give all of them up."""
        for held in self._held.values():
            held.give_up()
        self._held.clear()
