"""LlamaIndex: the behaviour suite, and what only this host has: tools that pause, thoughts,
structured calls."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, TextBlock, ThinkingBlock
from llama_index.core.tools import FunctionTool, ToolOutput
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent

from stanchion import Action, Finding, Patch, Refused
from stanchion.hosts.llama_index import (
    LLAMA_INDEX,
    GrowingReply,
    PersonAnswered,
    PersonAsked,
    guarded,
)
from stanchion.testing import shield_for
from stanchion.testing.host_suite import BEHAVIOURS, KEY, Call, Scene, Turn, check, check_probes
from stanchion.testing.operators import operator
from tests.hosts.llama_index.driver import DRIVER, Scripted, agent_of, copied
from tests.hosts.office import called_with

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # the framework's own, of pydantic

RULES: dict[str, Any] = {
    "name": "rules",
    "guards": [
        called_with("end", "halt"),
        {"id": "ask", "use": "tool_denylist", "tools": ["send"], "action": "escalate"},
        {"use": "secrets"},
    ],
}


@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_behaviour(behaviour: str, way: str, tmp_path: Path) -> None:
    check(DRIVER, behaviour, way, tmp_path)


def test_probes() -> None:
    check_probes(DRIVER, globals())


def calling(*calls: tuple[str, dict[str, Any]]) -> Turn:
    """A turn that calls tools."""
    return Turn(
        "1", calls=tuple([Call(f"c{at}", tool, args) for at, (tool, args) in enumerate(calls)])
    )


def scene_of(tmp_path: Path, *turns: Turn, **options: Any) -> Scene:
    """A scene under the rules of this file."""
    return Scene(shield_for(RULES, **options), turns, "async", tmp_path)


async def answered(scene: Scene, agent: Any = None, prompt: str = "do it", **options: Any) -> Any:
    """What an agent says in the end."""
    async with LLAMA_INDEX.run(scene.shield, "helper", "task") as hosted:
        made = agent_of(scene, **options) if agent is None else agent
        return (await guarded(made, hosted).run(user_msg=prompt)).response


@pytest.mark.parametrize("streaming", [True, False])
def test_the_end_of_a_run_ends_the_workflow(streaming: bool, tmp_path: Path) -> None:
    scene = scene_of(tmp_path, calling(("look", {"name": "end"})), Turn("2", "never said"))
    with pytest.raises(Refused) as raised:
        asyncio.run(answered(scene, streaming=streaming))
    assert raised.value.ended
    assert (scene.ran, len(scene.asked)) == ([], 1)


def test_what_the_user_asks_for_is_judged_and_redacted(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, Turn("1", "done"))
    asyncio.run(answered(scene, prompt=f"use {KEY}"))
    assert scene.asked == [["use [redacted:github-pat]"]]


@pytest.mark.parametrize("streaming", [True, False])
def test_a_secret_in_a_reply_and_in_what_it_calls_is_redacted_with_its_raw_form(
    streaming: bool, tmp_path: Path
) -> None:
    turn = Turn("1", f"I look for {KEY} now", (Call("c", "look", {"name": KEY}),))
    scene = scene_of(tmp_path, turn, Turn("2", f"it is {KEY}"))

    async def play() -> list[Any]:
        async with LLAMA_INDEX.run(scene.shield, "helper", "task") as hosted:
            handler = guarded(agent_of(scene, streaming=streaming), hosted).run(user_msg="do it")
            return [*[event async for event in handler.stream_events()], await handler]

    events = asyncio.run(play())
    assert events[-1].response.content == "it is [redacted:github-pat]"
    assert KEY not in str(events) + str(scene.asked)


def test_a_react_agent_is_guarded_by_its_text(tmp_path: Path) -> None:
    said = 'Thought: I look.\nAction: look\nAction Input: {"name": "ann"}'
    scene = scene_of(tmp_path, Turn("1", said), Turn("2", "Thought: I know.\nAnswer: done"))
    agent = ReActAgent(
        name="helper", tools=list(scene.atools), llm=Scripted(scene.ask), streaming=False
    )
    assert asyncio.run(answered(scene, agent)).content == "done"
    assert scene.ran == [("look", {"name": "ann"})]
    assert "ann's key is [redacted" in "\n".join(scene.asked[-1])


def test_an_output_that_says_it_failed_is_judged_as_a_failure(tmp_path: Path) -> None:
    def fails(name: str) -> Any:
        """Fail."""
        return ToolOutput(
            tool_name="fails", content=f"no {KEY}", raw_input={}, raw_output=None, is_error=True
        )

    class Fails(FunctionTool):
        async def acall(self, *args: Any, **kwargs: Any) -> Any:
            return fails(**kwargs)

    scene = scene_of(tmp_path, calling(("fails", {"name": "x"})), Turn("2", "done"))
    agent = FunctionAgent(
        name="helper", tools=[Fails.from_defaults(fails)], llm=Scripted(scene.ask)
    )
    assert asyncio.run(answered(scene, agent)).content == "done"
    kept = [one.read() for one in scene.shield.journal.kept()]
    assert [one.stage for one in kept if one.tool] == ["tool_call", "error", "tool_result"]
    assert scene.asked[-1] == ["do it", "no [redacted:github-pat]"]


def test_a_tool_that_pauses_its_workflow_goes_on(tmp_path: Path) -> None:
    async def confirm(ctx: Context, name: str) -> str:
        """Ask somebody."""
        answer = await ctx.wait_for_event(
            HumanResponseEvent, waiter_event=InputRequiredEvent(prefix=f"{name}?")
        )
        return f"they said {answer.response}"

    confirm.__annotations__["ctx"] = Context  # LlamaIndex looks for the type itself
    scene = scene_of(tmp_path, calling(("confirm", {"name": "x"})), Turn("2", "done"))

    async def play() -> str:
        agent = FunctionAgent(name="helper", tools=[confirm], llm=Scripted(scene.ask))
        async with LLAMA_INDEX.run(scene.shield, "helper", "task") as hosted:
            handler = guarded(agent, hosted, pause=True).run(user_msg="do it")
            async for event in handler.stream_events():
                if isinstance(event, InputRequiredEvent):
                    handler.ctx.send_event(HumanResponseEvent(response=f"yes, with {KEY}"))
            return str((await handler).response.content)

    assert asyncio.run(play()) == "done"
    assert scene.asked[-1] == ["do it", "they said yes, with [redacted:github-pat]"]
    kept = [one.read() for one in scene.shield.journal.kept()]
    assert "error" not in [one.stage for one in kept if one.action != "ALLOW"]


@pytest.mark.parametrize("yes", [True, False])
def test_the_ticket_decides_and_not_whoever_sends_the_event(yes: bool, tmp_path: Path) -> None:
    signer, known = operator("ann")
    turns = [calling(("send", {"to": "bob"}), ("look", {"name": "bob"})), Turn("2", "done")]
    scene = scene_of(tmp_path, *turns, operators=[known])

    async def play() -> None:
        async with LLAMA_INDEX.run(scene.shield, "helper", "task") as hosted:
            handler = guarded(agent_of(scene), hosted, pause=True).run(user_msg="do it")
            async for event in handler.stream_events():
                if isinstance(event, PersonAsked):
                    assert ("send", {"to": "bob"}) not in scene.ran
                    assert len(scene.asked) == 1
                    if yes:
                        await asyncio.to_thread(scene.shield.approve, event.ticket, by=signer)
                    handler.ctx.send_event(PersonAnswered(response="I allow it"))
            await handler

    asyncio.run(play())
    assert (("send", {"to": "bob"}) in scene.ran) is yes
    assert ("letter to bob is sent" in scene.asked[-1]) is yes
    assert "page of bob" in scene.asked[-1]


def test_of_two_calls_that_wait_the_one_runs_whose_ticket_was_approved(tmp_path: Path) -> None:
    signer, known = operator("ann")
    turns = [calling(("send", {"to": "bob"}), ("send", {"to": "eve"})), Turn("2", "done")]
    scene = scene_of(tmp_path, *turns, operators=[known])

    async def play() -> None:
        asked: list[str] = []
        async with LLAMA_INDEX.run(scene.shield, "helper", "task") as hosted:
            handler = guarded(agent_of(scene), hosted, pause=True).run(user_msg="do it")
            async for event in handler.stream_events():
                if isinstance(event, PersonAsked):
                    asked.append(event.ticket)
                    if len(asked) == 2:
                        (first,) = [
                            one.id for one in scene.shield.tickets() if one.content == {"to": "bob"}
                        ]
                        await asyncio.to_thread(scene.shield.approve, first, by=signer)
                        handler.ctx.send_event(PersonAnswered())
            await handler

    asyncio.run(play())
    assert scene.ran == [("send", {"to": "bob"})]
    assert "letter to bob is sent" in scene.asked[-1]
    assert "a person has been asked" in "\n".join(scene.asked[-1])


def test_two_equal_calls_that_wait_share_a_ticket_and_one_yes_lets_one_run(tmp_path: Path) -> None:
    signer, known = operator("ann")
    turns = [calling(("send", {"to": "bob"}), ("send", {"to": "bob"})), Turn("2", "done")]
    scene = scene_of(tmp_path, *turns, operators=[known])

    async def play() -> int:
        asked = 0
        async with LLAMA_INDEX.run(scene.shield, "helper", "task") as hosted:
            handler = guarded(agent_of(scene), hosted, pause=True).run(user_msg="do it")
            async for event in handler.stream_events():
                if isinstance(event, PersonAsked):
                    asked += 1
                    if asked == 2:
                        await asyncio.to_thread(scene.shield.approve, event.ticket, by=signer)
                        handler.ctx.send_event(PersonAnswered())
            await handler
        return asked

    assert asyncio.run(play()) == 2
    assert scene.ran == [("send", {"to": "bob"})]
    assert scene.asked[-1].count("letter to bob is sent") == 1


def test_a_thought_that_is_changed_is_left_out_of_the_whole_reply() -> None:
    def whole(thought: str) -> Any:
        reply = GrowingReply()
        blocks = [ThinkingBlock(content="aha"), TextBlock(text="yes")]
        beside = {"thinking_delta": "aha"}
        came = ChatResponse(
            message=ChatMessage(role="assistant", blocks=blocks),
            delta="yes",
            additional_kwargs=beside,
        )
        reply.grown(reply.piece(came) | {"reasoning": thought})
        return reply.whole().message.blocks

    assert [one.block_type for one in whole("aha")] == ["thinking", "text"]
    assert [one.block_type for one in whole("[redacted]")] == ["text"]


def test_a_cheaper_model_is_asked_where_that_is_decided(tmp_path: Path) -> None:
    asked: list[Any] = []

    class Noted(Scripted):
        model: str = "large"
        max_tokens: int = 900

        async def achat(self, messages: list[Any], **options: Any) -> Any:
            asked.append((self.model, self.max_tokens))
            return await super().achat(messages, **options)

    scene = scene_of(tmp_path, Turn("1", "done"), guards=[cheaper])
    llm = Noted(scene.ask)
    agent = FunctionAgent(name="helper", tools=list(scene.atools), llm=llm, streaming=False)
    assert asyncio.run(answered(scene, agent)).content == "done"
    assert asked == [("small", 100)]
    assert llm.model == "large"


def cheaper(event: Any) -> Any:
    """Have a smaller model asked for less."""
    patches = (Patch(("model",), "small"), Patch(("params", "max_tokens"), 100))
    return Finding(Action.DEGRADE, "mine.cheaper", text="it is cheaper", patches=patches)


cheaper.stages = ("model_call",)  # type: ignore[attr-defined] # how a function says it


@pytest.mark.parametrize("how", ["chat", "complete", "stream_chat", "stream_complete"])
def test_a_way_to_ask_that_is_not_guarded_is_refused(how: str, tmp_path: Path) -> None:
    scene = scene_of(tmp_path, Turn("1", "done"))
    with LLAMA_INDEX.run(scene.shield, "helper") as hosted:
        made = copied(agent_of(scene), hosted)
    with pytest.raises(TypeError, match=f"^`{how}` is not guarded"):
        getattr(made.llm, how)("hello")
    assert not scene.asked


def test_the_agent_itself_stays_as_it_was(tmp_path: Path) -> None:
    scene = scene_of(tmp_path, Turn("1", "done"))
    agent = agent_of(scene)
    before = dict(vars(agent))
    with LLAMA_INDEX.run(scene.shield, "helper") as hosted:
        copied(agent, hosted)
    assert vars(agent) == before
    assert "achat" not in vars(agent.llm)
