"""Calls through the proxy: judged before they run, their results judged before the client has
them."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED

from stanchion import Action, Finding, Patch, Stage
from stanchion.hosts.mcp.judging import REFUSED
from stanchion.testing import shield_for
from tests.hosts.mcp.servers import ERAS, KEY, Tools, client_of, said, text
from tests.hosts.office import called_with

RULES: dict[str, Any] = {
    "name": "rules",
    "guards": [
        called_with("root"),
        called_with("ask", "escalate"),
        called_with("end", "halt"),
        called_with("hm", "warn"),
        {"use": "secrets"},
    ],
}


def look(context: Any, args: dict[str, Any]) -> types.CallToolResult:
    """Give what was asked for, with a secret beside it, in both of the places where results are."""
    found = {"name": args.get("name"), "key": KEY}
    return types.CallToolResult(
        content=[types.TextContent(text=f"the key is {KEY}")], structured_content=found
    )


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """How the client speaks."""
    return str(request.param)


def play(shield: Any, tools: Tools, era: str, *calls: tuple[str, Any]) -> list[Any]:
    """The results of calls, one after the other; errors among them."""

    async def played() -> list[Any]:
        results: list[Any] = []
        async with client_of(shield, tools.upstream(), era=era) as client:
            for name, args in calls:
                try:
                    results.append(await client.call_tool(name, args))
                except MCPError as error:
                    results.append(error)
        return results

    return anyio.run(played)


def test_a_call_goes_through_and_its_result_comes_back_whole(era: str) -> None:
    def draw(context: Any, args: dict[str, Any]) -> types.CallToolResult:
        picture = types.ImageContent(data="aGk=", mime_type="image/png")
        return types.CallToolResult(
            content=[picture, types.TextContent(text="hi")], structured_content={"n": 1}
        )

    tools = Tools(draw=draw)
    (result,) = play(
        shield_for({"name": "bare", "unread": "media"}), tools, era, ("draw", {"size": 3})
    )
    assert tools.calls == [("draw", {"size": 3})]
    assert [block.type for block in result.content] == ["image", "text"]
    assert (result.structured_content, result.is_error) == ({"n": 1}, False)


def test_a_refused_call_does_not_run_and_its_answer_says_what_to_do(era: str) -> None:
    tools = Tools(look=look)
    (result,) = play(shield_for(RULES), tools, era, ("look", {"name": "root"}))
    assert result.is_error
    assert "choose another way" in said(result)
    assert tools.calls == []


def test_secrets_leave_both_the_text_and_the_structure(era: str) -> None:
    (result,) = play(shield_for(RULES), Tools(look=look), era, ("look", {"name": "ann"}))
    assert KEY not in result.model_dump_json()
    assert result.structured_content == {"name": "ann", "key": "[redacted:github-pat]"}
    assert said(result) == "the key is [redacted:github-pat]"


def test_arguments_are_changed_on_their_way(era: str) -> None:
    def smaller(event: Any) -> Finding | None:
        if event.args.get("limit", 0) > 10:
            return Finding(
                Action.REDACT, "mine.limit", text="ten is enough", patches=(Patch(("limit",), 10),)
            )
        return None

    smaller.stages = (Stage.TOOL_CALL,)  # type: ignore[attr-defined] # how a function says where it judges
    tools = Tools(find=lambda context, args: text(str(args["limit"])))
    (result,) = play(
        shield_for({"name": "mine"}, guards=[smaller]), tools, era, ("find", {"limit": 1000})
    )
    assert said(result) == "10"
    assert tools.calls == [("find", {"limit": 10})]


def test_what_a_server_reports_as_an_error_is_judged_as_one(era: str) -> None:
    def fails(context: Any, args: dict[str, Any]) -> types.CallToolResult:
        return types.CallToolResult(
            content=[types.TextContent(text=f"no such table, {KEY}")], is_error=True
        )

    stages: list[Stage] = []

    def watch(event: Any) -> None:
        stages.append(event.stage)

    watch.stages = (Stage.ERROR, Stage.TOOL_RESULT)  # type: ignore[attr-defined] # how a function says where it judges
    (result,) = play(shield_for(RULES, guards=[watch]), Tools(query=fails), era, ("query", {}))
    assert result.is_error
    assert said(result) == "no such table, [redacted:github-pat]"
    assert Stage.ERROR in stages


@pytest.mark.parametrize(
    "code", [-32055, CONNECTION_CLOSED], ids=["its own", "as of a closed connection"]
)
def test_an_error_of_the_protocol_keeps_its_code_and_loses_its_secrets(era: str, code: int) -> None:
    def raises(context: Any, args: dict[str, Any]) -> None:
        raise MCPError(code, f"not with {KEY}")

    tools = Tools(query=raises)
    error, again = play(shield_for(RULES), tools, era, ("query", {}), ("query", {}))
    assert isinstance(error, MCPError)
    assert (error.code, error.message) == (code, "not with [redacted:github-pat]")
    assert isinstance(again, MCPError)
    assert tools.connections == 1, "the server lives"


def test_a_guard_that_crashes_refuses(era: str) -> None:
    def broken(event: Any) -> None:
        raise RuntimeError("a mistake of ours")

    broken.stages = (Stage.TOOL_CALL,)  # type: ignore[attr-defined] # how a function says where it judges
    tools = Tools(look=look)
    (result,) = play(shield_for({"name": "mine"}, guards=[broken]), tools, era, ("look", {}))
    assert result.is_error
    assert tools.calls == []


def test_a_failure_of_the_proxy_itself_refuses(era: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from stanchion.hosts import Hosted

    async def broken(self: Any, *args: Any, **options: Any) -> Any:
        raise RuntimeError(KEY)

    tools = Tools(look=look)
    monkeypatch.setattr(Hosted, "acall", broken)
    (result,) = play(shield_for(RULES), tools, era, ("look", {}))
    assert result.is_error
    assert KEY not in said(result)
    assert "could not be judged" in said(result)
    assert tools.calls == []


def test_a_call_that_waits_for_a_person_runs_once_they_have_said_yes(era: str) -> None:
    shield, tools = shield_for(RULES), Tools(look=look)

    async def played() -> tuple[Any, Any]:
        async with client_of(shield, tools.upstream(), era=era) as client:
            first = await client.call_tool("look", {"name": "ask"})
            assert tools.calls == []
            (ticket,) = shield.tickets()
            shield.approve(ticket.id, by="ann")
            return first, await client.call_tool("look", {"name": "ask"})

    first, second = anyio.run(played)
    assert first.is_error
    assert not second.is_error
    assert tools.calls == [("look", {"name": "ask"})]


def test_after_a_halt_nothing_of_the_session_goes_ahead(era: str) -> None:
    tools = Tools(look=look)
    halted, after = play(
        shield_for(RULES), tools, era, ("look", {"name": "end"}), ("look", {"name": "ann"})
    )
    assert halted.is_error
    assert after.is_error
    assert tools.calls == []


def test_a_warning_is_told_to_whoever_reads_the_result(era: str) -> None:
    (result,) = play(shield_for(RULES), Tools(look=look), era, ("look", {"name": "hm"}))
    assert not result.is_error
    assert "Warning: " in said(result)


def test_the_code_of_refusals_is_the_documented_one() -> None:
    assert REFUSED == -32080


@pytest.mark.parametrize(
    ("kind", "mime"),
    [("image", "image/png"), ("audio", "audio/wav"), ("image", "text/plain")],
)
def test_what_is_declared_an_image_is_none_that_guards_have_read(
    era: str, kind: str, mime: str
) -> None:
    block = {"type": kind, "data": b64encode(b"hello there").decode(), "mimeType": mime}

    def draws(context: Any, args: dict[str, Any]) -> types.CallToolResult:
        return types.CallToolResult.model_validate({"content": [block]})

    (result,) = play(shield_for("mcp"), Tools(draw=draws), era, ("draw", {}))
    assert block["data"] not in str(result)


@pytest.mark.parametrize(
    ("mime", "passes"), [("application/pdf", False), ("text/plain", True), (None, True)]
)
def test_a_resource_is_taken_for_what_it_is_declared_to_be(
    era: str, mime: str | None, passes: bool
) -> None:
    resource = {"uri": "note:///a", "blob": b64encode(b"hello there").decode(), "mimeType": mime}

    def gives(context: Any, args: dict[str, Any]) -> types.CallToolResult:
        return types.CallToolResult.model_validate(
            {"content": [{"type": "resource", "resource": resource}]}
        )

    (result,) = play(shield_for("mcp"), Tools(give=gives), era, ("give", {}))
    assert (str(resource["blob"]) in str(result)) is passes
