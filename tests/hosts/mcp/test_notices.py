"""What servers tell while they work and between calls: progress, logs, changes; and what clients
tell them."""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
import pytest

from stanchion.testing import shield_for
from tests.hosts.mcp.servers import ERAS, KEY, Tools, client_of, said, text

BARE: dict[str, Any] = {"name": "bare", "guards": [{"use": "secrets"}]}
WAIT_S = 60


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    """How the client speaks."""
    return str(request.param)


@pytest.fixture(params=["old", "new"])
def server(request: pytest.FixtureRequest) -> str:
    """How the server speaks."""
    return str(request.param)


async def until(reached: Any) -> None:
    """Wait for something that comes by itself."""
    with anyio.fail_after(WAIT_S):
        while not reached():
            await anyio.sleep(0.005)


def test_progress_is_passed_on_without_secrets(era: str, server: str) -> None:
    async def works(context: Any, args: dict[str, Any]) -> types.CallToolResult:
        await context.session.report_progress(1, 2, f"half, {KEY}")
        return text("done")

    told: list[Any] = []

    async def played() -> None:
        async def heard(progress: float, total: float | None, message: str | None) -> None:
            told.append((progress, total, message))

        async with client_of(
            shield_for(BARE), Tools(work=works).upstream(server), era=era
        ) as client:
            await client.call_tool("work", {}, progress_callback=heard)
            await until(lambda: told)

    anyio.run(played)
    assert told == [(1.0, 2.0, "half, [redacted:github-pat]")]


def test_logs_are_passed_on_without_secrets(era: str, server: str) -> None:
    async def works(context: Any, args: dict[str, Any]) -> types.CallToolResult:
        note = types.LoggingMessageNotification(
            params=types.LoggingMessageNotificationParams(
                level="warning", data={"k": KEY}, logger="me"
            )
        )
        await context.session.send_notification(note, context.request_id)
        await anyio.sleep(0.05)
        return text("done")

    told: list[Any] = []

    async def played() -> None:
        async def heard(params: Any) -> None:
            told.append((params.level, params.data, params.logger))

        options = {"logging_callback": heard, "log_level": "info"}
        async with client_of(
            shield_for(BARE), Tools(work=works).upstream(server), era=era, **options
        ) as client:
            await client.call_tool("work", {})
            await until(lambda: told)

    anyio.run(played)
    assert told == [("warning", {"k": "[redacted:github-pat]"}, "me")]


def test_a_modern_client_that_wants_no_logs_gets_none() -> None:
    async def works(context: Any, args: dict[str, Any]) -> types.CallToolResult:
        note = types.LoggingMessageNotification(
            params=types.LoggingMessageNotificationParams(level="error", data="x")
        )
        await context.session.send_notification(note, context.request_id)
        await anyio.sleep(0.05)
        return text("done")

    told: list[Any] = []

    async def played() -> None:
        async def heard(params: Any) -> None:
            told.append(params)

        upstream = Tools(work=works).upstream("old")
        async with client_of(
            shield_for(BARE), upstream, era="auto", logging_callback=heard
        ) as client:
            await client.call_tool("work", {})

    anyio.run(played)
    assert told == []


def test_a_cancelled_call_is_cancelled_at_the_server(era: str, server: str) -> None:
    ended: list[str] = []

    async def works(context: Any, args: dict[str, Any]) -> types.CallToolResult:
        try:
            await anyio.sleep_forever()
        except BaseException:
            ended.append("cancelled")
            raise
        return text("never")

    tools = Tools(work=works, other=lambda context, args: text("still here"))

    async def played() -> str:
        async with client_of(shield_for(BARE), tools.upstream(server), era=era) as client:
            await client.list_tools()
            async with anyio.create_task_group() as calls:
                calls.start_soon(client.call_tool, "work", {})
                await until(lambda: tools.calls)
                calls.cancel_scope.cancel()
            await until(lambda: ended)
            return said(await client.call_tool("other", {}))

    assert anyio.run(played) == "still here"
    assert ended == ["cancelled"]


def test_a_client_of_the_handshake_is_told_that_tools_have_changed() -> None:
    async def grows(context: Any, args: dict[str, Any]) -> types.CallToolResult:
        tools.tools["more"] = lambda context, args: text("more")
        await context.session.send_notification(types.ToolListChangedNotification())
        return text("grown")

    tools = Tools(grow=grows)
    told: list[str] = []

    async def played() -> list[str]:
        async def heard(message: Any) -> None:
            told.append(getattr(message, "method", ""))

        async with client_of(
            shield_for(BARE), tools.upstream("old"), message_handler=heard
        ) as client:
            await client.call_tool("grow", {})
            await until(lambda: "notifications/tools/list_changed" in told)
            assert said(await client.call_tool("more", {})) == "more"
            return [tool.name for tool in (await client.list_tools()).tools]

    assert anyio.run(played) == ["grow", "more"]


def test_a_client_of_the_handshake_hears_of_changes_at_a_modern_server() -> None:
    from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

    bus = InMemorySubscriptionBus()

    async def grows(context: Any, args: dict[str, Any]) -> types.CallToolResult:
        await bus.publish(ToolsListChanged())
        return text("grown")

    tools = Tools(change=grows)
    tools.options = {"on_subscriptions_listen": ListenHandler(bus)}
    told: list[str] = []

    async def played() -> None:
        async def heard(message: Any) -> None:
            told.append(getattr(message, "method", ""))

        async with client_of(
            shield_for(BARE), tools.upstream("new"), message_handler=heard
        ) as client:
            await _changed(client, told)

    anyio.run(played)
    assert set(told) == {"notifications/tools/list_changed"}


def test_a_level_that_was_set_once_is_sent_to_a_modern_server_each_time() -> None:
    tools = Tools(
        see=lambda context, args: text(str((context.meta or {}).get(types.LOG_LEVEL_META_KEY)))
    )

    async def played() -> str:
        async with client_of(shield_for(BARE), tools.upstream("new")) as client:
            with pytest.warns(Warning, match="deprecated"):
                await client.session.set_logging_level("error")
            return said(await client.call_tool("see", {}))

    assert anyio.run(played) == "error"


class Notes:
    """Resources that change, subscribed to in the way of the era."""

    def __init__(self) -> None:
        from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

        self.bus = InMemorySubscriptionBus()
        self.wanted: list[str] = []
        self.tools = Tools(change=self.change)

        async def read(context: Any, params: Any) -> types.ReadResourceResult:
            return types.ReadResourceResult(
                contents=[types.TextResourceContents(uri=params.uri, text="text")]
            )

        async def listed(context: Any, params: Any) -> types.ListResourcesResult:
            return types.ListResourcesResult(resources=[types.Resource(uri="note:///a", name="a")])

        async def subscribe(context: Any, params: Any) -> types.EmptyResult:
            self.wanted.append(str(params.uri))
            return types.EmptyResult()

        self.tools.options = {
            "on_read_resource": read,
            "on_list_resources": listed,
            "on_subscribe_resource": subscribe,
            "on_unsubscribe_resource": subscribe,
            "on_subscriptions_listen": ListenHandler(self.bus),
        }

    async def change(self, context: Any, args: dict[str, Any]) -> types.CallToolResult:
        """A note changes, and whoever subscribed to it is told."""
        from mcp.server.subscriptions import ResourceUpdated

        await self.bus.publish(ResourceUpdated(uri="note:///a"))
        if self.wanted:
            await context.session.send_resource_updated("note:///a")
        return text("changed")


def test_changes_of_resources_reach_whoever_subscribed(era: str, server: str) -> None:
    notes = Notes()
    told: list[str] = []

    async def played() -> None:
        async def heard(message: Any) -> None:
            if getattr(message, "method", "") == "notifications/resources/updated":
                told.append(str(message.params.uri))

        upstream = notes.tools.upstream(server)
        async with client_of(shield_for(BARE), upstream, era=era, message_handler=heard) as client:
            await client.list_tools()
            if era == "legacy":
                with pytest.warns(Warning, match="removed"):
                    await client.session.subscribe_resource("note:///a")
                await _changed(client, told)
            else:
                listening = client.listen(resource_subscriptions=["note:///a"])
                async with listening as events, anyio.create_task_group() as reading:

                    async def read() -> None:
                        async for event in events:
                            told.append(event.uri)  # type: ignore[union-attr] # what was asked for
                            return

                    reading.start_soon(read)
                    await _changed(client, told)

    anyio.run(played)
    assert set(told) == {"note:///a"}


async def _changed(client: Any, told: list[str]) -> None:
    """Change the note until somebody was told: a stream that is just opened may miss the first
    time."""
    with anyio.fail_after(WAIT_S):
        while not told:
            await client.call_tool("change", {})
            await anyio.sleep(0.02)
