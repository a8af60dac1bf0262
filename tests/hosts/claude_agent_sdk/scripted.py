"""Claude Code's part, played from a script: it asks the hooks of a session, one after the other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from claude_agent_sdk import Transport


def prompt(said: str) -> dict[str, Any]:
    """What a hook is told of a prompt."""
    return {"hook_event_name": "UserPromptSubmit", "prompt": said}


def tool_call(tool: str, args: dict[str, Any], key: str = "c1") -> dict[str, Any]:
    """What a hook is told of a call."""
    named = {"hook_event_name": "PreToolUse", "tool_name": tool}
    return {**named, "tool_input": args, "tool_use_id": key}


class Session(Transport):
    """One session: what its hooks are told, and what they have answered."""

    def __init__(self, name: str, told: list[dict[str, Any]]) -> None:
        self.name, self.told = name, told
        self.answers: list[dict[str, Any]] = []
        self._hooks: dict[str, Any] = {}
        self._says: asyncio.Queue[Any] = asyncio.Queue()

    @property
    def denials(self) -> list[dict[str, Any]]:
        """The answers that deny a call."""
        own = [(one, one.get("hookSpecificOutput", {})) for one in self.answers]
        return [one for one, said in own if said.get("permissionDecision") == "deny"]

    async def write(self, data: str) -> None:
        """Take in what the SDK says, and ask the next hook."""
        said = json.loads(data)
        if said["type"] == "control_request":
            self._hooks = said["request"]["hooks"]
            came = {"hook_on_failure_supported": True}
            answer = {"subtype": "success", "request_id": said["request_id"], "response": came}
            self._says.put_nowait({"type": "control_response", "response": answer})
            return
        if said["type"] == "control_response":
            self.answers.append(said["response"]["response"])
        await self._ask()

    async def _ask(self) -> None:
        if len(self.answers) == len(self.told):
            self._says.put_nowait(None)
            return
        body = {"session_id": self.name, "cwd": "/", **self.told[len(self.answers)]}
        (hook,) = self._hooks[body["hook_event_name"]][0]["hookCallbackIds"]
        asked = {"subtype": "hook_callback", "callback_id": hook, "input": body}
        asked["tool_use_id"] = body.get("tool_use_id")
        name = f"h{len(self.answers)}"
        self._says.put_nowait({"type": "control_request", "request_id": name, "request": asked})

    async def connect(self) -> None:
        """Nothing is started."""

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """What it has to say."""
        while (said := await self._says.get()) is not None:
            yield said

    async def close(self) -> None:
        """Say nothing more."""
        self._says.put_nowait(None)

    def is_ready(self) -> bool:
        """It always is."""
        return True

    async def end_input(self) -> None:
        """Nothing more is said to it."""
