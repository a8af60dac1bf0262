"""The person before a client: asked by elicitation where the policy names the client, and the
ticket decides."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from stanchion.hosts.mcp import judging
from stanchion.hosts.mcp.proxy import Proxy
from stanchion.testing import shield_for
from tests.hosts.mcp.servers import ERAS, KEY, Tools, client_of, said, text
from tests.hosts.mcp.test_asking import new_asks
from tests.hosts.mcp.test_http import listening

DESK = types.Implementation(name="desk", version="1")


def policy(*named: str, risk: str = "high") -> dict[str, Any]:
    """A policy under which `pay` waits for a person."""
    ask = {"id": "ask", "use": "tool_denylist", "tools": ["pay", "ask"], "action": "escalate"}
    return {
        "name": "d",
        "tools": {"pay": {"risk": risk}},
        "guards": [ask, {"use": "secrets"}],
        "escalation": {"dialogs": list(named)},
    }


class Desk:
    """Somebody who gives the same answer each time, and remembers what was asked."""

    def __init__(self, action: Any, content: Any = None) -> None:
        self.questions: list[str] = []
        self._answer = types.ElicitResult(action=action, content=content)

    async def elicit(self, context: Any, params: Any) -> types.ElicitResult:
        self.questions.append(params.message)
        return self._answer


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """How the client speaks."""
    return str(request.param)


@pytest.fixture(params=["old", "new"])
def server(request: pytest.FixtureRequest) -> str:
    """How the server speaks."""
    return str(request.param)


def paying() -> Tools:
    """A server that pays."""
    return Tools(pay=lambda context, args: text("paid"))


def play(shield: Any, tools: Tools, server: str, era: str, desk: Desk | None, **args: Any) -> Any:
    """What the named client gets for one call."""
    answers = {} if desk is None else {"elicitation_callback": desk.elicit}

    async def played() -> Any:
        async with client_of(
            shield, tools.upstream(server), era=era, client_info=DESK, **answers
        ) as client:
            with anyio.fail_after(30):
                return await client.call_tool("pay", {"amount": 5, **args})

    return anyio.run(played)


def test_a_yes_lets_this_one_call_go_ahead(server: str, era: str) -> None:
    shield, tools, desk = shield_for(policy("mcp:desk")), paying(), Desk("accept", {"allow": True})
    result = play(shield, tools, server, era, desk, note=f"with {KEY}")
    assert said(result) == "paid"
    assert [name for name, _ in tools.calls] == ["pay"]
    (question,) = desk.questions
    assert "`pay`" in question
    assert '"amount":5' in question
    assert KEY not in question
    (ticket,) = shield.tickets(state="all")
    assert (ticket.state, ticket.answered_by) == ("used", "host:mcp:desk")


def test_the_next_call_is_asked_about_again(era: str) -> None:
    shield, tools, desk = shield_for(policy("mcp:desk")), paying(), Desk("accept", {"allow": True})

    async def played() -> None:
        upstream = tools.upstream()
        async with client_of(
            shield, upstream, era=era, client_info=DESK, elicitation_callback=desk.elicit
        ) as client:
            for _ in range(2):
                assert said(await client.call_tool("pay", {"amount": 5})) == "paid"

    anyio.run(played)
    assert len(desk.questions) == 2


def test_a_no_is_one_on_the_ticket(server: str, era: str) -> None:
    shield, tools, desk = shield_for(policy("mcp:desk")), paying(), Desk("accept", {"allow": False})
    assert play(shield, tools, server, era, desk).is_error
    assert tools.calls == []
    (ticket,) = shield.tickets(state="all")
    assert (ticket.state, ticket.answered_by) == ("denied", "host:mcp:desk")


@pytest.mark.parametrize(
    ("action", "content"),
    [
        ("decline", None),
        ("decline", {"allow": True}),
        ("cancel", {"allow": True}),
        ("accept", None),
        ("accept", {}),
        ("accept", {"allow": "true"}),
    ],
)
def test_whoever_does_not_answer_leaves_the_ticket_as_it_is(
    era: str, action: str, content: Any
) -> None:
    shield, tools, desk = shield_for(policy("mcp:desk")), paying(), Desk(action, content)
    assert play(shield, tools, "new", era, desk).is_error
    assert len(desk.questions) == 1
    assert tools.calls == []
    (ticket,) = shield.tickets(state="all")
    assert (ticket.state, ticket.answered_by) == ("open", "")


def test_whoever_takes_too_long_leaves_the_ticket_as_it_is(
    era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "ANSWER_S", 0.2)
    shield, tools = shield_for(policy("mcp:desk")), paying()

    class Away(Desk):
        async def elicit(self, context: Any, params: Any) -> types.ElicitResult:
            await anyio.sleep(1)
            return await super().elicit(context, params)

    assert play(shield, tools, "old", era, Away("accept", {"allow": True})).is_error
    assert tools.calls == []
    assert [ticket.state for ticket in shield.tickets(state="all")] == ["open"]


@pytest.mark.parametrize(
    "named", [(), ("desk",), ("mcp",), ("host:mcp:desk",), ("mcp:Desk",), ("mcp:other",)]
)
def test_a_client_that_answers_by_itself_without_being_named_is_not_asked(
    era: str, named: tuple[str, ...]
) -> None:
    shield, tools, desk = shield_for(policy(*named)), paying(), Desk("accept", {"allow": True})
    assert play(shield, tools, "new", era, desk).is_error
    assert (desk.questions, tools.calls) == ([], [])
    assert [ticket.state for ticket in shield.tickets(state="all")] == ["open"]


def test_nobody_is_asked_in_a_dialog_about_what_is_critical(server: str, era: str) -> None:
    shield, tools, desk = (
        shield_for(policy("mcp:desk", risk="critical")),
        paying(),
        Desk("accept", {"allow": True}),
    )
    assert play(shield, tools, server, era, desk).is_error
    assert (desk.questions, tools.calls) == ([], [])
    assert [ticket.state for ticket in shield.tickets(state="all")] == ["open"]


def test_a_call_that_is_too_long_to_be_read_waits_in_the_inbox(era: str) -> None:
    shield, tools, desk = shield_for(policy("mcp:desk")), paying(), Desk("accept", {"allow": True})
    assert play(shield, tools, "new", era, desk, note="tea " * 2000).is_error
    assert (desk.questions, tools.calls) == ([], [])


def test_a_client_without_elicitation_gets_the_refusal(server: str, era: str) -> None:
    shield, tools = shield_for(policy("mcp:desk")), paying()
    assert play(shield, tools, server, era, None).is_error
    assert tools.calls == []
    assert [ticket.state for ticket in shield.tickets(state="all")] == ["open"]


def test_calls_at_once_are_asked_about_one_by_one(era: str) -> None:
    """Each answer belongs to the call that it was asked for."""
    shield, tools = (
        shield_for(policy("mcp:desk")),
        Tools(pay=lambda context, args: text(f"paid {args['amount']}")),
    )

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        await anyio.sleep(0.02)
        return types.ElicitResult(
            action="accept", content={"allow": '"amount":1}' in params.message}
        )

    results: dict[int, Any] = {}

    async def played() -> None:
        upstream = tools.upstream()
        async with client_of(
            shield, upstream, era=era, client_info=DESK, elicitation_callback=elicit
        ) as client:

            async def pay(amount: int) -> None:
                results[amount] = await client.call_tool("pay", {"amount": amount})

            with anyio.fail_after(30):
                async with anyio.create_task_group() as paying_now:
                    for amount in range(4):
                        paying_now.start_soon(pay, amount)

    anyio.run(played)
    assert [amount for amount, result in sorted(results.items()) if not result.is_error] == [1]
    assert tools.calls == [("pay", {"amount": 1})]


@pytest.mark.parametrize(
    ("waits", "questions"),
    [(False, ["who are y"]), (True, ["The agent", "who are y", "The agent"])],
    ids=["goes ahead", "waits"],
)
def test_a_server_that_asks_by_itself_still_does(waits: bool, questions: list[str]) -> None:
    """Its question and ours go by the same way, and are not taken for each other. Each of its
    rounds is a call."""
    tools, asked = Tools(ask=new_asks), list[str]()

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message[:9])
        ours = params.message.startswith("The agent")
        return types.ElicitResult(
            action="accept", content={"allow": True} if ours else {"name": "ann"}
        )

    named = policy("mcp:desk") if waits else {**policy("mcp:desk"), "guards": []}
    answers: dict[str, Any] = {"era": "auto", "client_info": DESK, "elicitation_callback": elicit}

    async def played() -> Any:
        async with client_of(shield_for(named), tools.upstream("new"), **answers) as client:
            return await client.call_tool("ask", {})

    assert said(anyio.run(played)) == "accept: {'name': 'ann'}"
    assert asked == questions


def test_nobody_is_asked_who_comes_by_http(era: str) -> None:
    """There anybody may say any name."""
    shield, tools, desk = shield_for(policy("mcp:desk")), paying(), Desk("accept", {"allow": True})
    proxy = Proxy(shield, [tools.upstream()])

    @asynccontextmanager
    async def desk_at(address: str) -> AsyncIterator[Client]:
        async with httpx2.AsyncClient(timeout=20) as http:
            way = streamable_http_client(address, http_client=http)
            async with Client(
                way, mode=era, cache=None, client_info=DESK, elicitation_callback=desk.elicit
            ) as client:
                yield client

    async def played() -> Any:
        async with listening(proxy.server) as address, desk_at(address) as client:
            return await client.call_tool("pay", {"amount": 5})

    assert anyio.run(played).is_error
    assert (desk.questions, tools.calls) == ([], [])
