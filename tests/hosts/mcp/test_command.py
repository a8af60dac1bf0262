"""`stanchion mcp` as a client starts it, with a server as a process behind it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, TextIO

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client

from stanchion.cli.main import main
from tests.hosts.mcp.servers import ERAS, KEY, said

SERVER = f"""
import os
import sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("shop")

@server.tool()
def find(name: str) -> dict[str, str]:
    print("looking with {KEY}", file=sys.stderr, flush=True)
    ours = str("STANCHION_STATE_DIR" in os.environ)
    return {{"name": name, "key": "{KEY}", "seen": os.environ.get("SHOP", ""), "ours": ours}}

server.run("stdio")
"""


@pytest.mark.parametrize("era", ERAS)
def test_a_server_behind_the_command(era: str, tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    words = [
        "-m",
        "stanchion",
        "mcp",
        "--policy",
        "default",
        "--",
        sys.executable,
        str(tmp_path / "server.py"),
    ]
    env = {**os.environ, "SHOP": "open", "STANCHION_STATE_DIR": str(tmp_path / "state")}

    described = StdioServerParameters(command=sys.executable, args=words, env=env)

    async def played(log: TextIO) -> Any:
        async with Client(stdio_client(described, log), mode=era) as client:
            assert client.server_info is not None
            assert client.server_info.name == "shop"
            return await client.call_tool("find", {"name": "tea"})

    with (tmp_path / "log").open("w") as log:
        result = anyio.run(played, log)
    logged = (tmp_path / "log").read_text()
    assert "looking with [redacted" in logged
    assert KEY not in logged
    assert KEY not in said(result)
    assert result.structured_content == {
        "name": "tea",
        "key": "[redacted:github-pat]",
        "seen": "open",
        "ours": "False",
    }


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "say which server"),
        (["--url", "https://x/mcp", "--", "npx"], "say which server"),
        (["npx", "x"], "behind `--`"),
        (["--url", "ftp://x"], "not of HTTP"),
        (["--header", "A=B", "--", "npx"], "give it with `--url`"),
        (["--url", "https://x/mcp", "--header", "A=NOT_SET"], "needs the variable `NOT_SET`"),
        (["--server", "npx"], "NAME=COMMAND"),
        (["--server", "a_b=npx", "--server", "c=npx"], "letters, digits and dashes"),
        (["--server", "a='npx"], "cannot be read"),
        (["--server", "a=npx", "--server", "a=npx"], "a name of its own"),
        (["--listen", "80", "--", "npx"], "HOST:PORT"),
        (["--timeout", "0", "--", "npx"], "number of seconds"),
        (["--policy", "no-such-pack", "--", "npx"], "no-such-pack"),
    ],
)
def test_mistakes_are_told_in_one_line(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", *words]) == 2
    assert told in capsys.readouterr().err
