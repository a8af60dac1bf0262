"""Plays the scenes of the behaviour suite in a host that speaks AGENT-HOOKS and knows nothing of
Stanchion."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_hooks import AgentContextBuilder, InterceptionBlocked, InterceptionEmitter

from stanchion.hosts.agent_hooks import AGENT_HOOKS, Interceptor
from stanchion.testing.host_suite import Call, Driver, Ended, Scene


class Agent:
    """A small agent that emits every point of the contract, and does what it is told."""

    def __init__(self, scene: Scene, emitter: Any) -> None:
        self.scene, self.emitter = scene, emitter
        self.points = AgentContextBuilder(agent_id=scene.agent, framework="small", session_id="s1")
        self.tools = {fn.__name__: fn for fn in scene.atools}
        self.messages: list[dict[str, Any]] = []

    async def answer(self, prompt: str) -> str:
        """The answer to a prompt."""
        said = self.points.input(content=prompt)
        await self.emitter.emit(said)
        self.messages.append({"role": "user", "content": said["target"]["content"]})
        while True:
            turn, text = await self.turn()
            if not turn.calls:
                done = self.points.output(content=text)
                await self.emitter.emit(done)
                return str(done["target"]["content"])
            for result in await asyncio.gather(*[self.run(call) for call in turn.calls]):
                self.messages.append({"role": "tool", "content": result})

    async def turn(self) -> tuple[Any, str]:
        """The model's next turn, and its text as it may be shown."""
        number = f"r{len(self.scene.asked)}"
        asks = self.points.pre_model_call(
            model_id="scripted", messages=self.messages, request_id=number
        )
        await self.emitter.emit(asks)
        turn = self.scene.ask([one["content"] for one in asks["target"]])
        calls = [{"id": one.id, "name": one.tool, "args": one.args} for one in turn.calls]
        usage = {"prompt_tokens": turn.input_tokens, "completion_tokens": turn.output_tokens}
        came = self.points.post_model_call(
            model_id="scripted",
            content=turn.text,
            tool_calls=calls,
            finish_reason="stop",
            usage=usage,
            request_id=number,
        )
        await self.emitter.emit(came)
        text = came["target"]["content"]
        self.messages.append({"role": "assistant", "content": text})
        return turn, text

    async def run(self, call: Call) -> str:
        """The result of a call, or what is said in its place."""
        asks = self.points.pre_tool_call(call_id=call.id, name=call.tool, args=call.args)
        try:
            await self.emitter.emit(asks)
            args, failed = asks["target"], False
            try:
                value = await self.tools[call.tool](**args)
            except LookupError as error:
                value, failed = str(error), True
            came = self.points.post_tool_call(
                call_id=call.id, name=call.tool, args=args, value=value, is_error=failed
            )
            await self.emitter.emit(came)
            return str(came["target"])
        except InterceptionBlocked as blocked:
            return str(blocked.result.verdict.message)


async def aplay(scene: Scene) -> Ended:
    """Play a scene."""
    async with AGENT_HOOKS.run(scene.shield, agent=scene.agent, task=scene.task) as hosted:
        agent = Agent(scene, InterceptionEmitter().register(Interceptor(hosted)))
        answer = await agent.answer(scene.prompt)
        return Ended(pieces=(answer,)) if scene.streams else Ended(answer)


def play(scene: Scene) -> Ended:
    """The same for the suite."""
    return asyncio.run(aplay(scene))


DRIVER = Driver(
    "agent_hooks",
    AGENT_HOOKS,
    play,
    "tests.hosts.agent_hooks.driver:DRIVER",
    ways=("async",),
    beyond={"handoff": "test_the_contract_has_no_handoffs"},
)
