"""Servers of tools in a program that uses the Claude Agent SDK: what they run was judged, and what
fails there is judged before it leaves.

Claude Code shows the words of a failure to the model, whatever a hook answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

CALL: Final = "claudecode/toolUseId"
"""Where Claude Code tells a server which call it runs."""
UNJUDGED: Final = "(a call that nobody has judged)"
"""The tool in the place of one that must not run: there is none of this name."""


class OwnServer:
    """A server of tools in this program: a call that nobody has judged runs none of them, and what
    one fails with is judged before it leaves."""

    def __init__(
        self,
        server: Any,
        is_judged: Callable[[str], bool],
        failed: Callable[[str, str], Awaitable[str]],
    ) -> None:
        self._server, self._is_judged, self._failed = server, is_judged, failed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._server, name)

    async def run(self, read: Any, write: Any, *rest: Any, **more: Any) -> None:
        """Serve one session."""
        calls: dict[Any, str] = {}

        async def asked(item: Any) -> Any:
            said = _message(item)
            if getattr(said, "method", "") == "tools/call":
                call = (said.params.get("_meta") or {}).get(CALL, "")
                calls[said.id] = call
                if not self._is_judged(call):
                    said.params["name"] = UNJUDGED
            return item

        async def answered(item: Any) -> Any:
            said = _message(item)
            result: Any = getattr(said, "result", None)
            call = calls.pop(said.id, None) if isinstance(result, dict) else None
            if isinstance(result, dict) and result.get("isError") and call is not None:
                texts = [str(one.get("text", "")) for one in result.get("content", [])]
                words = await self._failed(call, "\n".join(texts))
                result["content"] = [{"type": "text", "text": words}]
            return item

        await self._server.run(Tapped(read, asked), Tapped(write, answered), *rest, **more)


class Tapped:
    """A stream of messages that are looked at as they pass."""

    def __init__(self, stream: Any, look: Callable[[Any], Awaitable[Any]]) -> None:
        self._stream, self._look = stream, look

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Tapped:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)

    def __aiter__(self) -> Tapped:
        return self

    async def __anext__(self) -> Any:
        return await self._look(await self._stream.__anext__())

    async def receive(self) -> Any:
        """The next message."""
        return await self._look(await self._stream.receive())

    async def send(self, item: Any) -> None:
        """Pass a message on."""
        await self._stream.send(await self._look(item))


def _message(item: Any) -> Any:
    """The message in an item of a stream, whatever wraps it."""
    said = getattr(item, "message", None)
    return getattr(said, "root", said)
