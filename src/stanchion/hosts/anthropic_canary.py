"""Canaries of clients of `anthropic`: a request to a model that must not be asked, by a client that
sends nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import anthropic

from stanchion.hosts.anthropic import ANTHROPIC, guard
from stanchion.hosts.clients.guarded import sending_nowhere
from stanchion.hosts.contract.canary import HOST, TOOL

OPTIONS: Final[dict[str, Any]] = {"api_key": TOOL, "base_url": f"https://{HOST}", "max_retries": 0}
ASKED: Final[dict[str, Any]] = {
    "model": TOOL,
    "max_tokens": 1,
    "messages": [{"role": "user", "content": "answer"}],
}


def canary(shield: Any, body: Callable[[], str]) -> None:
    """A request by `anthropic.Anthropic`."""
    with (
        ANTHROPIC.run(shield, agent=TOOL) as hosted,
        sending_nowhere(anthropic.Anthropic(**OPTIONS), body) as client,
    ):
        guard(client, hosted).messages.create(**ASKED)


async def async_canary(shield: Any, body: Callable[[], str]) -> None:
    """A request by `anthropic.AsyncAnthropic`."""
    async with (
        ANTHROPIC.run(shield, agent=TOOL) as hosted,
        sending_nowhere(anthropic.AsyncAnthropic(**OPTIONS), body) as client,
    ):
        await guard(client, hosted).messages.create(**ASKED)
