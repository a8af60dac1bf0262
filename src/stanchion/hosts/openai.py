"""Clients of `openai`, sync and async: every request judged, every reply as the run may see it."""

from __future__ import annotations

from typing import Final

from stanchion.hosts import EVERYTHING, Host, tried
from stanchion.hosts.clients.forms import (
    CHAT,
    COMPLETIONS,
    RESPONSES,
    calls_of,
    results_for,
)
from stanchion.hosts.clients.guarded import CANARY, canaries_of, guarding, running
from stanchion.hosts.clients.tools import refused

tried("openai", "2.54", "4")

OPENAI: Final = Host("openai", can=EVERYTHING, refused=refused, stream="chunk")
"""A client that sends a request as it was decided, or raises `Refused`."""

FORMS: Final = (CHAT, RESPONSES, COMPLETIONS)
"""Requests to a model. The path of `CHAT` ends like that of `COMPLETIONS`, so it stands first."""


guard = guarding(OPENAI, FORMS)
run_tools, arun_tools = running(calls_of, results_for)

canary, async_canary = canaries_of(
    OPENAI,
    ("openai:OpenAI", "openai:AsyncOpenAI"),
    lambda client, hosted: guard(client, hosted).chat.completions.create(**CANARY),
)
