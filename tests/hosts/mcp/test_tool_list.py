"""`stanchion tools draft` asks a server what tools it has."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stanchion.cli.main import main

SERVER = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("shop")

@server.tool()
def find(name: str) -> dict[str, str]:
    return {}

@server.tool()
def create_issue(owner: str, repo: str, title: str) -> str:
    return ""

server.run("stdio")
"""


def test_the_tools_of_servers_are_drafted_by_what_their_names_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "server.py"
    file.write_text(SERVER)
    command = f"{sys.executable} {file}"
    assert main(["tools", "draft", "--server", f"github={command}"]) == 0
    out = capsys.readouterr().out
    assert "  find: {effect: read}  # `find`" in out
    assert (
        "  create_issue: {effect: outward, sinks: [owner, repo], result: content}  # as npm" in out
    )
    both = ["--server", f"shop={command}", "--server", f"b={command}"]
    assert main(["tools", "draft", *both]) == 0
    out = capsys.readouterr().out
    assert "  shop__find: {effect: read}" in out
    assert "  b__create_issue: {effect: outward" in out


def test_a_server_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "draft", "--server", "a=/no/such/command"]) == 2
    assert "does not list its tools: there is no command" in capsys.readouterr().err
