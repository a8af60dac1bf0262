"""How scenes of the behaviour suite are played with plain clients of `openai`, by chat completions
and by responses."""

from __future__ import annotations

import asyncio
from typing import Any

import openai

from stanchion.hosts.openai import OPENAI, arun_tools, guard, run_tools
from stanchion.testing.host_suite import Driver, Ended, Scene
from tests.hosts.clients.scenes import MODEL, handing, provider_of, tools


class ByChat:
    """A loop on chat completions."""

    def __init__(self, client: Any, prompt: str) -> None:
        self.api = client.chat.completions
        self.messages: list[Any] = [{"role": "user", "content": prompt}]
        self.asked: dict[str, Any] = {"model": MODEL, "messages": self.messages}

    def take(self, reply: Any) -> str | None:
        """Keep a reply; gives its text where it is the answer."""
        message = reply.choices[0].message
        self.messages.append(message)
        return None if message.tool_calls else message.content

    @staticmethod
    def piece(chunk: Any) -> str:
        """What a chunk says."""
        return (chunk.choices[0].delta.content or "") if chunk.choices else ""


class ByResponses:
    """A loop on responses."""

    def __init__(self, client: Any, prompt: str) -> None:
        self.api = client.responses
        self.messages: list[Any] = [{"role": "user", "content": prompt}]
        self.asked: dict[str, Any] = {"model": MODEL, "input": self.messages}

    def take(self, reply: Any) -> str | None:
        """Keep a reply; gives its text where it is the answer."""
        self.messages += reply.output
        return (
            None
            if any(item.type == "function_call" for item in reply.output)
            else reply.output_text
        )

    @staticmethod
    def piece(event: Any) -> str:
        """What an event says."""
        return event.delta if event.type == "response.output_text.delta" else ""


def play(scene: Scene, kind: Any) -> Ended:
    """Play a scene with a client."""
    with provider_of(scene) as provider:
        options: dict[str, Any] = {
            "api_key": "sk-none",
            "base_url": f"{provider.url}/v1",
            "max_retries": 0,
        }
        if scene.is_async:
            return asyncio.run(aplay(scene, kind, openai.AsyncOpenAI(**options)))
        with OPENAI.run(scene.shield, scene.agent, scene.task) as hosted:
            client = guard(openai.OpenAI(**options), hosted)
            loop = kind(client, scene.prompt)
            if scene.streams:
                return Ended(
                    pieces=tuple(
                        filter(None, map(kind.piece, loop.api.create(stream=True, **loop.asked)))
                    )
                )
            while (answer := loop.take(reply := loop.api.create(**loop.asked))) is None:
                loop.messages += run_tools(client, reply, tools(scene), handoffs=handing(scene))
            return Ended(answer)


async def aplay(scene: Scene, kind: Any, plain: openai.AsyncOpenAI) -> Ended:
    """The same with an async client."""
    async with OPENAI.run(scene.shield, scene.agent, scene.task) as hosted, plain:
        client = guard(plain, hosted)
        loop = kind(client, scene.prompt)
        if scene.streams:
            chunks = await loop.api.create(stream=True, **loop.asked)
            return Ended(
                pieces=tuple([said async for chunk in chunks if (said := kind.piece(chunk))])
            )
        while (answer := loop.take(reply := await loop.api.create(**loop.asked))) is None:
            loop.messages += await arun_tools(client, reply, tools(scene), handoffs=handing(scene))
        return Ended(answer)


DRIVER = Driver(
    "openai", OPENAI, lambda scene: play(scene, ByChat), "tests.hosts.openai.driver:DRIVER"
)
RESPONSES = Driver(
    "openai",
    OPENAI,
    lambda scene: play(scene, ByResponses),
    "tests.hosts.openai.driver:RESPONSES",
)
