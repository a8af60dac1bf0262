"""The tool runner of `anthropic`: whatever runs its tools, each call is judged, and so is what it
gives."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("anthropic")

import anthropic
from anthropic import beta_async_tool, beta_tool
from anthropic.lib.tools import BetaToolRunner, ToolError

from stanchion import Refused, Shield
from stanchion.hosts.anthropic import guard
from stanchion.hosts.clients.anthropic_runner import UnknownRunner
from tests.hosts.clients.provider import Call, Provider, Say
from tests.hosts.clients.shields import GONE, KEY

POLICY: dict[str, Any] = {
    "name": "runner",
    "guards": [
        {"use": "secrets"},
        {"use": "tool_denylist", "tools": ["wipe", "awipe"]},
    ],
}
DONE: list[tuple[str, str]] = []


@beta_tool
def look(name: str) -> str:
    """Look somebody up."""
    DONE.append(("look", name))
    return f"{name} has {KEY}"


@beta_tool
def wipe(name: str) -> str:
    """Wipe somebody."""
    DONE.append(("wipe", name))
    return "gone"


@beta_tool
def fail(name: str) -> str:
    """Fail."""
    raise ToolError(f"no {name}")


@beta_async_tool
async def alook(name: str) -> str:
    """Look somebody up."""
    DONE.append(("alook", name))
    return f"{name} has {KEY}"


@beta_async_tool
async def awipe(name: str) -> str:
    """Wipe somebody."""
    DONE.append(("awipe", name))
    return "gone"


TURNS = [Call("look", {"name": KEY}), Call("wipe", {"name": "ann"}), Call("fail", {"name": "x"})]
ASKED: dict[str, Any] = {
    "model": "m",
    "max_tokens": 5,
    "messages": [{"role": "user", "content": "go"}],
}


def results(provider: Provider, at: int = 1) -> list[Any]:
    """What the model is told of its calls."""
    said = provider.asked[at].body["messages"][-1]["content"]
    return [(block["content"], block.get("is_error", False)) for block in said]


@pytest.fixture(autouse=True)
def _nothing_done() -> None:
    DONE.clear()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("eager", [False, True])
def test_every_call_of_a_runner_is_judged(stream: bool, eager: bool) -> None:
    if eager and not stream:
        pytest.skip("tools run eagerly from a stream alone")
    with (
        Provider(TURNS, [Say(["done"])]) as provider,
        Shield.load(POLICY) as shield,
        shield.run("ann") as run,
        anthropic.Anthropic(api_key="k", base_url=provider.url, max_retries=0) as plain,
    ):
        more = {"run_tools_eagerly": True} if eager else {}
        client: Any = guard(plain, run)
        runner = client.beta.messages.tool_runner(
            **ASKED, tools=[look, wipe, fail], stream=stream, thread=False, **more
        )
        final = [message.get_final_message() if stream else message for message in runner][-1]
    assert final.content[0].text == "done"
    looked, wiped, failed = results(provider)
    assert DONE == [("look", GONE)]
    assert looked == (f"{GONE} has {GONE}", False)
    assert "denylist" in wiped[0]
    assert wiped[1] is True
    assert failed == ("no x", True)
    assert "x-stanchion-judged" not in str(provider.asked).lower()


def test_every_call_of_an_async_runner_is_judged() -> None:
    async def play(provider: Provider, run: Any) -> None:
        async with anthropic.AsyncAnthropic(
            api_key="k", base_url=provider.url, max_retries=0
        ) as plain:
            runner = guard(plain, run).beta.messages.tool_runner(
                **ASKED, tools=[alook, awipe], thread=False
            )
            async for _message in runner:
                pass

    turn = [Call("alook", {"name": "ann"}), Call("awipe", {"name": "ann"})]
    with (
        Provider(turn, [Say(["done"])]) as provider,
        Shield.load(POLICY) as shield,
        shield.run("ann") as run,
    ):
        asyncio.run(play(provider, run))
    looked, wiped = results(provider)
    assert DONE == [("alook", "ann")]
    assert looked == (f"ann has {GONE}", False)
    assert "denylist" in wiped[0]


def test_a_tool_that_comes_later_is_judged_as_well() -> None:
    with (
        Provider([Call("look", {"name": "x"})], TURNS[1:2], [Say(["done"])]) as provider,
        Shield.load(POLICY) as shield,
        shield.run("ann") as run,
        anthropic.Anthropic(api_key="k", base_url=provider.url, max_retries=0) as plain,
    ):
        runner: Any = guard(plain, run).beta.messages.tool_runner(
            **ASKED, tools=[look], thread=False
        )
        for _message in runner:
            if hasattr(runner, "add_tools") and not DONE:
                runner.add_tools(wipe)
    assert DONE == [("look", "x")]


def test_a_runner_that_nobody_judges_cannot_ask() -> None:
    with (
        Provider([Say(["done"])]) as provider,
        Shield.load(POLICY) as shield,
        shield.run("ann") as run,
        anthropic.Anthropic(api_key="k", base_url=provider.url, max_retries=0) as plain,
    ):
        guarded = guard(plain, run)
        made: Any = anthropic.resources.beta.messages.Messages(guarded)
        for runner in (
            made.tool_runner(**ASKED, tools=[look], thread=False),
            made.tool_runner(
                **ASKED,
                tools=[look],
                thread=False,
                extra_headers={"X-Stanchion-Judged": "yes"},
            ),
        ):
            assert isinstance(runner, BetaToolRunner)
            with pytest.raises(Refused) as refused:
                runner.until_done()
            assert refused.value.decision.code == "client.unjudged_tools"
        copied = guarded.with_options(timeout=3).beta.messages.tool_runner(
            **ASKED, tools=[look], thread=False
        )
        assert copied.until_done().content[0].text == "done"  # type: ignore[union-attr] # a text
    assert len(provider.asked) == 1


def test_a_runner_of_another_form_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("anthropic.lib.tools._beta_runner.BaseSyncToolRunner._run_tool")
    with (
        Shield.load(POLICY) as shield,
        shield.run("ann") as run,
        anthropic.Anthropic(api_key="k") as plain,
        pytest.raises(UnknownRunner, match="has no `_run_tool`"),
    ):
        guard(plain, run).beta.messages.tool_runner(**ASKED, tools=[look], thread=False)
