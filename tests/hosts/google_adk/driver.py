"""How scenes are played in Google ADK: with a model of its own interface that says what a script
says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.events import Event
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from stanchion.hosts import Hosted
from stanchion.hosts.google_adk import GOOGLE_ADK, Guarded
from stanchion.testing.host_suite import Driver, Ended, Scene, Turn

APP, USER = "suite", "ann"
CONFIRM = "adk_request_confirmation"


class Model(BaseLlm):
    """A model with the script of a scene; it streams in pieces."""

    model: str = "scripted"
    scene: Any = None

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[Any, None]:
        """The next turn."""
        turn = self.scene.ask(
            [one.model_dump_json(exclude_none=True) for one in llm_request.contents]
        )
        for piece in turn.pieces if stream else ():
            yield LlmResponse(content=content(types.Part(text=piece)), partial=True)
        usage = types.GenerateContentResponseUsageMetadata(
            prompt_token_count=turn.input_tokens,
            candidates_token_count=turn.output_tokens,
            total_token_count=turn.input_tokens + turn.output_tokens,
        )
        yield LlmResponse(content=content(*parts_of(turn)), usage_metadata=usage)


def content(*parts: Any) -> types.Content:
    """What a model says."""
    return types.Content(role="model", parts=list(parts))


def parts_of(turn: Turn) -> list[types.Part]:
    """A scripted turn in ADK's own type."""
    calls = [types.FunctionCall(id=one.id, name=one.tool, args=one.args) for one in turn.calls]
    if turn.handoff:
        calls = [
            types.FunctionCall(
                id=turn.id, name="transfer_to_agent", args={"agent_name": turn.handoff}
            )
        ]
    return (
        [types.Part(function_call=call) for call in calls]
        if calls
        else [types.Part(text=turn.text)]
    )


def runner_of(scene: Scene, hosted: Hosted) -> InMemoryRunner:
    """The app of a scene."""
    model = Model(scene=scene)
    tools: list[Any] = list(scene.atools if scene.is_async else scene.tools)
    others = [
        LlmAgent(name=name, model=model, tools=tools, disallow_transfer_to_parent=True)
        for name in scene.others
    ]
    agent = LlmAgent(name=scene.agent, model=model, tools=tools, sub_agents=list(others))
    return InMemoryRunner(app=App(name=APP, root_agent=agent, plugins=[Guarded(hosted)]))


async def session_of(scene: Scene, runner: Any) -> str:
    """A session, with all that has happened in it before a pause."""
    session = await runner.session_service.create_session(app_name=APP, user_id=USER)
    for event in [] if scene.state is None else json.loads(scene.state):
        await runner.session_service.append_event(session, Event.model_validate(event))
    return str(session.id)


def said(scene: Scene) -> types.Content:
    """What the user says: the prompt, or that a call that has waited may go on."""
    if scene.state is None:
        return types.Content(role="user", parts=[types.Part(text=scene.prompt)])
    events = [Event.model_validate(event) for event in json.loads(scene.state)]
    (asked,) = [
        call for event in events for call in event.get_function_calls() if call.name == CONFIRM
    ]
    answer = types.FunctionResponse(id=asked.id, name=CONFIRM, response={"confirmed": True})
    return types.Content(role="user", parts=[types.Part(function_response=answer)])


def ended(events: list[Any], kept: list[Any]) -> Ended:
    """What an app has come to."""
    if any(call.name == CONFIRM for event in events for call in event.get_function_calls()):
        return Ended(
            state=json.dumps([event.model_dump(mode="json", by_alias=True) for event in kept])
        )
    texts = [
        (event.partial, "".join([part.text or "" for part in event.content.parts or []]))
        for event in events
        if event.content
    ]
    pieces = tuple([text for partial, text in texts if partial])
    return Ended([text for partial, text in texts if not partial][-1], pieces)


def play(scene: Scene) -> Ended:
    """Play a scene."""
    if scene.is_async:
        return asyncio.run(aplay(scene))
    with GOOGLE_ADK.run(scene.shield, agent=scene.agent, task=scene.task) as hosted:
        runner = runner_of(scene, hosted)
        session = asyncio.run(session_of(scene, runner))
        mode = RunConfig(streaming_mode=StreamingMode.SSE if scene.streams else StreamingMode.NONE)
        told = {
            "user_id": USER,
            "session_id": session,
            "new_message": said(scene),
            "run_config": mode,
        }
        events = list(runner.run(**told))
        kept = asyncio.run(
            runner.session_service.get_session(app_name=APP, user_id=USER, session_id=session)
        )
        return ended(events, kept.events)


async def aplay(scene: Scene) -> Ended:
    """The same for async code."""
    async with GOOGLE_ADK.run(scene.shield, agent=scene.agent, task=scene.task) as hosted:
        runner = runner_of(scene, hosted)
        session = await session_of(scene, runner)
        mode = RunConfig(streaming_mode=StreamingMode.SSE if scene.streams else StreamingMode.NONE)
        told = {
            "user_id": USER,
            "session_id": session,
            "new_message": said(scene),
            "run_config": mode,
        }
        events = [event async for event in runner.run_async(**told)]
        kept = await runner.session_service.get_session(
            app_name=APP, user_id=USER, session_id=session
        )
        return ended(events, kept.events)


DRIVER = Driver("google_adk", GOOGLE_ADK, play, "tests.hosts.google_adk.driver:DRIVER")
