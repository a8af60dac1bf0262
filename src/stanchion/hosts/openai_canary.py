"""Canaries of clients of `openai`: a request to a model that must not be asked, by a client that
sends nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import openai

from stanchion.hosts.clients.guarded import sending_nowhere
from stanchion.hosts.contract.canary import HOST, TOOL
from stanchion.hosts.openai import OPENAI, guard

OPTIONS: Final[dict[str, Any]] = {
    "api_key": TOOL,
    "base_url": f"https://{HOST}/v1",
    "max_retries": 0,
}
ASKED: Final[dict[str, Any]] = {"model": TOOL, "messages": [{"role": "user", "content": "answer"}]}


def canary(shield: Any, body: Callable[[], str]) -> None:
    """A request by `openai.OpenAI`."""
    with (
        OPENAI.run(shield, agent=TOOL) as hosted,
        sending_nowhere(openai.OpenAI(**OPTIONS), body) as client,
    ):
        guard(client, hosted).chat.completions.create(**ASKED)


async def async_canary(shield: Any, body: Callable[[], str]) -> None:
    """A request by `openai.AsyncOpenAI`."""
    async with (
        OPENAI.run(shield, agent=TOOL) as hosted,
        sending_nowhere(openai.AsyncOpenAI(**OPTIONS), body) as client,
    ):
        await guard(client, hosted).chat.completions.create(**ASKED)
