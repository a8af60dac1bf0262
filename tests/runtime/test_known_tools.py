"""Tools that become known are held against the policy: what does not fit is said when a run
begins."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from stanchion import Shield
from stanchion.hosts.mcp.definitions import Definitions

RULE = {"use": "rule", "id": "big", "when": "event.args.amount > 50"}
SAID = "`big` reads `event.args.amount`, which `refund` does not have; it takes `order_id`, `total`"


def loaded(*more: Any) -> Shield:
    return Shield.load({"name": "p", "guards": [RULE, *more]}, store="memory:", journal="memory:")


def refund(order_id: str, total: float) -> str:
    return f"{order_id}: {total}"


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.message for each in caplog.records if each.name == "stanchion.policy"]


@pytest.mark.parametrize("more", [(), ({"use": "schema"},)], ids=["alone", "with schema"])
def test_a_decorated_tool_is_held_against_the_policy_once(
    more: tuple[Any, ...], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with loaded(*more) as shield:
        shield.tool(refund)
        for _ in range(2):
            shield.run("ann")
    assert [SAID in words for words in told(caplog)] == [True]


def test_a_function_that_takes_any_keywords_may_have_the_argument(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)

    def pay(**more: Any) -> None: ...

    with loaded() as shield:
        shield.tool(pay)
        shield.run("ann")
    assert told(caplog) == []


SERVED = {
    "name": "refund",
    "inputSchema": {
        "type": "object",
        "properties": {"order_id": {"type": "string"}, "total": {"type": "number"}},
    },
}


def test_an_ingested_tool_is_held_against_the_policy(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    with loaded({"use": "schema"}) as shield:
        shield.ingest({"tools": [SERVED]})
        shield.run("ann")
    assert [SAID in words for words in told(caplog)] == [True]


def test_a_tool_that_a_server_lists_is_held_against_the_policy(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    with loaded() as shield:
        definitions = Definitions(shield)
        for _ in range(2):
            assert asyncio.run(definitions.taken_in([SERVED])) == {}
    assert [SAID in words for words in told(caplog)] == [True]
