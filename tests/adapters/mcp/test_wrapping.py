"""Configurations of clients: their servers behind the proxy, and out again, to the letter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stanchion.adapters.mcp.upstream import url
from stanchion.adapters.mcp.wrapping import NoServers, unwrapped, wrapped
from stanchion.cli.main import main

STDIO: dict[str, Any] = {"command": "npx", "args": ["-y", "server", "--", "x"], "env": {"KEY": "k"}}
HTTP: dict[str, Any] = {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer x"}}
SHAPES: dict[str, dict[str, Any]] = {
    "claude": {"mcpServers": {"a": STDIO, "b": {"command": "node"}}, "other": 1},
    "claude code": {"mcpServers": {"a": STDIO, "b": HTTP}},
    "claude code, all projects": {"projects": {"/p": {"mcpServers": {"a": STDIO}, "history": []}}},
    "cursor": {"mcpServers": {"a": {"url": "https://example.com/mcp"}, "b": STDIO}},
    "vs code": {"inputs": [{"id": "t"}], "servers": {"a": {"type": "stdio", **STDIO}, "b": HTTP}},
    "vs code settings": {"mcp": {"servers": {"a": {"type": "stdio", **STDIO}}}, "editor.tabSize": 2},
}
OURS = ["/bin/python", "-m", "stanchion"]


def servers(text: str) -> list[Any]:
    """All the servers of a configuration."""
    found: list[Any] = []

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if "command" in value or "url" in value:
                found.append(value)
            for each in value.values():
                walk(each)

    walk(json.loads(text))
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_every_server_is_behind_the_proxy_and_comes_out_again(shape: str) -> None:
    text = json.dumps(SHAPES[shape], indent=4)
    made = wrapped(text, OURS, ["--policy", "mcp"])
    assert made.left == {}
    assert all(each["command"] == "/bin/python" and "mcp" in each["args"] for each in servers(made.text))
    assert "Bearer x" not in str([each["args"] for each in servers(made.text)]), "arguments are seen by everybody"
    assert wrapped(made.text, OURS, []).changed == (), "what is behind it is not put behind it again"
    back = unwrapped(made.text)
    assert [{"args": [], **each} if "command" in each else each for each in servers(text)] == [
        {"args": [], **each} if "command" in each else each for each in servers(back.text)
    ]


def test_a_server_keeps_the_name_that_the_configuration_has() -> None:
    names = ["files", "my files", "my-files", "1st", "日本", "x" * 40]
    made = wrapped(json.dumps({"mcpServers": dict.fromkeys(names, STDIO)}), OURS, [])
    given = [each["args"][each["args"].index("--name") + 1] for each in servers(made.text)]
    assert (given[0], given[2]) == ("files", "my-files")
    assert len(set(given)) == len(names)
    for name in given:
        assert url(name, "https://example.com/mcp").pinned_as == name


def test_servers_that_may_want_a_login_are_named() -> None:
    assert wrapped(json.dumps(SHAPES["cursor"]), OURS, []).strangers == ("a",)
    assert wrapped(json.dumps(SHAPES["claude code"]), OURS, []).strangers == ()


def test_only_the_named_server_is_changed() -> None:
    made = wrapped(json.dumps(SHAPES["claude"]), OURS, [], only=["b"])
    assert (made.changed, made.left) == (("b",), {"a": "not asked for"})
    with pytest.raises(NoServers, match="no server `c`"):
        wrapped(json.dumps(SHAPES["claude"]), OURS, [], only=["c"])


@pytest.mark.parametrize("entry", [{"type": "sse", "url": "https://x"}, {"disabled": True}, "text", None])
def test_what_cannot_be_behind_it_is_left(entry: Any) -> None:
    made = wrapped(json.dumps({"mcpServers": {"a": entry}}), OURS, [])
    assert made.changed == ()
    assert json.loads(made.text) == {"mcpServers": {"a": entry}}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"mcpServers": 3}', "{'a': 1}", '{"a": 1'])
def test_what_is_no_configuration_is_refused(text: str) -> None:
    with pytest.raises(NoServers):
        wrapped(text, OURS, [])


COMMENTED = """\
{
\t// my servers, see https://example.com/*
\t"servers": {
\t\t"a": {"command": "npx", "args": ["http://x//y", "/* no */",],},  /* the
\t\tfirst */
\t},
}
"""


def test_a_file_is_restored_to_the_letter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(COMMENTED)
    file.chmod(0o600)
    assert main(["mcp", "wrap", str(file), "--policy", "strict"]) == 0
    (entry,) = servers(file.read_text())
    assert entry["args"][-4:] == ["--", "npx", "http://x//y", "/* no */"]
    assert entry["args"][2:5] == ["mcp", "--policy", "strict"]
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    assert main(["mcp", "wrap", str(file)]) == 0
    assert main(["mcp", "unwrap", str(file)]) == 0
    assert file.read_text() == COMMENTED
    assert list(tmp_path.iterdir()) == [file]
    assert "a: behind Stanchion now" in capsys.readouterr().out


def test_what_was_changed_since_stays(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(COMMENTED)
    main(["mcp", "wrap", str(file)])
    data = json.loads(file.read_text())
    data["servers"]["b"] = {"command": "other"}
    file.write_text(json.dumps(data))
    assert main(["mcp", "unwrap", str(file)]) == 0
    assert json.loads(file.read_text())["servers"] == {
        "a": {"command": "npx", "args": ["http://x//y", "/* no */"]},
        "b": {"command": "other"},
    }


def test_a_file_that_is_not_there_is_a_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "wrap", str(tmp_path / "none.json")]) == 2
    assert "cannot be rewritten" in capsys.readouterr().err
