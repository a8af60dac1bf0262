"""Canaries of LiteLLM: a request to a model that must not be asked, by a client that sends
nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import openai

from stanchion.hosts.clients.guarded import sending_nowhere
from stanchion.hosts.contract.canary import HOST, TOOL
from stanchion.hosts.litellm import LITELLM, guard

OPTIONS: Final[dict[str, Any]] = {
    "api_key": TOOL,
    "base_url": f"https://{HOST}/v1",
    "max_retries": 0,
}
ASKED: Final[dict[str, Any]] = {
    "model": TOOL,
    "custom_llm_provider": "openai",
    "messages": [{"role": "user", "content": "answer"}],
    "max_retries": 0,
}


def canary(shield: Any, body: Callable[[], str]) -> None:
    """A request by `completion`."""
    with (
        LITELLM.run(shield, agent=TOOL) as hosted,
        sending_nowhere(openai.OpenAI(**OPTIONS), body) as client,
    ):
        guard(hosted).completion(**ASKED, client=client)


async def async_canary(shield: Any, body: Callable[[], str]) -> None:
    """A request by `acompletion`."""
    made = sending_nowhere(openai.AsyncOpenAI(**OPTIONS), body)
    async with LITELLM.run(shield, agent=TOOL) as hosted, made as client:
        await guard(hosted).acompletion(**ASKED, client=client)
