"""What servers ask of their clients, whichever era of the protocol each of them speaks."""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata

from stanchion.testing import shield_for
from tests.hosts.mcp.servers import ERAS, KEY, Tools, client_of, said, text

BARE: dict[str, Any] = {"name": "bare", "guards": [{"use": "secrets"}]}
FORM = {"type": "object", "properties": {"name": {"type": "string"}}}


async def old_asks(context: Any, args: dict[str, Any]) -> types.CallToolResult:
    """Ask the user in the middle of a call, as servers did until 2025-11-25."""
    answer = await context.session.elicit_form(
        f"who are you? ({KEY})", FORM, related_request_id=context.request_id
    )
    return text(f"{answer.action}: {answer.content}")


async def old_samples(context: Any, args: dict[str, Any]) -> types.CallToolResult:
    """Ask the client's model in the middle of a call."""
    message = types.SamplingMessage(role="user", content=types.TextContent(text="hi"))
    asked = types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=5)
    )
    related = ServerMessageMetadata(related_request_id=context.request_id)
    answer = await context.session.send_request(asked, types.CreateMessageResult, metadata=related)
    return text(answer.content.text)


async def old_roots(context: Any, args: dict[str, Any]) -> types.CallToolResult:
    """Ask which folders the client works in."""
    answer = await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
    return text(", ".join(str(root.uri) for root in answer.roots))


def new_asks(context: Any, args: dict[str, Any]) -> Any:
    """Ask the user by a result that wants more, as servers do since 2026-07-28."""
    given = (context.params or {}).get("inputResponses")
    if not given:
        form = types.ElicitRequestFormParams(message=f"who are you? ({KEY})", requested_schema=FORM)
        return types.InputRequiredResult(
            input_requests={"name": types.ElicitRequest(params=form)}, request_state="state-1"
        )
    assert context.params["requestState"] == "state-1"
    return text(f"{given['name']['action']}: {given['name']['content']}")


class User:
    """A person before a client, with a model and a folder."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def elicit(self, context: Any, params: Any) -> types.ElicitResult:
        self.asked.append(params.message)
        return types.ElicitResult(action="accept", content={"name": "ann"})

    async def sample(self, context: Any, params: Any) -> types.CreateMessageResult:
        self.asked.append(params.messages[0].content.text)
        return types.CreateMessageResult(
            role="assistant",
            content=types.TextContent(text=f"hello, {KEY}"),
            model="m",
            stop_reason="endTurn",
        )

    async def roots(self, context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root.model_validate({"uri": "file:///home/ann"})])

    def answers(self) -> dict[str, Any]:
        """What a client is made with."""
        return {
            "elicitation_callback": self.elicit,
            "sampling_callback": self.sample,
            "list_roots_callback": self.roots,
        }


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """How the client speaks."""
    return str(request.param)


def play(
    tools: Tools, server: str, era: str, name: str, policy: dict[str, Any] = BARE, **answers: Any
) -> Any:
    """What a client gets for one call."""

    async def played() -> Any:
        async with client_of(
            shield_for(policy), tools.upstream(server), era=era, **answers
        ) as client:
            return await client.call_tool(name, {})

    return anyio.run(played)


@pytest.mark.parametrize(("server", "ask"), [("old", old_asks), ("new", new_asks)])
def test_a_user_is_asked_whichever_eras_meet(server: str, ask: Any, era: str) -> None:
    user = User()
    result = play(Tools(ask=ask), server, era, "ask", **user.answers())
    assert said(result) == "accept: {'name': 'ann'}"
    assert user.asked == ["who are you? ([redacted:github-pat])"]


def test_a_model_is_asked_and_its_secrets_stay(era: str) -> None:
    user = User()
    result = play(Tools(ask=old_samples), "old", era, "ask", **user.answers())
    assert (said(result), user.asked) == ("hello, [redacted:github-pat]", ["hi"])


def test_a_policy_forbids_a_server_to_use_the_model(era: str) -> None:
    rule = {
        "id": "no",
        "use": "rule",
        "stages": ["tool_call"],
        "when": "event.tool == 'sampling/createMessage'",
        "action": "block",
    }
    user = User()
    with pytest.raises((MCPError, ExceptionGroup)):
        play(
            Tools(ask=old_samples),
            "old",
            era,
            "ask",
            {"name": "no", "guards": [rule]},
            **user.answers(),
        )
    assert user.asked == []


def test_the_folders_of_the_client_are_asked_for(era: str) -> None:
    assert (
        said(play(Tools(ask=old_roots), "old", era, "ask", **User().answers()))
        == "file:///home/ann"
    )


def test_a_client_that_answers_nothing_is_not_asked(era: str) -> None:
    with pytest.raises((MCPError, ExceptionGroup)):
        play(Tools(ask=old_asks), "old", era, "ask")


def test_a_held_call_goes_on_only_with_the_request_that_began_it() -> None:
    tools = Tools(ask=old_asks)

    async def played() -> Any:
        user = User()
        async with client_of(
            shield_for(BARE), tools.upstream("old"), era="auto", **user.answers()
        ) as client:
            first = await client.session.call_tool("ask", {"n": 1}, allow_input_required=True)
            assert isinstance(first, types.InputRequiredResult)
            answers: types.InputResponses = {
                key: types.ElicitResult(action="decline") for key in first.input_requests or {}
            }
            with pytest.raises(MCPError, match="not there any more"):
                await client.session.call_tool(
                    "ask", {"n": 2}, input_responses=answers, request_state=first.request_state
                )
            with pytest.raises(MCPError, match="not there any more"):
                await client.session.call_tool(
                    "ask", {"n": 1}, input_responses=answers, request_state="guessed"
                )
            return await client.session.call_tool(
                "ask", {"n": 1}, input_responses=answers, request_state=first.request_state
            )

    assert said(anyio.run(played)) == "decline: None"
    assert tools.calls == [("ask", {"n": 1})], "the call ran once, and was judged once"
