"""Configurations of clients: their servers behind the proxy, and out again, to the letter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stanchion.cli.main import main
from stanchion.hosts.json_text import NotJson, read_json
from stanchion.hosts.mcp.client_config import (
    TOML,
    NoServers,
    format_of,
    is_wrapped,
    unwrapped,
    wrapped,
)
from stanchion.hosts.mcp.upstream import url
from tests.golden.cli.play import same

STDIO: dict[str, Any] = {"command": "npx", "args": ["-y", "server", "--", "x"], "env": {"KEY": "k"}}
HTTP: dict[str, Any] = {
    "type": "http",
    "url": "https://example.com/mcp",
    "headers": {"Authorization": "Bearer x"},
}
SHAPES: dict[str, dict[str, Any]] = {
    "claude": {"mcpServers": {"a": STDIO, "b": {"command": "node"}}, "other": 1},
    "claude code": {"mcpServers": {"a": STDIO, "b": HTTP}},
    "claude code, all projects": {"projects": {"/p": {"mcpServers": {"a": STDIO}, "history": []}}},
    "cursor": {"mcpServers": {"a": {"url": "https://example.com/mcp"}, "b": STDIO}},
    "vs code": {"inputs": [{"id": "t"}], "servers": {"a": {"type": "stdio", **STDIO}, "b": HTTP}},
    "vs code settings": {
        "mcp": {"servers": {"a": {"type": "stdio", **STDIO}}},
        "editor.tabSize": 2,
    },
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

    walk(read_json(text))
    return found


CLIENTS = Path(__file__).parent / "clients"
BEFORE = sorted(CLIENTS.glob("*.before.*"))


def is_forgotten(file: Path) -> bool:
    """Whether nothing is kept of what a file was: there may be tokens in it."""
    beside = [path.name for path in file.parent.iterdir() if path.name != "state"]
    return beside == [file.name] and not list((file.parent / "state/installed").iterdir())


@pytest.mark.parametrize("before", BEFORE, ids=lambda path: path.name.partition(".")[0])
def test_each_client_has_its_servers_behind_the_proxy_and_back(
    before: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("stanchion.cli.mcp.OURS", ("/opt/python", "-m", "stanchion"))
    file = tmp_path / f"settings{before.suffix}"
    file.write_bytes(before.read_bytes())
    assert main(["mcp", "wrap", str(file)]) == 0
    same(before.with_name(before.name.replace(".before.", ".after.")), file.read_text())
    assert main(["mcp", "wrap", str(file)]) == 0
    assert main(["mcp", "unwrap", str(file)]) == 0
    assert file.read_bytes() == before.read_bytes()
    assert is_forgotten(file)


@pytest.mark.parametrize("before", BEFORE, ids=lambda path: path.name.partition(".")[0])
def test_what_each_client_writes_meanwhile_stays(before: Path, tmp_path: Path) -> None:
    text, form = before.read_text(), format_of(before)
    made = wrapped(text, OURS, [], form=form).text
    edits = {
        "codex": ('model = "gpt-5"', 'model = "gpt-6"'),
        "gemini": ('"dark"', '"light"'),
        "vscode": ("asked for once", "asked for twice"),
    }
    edit = edits[before.name.partition(".")[0]]
    assert unwrapped(made.replace(*edit), text, form).text == text.replace(*edit)
    # Where nobody knows what it was, it says the same all the same.
    back, known = form.read(unwrapped(made, "", form).text), form.read(text)
    assert back == known


def test_codex_may_write_its_tables_anew(tmp_path: Path) -> None:
    """`codex mcp add` takes the comments out of the tables of servers."""
    text = (CLIENTS / "codex.before.toml").read_text()
    made = wrapped(text, OURS, [], form=TOML).text
    bare = "".join(line for line in made.splitlines(keepends=True) if not line.startswith("#"))
    back = unwrapped(bare, text, TOML).text
    assert TOML.read(back) == TOML.read(text)
    assert '"-y",  # no questions' in back


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[mcp_servers]\na = { command = "x" }\n', "`[mcp_servers.a]`"),
        ('mcp_servers.a.command = "x"\n', "`[mcp_servers.a]`"),
        ('[mcp_servers.a]\nurl = "https://x"\n[mcp_servers.a.oauth]\nid = "y"\n', "login"),
        ("[mcp_servers.a]\nenabled = true\n", "neither a command nor an address"),
    ],
)
def test_a_table_that_cannot_be_behind_it_is_left(text: str, why: str) -> None:
    made = wrapped(text, OURS, [], form=TOML)
    assert (made.text, made.changed) == (text, ())
    assert why in made.left["a"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_stay(end: str) -> None:
    text = f'[mcp_servers.a]{end}args = ["y",{end}"[x]"]{end}command = "x"'
    made = wrapped(text, OURS, [], form=TOML).text
    assert made.count("\r\n") == (made.count("\n") if end == "\r\n" else 0)
    assert unwrapped(made, text, TOML).text == text
    assert TOML.read(unwrapped(made, "", TOML).text) == TOML.read(text)


@pytest.mark.parametrize("key", ["httpUrl", "serverUrl"])
def test_an_address_comes_back_under_its_own_key(key: str) -> None:
    text = json.dumps({"mcpServers": {"a": {key: "https://example.com/mcp"}}})
    made = wrapped(text, OURS, [])
    assert made.strangers == ("a",)
    assert json.loads(unwrapped(made.text).text) == json.loads(text)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_server_is_behind_the_proxy_and_comes_out_again(shape: str) -> None:
    text = json.dumps(SHAPES[shape], indent=4)
    made = wrapped(text, OURS, ["--policy", "mcp"])
    assert made.left == {}
    assert all(
        each["command"] == "/bin/python" and "mcp" in each["args"] for each in servers(made.text)
    )
    assert "Bearer x" not in str([each["args"] for each in servers(made.text)]), (
        "arguments are seen by everybody"
    )
    assert wrapped(made.text, OURS, []).changed == (), (
        "what is behind it is not put behind it again"
    )
    back = unwrapped(made.text)
    assert [{"args": [], **each} if "command" in each else each for each in servers(text)] == [
        {"args": [], **each} if "command" in each else each for each in servers(back.text)
    ]


def test_a_server_keeps_the_name_that_the_configuration_has() -> None:
    names = ["files", "my files", "my_files", "1st", "日本", "x/y:z"]
    made = wrapped(json.dumps({"mcpServers": dict.fromkeys(names, STDIO)}), OURS, [])
    given = [each["args"][each["args"].index("--name") + 1] for each in servers(made.text)]
    assert given == names[:-1] + given[-1:]
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


@pytest.mark.parametrize(
    "entry", [{"type": "sse", "url": "https://x"}, {"disabled": True}, "text", None]
)
def test_what_cannot_be_behind_it_is_left(entry: Any) -> None:
    made = wrapped(json.dumps({"mcpServers": {"a": entry}}), OURS, [])
    assert made.changed == ()
    assert json.loads(made.text) == {"mcpServers": {"a": entry}}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"mcpServers": 3}', "{'a': 1}", '{"a": 1'])
def test_what_is_no_configuration_is_refused(text: str) -> None:
    with pytest.raises(NotJson):
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


def test_a_file_is_restored_to_the_letter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(COMMENTED)
    file.chmod(0o600)
    assert main(["mcp", "wrap", str(file), "--policy", "strict"]) == 0
    (entry,) = servers(file.read_text())
    assert entry["args"][-4:] == ["--", "npx", "http://x//y", "/* no */"]
    assert entry["args"][2:5] == ["mcp", "--policy", "strict"]
    assert file.stat().st_mode & 0o777 == 0o600
    assert main(["mcp", "wrap", str(file)]) == 0
    assert main(["mcp", "unwrap", str(file)]) == 0
    assert file.read_text() == COMMENTED
    assert is_forgotten(file)
    assert "a: behind Stanchion now" in capsys.readouterr().out


def test_what_was_changed_since_stays(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(COMMENTED)
    main(["mcp", "wrap", str(file)])
    data = read_json(file.read_text())
    data["servers"]["b"] = {"command": "other"}
    file.write_text(json.dumps(data))
    assert main(["mcp", "unwrap", str(file)]) == 0
    assert read_json(file.read_text())["servers"] == {
        "a": {"command": "npx", "args": ["http://x//y", "/* no */"]},
        "b": {"command": "other"},
    }


def test_comments_stay_while_the_servers_are_behind_it_and_after_edits(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(COMMENTED)
    main(["mcp", "wrap", str(file)])
    between = file.read_text()
    assert "// my servers" in between
    assert "first */" in between
    file.write_text(between.replace("// my servers", "// all my servers"))
    assert main(["mcp", "unwrap", str(file)]) == 0
    assert file.read_text() == COMMENTED.replace("// my servers", "// all my servers")
    assert is_forgotten(file)


def test_a_server_that_was_edited_stays_so(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"a": STDIO, "b": STDIO}}, indent=2))
    main(["mcp", "wrap", str(file)])
    data = json.loads(file.read_text())
    data["mcpServers"]["a"]["env"]["KEY"] = "new"
    file.write_text(json.dumps(data))
    main(["mcp", "unwrap", str(file)])
    assert json.loads(file.read_text())["mcpServers"] == {
        "a": {**STDIO, "env": {"KEY": "new"}},
        "b": STDIO,
    }
    assert is_forgotten(file)


def test_servers_that_come_behind_it_one_by_one_come_out_to_the_letter(tmp_path: Path) -> None:
    file, text = (
        tmp_path / "mcp.json",
        '{"mcpServers": {"a": {"command":"x"},\r\n"b": {"command" : "y"}}}',
    )
    file.write_bytes(text.encode())
    main(["mcp", "wrap", str(file), "--only", "a"])
    main(["mcp", "wrap", str(file), "--only", "b"])
    assert all("mcp" in each["args"] for each in servers(file.read_text()))
    main(["mcp", "unwrap", str(file)])
    assert file.read_bytes() == text.encode()


def test_a_link_stays_a_link_and_a_mark_stays_first(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "mcp.json"
    text = "\ufeff" + json.dumps({"mcpServers": {"a": STDIO}})
    real.write_text(text, "utf-8")
    link.symlink_to(real)
    assert main(["mcp", "wrap", str(link)]) == 0
    assert link.is_symlink()
    assert real.read_text("utf-8")[0] == "\ufeff"
    assert is_wrapped(json.loads(real.read_text("utf-8-sig"))["mcpServers"]["a"])
    assert main(["mcp", "unwrap", str(link)]) == 0
    assert link.is_symlink()
    assert real.read_text("utf-8") == text


def test_a_policy_that_does_not_load_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(COMMENTED)
    assert main(["mcp", "wrap", str(file), "--policy", str(tmp_path / "nosuch.yaml")]) == 2
    assert "nosuch.yaml" in capsys.readouterr().err
    assert file.read_text() == COMMENTED
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("entry", [{"type": "sse", "url": "https://x/a"}, {"url": "https://x/sse"}])
def test_a_server_of_sse_is_said_to_stay_unguarded(
    entry: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"a": entry}}))
    assert main(["mcp", "wrap", str(file)]) == 0
    assert "a: left as it is, and nothing guards it: it speaks SSE" in capsys.readouterr().out


def test_a_file_that_is_not_there_is_a_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", "wrap", str(tmp_path / "none.json")]) == 2
    assert "cannot be rewritten" in capsys.readouterr().err
