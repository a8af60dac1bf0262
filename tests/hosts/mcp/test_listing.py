"""What a server lists is what can be called: what is wrong with one tool is wrong with no other."""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from stanchion.hosts.mcp import definitions
from stanchion.testing import shield_for
from tests.hosts.mcp.servers import ERAS, Answer, Tools, client_of, said, text

READS: dict[str, Any] = {"name": "reads", "guards": [{"use": "schema"}]}


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """How the client speaks."""
    return str(request.param)


def works(context: Any, args: dict[str, Any]) -> types.CallToolResult:
    return text("done")


def listed_and_called(tools: Tools, era: str, *names: str) -> tuple[list[str], dict[str, str]]:
    """The names that a client sees, and what it gets for calls."""

    async def played() -> tuple[list[str], dict[str, str]]:
        async with client_of(shield_for(READS), tools.upstream(), era=era) as client:
            listed = [each.name for each in (await client.list_tools()).tools]
            came: dict[str, str] = {}
            for name in names:
                try:
                    came[name] = said(await client.call_tool(name, {}))
                except MCPError as error:
                    came[name] = error.message
            return listed, came

    return anyio.run(played)


def test_of_two_tools_with_one_name_neither_can_be_called_and_all_others_can(era: str) -> None:
    tools = Tools(pay=works, again=works, find=works)
    tools.more = {"again": {"name": "pay"}}
    listed, came = listed_and_called(tools, era, "find", "pay")
    assert listed == ["find"]
    assert came["find"] == "done"
    assert "it is listed 2 times" in came["pay"]
    assert [name for name, _ in tools.calls] == ["find"]


@pytest.mark.parametrize("most", [20, definitions.MOST_TOOLS])
def test_of_too_many_tools_the_first_can_be_called(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(definitions, "MOST_TOOLS", most)
    tools = Tools()
    tools.tools = dict.fromkeys([f"t{number}" for number in range(12 * most)], works)
    last, over = f"t{most - 1}", f"t{most}"
    listed, came = listed_and_called(tools, "auto", "t0", last, over)
    assert len(listed) == most
    assert (came["t0"], came[last]) == ("done", "done")
    assert f"{most:,} tools are listed before it" in came[over]


def test_a_definition_that_is_none_is_left_out_alone() -> None:
    good: dict[str, Any] = {"name": "a", "inputSchema": {"type": "object"}}
    nameless: dict[str, Any] = {"inputSchema": {}}
    usable, unusable = definitions.sifted(
        [good, nameless, {"name": "x" * 1_000, "inputSchema": {}}]
    )
    assert usable == [good]
    assert len(unusable) == 2


def test_a_tool_that_was_never_listed_is_not_called(era: str) -> None:
    tools = Tools(find=works)
    hidden: dict[str, Answer] = {"hidden": works}

    def shows(context: Any, args: dict[str, Any]) -> types.CallToolResult:
        tools.tools |= hidden
        return text("shown")

    tools.tools["show"] = shows
    _, came = listed_and_called(tools, era, "hidden")
    assert "it is not listed" in came["hidden"]
    assert tools.calls == []
    _, came = listed_and_called(tools, era, "show", "hidden")
    assert came == {"show": "shown", "hidden": "done"}, "the proxy lists again by itself"
