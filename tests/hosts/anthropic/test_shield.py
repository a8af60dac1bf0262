"""Clients of `anthropic` that are given a shield."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("anthropic")

import anthropic

from stanchion.hosts.anthropic import guard
from tests.hosts.clients.provider import Provider, Say
from tests.hosts.clients.shielded import check_many, check_runs, runs_of, shield
from tests.hosts.clients.shields import HELLO


def plain(provider: Provider, kind: Any = anthropic.Anthropic) -> Any:
    return kind(api_key="sk-none", base_url=provider.url, max_retries=0)


def aplain(provider: Provider) -> Any:
    return plain(provider, anthropic.AsyncAnthropic)


def ask(client: Any) -> Any:
    return client.messages.create(model="m", max_tokens=5, messages=HELLO)


def test_a_request_belongs_to_the_run_around_it_or_to_the_clients_own() -> None:
    check_runs(guard, plain, ask)


def test_a_hundred_callers_at_once_share_a_client() -> None:
    check_many(guard, plain, aplain, ask, ask)


def test_copies_of_a_client_work_in_its_run() -> None:
    made = shield()
    with Provider([Say(["hello"])]) as provider:
        client = guard(plain(provider), made)
        ask(client)
        ask(client.with_options(timeout=3))
        client.close()
    assert len(set(runs_of(made))) == 1
