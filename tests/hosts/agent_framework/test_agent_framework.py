"""The Agent Framework under its adapter: the behaviour suite, and what is this host's own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    MiddlewareFailure,
    ResponseStream,
    tool,
)

from stanchion import Refused, Shield
from stanchion.hosts.agent_framework import AGENT_FRAMEWORK, guarded
from stanchion.testing.host_suite import BEHAVIOURS, KEY, check, check_probes
from tests.hosts.agent_framework.driver import DRIVER
from tests.hosts.office import GONE, called_with
from tests.rules import rule

POLICY: dict[str, Any] = {
    "name": "office",
    "tools": {"fetch": {"effect": "read"}},
    "guards": [
        {"use": "secrets"},
        {"use": "recovery", "backoff_base_s": 0},
        {"id": "ask", "use": "tool_denylist", "tools": ["pay"], "action": "escalate"},
        called_with("root"),
        called_with("*", "halt"),
        rule("vault", "handoff", when="event.to == 'vault'", action="block"),
        rule("over", "prompt", when="event.text == 'stop'", action="halt"),
    ],
}
REFUSED = "a rule of the policy forbids this"


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A client that says this, one after the other: texts, calls as `(tool, args)`, or contents as
    they are."""

    def __init__(self, *said: Any) -> None:
        super().__init__()
        self._said = list(said)
        self.read: list[Any] = []

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        self.read.append(list(messages))
        said = self._said[len(self.read) - 1]
        contents = said if isinstance(said, list) else [self._content(said)]
        return (
            ResponseStream(_updates(contents), finalizer=ChatResponse.from_updates)
            if stream
            else _whole(contents)
        )

    def _content(self, said: Any) -> Content:
        if isinstance(said, str):
            return Content.from_text(said)
        return Content.from_function_call(
            f"c{len(self.read)}", said[0], arguments=json.dumps(said[1])
        )

    @property
    def results(self) -> list[Any]:
        """What it read of its calls."""
        contents = [one for message in self.read[-1] for one in message.contents]
        return [one.result for one in contents if one.type == "function_result"]


async def _whole(contents: list[Any]) -> ChatResponse:
    return ChatResponse(
        messages=[Message("assistant", contents)], raw_representation={"sent": str(contents)}
    )


async def _updates(contents: list[Any]) -> AsyncIterator[ChatResponseUpdate]:
    for content in contents:
        yield ChatResponseUpdate(
            role="assistant", contents=[content], message_id="m", raw_representation=content
        )


def run(client: Any, *tools: Any, prompts: Any = ("go",), stream: bool = False) -> Any:
    """Run a guarded agent, with one prompt after the other; gives what came last."""

    async def play() -> Any:
        came: Any = None
        async with AGENT_FRAMEWORK.run(
            Shield.load(POLICY, store="memory:"), agent="helper", task="t"
        ) as hosted:
            agent = Agent(
                client=client, name="helper", tools=list(tools), middleware=guarded(hosted)
            )
            session = agent.create_session()
            for prompt in prompts:
                given = prompt(came) if callable(prompt) else prompt
                if stream:
                    updates = agent.run(given, session=session, stream=True)
                    came = [update async for update in updates], await updates.get_final_response()
                else:
                    came = await agent.run(given, session=session)
        return came

    return asyncio.run(play())


@tool(approval_mode="never_require")
def pay() -> str:
    """Pay."""
    raise AssertionError("it was not approved")


@tool(approval_mode="never_require")
def look(name: str) -> list[Content]:
    """Look."""
    return [
        Content.from_text(f"{name} has {KEY}"),
        Content.from_uri("https://example.org/a.png", media_type="image/png"),
    ]


@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_behaviour(behaviour: str, way: str, tmp_path: Path) -> None:
    check(DRIVER, behaviour, way, tmp_path)


def test_probes() -> None:
    check_probes(DRIVER, globals())


def test_a_result_keeps_its_contents() -> None:
    client = Scripted(("look", {"name": "ann"}), "done")
    run(client, look)
    (result,) = [
        one
        for message in client.read[-1]
        for one in message.contents
        if one.type == "function_result"
    ]
    assert [one.type for one in result.items] == ["text", "uri"]
    assert result.items[0].text == f"ann has {GONE}"


def test_the_hosts_own_answer_is_none_of_the_inbox() -> None:
    client = Scripted(("pay", {}), "later")

    def answer(came: Any) -> Message:
        (request,) = came.user_input_requests
        assert request.function_call.name == "pay"
        return Message("user", [request.to_function_approval_response(approved=True)])

    came = run(client, pay, prompts=("go", answer))
    assert came.text == "later"
    assert "a person has been asked" in str(client.results)


def test_a_prompt_is_judged_and_the_model_reads_it_redacted() -> None:
    client = Scripted("done", "done")
    run(client, prompts=(f"my key is {KEY}",))
    assert client.read[0][-1].text == f"my key is {GONE}"
    with pytest.raises(Refused) as refused:
        run(client, prompts=("stop",))
    assert refused.value.ended
    assert len(client.read) == 1


def test_a_run_that_ends_at_a_tool_ends_the_agent() -> None:
    client = Scripted(("look", {"name": "*"}), "never")
    with pytest.raises(MiddlewareFailure) as failure:
        run(client, look)
    assert isinstance(failure.value.__cause__, Refused)
    assert len(client.read) == 1


def test_an_agent_as_a_tool_is_a_handoff_and_guarded_though_nobody_gave_it_middleware() -> None:
    inner = Scripted(("look", {"name": "root"}), ("look", {"name": "ann"}), f"they have {KEY}")
    client = Scripted(("desk", {"task": "look"}), "done")
    run(client, Agent(client=inner, name="desk", tools=[look]).as_tool())
    assert REFUSED in str(inner.results[0])
    assert KEY not in str(inner.results)
    assert client.results == [f"they have {GONE}"]
    never, client = Scripted("never"), Scripted(("vault", {"task": "look"}), "done")
    run(client, Agent(client=never, name="vault").as_tool())
    assert REFUSED in str(client.results)
    assert not never.read


def test_a_failed_call_is_run_again_where_that_is_decided() -> None:
    tries: list[int] = []

    @tool(approval_mode="never_require")
    def fetch() -> str:
        """Fetch."""
        tries.append(1)
        if len(tries) == 1:
            raise ConnectionResetError("try again")
        return f"it is {KEY}"

    client = Scripted(("fetch", {}), "done")
    run(client, fetch)
    assert (len(tries), client.results) == (2, [f"it is {GONE}"])


def test_what_a_provider_has_sent_shows_no_more_than_the_reply() -> None:
    came = run(Scripted([Content.from_text(f"it is {KEY}")]))
    assert came.text == f"it is {GONE}"
    assert KEY not in repr(
        [came.raw_representation, [message.raw_representation for message in came.messages]]
    )


def test_a_stream_keeps_the_order_of_its_contents() -> None:
    thought = [
        Content.from_text_reasoning(text=f"of {KEY[:9]}"),
        Content.from_text_reasoning(text=f"{KEY[9:]} now"),
    ]
    call = [
        Content.from_function_call("c1", "look", arguments='{"na'),
        Content.from_function_call("c1", "look", arguments='me": "bob"}'),
    ]
    client = Scripted([*thought, Content.from_text("so I look"), *call], "done")
    updates, came = run(client, look, stream=True)
    said = client.read[1][1].contents
    assert [one.type for one in said] == ["text_reasoning", "text", "function_call"]
    assert said[0].text == f"of {GONE} now"
    assert said[1].text == "so I look"
    assert json.loads(said[2].arguments) == {"name": "bob"}
    assert KEY[:9] not in repr([update.to_dict() for update in updates])
    assert came.text.endswith("done")
