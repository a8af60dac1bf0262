"""A picture that a tool gives takes nothing along when it is withheld, and reaches the model when
the policy lets it in."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent, BinaryContent, ToolReturn
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from stanchion import Shield
from stanchion.hosts.pydantic_ai import Guarded

PICTURE = BinaryContent(b"\x89PNG\r\n\x1a\n" + bytes(90), media_type="image/png")
GIVEN: dict[str, Any] = {
    "a list": ["here", PICTURE],
    "beside": ToolReturn(return_value="here", content=["see", PICTURE]),
}


@pytest.mark.parametrize("media", ["withhold", "allow"])
@pytest.mark.parametrize("given", GIVEN)
def test_a_picture_and_its_neighbours(media: str, given: str) -> None:
    seen: list[Any] = []

    def model(messages: list[Any], _info: Any) -> ModelResponse:
        seen[:] = messages
        part = ToolCallPart("shot", {}, "c1") if len(messages) == 1 else TextPart("done")
        return ModelResponse(parts=[part])

    policy = {"name": "p", "tools": {"shot": {"media": media}}}
    with Shield.load(policy, store="memory:") as shield:
        agent = Agent(FunctionModel(model), capabilities=[Guarded(shield)])

        @agent.tool_plain
        def shot() -> Any:
            return GIVEN[given]

        assert asyncio.run(agent.run("go")).output == "done"
    contents = [part.content for part in seen[-1].parts]
    words = str(contents)
    assert "here" in words
    assert ("was withheld" in words) is (media == "withhold")
    assert (str(PICTURE.data) in words) is (media == "allow")
