"""A shield is enough: one plugin, made once, has a run for each agent and each session."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("strands")

from strands import Agent, tool
from strands.models import Model
from strands.multiagent import Swarm
from strands.session.file_session_manager import FileSessionManager

from stanchion.hosts.strands import Guarded
from tests.hosts.together import (
    WRONG,
    all_at_once,
    all_in_threads,
    check_apart,
    kept_shield,
    requests,
    runs_of,
)


class Reads(Model):
    """A model that calls a tool with the words it was given, and says what came of it."""

    def __init__(self, tool_name: str = "read_page", argument: str = "name", **more: str) -> None:
        self._tool, self._argument, self._more = tool_name, argument, more

    def update_config(self, **_: Any) -> None:
        """There is nothing to set."""

    def get_config(self) -> dict[str, Any]:
        return {"model_id": "reads"}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncGenerator[Any, None]:
        last = messages[-1]["content"][-1]
        yield {"messageStart": {"role": "assistant"}}
        if "toolResult" in last:
            said = last["toolResult"]["content"][0]["text"]
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": said}}}
        else:
            args = {self._argument: last["text"], **self._more}
            start = {"toolUse": {"toolUseId": "1", "name": self._tool}}
            yield {"contentBlockStart": {"start": start}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(args)}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if "toolResult" in last else "tool_use"}}


@tool
async def read_page(name: str) -> str:
    """Read a page."""
    await asyncio.sleep(0)
    return f"text of {name}"


def reader(guarded: Guarded, **options: Any) -> Agent:
    given = {"name": "helper", "callback_handler": None, **options}
    return Agent(Reads(), tools=[read_page], plugins=[guarded], **given)


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_what_judges_nothing_is_refused_when_the_agent_is_built(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"`strands` is given a .*give it the shield"):
        Guarded(wrong)


@pytest.mark.parametrize("threads", [False, True])
def test_a_hundred_requests_at_once(threads: bool) -> None:
    shield, journal = kept_shield()
    guarded = Guarded(shield)

    async def ask(name: str) -> str:
        return str(await reader(guarded).invoke_async(name)).strip()

    def ask_sync(name: str) -> str:
        return str(reader(guarded)(name)).strip()

    said = all_in_threads(ask_sync) if threads else all_at_once(ask)
    assert said == [f"text of {name}" for name in requests()]
    check_apart(journal, requests())


def test_an_agent_keeps_its_run_until_it_is_gone() -> None:
    shield, journal = kept_shield()
    guarded = Guarded(shield, task="reading")
    agent, other = reader(guarded), reader(guarded)
    agent("one")
    other("three")
    agent("two")
    one, another = runs_of(journal).values()
    assert "two" in str([record.content for record in one])
    assert "three" in str([record.content for record in another])
    assert {(r.agent, r.task) for r in [*one, *another]} == {("helper", "reading")}
    run = guarded._works.tied(other).hosted.run
    del other
    gc.collect()
    agent("four")
    again = reader(guarded)
    again("five")
    assert run.desk.ended is not None


def test_agents_of_one_session_work_in_one_run(tmp_path: Path) -> None:
    shield, journal = kept_shield()
    guarded = Guarded(shield)
    for text in ("one", "two"):
        kept = FileSessionManager(session_id="s", storage_dir=str(tmp_path))
        reader(guarded, session_manager=kept, agent_id="a")(text)
    assert len(runs_of(journal)) == 1


def test_a_sub_agent_works_in_a_child_of_each_caller() -> None:
    shield, journal = kept_shield()
    guarded = Guarded(shield)
    desk = Agent(Reads(), name="desk", tools=[read_page], callback_handler=None)
    bosses = [
        Agent(
            Reads("desk", "input"),
            name=name,
            tools=[desk.as_tool()],
            callback_handler=None,
            plugins=[guarded],
        )
        for name in ("boss", "chief")
    ]
    for boss in bosses:
        assert str(boss("work")).strip() == "text of work"
    assert [records[0].agent for records in runs_of(journal).values()] == [
        "boss",
        "desk",
        "chief",
        "desk",
    ]


def test_swarms_of_agents_with_the_same_names_are_kept_apart() -> None:
    shield, journal = kept_shield()
    guarded = Guarded(shield)

    async def play(name: str) -> str:
        first = Agent(
            Reads("handoff_to_agent", "message", agent_name="second"),
            name="first",
            callback_handler=None,
            plugins=[guarded],
        )
        swarm = Swarm([first, reader(guarded, name="second")])
        return str((await swarm.invoke_async(name)).status)

    async def both() -> list[str]:
        return list(await asyncio.gather(play("page-a"), play("page-b")))

    assert asyncio.run(both()) == ["Status.COMPLETED", "Status.COMPLETED"]
    found = [
        (records[0].agent, str([r.content for r in records]))
        for records in runs_of(journal).values()
    ]
    assert sorted(agent for agent, _ in found) == ["first", "first", "second", "second"]
    for _, text in found:
        assert ("page-a" in text) is not ("page-b" in text)
