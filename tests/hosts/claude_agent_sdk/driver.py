"""How scenes are played in the Claude Agent SDK: by the Claude Code that comes with it, with a
model on loopback that says what a script says."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from claude_agent_sdk import (
    AgentDefinition,
    ClaudeAgentOptions,
    ResultMessage,
    SdkMcpTool,
    SystemMessage,
    create_sdk_mcp_server,
    query,
)

from stanchion.hosts.claude_agent_sdk import CLAUDE_AGENT_SDK, guarded
from stanchion.testing.host_suite import Driver, Ended, Scene
from tests.hosts.claude_agent_sdk.model import Block, call, serving, text

SERVER = "suite"


class Stopped(Exception):
    """Claude Code has ended before the model was asked once more."""


def options_at(folder: Path, url: str, **given: Any) -> ClaudeAgentOptions:
    """Options with which Claude Code works in a folder, and asks nobody but the model there."""
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    own = {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-ant-none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    env = {**own, **given.pop("env", {})}
    return ClaudeAgentOptions(cwd=folder, setting_sources=[], env=env, **given)


def tools_of(scene: Scene) -> Any:
    """The tools of a scene, on a server in this process."""

    def tool(fn: Any) -> SdkMcpTool[Any]:
        async def run(args: dict[str, Any]) -> dict[str, Any]:
            return {"content": [text(await fn(**args))]}

        names = fn.__wrapped__.__annotations__
        kinds = {
            name: {"type": "integer" if "int" in str(kind) else "string"}
            for name, kind in names.items()
            if name != "return"
        }
        schema = {"type": "object", "properties": kinds, "required": [*kinds]}
        return SdkMcpTool(fn.__name__, str(fn.__doc__), schema, run)

    return create_sdk_mcp_server(SERVER, tools=[tool(fn) for fn in scene.atools])


def said_by(scene: Scene, messages: list[Any]) -> list[Block]:
    """The next turn of a scene, as Claude Code reads it."""
    turn = scene.ask([json.dumps(message, ensure_ascii=False) for message in messages])
    if turn.handoff:
        asked = {"subagent_type": turn.handoff, "description": "go on", "prompt": scene.prompt}
        return [call(turn.id, "Agent", {**asked, "run_in_background": False})]
    if not turn.calls:
        return [text(turn.text)]
    return [call(one.id, f"mcp__{SERVER}__{one.tool}", one.args) for one in turn.calls]


async def aplay(scene: Scene) -> Ended:
    """Play a scene."""
    names = [f"mcp__{SERVER}__{fn.__name__}" for fn in scene.atools]
    with serving(lambda messages: said_by(scene, messages)) as url:
        options = options_at(
            scene.folder,
            url,
            mcp_servers={SERVER: tools_of(scene)},
            allowed_tools=["Agent", *names],
            agents={name: AgentDefinition(name, "you go on", tools=names) for name in scene.others},
            include_partial_messages=scene.streams,
        )
        made = guarded(options, scene.shield, agent=scene.agent, task=scene.task)
        answer, stopped = "", ""
        async for message in query(prompt=scene.prompt, options=made):
            if isinstance(message, ResultMessage):
                answer = str(message.result)
            elif isinstance(message, SystemMessage) and message.data.get("prevent_continuation"):
                stopped = str(message.data["content"])
        if stopped:
            raise Stopped(stopped)
        return Ended(answer)


def play(scene: Scene) -> Ended:
    """The same for the suite."""
    return asyncio.run(aplay(scene))


DRIVER = Driver(
    "claude_agent_sdk",
    CLAUDE_AGENT_SDK,
    play,
    "tests.hosts.claude_agent_sdk.driver:DRIVER",
    ways=("async",),
    beyond={"usage": "test_no_hook_says_what_a_model_has_used"},
)
