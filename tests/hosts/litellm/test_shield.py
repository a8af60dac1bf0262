"""LiteLLM's functions that are given a shield."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("litellm")

from stanchion.hosts.litellm import guard
from tests.hosts.clients.provider import Provider
from tests.hosts.clients.shielded import check_many, check_runs
from tests.hosts.clients.shields import HELLO

pytestmark = pytest.mark.filterwarnings("ignore")


class At:
    """LiteLLM's functions, and where they ask."""

    def __init__(self, functions: Any, url: str) -> None:
        self.functions = functions
        self.asks = {
            "model": "openai/m",
            "messages": HELLO,
            "api_key": "sk-none",
            "api_base": f"{url}/v1",
            "num_retries": 0,
        }


def guarding(provider: Provider, given: Any) -> At:
    return At(guard(given), provider.url)


def itself(provider: Provider) -> Provider:
    return provider


def ask(client: At) -> Any:
    return client.functions.completion(**client.asks)


def aask(client: At) -> Any:
    return client.functions.acompletion(**client.asks)


def test_a_request_belongs_to_the_run_around_it_or_to_the_functions_own() -> None:
    check_runs(guarding, itself, ask)


def test_a_hundred_callers_at_once_share_the_functions() -> None:
    check_many(guarding, itself, itself, ask, aask)
