"""Adapters that send what was judged by themselves: clients of models and the MCP proxy. A run that
is guarded throughout has nothing named, and the same program without its guard has."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield, Ungoverned
from stanchion.audit.reader import TrailReader, WantedRecords
from stanchion.cli.main import main
from stanchion.ops.views.coverage import coverage
from stanchion.ops.views.trails import chosen
from tests.hosts.clients.provider import Call, Provider, Say
from tests.runtime.coverage.doing import BARE, write

HELLO: list[Any] = [{"role": "user", "content": "save it"}]
TURNS = ([Call("save", {})], [Say(("done",))])


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A model that has a file saved, and then answers."""
    with Provider(*TURNS) as made:
        yield made


def escaped(trail: Path) -> list[tuple[str, str]]:
    """What escaped, by `stanchion audit coverage`: what it is, and its name."""
    found = coverage(chosen(TrailReader(trail), WantedRecords()))
    assert (main(["audit", "coverage", "--trail", str(trail)]) == 3) == bool(found.escaped)
    return [(one.what, one.name) for one in found.escaped]


def watched(trail: Path, mode: Any, work: Callable[[Any], object]) -> None:
    """Do something in a run that is watched."""
    with (
        Shield.load(BARE, store="memory:", journal=trail, coverage=mode) as shield,
        shield.run(agent="ann") as run,
    ):
        work(run)


def of_openai(provider: Provider, is_async: bool = False) -> Any:
    openai = pytest.importorskip("openai")
    kind = openai.AsyncOpenAI if is_async else openai.OpenAI
    return kind(api_key="none", base_url=f"{provider.url}/v1", max_retries=0)


def of_anthropic(provider: Provider, is_async: bool = False) -> Any:
    anthropic = pytest.importorskip("anthropic")
    kind = anthropic.AsyncAnthropic if is_async else anthropic.Anthropic
    return kind(api_key="none", base_url=provider.url, max_retries=0)


def chat(client: Any, **more: Any) -> Any:
    return client.chat.completions.create(model="m", messages=HELLO, **more)


def messages(client: Any, **more: Any) -> Any:
    return client.messages.create(model="m", max_tokens=9, messages=HELLO, **more)


SDKS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "openai": (of_openai, chat),
    "anthropic": (of_anthropic, messages),
}


@pytest.mark.parametrize("mode", ["observe", "refuse"])
@pytest.mark.parametrize("sdk", SDKS)
def test_a_guarded_client_names_nothing(
    sdk: str, mode: str, provider: Provider, tmp_path: Path
) -> None:
    made, ask = SDKS[sdk]
    adapter = pytest.importorskip(f"stanchion.hosts.{sdk}")

    def work(run: Any) -> None:
        with made(provider) as plain:
            client = adapter.guard(plain, run)
            reply = ask(client)
            adapter.run_tools(client, reply, {"save": lambda: write(tmp_path / "file")})
            assert list(ask(client, stream=True))
            assert client.models.list() is not None

    watched(tmp_path / "trail", mode, work)
    assert (tmp_path / "file").exists()
    assert len(provider.asked) == 3
    assert escaped(tmp_path / "trail") == []


@pytest.mark.parametrize("sdk", SDKS)
def test_a_tool_that_the_provider_runs_is_named_and_refused(
    sdk: str, provider: Provider, tmp_path: Path
) -> None:
    made, ask = SDKS[sdk]
    adapter = pytest.importorskip(f"stanchion.hosts.{sdk}")
    tools = [
        {"type": "web_search_1", "name": "web_search"},
        {"type": "function", "function": {"name": "look"}},
    ]

    def work(run: Any) -> None:
        with made(provider) as plain:
            ask(adapter.guard(plain, run), tools=tools)

    watched(tmp_path / "trail", "observe", work)
    assert (escaped(tmp_path / "trail"), len(provider.asked)) == ([("tool", "web_search")], 1)
    with pytest.raises(Ungoverned, match="the tool `web_search`"):
        watched(tmp_path / "other", "refuse", work)
    assert len(provider.asked) == 1


@pytest.mark.parametrize("mode", ["observe", "refuse"])
@pytest.mark.parametrize("sdk", SDKS)
def test_a_guarded_async_client_names_nothing(
    sdk: str, mode: str, provider: Provider, tmp_path: Path
) -> None:
    made, ask = SDKS[sdk]
    adapter = pytest.importorskip(f"stanchion.hosts.{sdk}")

    async def asked(run: Any) -> None:
        async with made(provider, is_async=True) as plain:
            client = adapter.guard(plain, run)
            reply = await ask(client)
            await adapter.arun_tools(client, reply, {"save": lambda: write(tmp_path / "file")})
            assert [one async for one in await ask(client, stream=True)]

    watched(tmp_path / "trail", mode, lambda run: asyncio.run(asked(run)))
    assert (tmp_path / "file").exists()
    assert escaped(tmp_path / "trail") == []


@pytest.mark.parametrize("sdk", SDKS)
def test_a_plain_client_beside_the_run_is_named(
    sdk: str, provider: Provider, tmp_path: Path
) -> None:
    made, ask = SDKS[sdk]

    def work(run: Any) -> None:
        with made(provider) as plain:
            ask(plain)

    watched(tmp_path / "trail", "observe", work)
    assert escaped(tmp_path / "trail") == [("client", sdk)]


@pytest.mark.parametrize("sdk", SDKS)
def test_a_plain_client_inside_a_tool_of_a_guarded_one_is_an_agent(
    sdk: str, provider: Provider, tmp_path: Path
) -> None:
    made, ask = SDKS[sdk]
    adapter = pytest.importorskip(f"stanchion.hosts.{sdk}")

    def work(run: Any) -> None:
        with made(provider) as plain, made(provider) as other:
            client = adapter.guard(plain, run)
            adapter.run_tools(client, ask(client), {"save": lambda: str(ask(other))})

    watched(tmp_path / "trail", "observe", work)
    assert [what for what, _ in escaped(tmp_path / "trail")] == ["agent"]


def a_server(folder: Path) -> list[str]:
    """The command of an MCP server whose tool writes a file."""
    program = folder / "server.py"
    program.write_text(f"""
import anyio
from pathlib import Path
import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

async def listed(context, params):
    tool = types.Tool(name="save", description="Saves.", input_schema={{"type": "object"}})
    return types.ListToolsResult(tools=[tool])

async def called(context, params):
    Path({str(folder / "file")!r}).write_text("written")
    return types.CallToolResult(content=[types.TextContent(text="done")])

async def main():
    server = Server("up", version="1", on_list_tools=listed, on_call_tool=called)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
""")
    return [sys.executable, str(program)]


@pytest.mark.parametrize("mode", ["observe", "refuse"])
def test_the_proxy_names_nothing(mode: Any, tmp_path: Path) -> None:
    pytest.importorskip("mcp_types")
    from stanchion.hosts.mcp.proxy import Proxy
    from stanchion.hosts.mcp.upstream import command
    from tests.hosts.mcp.servers import piped

    async def played(shield: Any) -> Any:
        async with piped(Proxy(shield, [command("up", a_server(tmp_path))]), "legacy") as client:
            return await client.call_tool("save", {})

    with Shield.load(BARE, store="memory:", journal=tmp_path / "trail", coverage=mode) as shield:
        result = asyncio.run(played(shield))
    assert not result.is_error
    assert (tmp_path / "file").exists()
    assert escaped(tmp_path / "trail") == []
