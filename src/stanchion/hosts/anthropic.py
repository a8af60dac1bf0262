"""Clients of `anthropic`, sync and async: every request judged, every reply as the run may see
it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from stanchion.hosts import EVERYTHING, Host, Hosted, tried
from stanchion.hosts.clients.anthropic_runner import judged_runner
from stanchion.hosts.clients.forms import RequestForm
from stanchion.hosts.clients.guarded import CANARY, canaries_of, guarding, running
from stanchion.hosts.clients.tools import (
    CallAnswer,
    ReplyCall,
    arguments,
    part,
    parts,
    refused,
    text_of,
)

tried("anthropic", "2.8", "3")

ANTHROPIC: Final = Host("anthropic", can=EVERYTHING, refused=refused, stream="chunk")
"""A client that sends a request as it was decided, or raises `Refused`."""

FORMS: Final = (
    RequestForm("v1/messages", apart="system", among=False),
    RequestForm("v1/complete", said="prompt"),
)


def calls_of(reply: Any) -> list[ReplyCall]:
    """The tool calls of a message that are for the caller to run."""
    blocks = [block for block in parts(reply, "content") if part(block, "type") == "tool_use"]
    return [
        ReplyCall(part(block, "id"), part(block, "name"), arguments(part(block, "input")))
        for block in blocks
    ]


def results_for(_reply: Any, results: Iterable[CallAnswer]) -> list[Any]:
    """What came of the calls of a message: one message for the next request with all results, or
    none."""
    blocks = [
        {
            "type": "tool_result",
            "tool_use_id": done.call.id,
            "content": text_of(done.content),
            "is_error": done.failed,
        }
        for done in results
    ]
    return [{"role": "user", "content": blocks}] if blocks else []


def _fit(beta: Any, hosted: Callable[[], Hosted], mark: str) -> None:
    judged_runner(beta.messages, hosted, mark)


guard = guarding(ANTHROPIC, FORMS, _fit)
run_tools, arun_tools = running(calls_of, results_for)

canary, async_canary = canaries_of(
    ANTHROPIC,
    ("anthropic:Anthropic", "anthropic:AsyncAnthropic"),
    lambda client, hosted: guard(client, hosted).messages.create(**CANARY, max_tokens=1),
)
