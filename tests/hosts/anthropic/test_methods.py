"""Nothing that a client of `anthropic` can send is left unguarded."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("anthropic")

import anthropic

from stanchion.hosts.anthropic import guard
from tests.hosts.clients.methods import nothing_leaves, walk
from tests.hosts.clients.provider import Provider, Say

SILENT = {
    "platform_headers", "request", "beta.messages.thread", "beta.messages.tool_runner",
    "beta.environments.work.worker", "beta.sessions.events.tool_runner",
    "beta.webhooks.parse_unverified", "beta.webhooks.unwrap",
}  # fmt: skip
"""Methods that send nothing by themselves, or only by others that are called here as well."""


@pytest.mark.filterwarnings(
    "ignore"
)  # of methods that are deprecated, and of sockets that a refused upgrade leaves
@pytest.mark.parametrize("kind", [anthropic.Anthropic, anthropic.AsyncAnthropic])
def test_whatever_sends_is_judged(kind: Any) -> None:
    with Provider([Say(["hello"])]) as provider, nothing_leaves().run("ann") as run:
        provider.plain = {
            "id": "x",
            "object": "list",
            "data": [],
            "status": "completed",
            "has_more": False,
        }
        options: dict[str, Any] = {"base_url": provider.url, "max_retries": 0, "timeout": 3}
        plain = kind(api_key="sk-none", **options)
        sends, silent, passed = walk(plain, guard(plain, run), provider)
    assert passed == []
    assert {name.rpartition(":")[2] for name in silent} <= SILENT
    assert len(sends) > 500
    wanted = {
        "messages.count_tokens",
        "messages.batches.create",
        "beta.files.upload",
        "models.list",
    }
    assert wanted <= set(sends)
