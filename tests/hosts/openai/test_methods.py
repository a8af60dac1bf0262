"""Nothing that a client of `openai` can send is left unguarded."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("openai")

import openai

from stanchion.hosts.openai import guard
from tests.hosts.clients.methods import nothing_leaves, walk
from tests.hosts.clients.provider import Provider, Say

SILENT = {
    "platform_headers", "request", "webhooks.unwrap", "webhooks.verify_signature",
    "beta.agents.environments.files.prepare", "beta.agents.environments.files.prepare_directory",
    "beta.agents.environments.files.upload", "beta.agents.sessions.artifacts.for_result",
    "uploads.upload_file_chunked",
}  # fmt: skip
"""Methods that send nothing by themselves, or only by others that are called here as well."""


@pytest.mark.filterwarnings(
    "ignore"
)  # of methods that are deprecated, and of sockets that a refused upgrade leaves
@pytest.mark.parametrize("kind", [openai.OpenAI, openai.AsyncOpenAI])
def test_whatever_sends_is_judged(kind: Any) -> None:
    with Provider([Say(["hello"])]) as provider, nothing_leaves().run("ann") as run:
        provider.plain = {
            "id": "x",
            "object": "list",
            "data": [],
            "status": "completed",
            "has_more": False,
        }
        options: dict[str, Any] = {"base_url": f"{provider.url}/v1", "max_retries": 0, "timeout": 3}
        plain = kind(api_key="sk-none", admin_api_key="sk-none", **options)
        sends, silent, passed = walk(plain, guard(plain, run), provider)
    assert passed == []
    assert {name.rpartition(":")[2] for name in silent} <= SILENT
    assert len(sends) > 500
    wanted = {
        "embeddings.create",
        "images.generate",
        "files.create",
        "batches.create",
        "vector_stores.create",
    }
    assert wanted <= set(sends)
